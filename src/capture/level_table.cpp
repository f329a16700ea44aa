#include "capture/level_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace phosphene::capture {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

float guessed_from(float y, Reading reading) {
  return reading == Reading::kLogMagnitude ? static_cast<float>(std::bit_cast<std::int32_t>(y)) : y;
}

bool guess_holds(const LevelTable& table, std::span<const float, 15> thresholds, float y) {
  const auto level =
      static_cast<int>(std::ranges::count_if(thresholds, [&](float t) { return y >= t; }));
  const float t = std::fma(guessed_from(y, table.reading), table.factor, table.bias);
  if (!(t == t)) return false;
  if (t >= 8) return level == 15;
  if (t <= -1) return level == 0;
  const int j = t > 0 ? static_cast<int>(t) : 0;
  return 2 * j <= level && level <= 2 * j + 2;
}

bool guess_always_holds(const LevelTable& table, std::span<const float, 15> thresholds) {
  if (!std::isfinite(table.factor) || !(table.factor >= 0) || !std::isfinite(table.bias))
    return false;
  const float least = table.reading == Reading::kValue ? -kLargest : 0.0f;
  if (!guess_holds(table, thresholds, least) || !guess_holds(table, thresholds, kLargest))
    return false;
  return std::ranges::all_of(thresholds, [&](float threshold) {
    if (threshold == kInfinity || threshold <= least) return true;
    return guess_holds(table, thresholds, threshold) &&
           guess_holds(table, thresholds, std::nextafter(threshold, -kInfinity));
  });
}

}  // namespace

LevelTable make_level_table(const Scale& scale, bool magnitude) {
  const Range& range = scale.range();
  const std::array<float, 15> thresholds = scale.float32_thresholds();
  LevelTable table;
  table.reading = range.shape == Shape::kLog ? Reading::kLogMagnitude
                  : magnitude                ? Reading::kMagnitude
                                             : Reading::kValue;
  for (int j = 0; j < 8; ++j) {
    table.odd[j] = thresholds[2 * j];
    table.even[j] = j < 7 ? thresholds[2 * j + 1] : kInfinity;
  }
  if (range.lo == range.hi && table.reading != Reading::kLogMagnitude) {
    table.bias = 4;
  } else {
    double lo = range.lo, hi = range.hi;
    if (table.reading == Reading::kLogMagnitude) {
      const auto bits = [](double x) {
        return double{guessed_from(static_cast<float>(std::min(x, double{kLargest})),
                                   Reading::kLogMagnitude)};
      };
      lo = bits(lo);
      hi = bits(hi);
    }
    const double factor = 4 / (hi / 2 - lo / 2);
    table.factor = static_cast<float>(factor);
    table.bias = static_cast<float>(-lo * factor - 0.25);
  }
  table.usable = guess_always_holds(table, thresholds);
  return table;
}

}  // namespace phosphene::capture
