#include "capture/watched_view.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "../patience.hpp"

using namespace phosphene::capture;

namespace {

std::vector<Declared> declared(const std::vector<std::uint64_t>& sizes) {
  std::vector<Declared> result;
  for (const std::uint64_t size : sizes) {
    Declared tensor;
    tensor.info.id = static_cast<std::uint32_t>(result.size() + 1);
    tensor.info.name = "t" + std::to_string(tensor.info.id);
    tensor.info.shape = {size};
    tensor.revision = tensor.info.id;
    result.push_back(tensor);
  }
  return result;
}

std::unique_ptr<WatchedView> view_of(const std::vector<Declared>& tensors, const Scaling& scaling,
                                     double fps = 30) {
  ViewPlan plan;
  plan.view = 1;
  plan.fps = fps;
  plan.scaling = scaling;
  for (const Declared& tensor : tensors) {
    TensorPlan wanted;
    wanted.tensor = tensor.info.id;
    plan.tensors.push_back(wanted);
  }
  std::uint64_t cells_left = kMaxCells;
  std::vector<std::string> problems;
  auto view = WatchedView::create(plan, 1, tensors, cells_left, problems);
  REQUIRE(problems.empty());
  return view;
}

/// A frame of every tensor, all of the same values.
const Frame& draw(WatchedView& view, const std::vector<float>& values, double now_us = 0) {
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  const phosphene_view memory{values.data(), PHOSPHENE_FLOAT32, 1, &size, nullptr};
  view.arm();
  for (std::size_t i = 0; i < view.tensors(); ++i)
    view.capture(i, *TensorView::from(memory), view.revision(i));
  CHECK(view.finish(1, now_us) == WatchedView::Outcome::kPosted);
  const Frame* frame = view.take_frame();
  REQUIRE(frame);
  return *frame;
}

const Scaling kSteady{RangeMode::kSteady, Shape::kSymmetric, Scope::kLayer, 0, 0, 4};

}  // namespace

TEST_CASE("a view is due at its rate, whatever the steps take") {
  const auto tensors = declared({1});
  std::mt19937 random(1);
  for (const double step_us : {50.0, 9e3, 33'333.0, 34e3, 50e3, 1e6}) {
    const auto view = view_of(tensors, kSteady, 30);
    std::uniform_real_distribution<double> jitter(0.9, 1.1);
    double now_us = 1e9;
    const double begin_us = now_us;
    int frames = 0, steps = 0;
    while (now_us < begin_us + 20e6) {
      frames += view->is_due(now_us);
      ++steps;
      now_us += step_us * jitter(random);
    }
    CHECK_MESSAGE(frames <= 20 * 30 + 1, step_us);
    CHECK_MESSAGE(frames >= std::min(20 * 30, steps) * 0.95, step_us);
  }
}

TEST_CASE("after a pause there is no burst") {
  const auto tensors = declared({1});
  const auto view = view_of(tensors, kSteady, 10);
  CHECK(view->is_due(1e9));
  CHECK(view->is_due(2e9));
  CHECK_FALSE(view->is_due(2e9 + 10e3));
  CHECK(view->is_due(2e9 + 100e3));
}

TEST_CASE("new plans of an unchanged view go on with its ranges; a new scaling begins anew") {
  const auto tensors = declared({2});
  const auto before = view_of(tensors, kSteady);
  const Range wide = draw(*before, {-100, 100}).tiles[0].range;
  CHECK(wide.hi >= 100);

  const auto same = view_of(tensors, kSteady);
  same->continue_from(*before);
  CHECK(draw(*same, {-1, 1}).tiles[0].range == wide);

  Scaling each = kSteady;
  each.range = RangeMode::kFrame;
  const auto other = view_of(tensors, each);
  other->continue_from(*before);
  CHECK(draw(*other, {-1, 1}).tiles[0].range.hi == 1);
}

TEST_CASE("a tensor that was declared anew is not captured") {
  const auto tensors = declared({2});
  const auto view = view_of(tensors, kSteady);
  const float values[] = {1, 2};
  const std::int64_t size = 2;
  const phosphene_view memory{values, PHOSPHENE_FLOAT32, 1, &size, nullptr};
  view->arm();
  view->capture(0, *TensorView::from(memory), view->revision(0) + 1);
  CHECK(view->finish(1, 0) == WatchedView::Outcome::kNothingCaptured);
  CHECK(view->take_frame() == nullptr);
}

TEST_CASE(
    "statistics come in turn: each tensor has them again and again, at a share of the frames") {
  const auto tensors = declared(std::vector<std::uint64_t>(20, 50'000));
  const auto view = view_of(tensors, kSteady);
  const std::vector<float> values(50'000, 0.5f);
  std::map<std::uint32_t, int> measured;
  const auto all_measured = [&](int times) {
    for (const Declared& tensor : tensors)
      if (measured[tensor.info.id] < times) return false;
    return true;
  };
  int frames = 0;
  const auto deadline = std::chrono::steady_clock::now() + phosphene::test::kPatience;
  for (; std::chrono::steady_clock::now() < deadline && !all_measured(3); ++frames) {
    for (const Tile& tile : draw(*view, values, frames * 33e3).tiles) {
      if (!tile.statistics) continue;
      ++measured[tile.tensor];
      CHECK(tile.statistics->count == 50'000);
      CHECK(tile.statistics->mean == 0.5);
      CHECK(tile.statistics->step == 1);
    }
  }
  CHECK(all_measured(3));
  for (const auto& [id, times] : measured) CHECK(times <= 4);  // nobody twice before all had theirs
  CHECK(frames > 3);
}
