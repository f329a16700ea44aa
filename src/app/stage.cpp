#include "app/stage.hpp"

#include <algorithm>

#include "app/translate.hpp"

namespace phosphene::app {
namespace {

bool same(const v1::Range& a, const v1::Range& b) {
  return a.lo() == b.lo() && a.hi() == b.hi() && a.shape() == b.shape();
}

/// Whether it was another.
bool set_step(v1::TensorFacts& facts, std::uint64_t step, const v1::Frame& frame) {
  const bool had = facts.has_step();
  const std::uint64_t before = facts.step();
  if (step == frame.step())
    facts.clear_step();
  else
    facts.set_step(step);
  return facts.has_step() != had || facts.step() != before;
}

bool set_absent(v1::TensorFacts& facts, const canvas::AbsentLines& absent) {
  if (std::ranges::equal(facts.absent_x(), absent.x) &&
      std::ranges::equal(facts.absent_y(), absent.y))
    return false;
  facts.mutable_absent_x()->Assign(absent.x.begin(), absent.x.end());
  facts.mutable_absent_y()->Assign(absent.y.begin(), absent.y.end());
  return true;
}

std::string nothing_to_show(stream::View::Mode mode) {
  return "this run has no " + std::string(name_of(kind_of(mode))) + "s to show";
}

std::string nothing_to_draw(stream::View::Mode mode) {
  return "none of this run's " + std::string(name_of(kind_of(mode))) +
         "s can be drawn: they have no elements, or more than 2^40";
}

}  // namespace

Result<std::unique_ptr<Stage>> Stage::create(const stream::View& view, std::string run,
                                             std::shared_ptr<const TensorTable> table,
                                             const std::string& encoder, std::uint32_t id,
                                             std::uint32_t number) {
  std::unique_ptr<Stage> stage(new Stage);
  stage->view_ = view;
  stage->run_ = std::move(run);
  stage->table_ = std::move(table);
  stage->id_ = id;
  stage->number_ = number;

  const auto kind = static_cast<v1::Kind>(kind_of(view.mode));
  for (const v1::Tensor& tensor : stage->table_->tensors) {
    if (tensor.kind() != kind) continue;
    stage->declared_.push_back(tensor);
    stage->tensors_.push_back(to_canvas(tensor));
  }
  if (stage->tensors_.empty()) return Error{nothing_to_show(view.mode)};

  Result<canvas::Layout> layout = canvas::lay_out(
      stage->tensors_,
      {.width = view.width, .height = view.height, .pooling = to_canvas(view.pooling)});
  if (!layout) return layout.error();
  if (layout->sections.empty()) return Error{nothing_to_draw(view.mode)};
  stage->layout_ = *std::move(layout);
  for (std::size_t i = 0; i < stage->layout_.sections.size(); ++i)
    stage->section_of_[stage->tensors_[stage->layout_.sections[i].tensor].id] = i;
  stage->composer_ = std::make_unique<canvas::Composer>(stage->layout_, stage->tensors_);

  Result<std::unique_ptr<encode::Encoder>> made =
      encode::make_encoder({.width = view.width,
                            .height = view.height,
                            .fps = view.fps,
                            .quality = to_encode(view.quality),
                            .name = encoder});
  if (!made) return made.error();
  stage->encoder_ = *std::move(made);
  Result<encode::Fragmenter> fragmenter = encode::Fragmenter::create(stage->encoder_->info());
  if (!fragmenter) return fragmenter.error();
  stage->fragmenter_ = std::make_unique<encode::Fragmenter>(*std::move(fragmenter));
  return stage;
}

v1::ViewPlan Stage::plan() const {
  return make_plan(0, view_, layout_, tensors_, declared_);
}

v1::ChannelStart Stage::start() const {
  v1::ChannelStart start;
  start.set_epoch(id_);
  start.set_view(view_.to_string());
  start.set_mime(fragmenter_->mime());
  const std::vector<std::uint8_t>& init = fragmenter_->init_segment();
  start.set_init(init.data(), init.size());
  *start.mutable_layout() = to_message(id_, layout_, tensors_);
  start.set_fps(view_.fps);
  start.set_run(run_);
  return start;
}

void Stage::draw(const v1::Frame& frame) {
  for (const v1::Tile& tile : frame.tiles()) {
    const auto section = section_of_.find(tile.tensor());
    if (section == section_of_.end()) continue;
    const std::vector<canvas::MarkRun> marks = marks_of(tile);
    const std::span levels(reinterpret_cast<const std::uint8_t*>(tile.levels().data()),
                           tile.levels().size());
    if (!composer_->draw(section->second, {.levels = levels, .marks = marks})) {
      ++tiles_refused_;
      continue;
    }
    Known& known = known_[tile.tensor()];
    known.facts.set_tensor(tile.tensor());
    if (!known.facts.has_range() || !same(known.facts.range(), tile.range())) {
      *known.facts.mutable_range() = tile.range();
      known.changed = true;
    }
    if (tile.has_statistics()) {
      *known.facts.mutable_statistics() = tile.statistics();
      known.changed = true;
    }
    known.drawn_in = number_ + 1;
    known.changed |= set_step(known.facts, tile.has_step() ? tile.step() : frame.step(), frame);
    known.changed |= set_absent(known.facts, composer_->absent(section->second, marks));
  }
  for (auto& [tensor, known] : known_) {
    if (known.drawn_in == number_ + 1) continue;  // its cells are as they were
    const std::uint64_t step = known.facts.has_step() ? known.facts.step() : step_;
    known.changed |= set_step(known.facts, step, frame);
  }
  step_ = frame.step();
  time_us_ = frame.time_us();
  composer_->draw_number(++number_);
  has_picture_ = true;
}

v1::Facts Stage::facts(bool keyframe) {
  v1::Facts facts;
  facts.set_number(number_);
  facts.set_step(step_);
  facts.set_time_us(time_us_);
  facts.set_layout(id_);
  facts.set_run(run_);
  for (auto& [tensor, known] : known_) {
    if (keyframe || known.changed) *facts.add_tensors() = known.facts;
    known.changed = false;
  }
  return facts;
}

Result<Stage::Fragment> Stage::encode(bool keyframe) {
  serialised_.clear();
  facts(keyframe).AppendToString(&serialised_);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(serialised_.data()),
                        serialised_.size());
  Result<encode::Packet> packet = encoder_->encode(composer_->picture(), keyframe, bytes);
  if (!packet) return packet.error();
  Result<std::vector<std::uint8_t>> fragment = fragmenter_->write(*packet);
  if (!fragment) return fragment.error();
  return Fragment{.bytes = *std::move(fragment), .keyframe = packet->keyframe};
}

}  // namespace phosphene::app
