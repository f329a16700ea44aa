#include "stream/broadcast.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace phosphene::stream {
namespace {

constexpr double kMaxSecondsBehind = 0.5;

std::shared_ptr<Message> serialise(const v1::ToPage& message, std::string_view media = {}) {
  auto made = std::make_shared<Message>();
  made->bytes.reserve(Message::kHeadroom + message.ByteSizeLong());
  made->bytes.assign(Message::kHeadroom, '\0');
  message.AppendToString(&made->bytes);
  // Where equal bytes came earlier, they would do as well: a search cannot be wrong.
  if (!media.empty()) made->media_offset = made->bytes.find(media, Message::kHeadroom);
  made->media_bytes = media.size();
  return made;
}

}  // namespace

SharedMessage make_message(const v1::ToPage& message) {
  return serialise(message);
}

void Broadcast::State::set_state(const v1::ToPage& message) {
  ++state_number;
  state = serialise(message, message.start().init());
  first = end();
  fragments.clear();
  bytes = 0;
}

Broadcast::Broadcast(std::function<void()> wake) : wake_(std::move(wake)) {}

void Broadcast::changed() {
  ++changes_;
  wake_();
}

void Broadcast::start(const v1::ChannelStart& start) {
  v1::ToPage message;
  *message.mutable_start() = start;
  state_.with([&](State& state) {
    state.set_state(message);
    state.epoch = start.epoch();
    state.running = true;
    state.most_fragments = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::lround(start.fps() * kMaxSecondsBehind)), 4, kMaxFragments);
  });
  keyframe_wanted_ = false;  // an epoch begins with one
  changed();
}

void Broadcast::stop(std::string_view why) {
  v1::ToPage message;
  message.mutable_stop()->set_why(std::string(why));
  state_.with([&](State& state) {
    state.set_state(message);
    state.running = false;
  });
  changed();
}

void Broadcast::push(std::vector<std::uint8_t> fragment, bool keyframe) {
  v1::ToPage message;
  v1::Fragment& body = *message.mutable_fragment();
  body.set_epoch(state_.with([](const State& state) { return state.epoch; }));  // one thread writes
  body.set_keyframe(keyframe);
  body.set_data(fragment.data(), fragment.size());
  const std::shared_ptr<Message> made = serialise(message, body.data());
  made->fragment = true;
  made->keyframe = keyframe;

  std::vector<SharedMessage> evicted;  // freed after the lock is gone
  state_.with([&](State& state) {
    if (!state.running) return;
    if (keyframe) state.newest_keyframe = state.end();
    ++state.counters.fragments;
    state.counters.bytes += fragment.size();
    state.bytes += made->bytes.size();
    state.fragments.push_back(made);
    while (state.fragments.size() > state.most_fragments ||
           (state.bytes > kMaxBytes && state.fragments.size() > 1)) {
      state.bytes -= state.fragments.front()->bytes.size();
      evicted.push_back(std::move(state.fragments.front()));
      state.fragments.pop_front();
      ++state.first;
    }
  });
  changed();
}

bool Broadcast::take_keyframe_request() {
  return keyframe_wanted_.exchange(false);
}

SharedMessage Broadcast::next(Cursor& cursor) {
  return state_.with([&](State& state) -> SharedMessage {
    const std::uint64_t changes = changes_;
    if (cursor.state != state.state_number) {
      cursor.state = state.state_number;
      cursor.started = false;
      cursor.waiting = true;
      return state.state;
    }
    const std::uint64_t end = state.end();
    const auto is_here = [&](std::uint64_t number) {
      return number >= state.first && number < end;
    };
    if (!state.running || (!cursor.waiting && cursor.next == end)) {
      cursor.seen = changes;
      return nullptr;
    }
    if (cursor.waiting || !is_here(cursor.next)) {
      const std::uint64_t keyframe = state.newest_keyframe;
      if (!is_here(keyframe)) {
        cursor.waiting = true;
        cursor.seen = changes;
        keyframe_wanted_ = true;
        return nullptr;
      }
      if (cursor.started) {
        cursor.skipped += keyframe - cursor.next;
        state.counters.skipped += keyframe - cursor.next;
      }
      cursor.next = keyframe;
      cursor.started = true;
      cursor.waiting = false;
    }
    SharedMessage message = state.fragments[cursor.next++ - state.first];
    if (cursor.next == end) cursor.seen = changes;
    return message;
  });
}

Broadcast::Counters Broadcast::counters() const {
  return state_.with([](const State& state) { return state.counters; });
}

}  // namespace phosphene::stream
