// A view being shown: follows a run, draws its newest frame at the view's rate, broadcasts the
// fragments.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "app/runs.hpp"
#include "base/guarded.hpp"
#include "stream/broadcast.hpp"
#include "stream/view.hpp"

namespace phosphene::app {

/// What all channels did, for /metrics. Thread-safe.
struct ChannelCounters {
  std::atomic<std::uint64_t> frames_drawn{0};
  std::atomic<std::uint64_t> frames_encoded{0};  // repeats included
  std::atomic<std::uint64_t> bytes_encoded{0};
  std::atomic<std::uint64_t> ticks_missed{0};   // encoding took longer than the view's rate allows
  std::atomic<std::uint64_t> tiles_refused{0};  // did not fit their section
  std::atomic<std::uint64_t> failures{0};       // of the encoder
};

/// Works on a thread of its own from construction until nobody has watched for kLingerUs, or
/// destruction. Thread-safe.
class Channel {
 public:
  static constexpr std::int64_t kLingerUs =
      2'000'000;  // who reloads the page finds the channel as it was

  Channel(stream::View view, Runs& runs, std::string encoder, ChannelCounters& counters,
          std::function<void()> wake);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const stream::View& view() const { return view_; }
  const std::shared_ptr<stream::Broadcast>& broadcast() const { return broadcast_; }
  /// A viewer is about to come: the channel waits for him. False: it has finished, and shows
  /// nothing more.
  bool expect_viewer();
  /// Ends the thread soon; the destructor waits for it.
  void stop() { stopping_ = true; }
  bool finished() const;

 private:
  class Work;
  struct Life {
    std::int64_t watched_us = 0;  // when somebody last did
    bool finished = false;
  };
  /// Ends the channel's life unless somebody watches or did so lately. True: it has ended.
  bool end_unless_watched();

  const stream::View view_;
  const std::shared_ptr<stream::Broadcast> broadcast_;
  std::atomic<bool> stopping_{false};
  Guarded<Life> life_;
  std::thread thread_;
};

}  // namespace phosphene::app
