// One thread's way to wake another that sleeps in poll().
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

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

  void wait_ms(int timeout_ms) const {
    pollfd waiting{fd_.get(), POLLIN, 0};
    ::poll(&waiting, 1, timeout_ms);
  }

 private:
  UniqueFd fd_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

}  // namespace phosphene::capture
