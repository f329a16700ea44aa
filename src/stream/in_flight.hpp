// What was sent to a page and has not arrived yet, as far as the page says.
#pragma once

#include <cstdint>
#include <deque>

namespace phosphene::stream {

/// A tunnel, a proxy or a full queue on the way swallows seconds of video before TCP notices; the
/// page would show the past and call it live. So pages acknowledge, and where the oldest fragment
/// on its way is too old, nothing follows it: the newest keyframe is worth more. A page that never
/// acknowledges is taken at TCP's word. Bound to the loop thread.
class InFlight {
 public:
  static constexpr std::int64_t kPatience_us = 1'500'000;

  void sent(std::int64_t now_us) {
    ++sent_;
    if (acknowledges_) times_us_.push_back(now_us);
  }

  /// `count` fragments have come since the connection began; more than were sent are no more than
  /// all of them.
  void arrived(std::uint64_t count) {
    acknowledges_ = true;
    const std::uint64_t missing = count < sent_ ? sent_ - count : 0;
    while (times_us_.size() > missing) times_us_.pop_front();
  }

  /// Nothing should follow now. So what is remembered is bounded, too.
  bool is_late(std::int64_t now_us) const {
    return !times_us_.empty() && now_us - times_us_.front() > kPatience_us;
  }

 private:
  bool acknowledges_ = false;
  std::uint64_t sent_ = 0;
  std::deque<std::int64_t> times_us_;  // of those that did not arrive, as far as we know
};

}  // namespace phosphene::stream
