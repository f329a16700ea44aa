// When within its period a channel ticks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace phosphene::app {

/// A frame that is drawn just after a tick waits a whole period to be seen. Where frames come at
/// the channel's own rate, this moves the ticks until frames are drawn shortly before them; where
/// they come at another rate, there is nothing to win and it leaves the ticks alone. Bound to the
/// channel's thread.
class Phase {
 public:
  explicit Phase(std::int64_t period_us) : period_us_(period_us) {}

  /// After a tick before which `frames` frames were drawn, the last `early_us` before it. By how
  /// much later than a period (earlier: negative) the next tick should come, at most a fiftieth of
  /// a period: a player follows that without a stumble.
  std::int64_t after_tick(int frames, std::int64_t early_us);

 private:
  static constexpr std::size_t kTicks = 32;  // looked at before anything is moved

  void decide();

  const std::int64_t period_us_;
  std::int64_t to_move_us_ = 0;
  std::array<std::int64_t, kTicks> early_us_{};  // of ticks with one frame
  std::size_t ticks_ = 0;
  std::size_t with_one_ = 0;
  std::size_t frames_ = 0;
};

}  // namespace phosphene::app
