// Numbers of a step ("loss"), from the trainer's thread to the sender's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace phosphene::capture {

struct ScalarPoint {
  std::uint64_t step = 0;
  double value = 0;
  std::uint32_t series = 0;
};

/// One writer, one reader, no lock. What is pushed becomes visible when its step is known. A full
/// ring refuses the newer points and counts them.
class ScalarRing {
 public:
  static constexpr std::size_t kCapacity = 1u << 14;
  static constexpr std::size_t kMaxSeries = 64;
  static constexpr std::size_t kMaxNameBytes = 128;

  /// Trainer. False: a name too many or too long, or no room.
  bool push(std::string_view name, double value) {
    const std::size_t series = series_of(name);
    if (series == kMaxSeries || next_ - begin_.load(std::memory_order_acquire) == kCapacity) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return false;
    }
    points_[next_++ % kCapacity] = {0, value, static_cast<std::uint32_t>(series)};
    return true;
  }

  /// Trainer: what was pushed since the last call belongs to `step`.
  void publish(std::uint64_t step) {
    std::size_t end = end_.load(std::memory_order_relaxed);
    if (end == next_) return;
    for (; end != next_; ++end) points_[end % kCapacity].step = step;
    end_.store(end, std::memory_order_release);
  }

  /// Sender: calls `function(const ScalarPoint&, const std::string& name)` for each point, oldest
  /// first.
  template <typename Function>
  void drain(Function&& function) {
    std::size_t begin = begin_.load(std::memory_order_relaxed);
    const std::size_t end = end_.load(std::memory_order_acquire);
    for (; begin != end; ++begin) {
      const ScalarPoint& point = points_[begin % kCapacity];
      function(point, names_[point.series]);
    }
    begin_.store(begin, std::memory_order_release);
  }

  /// Any thread.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  // Loops push the same names in the same order, so the one after the last is tried first. A name
  // is written before any point that bears it is published, and never changes: the sender reads it
  // without a lock.
  std::size_t series_of(std::string_view name) {
    for (std::size_t tried = 0; tried < series_; ++tried) {
      if (++last_ >= series_) last_ = 0;
      if (names_[last_] == name) return last_;
    }
    if (series_ == kMaxSeries || name.empty() || name.size() > kMaxNameBytes) return kMaxSeries;
    names_[series_] = name;
    return last_ = series_++;
  }

  std::unique_ptr<ScalarPoint[]> points_ = std::make_unique<ScalarPoint[]>(kCapacity);
  std::array<std::string, kMaxSeries> names_;
  std::size_t series_ = 0;
  std::size_t last_ = 0;
  std::size_t next_ = 0;  // behind the last point pushed
  std::atomic<std::uint64_t> dropped_{0};
  alignas(64) std::atomic<std::size_t> end_{0};    // behind the last point published
  alignas(64) std::atomic<std::size_t> begin_{0};  // the first point not yet read
};

}  // namespace phosphene::capture
