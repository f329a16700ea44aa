// The newest frame, from the trainer's thread to the sender's: a queue of one that drops the older.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace phosphene::capture {

/// Three slots that circulate without a lock and without an allocation. draft() and post() belong
/// to one thread, take() to another one. What is full when something newer comes is dropped: post()
/// says so.
template <typename T>
class Mailbox {
 public:
  /// To fill all three before the threads begin.
  std::array<T, 3>& slots() { return slots_; }

  /// The slot to be filled; its old content is of no use.
  T& draft() { return slots_[draft_]; }

  /// Hands the draft over. False: the one before was never taken, and is dropped.
  bool post() {
    const std::uint8_t before = middle_.exchange(draft_ | kFresh, std::memory_order_acq_rel);
    draft_ = before & kIndex;
    return !(before & kFresh);
  }

  /// What was posted last, valid until the next take(); nullptr if nothing new was.
  T* take() {
    if (!(middle_.load(std::memory_order_relaxed) & kFresh)) return nullptr;
    taken_ = middle_.exchange(taken_, std::memory_order_acq_rel) & kIndex;
    return &slots_[taken_];
  }

 private:
  static constexpr std::uint8_t kIndex = 3;
  static constexpr std::uint8_t kFresh = 4;

  std::array<T, 3> slots_;
  std::uint8_t draft_ = 0;
  std::uint8_t taken_ = 2;
  alignas(64) std::atomic<std::uint8_t> middle_{1};
};

}  // namespace phosphene::capture
