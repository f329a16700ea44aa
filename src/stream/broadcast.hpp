// The fragments of one channel: one thread writes, the loop thread reads for every viewer.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.hpp"
#include "phosphene.pb.h"

namespace phosphene::stream {

/// A message ready to be written: a serialised ToPage, and where in it the bare MP4 bytes lie.
/// Shared by all viewers; never changed but for the headroom, which is the loop thread's:
/// libwebsockets writes each frame's header there.
struct Message {
  static constexpr std::size_t kHeadroom = 32;

  mutable std::string bytes;     // kHeadroom bytes, then the serialised ToPage
  std::size_t media_offset = 0;  // init segment or fragment within `bytes`
  std::size_t media_bytes = 0;   // 0: no media in it
  bool fragment = false;
  bool keyframe = false;  // a viewer may start here (fragments)

  std::size_t size() const { return bytes.size() - kHeadroom; }  // of the ToPage
  std::string_view page() const { return std::string_view(bytes).substr(kHeadroom); }
  std::string_view media() const {
    return std::string_view(bytes).substr(media_offset, media_bytes);
  }
};
using SharedMessage = std::shared_ptr<const Message>;

/// Serialises a message without media.
SharedMessage make_message(const v1::ToPage& message);

/// Thread-safe. Bounded: half a second of frames, at least four, at most kMaxFragments, and
/// kMaxBytes; the oldest go first, and a viewer who was at one of them waits for the next keyframe.
class Broadcast {
 public:
  static constexpr std::size_t kMaxFragments = 128;
  static constexpr std::size_t kMaxBytes = 32u << 20;

  /// `wake` is called after each change, from the writer's thread, and must not block.
  explicit Broadcast(std::function<void()> wake);

  // The writer.
  void start(const v1::ChannelStart& start);  // a new epoch: what was queued of the old one goes
  void stop(std::string_view why);            // no picture now
  void push(std::vector<std::uint8_t> fragment, bool keyframe);
  /// True once after a viewer asked for a keyframe. A viewer still without one asks again at each
  /// change.
  bool take_keyframe_request();

  // The reader, for each viewer.
  struct Cursor {
    std::uint64_t state = 0;    // of start/stop messages seen
    std::uint64_t next = 0;     // fragment wanted next
    bool started = false;       // has had a fragment of this epoch
    bool waiting = true;        // for a keyframe
    std::uint64_t seen = 0;     // changes looked at
    std::uint64_t skipped = 0;  // fragments this viewer did not get
  };
  /// The next message for a viewer, or null. Asks for a keyframe where the viewer needs one.
  SharedMessage next(Cursor& cursor);
  /// Something came after next() had nothing more to give. Cheap: takes no lock.
  bool has_news(const Cursor& cursor) const { return changes_ != cursor.seen; }

  void add_viewer() { ++viewers_; }
  void remove_viewer() { --viewers_; }
  int viewers() const { return viewers_; }

  struct Counters {
    std::uint64_t fragments = 0;  // pushed
    std::uint64_t bytes = 0;      // of them
    std::uint64_t skipped = 0;    // fragments that viewers did not get, summed over viewers
  };
  Counters counters() const;

 private:
  struct State {
    std::uint64_t state_number = 0;
    SharedMessage state;
    std::uint64_t epoch = 0;
    bool running = false;
    std::uint64_t first = 1;  // number of fragments.front()
    std::deque<SharedMessage> fragments;
    std::uint64_t newest_keyframe = 0;  // its number; below `first`: it is gone
    std::size_t most_fragments = 0;     // that are kept, at this rate
    std::size_t bytes = 0;
    Counters counters;

    std::uint64_t end() const { return first + fragments.size(); }
    void set_state(const v1::ToPage& message);
  };
  void changed();

  Guarded<State> state_;
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<bool> keyframe_wanted_{false};
  std::atomic<int> viewers_{0};
  std::function<void()> wake_;
};

}  // namespace phosphene::stream
