// How long something took on this thread, for the books of what the hook costs.
#pragma once

#include <chrono>

namespace phosphene::capture {

using Microseconds = std::chrono::duration<double, std::micro>;

/// Microseconds of the steady clock, with its fractions.
inline double precise_us() {
  return Microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  double elapsed_us() const { return precise_us() - began_us_; }

 private:
  double began_us_ = precise_us();
};

}  // namespace phosphene::capture
