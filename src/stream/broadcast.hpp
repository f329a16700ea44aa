// The fragments of one channel: one thread writes, the loop thread reads for every viewer.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "phosphene.pb.h"

namespace phosphene::stream {

/// A message ready to be written: the serialised ToPage, and where in it the bare MP4 bytes lie. Shared, never changed.
struct Message {
  std::string bytes;               // serialised phosphene.v1.ToPage
  std::size_t media_offset = 0;    // init segment or fragment within `bytes`
  std::size_t media_bytes = 0;     // 0: no media in it
  bool keyframe = false;           // a viewer may start here (fragments)
};
using SharedMessage = std::shared_ptr<const Message>;

/// Thread-safe. Bounded: at most kMaxFragments and kMaxBytes, the oldest go first; a viewer who was at one of them
/// waits for the next keyframe.
class Broadcast {
 public:
  static constexpr std::size_t kMaxFragments = 256;
  static constexpr std::size_t kMaxBytes = 32u << 20;

  /// `wake` is called after each change, from the writer's thread, and must not block.
  explicit Broadcast(std::function<void()> wake);

  // The writer.
  void start(const v1::ChannelStart& start);       // a new epoch: what was queued of the old one goes
  void stop(std::string_view why);                 // no picture now
  void push(std::vector<std::uint8_t> fragment, bool keyframe);
  /// True once after a viewer asked for a keyframe.
  bool take_keyframe_request();

  // The reader, for each viewer.
  struct Cursor {
    std::uint64_t state = 0;      // of start/stop messages seen
    std::uint64_t next = 0;       // fragment wanted next
    bool waiting = true;          // for a keyframe
    std::uint64_t skipped = 0;    // fragments this viewer did not get
  };
  /// The next message for a viewer, or null. Asks for a keyframe where the viewer needs one.
  SharedMessage next(Cursor& cursor);

  void add_viewer() { ++viewers_; }
  void remove_viewer() { --viewers_; }
  int viewers() const { return viewers_; }

  /// Fragments that were pushed out of the ring before every viewer had them, and other counters.
  struct Counters {
    std::uint64_t fragments = 0, bytes = 0, skipped = 0;
  };
  Counters counters() const;

 private:
  struct State {
    std::uint64_t state_number = 0;
    SharedMessage state;
    std::uint64_t epoch = 0;
    bool running = false;
    std::uint64_t first = 0;  // number of fragments.front()
    std::deque<SharedMessage> fragments;
    std::size_t bytes = 0;
    Counters counters;
  };
  Guarded<State> state_;
  std::atomic<bool> keyframe_wanted_{false};
  std::atomic<int> viewers_{0};
  std::function<void()> wake_;
};

}  // namespace phosphene::stream
