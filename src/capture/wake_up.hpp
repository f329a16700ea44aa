// One thread's way to wake another that sleeps in poll().
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/clock.hpp"
#include "base/handle.hpp"

namespace phosphene::capture {

/// Thread-safe. Stays signalled until cleared. Without file descriptors left it never wakes
/// anybody, and sleepers go by their timeouts.
class WakeUp {
 public:
  int fd() const { return fd_.get(); }

  void signal() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
  }

  void clear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
  }

  /// Signals that the process handles meanwhile do not end it.
  void wait_ms(int timeout_ms) const {
    const std::int64_t until_us = monotonic_us() + std::int64_t{1000} * timeout_ms;
    pollfd waiting{fd_.get(), POLLIN, 0};
    while (::poll(&waiting, 1, timeout_ms) < 0 && errno == EINTR) {
      const std::int64_t left_us = std::max<std::int64_t>(until_us - monotonic_us(), 0);
      timeout_ms = static_cast<int>((left_us + 999) / 1000);
    }
  }

 private:
  UniqueFd fd_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

}  // namespace phosphene::capture
