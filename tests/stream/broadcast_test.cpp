#include "stream/broadcast.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "media.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::stream;

v1::ChannelStart start_of(std::uint64_t epoch, const std::string& init = "INIT", double fps = 30) {
  v1::ChannelStart start;
  start.set_epoch(epoch);
  start.set_init(init);
  start.set_fps(fps);
  return start;
}

v1::ToPage read(const SharedMessage& message) {
  REQUIRE(message);
  v1::ToPage page;
  REQUIRE(page.ParseFromArray(message->page().data(), static_cast<int>(message->page().size())));
  return page;
}

struct Channel {
  int wakes = 0;
  Broadcast broadcast{[this] { ++wakes; }};
  void push(const std::string& name, bool keyframe = false, std::size_t padding = 0) {
    broadcast.push(make_fragment(name, 0, padding), keyframe);
  }
};

bool says(const SharedMessage& message, const std::string& name) {
  return message && message->fragment && message->media().find(name) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a viewer gets the start, then fragments from the keyframe on") {
  Channel channel;
  channel.broadcast.start(start_of(7));
  channel.push("one", true);
  channel.push("two");
  Broadcast::Cursor cursor;
  CHECK(read(channel.broadcast.next(cursor)).start().epoch() == 7);
  const auto one = channel.broadcast.next(cursor);
  CHECK(read(one).fragment().epoch() == 7);
  CHECK(read(one).fragment().keyframe());
  CHECK(read(one).fragment().data() == one->media());
  CHECK(says(one, "one"));
  CHECK(says(channel.broadcast.next(cursor), "two"));
  CHECK_FALSE(channel.broadcast.next(cursor));
  CHECK_FALSE(channel.broadcast.has_news(cursor));
  channel.push("three");
  CHECK(channel.broadcast.has_news(cursor));
  CHECK(says(channel.broadcast.next(cursor), "three"));
  CHECK(cursor.skipped == 0);
  CHECK(channel.wakes == 4);
}

TEST_CASE("the bare bytes of an init segment are found in its message") {
  Channel channel;
  channel.broadcast.start(start_of(1, std::string("INIT\0\x01", 6)));
  Broadcast::Cursor cursor;
  CHECK(channel.broadcast.next(cursor)->media() == std::string_view("INIT\0\x01", 6));
}

TEST_CASE("before anything was said there is nothing") {
  Channel channel;
  Broadcast::Cursor cursor;
  CHECK_FALSE(channel.broadcast.next(cursor));
  channel.broadcast.stop("waiting for a run");
  CHECK(read(channel.broadcast.next(cursor)).stop().why() == "waiting for a run");
  CHECK_FALSE(channel.broadcast.next(cursor));
  channel.push("nobody's", true);  // no epoch: lost
  CHECK_FALSE(channel.broadcast.next(cursor));
}

TEST_CASE("a late joiner far from a keyframe asks for one and waits for it") {
  Channel channel;
  channel.broadcast.start(start_of(1));
  channel.push("first", true);
  for (int i = 0; i < 50; ++i) channel.push("delta");
  CHECK_FALSE(channel.broadcast.take_keyframe_request());
  Broadcast::Cursor cursor;
  CHECK(channel.broadcast.next(cursor)->media() == "INIT");
  CHECK_FALSE(channel.broadcast.next(cursor));
  CHECK(channel.broadcast.take_keyframe_request());
  CHECK_FALSE(channel.broadcast.take_keyframe_request());
  channel.push("still a delta");
  CHECK_FALSE(channel.broadcast.next(cursor));
  CHECK(channel.broadcast.take_keyframe_request());  // asked again: the first was not answered
  channel.push("key", true);
  CHECK(says(channel.broadcast.next(cursor), "key"));
  CHECK(cursor.skipped == 0);  // it never had them to lose
}

TEST_CASE("a viewer who falls behind skips to the newest keyframe, and that is counted") {
  Channel channel;
  channel.broadcast.start(start_of(1));
  channel.push("0", true);
  Broadcast::Cursor slow, quick;
  channel.broadcast.next(slow);
  channel.broadcast.next(quick);
  CHECK(says(channel.broadcast.next(slow), "0"));
  CHECK(says(channel.broadcast.next(quick), "0"));
  for (int i = 1; i < 40; ++i) {
    channel.push(std::to_string(i), i == 30);
    CHECK(says(channel.broadcast.next(quick), std::to_string(i)));
  }
  CHECK(says(channel.broadcast.next(slow), "30"));
  CHECK(slow.skipped == 29);
  CHECK(says(channel.broadcast.next(slow), "31"));
  CHECK(quick.skipped == 0);
  CHECK(channel.broadcast.counters().skipped == 29);
  CHECK(channel.broadcast.counters().fragments == 40);
}

