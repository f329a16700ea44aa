#include "app/run.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "app/check.hpp"
#include "base/clock.hpp"

namespace phosphene::app {
namespace {

constexpr std::size_t kMaxRunNameBytes = 200;
constexpr std::int64_t kLeastPause_us = 5'000'000;
constexpr int kPauseSteps = 10;  // training that takes so many usual steps for one is paused

double finite(double value) {
  return std::isfinite(value) ? value : 0;
}

// Held twice: as declared, and in the table that channels share.
std::size_t bytes_of_tensor(const v1::Tensor& tensor) {
  return 2 * tensor.SpaceUsedLong();
}

// Frames of one view need not hold the same tiles: two optimisers step at different times,
// statistics come in turn. What only the older frame had must not be lost with it.
void carry_over(v1::Frame& older, v1::Frame& newer) {
  std::unordered_map<std::uint32_t, v1::Tile*> tiles;
  for (v1::Tile& tile : *newer.mutable_tiles()) tiles.emplace(tile.tensor(), &tile);
  for (v1::Tile& tile : *older.mutable_tiles()) {
    const auto found = tiles.find(tile.tensor());
    if (found == tiles.end()) {
      if (!tile.has_step()) tile.set_step(older.step());
      newer.add_tiles()->Swap(&tile);
    } else if (tile.has_statistics() && !found->second->has_statistics()) {
      found->second->mutable_statistics()->Swap(tile.mutable_statistics());
    }
  }
}

}  // namespace

// ---------------------------------------------------------------- RunSignals

void RunSignals::changed() {
  {
    std::lock_guard lock(mutex_);
    ++version_;
  }
  woken_.notify_all();
  on_changed_.with([](const Callback& call) {
    if (call) call();
  });
}

void RunSignals::planned() {
  on_planned_.with([](const Callback& call) {
    if (call) call();
  });
}

std::uint64_t RunSignals::wait(std::uint64_t known, std::chrono::microseconds timeout) {
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, timeout, [&] { return version_ != known; });
  return version_;
}

void RunSignals::on_changed(Callback callback) {
  on_changed_.with([&](Callback& call) { call = std::move(callback); });
}

void RunSignals::on_planned(Callback callback) {
  on_planned_.with([&](Callback& call) { call = std::move(callback); });
}

// ---------------------------------------------------------------- Run, for everyone

Run::Run(std::string id, const v1::Hello& hello, std::shared_ptr<RunSignals> signals)
    : id_(std::move(id)),
      signals_(std::move(signals)),
      hello_(hello),
      started_us_(unix_us()),
      // Grows from server to server too: a frame still queued for the server before this one is
      // never taken for ours.
      plans_version_(static_cast<std::uint64_t>(started_us_)) {
  if (hello.started_us() > 0) started_us_ = std::min<std::int64_t>(started_us_, hello.started_us());
}

Run::~Run() {
  signals_->held_bytes -= counted_bytes_;
}

std::string Run::name() const {
  std::lock_guard lock(mutex_);
  std::string name = cleaned(hello_.name(), kMaxRunNameBytes);
  return name.empty() ? id_ : name;
}

std::int64_t Run::started_us() const {
  std::lock_guard lock(mutex_);
  return started_us_;
}

v1::RunState Run::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

bool Run::connected() const {
  std::lock_guard lock(mutex_);
  return connected_;
}

v1::RunInfo Run::info() const {
  v1::RunInfo info;
  info.set_id(id_);
  info.set_name(name());
  std::lock_guard lock(mutex_);
  info.set_state(state_);
  *info.mutable_progress() = progress_;
  info.set_started_us(started_us_);
  for (const std::string& notice : notices_) info.add_notices(notice);
  const TensorTable& known = table();
  for (const v1::Kind kind : known.kinds) info.add_kinds(kind);
  info.set_tensors(static_cast<std::uint32_t>(known.tensors.size()));
  info.set_elements(known.parameter_elements);
  return info;
}

std::shared_ptr<const TensorTable> Run::tensors() const {
  std::lock_guard lock(mutex_);
  table();
  return table_;
}

