// What a forked child must not do: use a session whose sender thread stayed in the parent.
#pragma once

#include <atomic>

namespace phosphene::capture {

/// Registers itself for the time it lives. In a forked child forked() is true and the file
/// descriptor held is closed there, so that the server sees the parent's end when the parent ends.
/// Thread-safe.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  bool forked() const { return forked_.load(std::memory_order_relaxed); }

  /// The descriptor to close in a child; -1: none. To be called before it is closed here.
  void hold(int fd) { fd_.store(fd, std::memory_order_relaxed); }

 private:
  static void before_fork();
  static void after_in_parent();
  static void after_in_child();

  std::atomic<bool> forked_{false};
  std::atomic<int> fd_{-1};
  ForkGuard* previous_ = nullptr;
  ForkGuard* next_ = nullptr;
};

}  // namespace phosphene::capture
