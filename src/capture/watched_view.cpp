#include "capture/watched_view.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/clock.hpp"
#include "capture/statistics.hpp"
#include "capture/stopwatch.hpp"

namespace phosphene::capture {
namespace {

constexpr double kStatisticsShare = 0.25;      // of the levels' time
constexpr double kStatisticsPeriodUs = 250e3;  // rounds begin at most so often

// Of a period: a loop with nearly the view's rate does not miss every other frame by a hair. The
// mean rate holds.
constexpr double kSlack = 0.25;

bool equal(const Scaling& a, const Scaling& b) {
  const auto tie = [](const Scaling& s) {
    return std::tie(s.range, s.shape, s.scope, s.lo, s.hi, s.decades, s.magnitude_decades);
  };
  return tie(a) == tie(b);
}

}  // namespace

WatchedView::WatchedView(const ViewPlan& plan)
    : id_(plan.view),
      quantity_(plan.quantity),
      scaling_(plan.scaling),
      period_us_(1e6 / plan.fps),
      network_range_(plan.scaling) {}

std::unique_ptr<WatchedView> WatchedView::create(const ViewPlan& plan, std::uint64_t plans_version,
                                                 const std::vector<Declared>& declared,
                                                 std::uint64_t& cells_left,
                                                 std::vector<std::string>& problems) {
  std::unique_ptr<WatchedView> view(new WatchedView(plan));
  view->tensors_.reserve(plan.tensors.size());
  for (const TensorPlan& wanted : plan.tensors) {
    const auto refuse = [&](const std::string& name, const std::string& why) {
      problems.push_back(name + " cannot be shown: " + why);
    };
    if (wanted.tensor > declared.size()) {
      refuse("tensor " + std::to_string(wanted.tensor), "the run has not declared it");
      continue;
    }
    const auto& [info, revision] = declared[wanted.tensor - 1];
    Result<Quantiser> quantiser =
        Quantiser::create(wanted, plan.quantity, info.shape, plan.scaling.magnitude_decades);
    if (!quantiser) {
      refuse(info.name, quantiser.error().message);
      continue;
    }
    if (view->cells_ + quantiser->cells() > std::min(kMaxCells, cells_left)) {
      refuse(info.name, "the views ask for too many cells");
      continue;
    }
    view->cells_ += quantiser->cells();
    view->tensors_.push_back({.id = info.id,
                              .revision = revision,
                              .quantiser = std::move(*quantiser),
                              .range = RangeTracker(plan.scaling)});
  }
  cells_left -= view->cells_;

  for (Frame& frame : view->frames_.slots()) {
    frame.view = plan.view;
    frame.plans = plans_version;
    frame.tiles.resize(view->tensors_.size());
    for (std::size_t i = 0; i < frame.tiles.size(); ++i) {
      frame.tiles[i].levels.reserve((view->tensors_[i].quantiser.cells() + 1) / 2);
    }
  }
  return view;
}

void WatchedView::continue_from(const WatchedView& before) {
  due_us_ = before.due_us_;
  cost_us_ = before.cost_us_;
  if (quantity_ != before.quantity_ || !equal(scaling_, before.scaling_)) return;
  network_range_ = before.network_range_;
  std::unordered_map<std::uint32_t, const RangeTracker*> ranges;
  for (const Tensor& tensor : before.tensors_) ranges[tensor.id] = &tensor.range;
  for (Tensor& tensor : tensors_) {
    if (const auto found = ranges.find(tensor.id); found != ranges.end()) {
      tensor.range = *found->second;
    }
  }
}

bool WatchedView::is_due(double now_us) {
  const double slack_us = kSlack * period_us_;
  if (now_us < due_us_ - slack_us) return false;
  due_us_ = std::max(due_us_ + period_us_, now_us + period_us_ - slack_us);
  return true;
}

bool WatchedView::put_off(double now_us) {
  const double slack_us = kSlack * period_us_;
  if (now_us < std::max(due_us_, put_off_us_) - slack_us) return false;
  put_off_us_ = now_us + period_us_;
  return true;
}

void WatchedView::arm() {
  armed_ = true;
  frame_cost_us_ = 0;
  for (Tensor& tensor : tensors_) tensor.captured = false;
  for (Tile& tile : frames_.draft().tiles) {
    tile.tensor = 0;
    tile.statistics.reset();
  }
}

void WatchedView::capture(std::size_t index, const TensorView& view, std::uint64_t revision) {
  Tensor& tensor = tensors_[index];
  if (!armed_ || tensor.revision != revision) return;
  const Stopwatch watch;
  Tile& tile = frames_.draft().tiles[index];
  if (tile.statistics) {  // of what this call replaces
    tile.statistics.reset();
    tensor.measured_in = round_ - 1;
  }
  if (scaling_.scope == Scope::kNetwork) {
    tensor.quantiser.read(view);
  } else {
    tensor.quantiser.quantise(view, tensor.range, tile);
  }
  tile.tensor = tensor.id;
  tensor.captured = true;
  const double levels_us = watch.elapsed_us();
  frame_cost_us_ += levels_us;
  statistics_balance_us_ += kStatisticsShare * levels_us;
  measure_in_turn(tensor, view, tile);
}

void WatchedView::measure_in_turn(Tensor& tensor, const TensorView& view, Tile& tile) {
  if (tensor.measured_in == round_ || view.dtype == DType::kLevels4) return;
  round_open_ = true;
  if (statistics_balance_us_ < 0) return;
  const Stopwatch watch;
  tile.statistics = measure(view);
  tensor.measured_in = round_;
  const double us = watch.elapsed_us();
  frame_cost_us_ += us;
  statistics_balance_us_ -= us;
}

WatchedView::Outcome WatchedView::finish(std::uint64_t step, double now_us) {
  armed_ = false;
  Frame& frame = frames_.draft();
  const Stopwatch watch;
  bool any = false;
  Bounds bounds;
  for (const Tensor& tensor : tensors_) {
    if (!tensor.captured) continue;
    any = true;
    if (scaling_.scope == Scope::kNetwork) bounds.add(tensor.quantiser.bounds());
  }
  if (!any) return Outcome::kNothingCaptured;
  if (scaling_.scope == Scope::kNetwork) {
    const Range range = network_range_.update(bounds);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (!tensors_[i].captured) continue;
      tensors_[i].quantiser.write(range, frame.tiles[i]);
      frame.tiles[i].tensor = tensors_[i].id;
    }
  }
  for (Tile& tile : frame.tiles) {
    if (tile.statistics) tile.statistics->step = step;
  }
  frame.step = step;
  frame.time_us = unix_us();

  if (!round_open_ && now_us >= round_began_us_ + kStatisticsPeriodUs) {
    ++round_;
    round_began_us_ = now_us;
  }
  round_open_ = false;
  frame_cost_us_ += watch.elapsed_us();
  cost_us_ = frame_cost_us_;
  statistics_balance_us_ = std::min(statistics_balance_us_, kStatisticsShare * cost_us_);
  return frames_.post() ? Outcome::kPosted : Outcome::kReplacedOlder;
}

}  // namespace phosphene::capture
