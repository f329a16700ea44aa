#include "app/phase.hpp"

#include <algorithm>

namespace phosphene::app {
namespace {

constexpr std::int64_t kGuardUs = 3'000;  // frames are to be drawn so long before the tick
constexpr std::size_t kOutliers = 2;      // of the ticks that are looked at
constexpr std::int64_t kSlowness = 50;

}  // namespace

std::int64_t Phase::after_tick(int frames, std::int64_t early_us) {
  if (to_move_us_ != 0) {
    const std::int64_t most = period_us_ / kSlowness;
    const std::int64_t now = std::clamp(to_move_us_, -most, most);
    to_move_us_ -= now;
    return now;
  }
  if (frames == 1) early_us_[with_one_++] = early_us;
  frames_ += static_cast<std::size_t>(frames);
  if (++ticks_ == kTicks) {
    decide();
    ticks_ = with_one_ = frames_ = 0;
  }
  return 0;
}

void Phase::decide() {
  if (frames_ + kOutliers < kTicks || frames_ > kTicks + kOutliers) return;  // another rate
  if (with_one_ + kOutliers < kTicks) {
    // The right rate, but frames come on both sides of the ticks.
    to_move_us_ = period_us_ / 4;
    return;
  }
  const auto least = early_us_.begin() + kOutliers;
  std::nth_element(early_us_.begin(), least, early_us_.begin() + with_one_);
  // Back and forth by less than this would only make the ticks uneven.
  const std::int64_t spare = *least - kGuardUs;
  if (spare > kGuardUs || spare < -kGuardUs / 2) to_move_us_ = -spare;
}

}  // namespace phosphene::app
