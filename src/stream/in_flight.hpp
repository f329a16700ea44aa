// What was sent to a page and has not arrived yet, as far as the page says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace phosphene::stream {

/// A tunnel, a proxy or a modem swallows megabytes of video before TCP notices; the page would show
/// the past and call it live. So pages acknowledge, and no more is on its way to one than arrived
/// there in a second, or kLeast: the newest keyframe is worth more than what would follow. A page
/// that never acknowledges is taken at TCP's word. Bound to the loop thread.
class InFlight {
 public:
  static constexpr std::size_t kLeast = 256u << 10;  // bytes
  static constexpr std::int64_t kSecond_us = 1'000'000;

  void sent(std::size_t bytes) {
    ++sent_;
    if (!acknowledges_) return;
    missing_.push_back(bytes);
    missing_bytes_ += bytes;
  }

  /// `count` fragments have come since the connection began; no more than were sent.
  void arrived(std::uint64_t count, std::int64_t now_us) {
    acknowledges_ = true;
    std::size_t bytes = 0;
    for (const std::uint64_t left = sent_ - std::min(count, sent_); missing_.size() > left;) {
      bytes += missing_.front();
      missing_.pop_front();
    }
    missing_bytes_ -= bytes;
    arrived_bytes_ += bytes;
    if (bytes > 0) arrivals_.push_back({now_us, bytes});
    while (!arrivals_.empty() && now_us - arrivals_.front().time_us > kSecond_us) {
      arrived_bytes_ -= arrivals_.front().bytes;
      arrivals_.pop_front();
    }
  }

  /// Nothing should follow now. A single fragment is never too much.
  bool is_full() const { return missing_bytes_ >= std::max(kLeast, arrived_bytes_); }

 private:
  struct Arrival {
    std::int64_t time_us;
    std::size_t bytes;
  };

  bool acknowledges_ = false;
  std::uint64_t sent_ = 0;           // fragments
  std::deque<std::size_t> missing_;  // bytes of those that did not arrive, as far as we know
  std::size_t missing_bytes_ = 0;
  std::deque<Arrival> arrivals_;  // of the last second
  std::size_t arrived_bytes_ = 0;
};

}  // namespace phosphene::stream
