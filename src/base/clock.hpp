// The two clocks of the project, in microseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace phosphene {

/// For intervals: never goes back, means nothing outside this machine.
inline std::int64_t monotonic_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// For people and for messages between machines: microseconds since 1970. Can be set back by its
/// owner.
inline std::int64_t unix_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace phosphene