const TensorTable& Run::table() const {
  if (table_ && table_->version == tensors_version_) return *table_;
  auto made = std::make_shared<TensorTable>();
  made->version = tensors_version_;
  made->tensors = tensors_;
  for (v1::Tensor& tensor : made->tensors) {
    const auto weight = tensor_index_.find(tensor.attached_to());
    const bool right = weight != tensor_index_.end() &&
                       tensors_[weight->second].attached_to() == 0 &&
                       tensors_[weight->second].kind() == tensor.kind();
    if (!right) tensor.set_attached_to(0);
    if (tensor.kind() == v1::KIND_PARAMETER)
      made->parameter_elements += elements_of(tensor.shape());
    if (std::find(made->kinds.begin(), made->kinds.end(), tensor.kind()) == made->kinds.end())
      made->kinds.push_back(tensor.kind());
  }
  std::sort(made->kinds.begin(), made->kinds.end());
  table_ = std::move(made);
  return *table_;
}

std::optional<v1::RunScalars> Run::scalars(std::uint64_t& cursor) const {
  std::lock_guard lock(mutex_);
  auto news = scalars_.since(cursor);
  if (news) news->set_run(id_);
  return news;
}

v1::Scalars Run::latest_scalars() const {
  std::lock_guard lock(mutex_);
  return scalars_.latest();
}

// ---------------------------------------------------------------- Run, for channels

ViewFeed Run::watch() {
  std::lock_guard lock(mutex_);
  const std::uint32_t view = next_view_++;
  views_.try_emplace(view);
  return ViewFeed(shared_from_this(), view);
}

void Run::set_plan(std::uint32_t view, v1::ViewPlan plan) {
  plan.set_view(view);
  {
    std::lock_guard lock(mutex_);
    View& mine = views_.at(view);
    if (plan.tensors().empty() && mine.plan.tensors().empty()) return;
    mine.cells.clear();
    for (const v1::TensorPlan& tensor : plan.tensors()) {
      const auto found = tensor_index_.find(tensor.tensor());
      if (found != tensor_index_.end())
        mine.cells[tensor.tensor()] = cells_of(tensor, tensors_[found->second]);
    }
    mine.plan = std::move(plan);
    mine.newest.reset();
    mine.tensors_at = tensors_version_;
    mine.planned_at = ++plans_version_;
  }
  signals_->planned();
}

void Run::remove_view(std::uint32_t view) {
  {
    std::lock_guard lock(mutex_);
    views_.erase(view);
    ++plans_version_;
  }
  signals_->planned();
}

void Run::wake_views() {
  for (auto& [id, view] : views_) {
    view.woken = true;
    view.wake.notify_one();
  }
}

// ---------------------------------------------------------------- Run, for ingest

bool Run::is_of(const v1::Hello& hello) const {
  std::lock_guard lock(mutex_);
  return hello.run() == hello_.run() && hello.pid() == hello_.pid() &&
         hello.host() == hello_.host() && hello.started_us() == hello_.started_us();
}

std::uint64_t Run::connect(const v1::Hello& hello, std::int64_t now_us) {
  const bool same_process = is_of(hello);
  std::lock_guard lock(mutex_);
  if (!same_process) {
    tensors_.clear();
    tensors_.shrink_to_fit();
    tensor_bytes_ = 0;
    table_.reset();
    count_bytes();
    tensor_index_.clear();
    ++tensors_version_;
    // Its tensors may have the numbers of others: nothing planned for those holds.
    for (auto& [id, view] : views_) {
      view.newest.reset();
      view.plan = v1::ViewPlan();
      view.plan.set_view(id);
      view.cells.clear();
    }
    ++plans_version_;
    started_us_ = unix_us();
    if (hello.started_us() > 0)
      started_us_ = std::min<std::int64_t>(started_us_, hello.started_us());
    progress_.Clear();
    usual_step_us_ = 0;
  }
  hello_ = hello;
  connected_ = true;
  last_step_us_ = now_us;
  set_state(v1::RUN_STATE_RUNNING);
  wake_views();
  signals_->changed();
  return ++connection_;
}

void Run::disconnect(std::uint64_t connection, bool in_order, std::string_view why,
                     std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  if (connection != connection_ || !connected_) return;
  connected_ = false;
  last_step_us_ = now_us;
  if (!why.empty()) add_notice(why);
  set_state(in_order ? v1::RUN_STATE_ENDED : v1::RUN_STATE_CRASHED);
  signals_->changed();
}

std::optional<v1::Plans> Run::plans_after(std::uint64_t& sent) const {
  std::lock_guard lock(mutex_);
  if (sent == plans_version_) return std::nullopt;
  sent = plans_version_;
  v1::Plans plans;
  plans.set_version(plans_version_);
  for (const auto& [id, view] : views_)
    if (view.plan.tensors_size() > 0) *plans.add_views() = view.plan;
  return plans;
}

