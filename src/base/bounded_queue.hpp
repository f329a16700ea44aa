// A bounded queue between two threads. What happens when it is full is part of its type.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace phosphene {

enum class WhenFull {
  kDropOldest,  // the newest counts: frames
  kRefuse,      // nothing may be lost unseen: commands
};

/// Thread-safe. At most `capacity` items; what is dropped or refused is counted.
template <typename T, WhenFull kPolicy>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity ? capacity : 1) {}

  /// Never waits for room. False when the queue is closed, or full under kRefuse.
  bool try_push(T item) {
    std::optional<T> evicted;  // destroyed after the lock is gone: a frame may be large
    {
      std::lock_guard lock(mutex_);
      if (closed_) return false;
      if (items_.size() == capacity_) {
        ++dropped_;
        if constexpr (kPolicy == WhenFull::kRefuse) return false;
        evicted.emplace(std::move(items_.front()));
        items_.pop_front();
      }
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
    return true;
  }

  std::optional<T> try_pop() {
    std::lock_guard lock(mutex_);
    return take();
  }

  /// Waits until an item comes, the queue closes or the time is over.
  std::optional<T> pop_for(std::chrono::microseconds timeout) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, timeout, [&] { return closed_ || !items_.empty(); });
    return take();
  }

  /// Wakes every waiter. What is queued can still be popped.
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return items_.size();
  }

  /// Items lost to a full queue since the start.
  std::uint64_t dropped() const {
    std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
};

}  // namespace phosphene
