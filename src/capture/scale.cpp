#include "capture/scale.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

namespace phosphene::capture {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// float32 numbers in their order as integers in theirs, −0 and 0 apart; ±∞ are the ends.
std::int64_t rank_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return bits >> 31 ? -std::int64_t{bits & 0x7fffffff} - 1 : std::int64_t{bits};
}

float float_of(std::int64_t rank) {
  const auto bits = rank < 0 ? static_cast<std::uint32_t>(-rank - 1) | 0x80000000u
                             : static_cast<std::uint32_t>(rank);
  return std::bit_cast<float>(bits);
}

// The smallest float32 for which `reached` holds, which it does from there on: outwards from a
// guess in doubling steps, then by halves. +∞ if none.
template <typename Reached>
float first_reached(float guess, std::int64_t lowest, Reached reached) {
  const std::int64_t infinity = rank_of(std::numeric_limits<float>::infinity());
  std::int64_t below = rank_of(guess);  // a rank that has not reached, or lowest − 1
  std::int64_t above = below;           // a rank that has reached, or infinity
  if (above < infinity && !reached(float_of(above))) {
    for (std::int64_t step = 1; above < infinity && !reached(float_of(above)); step *= 2) {
      below = above;
      above = std::min(above + step, infinity);
    }
  } else {
    for (std::int64_t step = 1; below >= lowest && reached(float_of(below)); step *= 2) {
      above = below;
      below = std::max(below - step, lowest - 1);
    }
  }
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (reached(float_of(middle)) ? above : below) = middle;
  }
  return float_of(above);
}

}  // namespace

Scale::Scale(const Range& range) : range_(range) {
  if (range.shape == Shape::kLog) {
    assert(0 < range.lo && range.lo <= range.hi);
    const double s8 = std::sqrt(range.hi) / std::sqrt(range.lo), s4 = std::sqrt(s8),
                 s2 = std::sqrt(s4), s1 = std::sqrt(s2);
    for (int k = 1; k < kLevels; ++k) {
      double power = 1;
      if (k & 8) power *= s8;
      if (k & 4) power *= s4;
      if (k & 2) power *= s2;
      if (k & 1) power *= s1;
      terms_.thresholds[k - 1] = power * range.lo;
    }
    if (range.lo == range.hi)
      for (int k = 1; k < kLevels; ++k)
        terms_.thresholds[k - 1] = k <= 8 ? std::numeric_limits<double>::denorm_min() : kInfinity;
    return;
  }
  constexpr double kLarge = 0x1p1000;
  if (std::abs(range.lo) > kLarge || std::abs(range.hi) > kLarge) terms_.unit = 0x1p-8;
  terms_.lo = range.lo * terms_.unit;
  terms_.span = range.hi * terms_.unit - terms_.lo;
  if (!(terms_.span > 0)) terms_ = {0, -8, 16, {}};  // level 8, whatever x
}

int Scale::level(double x) const {
  if (range_.shape == Shape::kLog) {
    const double magnitude = std::abs(x);
    int level = 0;
    for (const double threshold : terms_.thresholds) level += magnitude >= threshold;
    return level;
  }
  const double level = 16 * (x * terms_.unit - terms_.lo) / terms_.span;
  return level >= 15 ? 15 : level > 0 ? static_cast<int>(level) : 0;
}

std::array<float, 15> Scale::float32_thresholds() const {
  std::array<float, 15> thresholds;
  for (int k = 1; k < kLevels; ++k) {
    const bool log = range_.shape == Shape::kLog;
    const double near =
        log ? terms_.thresholds[k - 1] : (terms_.lo + terms_.span * k / 16) / terms_.unit;
    const double clipped = std::min(std::max(near, -double{std::numeric_limits<float>::max()}),
                                    double{std::numeric_limits<float>::max()});
    const std::int64_t lowest = log ? rank_of(std::numeric_limits<float>::denorm_min())
                                    : rank_of(-std::numeric_limits<float>::max());
    thresholds[k - 1] = first_reached(static_cast<float>(clipped), lowest,
                                      [&](float x) { return level(double{x}) >= k; });
  }
  return thresholds;
}

}  // namespace phosphene::capture