Result<void> Run::handle(v1::FromHook message, std::int64_t now_us) {
  switch (message.message_case()) {
    case v1::FromHook::kHello:
      return Error{"a second hello on one connection"};
    case v1::FromHook::kTensors:
      take_tensors(std::move(*message.mutable_tensors()));
      break;
    case v1::FromHook::kFrame:
      take_frame(std::move(*message.mutable_frame()), now_us);
      break;
    case v1::FromHook::kScalars: {
      std::lock_guard lock(mutex_);
      if (!scalars_.add(message.scalars())) {
        add_notice("some scalars cannot be shown: they have no name, or there are more than " +
                   std::to_string(ScalarHistory::kMaxSeries) + " series");
        signals_->changed();
      }
      count_bytes();
      break;
    }
    case v1::FromHook::kProgress: {
      std::lock_guard lock(mutex_);
      v1::Progress& progress = *message.mutable_progress();
      progress.set_steps_per_second(finite(progress.steps_per_second()));
      progress.set_cost_us_per_step(finite(progress.cost_us_per_step()));
      if (progress.step() != progress_.step() && progress.steps_per_second() > 0)
        usual_step_us_ = 1e6 / progress.steps_per_second();
      step_came(progress.step(), now_us);
      progress_ = std::move(progress);
      signals_->changed();
      break;
    }
    case v1::FromHook::kNotice: {
      std::lock_guard lock(mutex_);
      add_notice(message.notice().text());
      signals_->changed();
      break;
    }
    case v1::FromHook::MESSAGE_NOT_SET:
      break;  // of a newer hook: skipped, as the protocol has it
  }
  return {};
}

void Run::count_bytes() {
  const std::size_t now = tensor_bytes_ + scalars_.bytes();
  signals_->held_bytes += now - counted_bytes_;  // wraps where it shrinks, as it should
  counted_bytes_ = now;
}

void Run::take_tensors(v1::Tensors&& tensors) {
  std::lock_guard lock(mutex_);
  bool changed = false;
  for (v1::Tensor& tensor : *tensors.mutable_tensors()) {
    if (const auto fine = check_tensor(tensor); !fine) {
      add_notice(fine.error().message);
      continue;
    }
    const auto [place, is_new] = tensor_index_.try_emplace(tensor.id(), tensors_.size());
    if (is_new && tensors_.size() == kMaxTensors) {
      tensor_index_.erase(place);
      add_notice("only the first " + std::to_string(kMaxTensors) + " tensors are shown");
      break;
    }
    if (is_new) tensors_.emplace_back();
    const std::size_t before = is_new ? 0 : bytes_of_tensor(tensors_[place->second]);
    const std::size_t after = tensor_bytes_ - before + bytes_of_tensor(tensor);
    const std::size_t everywhere = signals_->held_bytes - counted_bytes_ + after;
    if (after > tensor_bytes_ && everywhere > kMaxHeldBytes) {
      if (is_new) tensors_.pop_back();
      if (is_new) tensor_index_.erase(place);
      add_notice("tensors are left out: all runs together take too much memory here");
      break;
    }
    v1::Tensor& mine = tensors_[place->second];
    // A reconnect declares everything again: what is the same needs no new layout.
    if (!is_new && mine.SerializeAsString() == tensor.SerializeAsString()) continue;
    // What a view expected of it was planned for another shape.
    for (auto& [id, view] : views_) view.cells.erase(tensor.id());
    mine = std::move(tensor);
    tensor_bytes_ = after;
    changed = true;
  }
  if (changed) {
    ++tensors_version_;
    count_bytes();
    wake_views();
  }
  signals_->changed();
}

void Run::take_frame(v1::Frame&& frame, std::int64_t now_us) {
  FrameCounters& counters = signals_->frames;
  ++counters.received;
  std::string wrong;
  for (const v1::Tile& tile : frame.tiles()) {
    if (const auto fine = check_tile(tile); !fine) wrong = fine.error().message;
  }

  std::lock_guard lock(mutex_);
  step_came(frame.step(), now_us);
  if (!wrong.empty()) return drop_invalid(wrong);
  if (frame.view() == 0) return offer_unasked(frame);
  const auto found = views_.find(frame.view());
  if (found == views_.end()) {
    ++counters.dropped_unknown_view;
    return;
  }
  View& view = found->second;
  if (frame.plans() < view.planned_at || frame.plans() > plans_version_) {
    ++counters.dropped_old_plan;
    return;
  }
  for (const v1::Tile& tile : frame.tiles()) {
    const auto expected = view.cells.find(tile.tensor());
    if (expected != view.cells.end() && expected->second == tile.cells()) continue;
    // The hook may have declared another shape since, and the channel not laid it out yet.
    if (view.tensors_at != tensors_version_) {
      ++counters.dropped_old_plan;
      return;
    }
    return drop_invalid("a tile of tensor " + std::to_string(tile.tensor()) +
                        " has other cells than its plan");
  }
  deliver(view, std::make_shared<v1::Frame>(std::move(frame)));
}

