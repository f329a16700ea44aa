#include "capture/range.hpp"

#include <algorithm>
#include <cmath>

namespace phosphene::capture {
namespace {

constexpr int kHalfWindow = 32;        // frames
constexpr double kNarrowBelow = 0.75;  // of the present width
constexpr int kStepsAnOctave = 4;
constexpr double kLargest = std::numeric_limits<double>::max();

double reach(const Bounds& bounds) {
  return std::max(std::abs(bounds.min), std::abs(bounds.max));
}

/// The next number ≥ x > 0 of a grid with so many steps between a power of two and the next.
double round_up(double x, int steps_an_octave) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // 0.5 … 1
  const int steps = 2 * steps_an_octave;
  return std::min(std::ldexp(std::ceil(fraction * steps) / steps, exponent), kLargest);
}

/// lo and hi outwards to multiples of about an eighth of their distance.
void round_outwards(double& lo, double& hi) {
  int exponent = 0;
  std::frexp(hi / 2 - lo / 2, &exponent);
  const double step = std::ldexp(1.0, exponent - 2);
  if (!(step > 0)) return;
  lo = std::max(std::floor(lo / step) * step, -kLargest);
  hi = std::min(std::ceil(hi / step) * step, kLargest);
}

// In halves, since hi − lo may be more than float64 holds.
double half_width(const Range& range) {
  return range.shape == Shape::kLog ? range.hi / 2 : range.hi / 2 - range.lo / 2;
}

Range log_range(double hi, double decades) {
  const double lo = hi / std::pow(10.0, decades);
  return {std::max(lo, std::numeric_limits<double>::denorm_min()), hi, Shape::kLog};
}

double usable_decades(double decades) {
  return decades > 0 ? std::clamp(decades, 0.01, 300.0) : 4.0;
}

Range fixed_range(const Scaling& scaling) {
  double lo = std::isfinite(scaling.lo) ? scaling.lo : 0;
  double hi = std::isfinite(scaling.hi) ? scaling.hi : 0;
  if (lo > hi) std::swap(lo, hi);
  switch (scaling.shape) {
    case Shape::kSymmetric: {
      const double a = std::max(std::abs(lo), std::abs(hi));
      return {-a, a, Shape::kSymmetric};
    }
    case Shape::kLog:
      if (lo > 0) return {lo, hi, Shape::kLog};
      return log_range(hi > 0 ? hi : 1, scaling.decades);
    case Shape::kLinear:
    case Shape::kAuto:
      break;
  }
  return {lo, hi, Shape::kLinear};
}

/// Where nothing finite was seen yet.
Range blank_range(const Scaling& scaling) {
  if (scaling.shape == Shape::kLog) return log_range(1, scaling.decades);
  return {0, 0, scaling.shape == Shape::kSymmetric ? Shape::kSymmetric : Shape::kLinear};
}

bool covers(const Range& range, const Bounds& bounds) {
  if (range.shape == Shape::kLog) return reach(bounds) <= range.hi;
  return range.lo <= bounds.min && bounds.max <= range.hi;
}

}  // namespace

void Bounds::add(const Bounds& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

RangeTracker::RangeTracker(const Scaling& scaling) : scaling_(scaling) {
  scaling_.decades = usable_decades(scaling.decades);
  range_ = scaling.range == RangeMode::kFixed ? fixed_range(scaling_) : blank_range(scaling_);
}

Range RangeTracker::fit(const Bounds& bounds) const {
  const bool coarse = scaling_.range == RangeMode::kSteady;
  const double a = reach(bounds);
  const auto top = [&] { return coarse && a > 0 ? round_up(a, kStepsAnOctave) : a; };
  switch (scaling_.shape) {
    case Shape::kLinear: {
      double lo = bounds.min, hi = bounds.max;
      if (coarse && lo < hi) round_outwards(lo, hi);
      return {lo, hi, Shape::kLinear};
    }
    case Shape::kSymmetric:
      return {-top(), top(), Shape::kSymmetric};
    case Shape::kLog:
      if (a == 0) return blank_range(scaling_);
      return log_range(coarse ? round_up(a, 1) : a, scaling_.decades);
    case Shape::kAuto:
      break;
  }
  if (bounds.min < 0) return {-top(), top(), Shape::kSymmetric};
  return {0, top(), Shape::kLinear};
}

Range RangeTracker::update(const Bounds& frame) {
  if (scaling_.range == RangeMode::kFixed) return range_;
  if (frame.empty()) return scaling_.range == RangeMode::kFrame ? blank_range(scaling_) : range_;
  if (scaling_.range == RangeMode::kFrame) return range_ = fit(frame);

  if (!known_) {
    range_ = fit(frame);
    known_ = scaling_.shape != Shape::kLog ||
             reach(frame) > 0;  // zeros say nothing about where the top is
  } else if (!covers(range_, frame)) {
    Bounds both = frame;
    both.add({range_.shape == Shape::kLog ? 0 : range_.lo, range_.hi});
    range_ = fit(both);
  }
  const Range drawn = range_;

  recent_.add(frame);
  if (++frames_ == kHalfWindow) {
    before_.add(recent_);
    const Range narrow = fit(before_);
    // A tensor that became constant keeps its range: a picture of one grey would say less.
    if (known_ && half_width(narrow) > 0 &&
        half_width(narrow) <= kNarrowBelow * half_width(range_) && reach(before_) > 0)
      range_ = narrow;
    before_ = recent_;
    recent_ = {};
    frames_ = 0;
  }
  return drawn;
}

Range range_of_magnitudes(const Range& range, double decades) {
  if (range.shape != Shape::kSymmetric) return range;
  if (decades > 0 && range.hi > 0) return log_range(range.hi, usable_decades(decades));
  return {0, range.hi, Shape::kLinear};
}

}  // namespace phosphene::capture
