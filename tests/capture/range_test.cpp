#include "capture/range.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace phosphene::capture;

namespace {

Scaling steady(Shape shape) {
  return {RangeMode::kSteady, shape, Scope::kLayer, 0, 0, 4};
}
Scaling frame(Shape shape) {
  return {RangeMode::kFrame, shape, Scope::kLayer, 0, 0, 4};
}

}  // namespace

TEST_CASE("a frame's own range is its bounds") {
  CHECK(RangeTracker(frame(Shape::kLinear)).update({-1, 3}) == Range{-1, 3, Shape::kLinear});
  CHECK(RangeTracker(frame(Shape::kSymmetric)).update({-1, 3}) == Range{-3, 3, Shape::kSymmetric});
  CHECK(RangeTracker(frame(Shape::kAuto)).update({-1, 3}) == Range{-3, 3, Shape::kSymmetric});
  CHECK(RangeTracker(frame(Shape::kAuto)).update({1, 3}) == Range{0, 3, Shape::kLinear});
  const Range log = RangeTracker(frame(Shape::kLog)).update({-20, 3});
  CHECK(log.hi == 20);
  CHECK(log.lo == doctest::Approx(0.002));
}

TEST_CASE("a fixed range stays as given") {
  RangeTracker tracker({RangeMode::kFixed, Shape::kLinear, Scope::kLayer, -2, 5, 4});
  CHECK(tracker.expected() == Range{-2, 5, Shape::kLinear});
  CHECK(tracker.update({-100, 100}) == Range{-2, 5, Shape::kLinear});
  CHECK(RangeTracker({RangeMode::kFixed, Shape::kLinear, Scope::kLayer, 5, -2, 4}).expected() ==
        Range{-2, 5, Shape::kLinear});
  CHECK(RangeTracker({RangeMode::kFixed, Shape::kLog, Scope::kLayer, 0, 0, 0}).expected() ==
        Range{1e-4, 1, Shape::kLog});
  const double nan = std::nan("");
  CHECK(
      RangeTracker({RangeMode::kFixed, Shape::kLinear, Scope::kLayer, nan, nan, nan}).expected() ==
      Range{0, 0, Shape::kLinear});
}

TEST_CASE("a steady range covers every frame at once") {
  for (const Shape shape : {Shape::kLinear, Shape::kSymmetric, Shape::kLog, Shape::kAuto}) {
    RangeTracker tracker(steady(shape));
    double size = 1e-3;
    for (int i = 0; i < 200; ++i) {
      size *= i % 7 == 0 ? 1.4 : 0.99;
      const Range range = tracker.update({-size / 2, size});
      CHECK(range.hi >= size);
      if (shape != Shape::kLog) CHECK(range.lo <= -size / 2);
    }
  }
}

TEST_CASE("a steady range does not follow noise") {
  RangeTracker tracker(steady(Shape::kSymmetric));
  int changes = 0;
  Range before = tracker.update({-1, 1});
  for (int i = 0; i < 1000; ++i) {
    const double a = 0.9 + 0.1 * std::sin(i * 1.7);
    const Range range = tracker.update({-a, a});
    changes += range != before;
    before = range;
  }
  CHECK(changes == 0);
}

TEST_CASE("a steady range grows in few steps while a tensor grows tenfold") {
  for (const Shape shape : {Shape::kLinear, Shape::kSymmetric, Shape::kLog, Shape::kAuto}) {
    RangeTracker tracker(steady(shape));
    int changes = 0;
    Range before = tracker.update({-1, 1});
    for (int i = 0; i < 1000; ++i) {
      const double a = std::pow(10.0, i / 1000.0);
      const Range range = tracker.update({-a, a});
      changes += range != before;
      before = range;
    }
    CHECK(changes <= 14);
    CHECK(before.hi <= (shape == Shape::kLog ? 20.0 : 16.0));
  }
}

TEST_CASE("case_07: a huge early gradient does not stay") {
  for (const Shape shape : {Shape::kLinear, Shape::kSymmetric, Shape::kLog, Shape::kAuto}) {
    RangeTracker tracker(steady(shape));
    CHECK(tracker.update({-1e28, 1e28}).hi >= 1e28);
    Range range;
    for (int i = 0; i < 96; ++i) range = tracker.update({-1e-3, 1e-3});
    CHECK(range.hi >= 1e-3);
    CHECK(range.hi <= 2e-3);
  }
}

TEST_CASE("case_06: a step of NaN alone leaves the range as it was") {
  RangeTracker tracker(steady(Shape::kSymmetric));
  const Range before = tracker.update({-1, 1});
  for (int i = 0; i < 500; ++i) CHECK(tracker.update({}) == before);
  CHECK(tracker.update({-1, 1}) == before);
}

TEST_CASE(
    "case_02: a constant has a range without width; zeros under log have one below everything") {
  CHECK(RangeTracker(steady(Shape::kLinear)).update({5, 5}) == Range{5, 5, Shape::kLinear});
  RangeTracker log(steady(Shape::kLog));
  CHECK(log.update({0, 0}).hi > 0);
  CHECK(log.update({0, 1e-9}).hi < 2e-9);  // zeros did not set it
}

TEST_CASE("case_04: ranges at the ends of float64 stay finite") {
  for (const Shape shape : {Shape::kLinear, Shape::kSymmetric, Shape::kLog, Shape::kAuto}) {
    for (const double a : {1.7e308, 1e28, 1e-38, 1e-45, 5e-324}) {
      RangeTracker tracker(steady(shape));
      const Range range = tracker.update({-a, a});
      CHECK(std::isfinite(range.lo));
      CHECK(std::isfinite(range.hi));
      CHECK(range.hi >= a);
      CHECK((shape == Shape::kLog ? range.lo <= range.hi : range.lo < range.hi));
    }
  }
}

TEST_CASE("auto begins at 0 until something is negative, and again when nothing was for a while") {
  RangeTracker tracker(steady(Shape::kAuto));
  CHECK(tracker.update({0.5, 1}) == Range{0, 1, Shape::kLinear});
  CHECK(tracker.update({-0.25, 1}) == Range{-1, 1, Shape::kSymmetric});
  Range range;
  for (int i = 0; i < 96; ++i) range = tracker.update({0.5, 1});
  CHECK(range == Range{0, 1, Shape::kLinear});
}

TEST_CASE("magnitudes are drawn from 0 under a symmetric range") {
  CHECK(range_of_magnitudes({-2, 2, Shape::kSymmetric}, 0) == Range{0, 2, Shape::kLinear});
  CHECK(range_of_magnitudes({-1, 2, Shape::kLinear}, 0) == Range{-1, 2, Shape::kLinear});
}

TEST_CASE("magnitudes under a symmetric range are logarithmic over the decades asked for") {
  CHECK(range_of_magnitudes({-2, 2, Shape::kSymmetric}, 2) == Range{0.02, 2, Shape::kLog});
  CHECK(range_of_magnitudes({-1, 2, Shape::kLinear}, 2) == Range{-1, 2, Shape::kLinear});
  CHECK(range_of_magnitudes({0, 0, Shape::kSymmetric}, 2) == Range{0, 0, Shape::kLinear});
}
