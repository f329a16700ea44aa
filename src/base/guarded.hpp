// Data that several threads share, reachable only while its lock is held.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace phosphene {

/// Thread-safe. `guarded.with([](T& data) { … })` runs the function under the lock and returns its
/// result. Keep the function short and never call back into code that could take the same lock.
template <typename T>
class Guarded {
 public:
  template <typename... Args>
  explicit Guarded(Args&&... args) : data_(std::forward<Args>(args)...) {}

  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  template <typename Function>
  decltype(auto) with(Function&& function) {
    std::lock_guard lock(mutex_);
    return std::invoke(std::forward<Function>(function), data_);
  }

  template <typename Function>
  decltype(auto) with(Function&& function) const {
    std::lock_guard lock(mutex_);
    return std::invoke(std::forward<Function>(function), data_);
  }

 private:
  mutable std::mutex mutex_;
  T data_;
};

}  // namespace phosphene
