#include "capture/scale.hpp"

#include <doctest/doctest.h>

#include "kernel_inputs.hpp"

using namespace phosphene;
using namespace phosphene::capture;
using namespace phosphene::capture::test;

TEST_CASE("a linear scale cuts its range into sixteen equal parts") {
  const Scale scale({0, 16, Shape::kLinear});
  for (int k = 0; k < 16; ++k) {
    CHECK(scale.level(k) == k);
    CHECK(scale.level(std::nextafter(k + 1.0, 0)) == k);
  }
  CHECK(scale.level(16) == 15);
  CHECK(scale.level(-1) == 0);
  CHECK(scale.level(1e300) == 15);
  CHECK(scale.level(-1e300) == 0);
}

TEST_CASE("zero is the lower edge of level 8 of a symmetric scale") {
  const Scale scale({-3, 3, Shape::kSymmetric});
  CHECK(scale.level(0) == 8);
  CHECK(scale.level(-1e-3) == 7);
  CHECK(scale.level(3) == 15);
  CHECK(scale.level(-3) == 0);
}

TEST_CASE("case_02: a range without width draws level 8") {
  for (const double x : {0.0, 5.0, -5.0, 1e-320, 1e300})
    CHECK(Scale({x, x, Shape::kLinear}).level(x) == 8);
}

TEST_CASE("case_04: neither the largest nor the smallest float64 overflow") {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const Scale whole({-kLargest, kLargest, Shape::kSymmetric});
  CHECK(whole.level(-kLargest) == 0);
  CHECK(whole.level(kLargest) == 15);
  CHECK(whole.level(0) == 8);
  CHECK(whole.level(kLargest / 4) == 10);
  const Scale tiny({0, 16 * 5e-324, Shape::kLinear});
  for (int k = 0; k < 16; ++k) CHECK(tiny.level(k * 5e-324) == k);
}

TEST_CASE("a log scale has four levels a decade over four decades") {
  const Scale scale({1e-4, 1, Shape::kLog});
  CHECK(scale.level(0) == 0);
  CHECK(scale.level(1e-30) == 0);
  CHECK(scale.level(1.5e-4) == 0);
  CHECK(scale.level(1.001e-3) == 4);
  CHECK(scale.level(0.999e-3) == 3);
  CHECK(scale.level(-1.001e-2) == 8);
  CHECK(scale.level(1.001e-1) == 12);
  CHECK(scale.level(1) == 15);
  CHECK(scale.level(50) == 15);
  CHECK(Scale({0.25, 0.25, Shape::kLog}).level(0.25) == 8);
  CHECK(Scale({0.25, 0.25, Shape::kLog}).level(0) == 0);
}

TEST_CASE("a log scale is within rounding of its logarithms") {
  const double lo = 3.7e-9, hi = 2.2e-4;
  const Scale scale({lo, hi, Shape::kLog});
  for (int i = 0; i < 1600; ++i) {
    const double place = (i + 0.5) / 100;  // in levels, never on an edge
    CHECK(scale.level(lo * std::pow(hi / lo, place / 16)) == static_cast<int>(place));
  }
}

TEST_CASE("float32 thresholds are the first float32 of each level") {
  const std::vector<Range> ranges = {{0, 16, Shape::kLinear},
                                     {-1, 1, Shape::kSymmetric},
                                     {-0.0517, 0.0833, Shape::kLinear},
                                     {1e8, 1e8 + 64, Shape::kLinear},
                                     {-3e38, 3e38, Shape::kSymmetric},
                                     {0, 1e-44, Shape::kLinear},
                                     {1e-4, 1, Shape::kLog},
                                     {1e-45, 1e-41, Shape::kLog},
                                     {1e24, 1e28, Shape::kLog},
                                     {0, 1e60, Shape::kLinear},
                                     {5, 5, Shape::kLinear},
                                     {-1e-300, 1e-300, Shape::kSymmetric}};
  for (const Range& range : ranges) {
    CAPTURE(range.lo);
    CAPTURE(range.hi);
    const Scale scale(range);
    const auto thresholds = scale.float32_thresholds();
    for (int k = 1; k < 16; ++k) {
      CAPTURE(k);
      const float threshold = thresholds[static_cast<std::size_t>(k - 1)];
      if (threshold < kInf) CHECK(scale.level(double{threshold}) >= k);
      const float below = std::nextafter(threshold, -kInf);
      if (range.shape == Shape::kLog ? threshold > kTiny : threshold > -kMax)
        CHECK(scale.level(double{below}) < k);
    }
  }
}
