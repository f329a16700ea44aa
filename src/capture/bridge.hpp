// All that the trainer's thread and the sender's thread share.
#pragma once

#include <atomic>
#include <cstdint>

#include "capture/catalogue.hpp"
#include "capture/fork_guard.hpp"
#include "capture/messages.hpp"
#include "capture/scalar_ring.hpp"
#include "capture/wake_up.hpp"
#include "capture/watch.hpp"

namespace phosphene::capture {

/// A number that one thread writes and another reads.
template <typename T>
class Gauge {
 public:
  T get() const { return value_.load(std::memory_order_acquire); }
  void set(T value) { value_.store(value, std::memory_order_release); }
  void add(T value) { set(get() + value); }  // one writer: no read-modify-write

 private:
  std::atomic<T> value_{};
};

/// Owned by both: whoever ends last frees it, so that neither waits for the other.
struct Bridge {
  // Written by the trainer.
  alignas(64) Gauge<std::uint64_t> steps;  // how many
  Gauge<std::uint64_t> step;               // the latest one's number
  Gauge<double> cost_us;
  Gauge<std::uint64_t> frames_captured;
  Gauge<std::uint64_t> frames_dropped_queue;
  Gauge<std::uint64_t> frames_dropped_budget;
  Gauge<std::int64_t> close_by_us;  // monotonic; 0 while the session is open

  // Written by the sender.
  alignas(64) Gauge<std::uint64_t> frames_sent;
  Gauge<std::uint64_t> scalars_dropped;  // beside those that the ring refused
  Gauge<bool> connected;

  alignas(64) CurrentWatch watch;
  Catalogue catalogue;
  ScalarRing scalars;
  WakeUp to_sender;
  WakeUp finished;  // the sender has ended
  ForkGuard fork_guard;
};

}  // namespace phosphene::capture