void Run::drop_invalid(const std::string& why) {
  ++signals_->frames.dropped_invalid;
  if (std::exchange(told_invalid_, true)) return;
  add_notice("a frame cannot be shown: " + why);
  signals_->changed();
}

// A source that hears no plans sends whole tensors; they are shown where a plan would have asked
// for the same.
void Run::offer_unasked(const v1::Frame& frame) {
  bool shown = false;
  for (auto& [id, view] : views_) {
    auto copy = std::make_shared<v1::Frame>();
    copy->set_view(id);
    copy->set_plans(view.planned_at);
    copy->set_step(frame.step());
    copy->set_time_us(frame.time_us());
    for (const v1::Tile& tile : frame.tiles()) {
      const auto same = [&](const v1::TensorPlan& plan) {
        return plan.tensor() == tile.tensor() && plan.pooling() == v1::POOLING_NONE;
      };
      const auto expected = view.cells.find(tile.tensor());
      if (expected != view.cells.end() && expected->second == tile.cells() &&
          std::any_of(view.plan.tensors().begin(), view.plan.tensors().end(), same))
        *copy->add_tiles() = tile;
    }
    if (copy->tiles_size() == 0) continue;
    shown = true;
    deliver(view, std::move(copy));
  }
  if (!shown) ++signals_->frames.dropped_unknown_view;
}

void Run::deliver(View& view, std::shared_ptr<v1::Frame> frame) {
  if (view.newest) {
    ++signals_->frames.dropped_undrawn;
    carry_over(*view.newest, *frame);
  }
  view.newest = std::move(frame);
  view.wake.notify_one();
}

void Run::step_came(std::uint64_t step, std::int64_t now_us) {
  if (step == progress_.step()) return;
  progress_.set_step(step);
  last_step_us_ = now_us;
  if (connected_ && set_state(v1::RUN_STATE_RUNNING)) signals_->changed();
}

void Run::tick(std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  if (!connected_) return;
  const double patience_us = std::max<double>(kLeastPause_us, kPauseSteps * usual_step_us_);
  if (static_cast<double>(now_us - last_step_us_) > patience_us && set_state(v1::RUN_STATE_PAUSED))
    signals_->changed();
}

bool Run::set_state(v1::RunState state) {
  if (state_ == state) return false;
  state_ = state;
  wake_views();
  return true;
}

void Run::add_notice(std::string_view text) {
  std::string notice = cleaned(text, kMaxNoticeBytes);
  if (notice.empty() || std::find(notices_.begin(), notices_.end(), notice) != notices_.end())
    return;
  if (notices_.size() == kMaxNotices) notices_.erase(notices_.begin());
  notices_.push_back(std::move(notice));
}

// ---------------------------------------------------------------- ViewFeed

ViewFeed::ViewFeed(ViewFeed&& other) noexcept
    : run_(std::move(other.run_)), view_(std::exchange(other.view_, 0)) {}

ViewFeed& ViewFeed::operator=(ViewFeed&& other) noexcept {
  std::swap(run_, other.run_);
  std::swap(view_, other.view_);
  return *this;
}

ViewFeed::~ViewFeed() {
  if (run_) run_->remove_view(view_);
}

void ViewFeed::set_plan(v1::ViewPlan plan) {
  assert(run_);
  run_->set_plan(view_, std::move(plan));
}

ViewFeed::News ViewFeed::wait(std::chrono::microseconds timeout) {
  assert(run_);
  std::unique_lock lock(run_->mutex_);
  Run::View& view = run_->views_.at(view_);
  view.wake.wait_for(lock, timeout, [&] { return view.newest || view.woken; });
  view.woken = false;
  return {std::exchange(view.newest, nullptr), run_->tensors_version_, run_->state_};
}

}  // namespace phosphene::app