TEST_CASE("a slow channel allows a viewer four frames, whatever its rate") {
  Channel channel;
  channel.broadcast.start(start_of(1, "INIT", 1));
  channel.push("0", true);
  Broadcast::Cursor cursor;
  channel.broadcast.next(cursor);
  channel.broadcast.next(cursor);
  for (int i = 1; i <= 4; ++i) channel.push(std::to_string(i));
  CHECK(says(channel.broadcast.next(cursor), "1"));
  for (int i = 5; i <= 7; ++i) channel.push(std::to_string(i));
  CHECK_FALSE(channel.broadcast.next(cursor));
  CHECK(channel.broadcast.take_keyframe_request());
}

TEST_CASE("a new epoch discards what was queued of the old one") {
  Channel channel;
  channel.broadcast.start(start_of(1));
  channel.push("old", true);
  Broadcast::Cursor cursor;
  channel.broadcast.next(cursor);
  channel.push("old too");
  channel.broadcast.start(start_of(2, "INIT2"));
  CHECK(read(channel.broadcast.next(cursor)).start().epoch() == 2);
  CHECK_FALSE(channel.broadcast.next(cursor));
  channel.push("delta before the key");
  CHECK_FALSE(channel.broadcast.next(cursor));
  channel.push("new", true);
  const auto message = channel.broadcast.next(cursor);
  CHECK(says(message, "new"));
  CHECK(read(message).fragment().epoch() == 2);
}

TEST_CASE("the ring is bounded in fragments and in bytes (case_33)") {
  Channel channel;
  channel.broadcast.start(start_of(1, "INIT", 120));
  std::weak_ptr<const Message> first, big;
  Broadcast::Cursor cursor;
  channel.push("first", true);
  channel.broadcast.next(cursor);
  first = channel.broadcast.next(cursor);
  REQUIRE_FALSE(first.expired());
  for (std::size_t i = 0; i < Broadcast::kMaxFragments; ++i) channel.push("delta");
  CHECK(first.expired());
  channel.push("big", true, Broadcast::kMaxBytes / 2);
  big = channel.broadcast.next(cursor);
  REQUIRE_FALSE(big.expired());
  channel.push("bigger", true, Broadcast::kMaxBytes);
  CHECK(big.expired());
  CHECK(says(channel.broadcast.next(cursor), "bigger"));  // one is always kept
}

TEST_CASE("what no viewer may still have is not kept (case_33)") {
  Channel channel;
  channel.broadcast.start(start_of(1, "INIT", 30));
  channel.push("first", true);
  Broadcast::Cursor cursor;
  channel.broadcast.next(cursor);
  const std::weak_ptr<const Message> first = channel.broadcast.next(cursor);
  for (int i = 1; i < 15; ++i) channel.push("delta");
  CHECK_FALSE(first.expired());
  channel.push("delta");
  CHECK(first.expired());
}

TEST_CASE("a writer and a reader on two threads lose nothing that is not counted") {
  Broadcast broadcast([] {});
  constexpr int kFragments = 5000;
  broadcast.start(start_of(1));
  std::thread writer([&] {
    for (int i = 0; i < kFragments; ++i) {
      broadcast.push(make_fragment(std::to_string(i), 0),
                     i == 0 || broadcast.take_keyframe_request() || i == kFragments - 1);
    }
  });
  Broadcast::Cursor cursor;
  std::uint64_t fragments = 0, first = 0, last = 0;
  while (last < kFragments) {
    const auto message = broadcast.next(cursor);
    if (!message) {
      std::this_thread::yield();
      continue;
    }
    if (!message->fragment) continue;
    last = cursor.next - 1;
    if (++fragments == 1) first = last;
  }
  writer.join();
  CHECK(fragments + cursor.skipped == kFragments - first + 1);
  CHECK(broadcast.counters().fragments == kFragments);
}
