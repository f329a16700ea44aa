// The endless mp4.
#include <doctest/doctest.h>

#include "media.hpp"
#include "stage.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::stream;

struct Player {
  explicit Player(Stage& stage, const std::string& query = "", int receive_buffer = 0)
      : client(stage.port(), "127.0.0.1", receive_buffer) {
    client.send(request_text("/live.mp4?token=" + stage.token() + query, {}));
    head = client.read_through("\r\n\r\n");
  }
  /// The next box, whole.
  std::string box() {
    const std::string start = client.read_exactly(4);
    std::uint32_t size = 0;
    for (const char byte : start) size = size << 8 | static_cast<std::uint8_t>(byte);
    return start + client.read_exactly(size < 4 ? 0 : size - 4);
  }
  std::string fragment() {
    const std::string moof = box();
    return moof + box();
  }
  Client client;
  std::string head;
};

std::string init_box(const std::string& name) {
  return box("ftyp", name);
}

void feed(Broadcast& channel, const std::string& name, std::uint64_t time, bool keyframe = false,
          std::size_t padding = 0) {
  channel.push(make_fragment(name, time, padding), keyframe);
}

bool says(const std::string& fragment, const std::string& name) {
  return fragment.find(name) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "the file begins with the init segment, goes on from a keyframe, and its time begins at 0") {
  Stage stage;
  auto channel = stage.site.channel(kDefaultView);
  channel->start(make_start(1, init_box("one")));
  feed(*channel, "key", 7000, true);
  feed(*channel, "delta", 7512);
  Player player(stage);
  CHECK(player.head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n"));
  CHECK(says(player.head, "Cache-Control: no-store"));
  CHECK_FALSE(says(player.head, "Content-Length"));
  CHECK(player.box() == init_box("one"));
  const std::string key = player.fragment(), delta = player.fragment();
  CHECK(says(key, "key"));
  CHECK(decode_time(key) == 0);
  CHECK(says(delta, "delta"));
  CHECK(decode_time(delta) == 512);
  CHECK(channel->viewers() == 1);
}

TEST_CASE(
    "a new epoch of the same kind goes on, one of another kind sends its init segment (case_40)") {
  Stage stage;
  auto channel = stage.site.channel(kDefaultView);
  channel->start(make_start(1, init_box("one")));
  feed(*channel, "a", 0, true);
  feed(*channel, "b", 500);
  Player player(stage);
  player.box();
  CHECK(says(player.fragment(), "a"));
  CHECK(says(player.fragment(), "b"));
  channel->stop("a pause");
  channel->start(make_start(2, init_box("one")));
  feed(*channel, "c", 0, true);
  const std::string same = player.fragment();
  CHECK(says(same, "c"));
  CHECK(decode_time(same) == 1000);
  channel->start(make_start(3, init_box("another size")));
  feed(*channel, "d", 0, true);
  CHECK(player.box() == init_box("another size"));
  CHECK(says(player.fragment(), "d"));
}

TEST_CASE("a player that waits gets its picture when there is one") {
  Stage stage;
  auto channel = stage.site.channel("run=later&mode=gradients&size=1280x720");
  channel->stop("waiting for a run");
  Player player(stage, "&run=later&mode=gradients");
  REQUIRE(player.head.starts_with("HTTP/1.1 200"));
  channel->start(make_start(1, init_box("one")));
  feed(*channel, "at last", 0, true);
  CHECK(player.box() == init_box("one"));
  CHECK(says(player.fragment(), "at last"));
}

TEST_CASE("a player that reads slowly skips, and its time has no hole (case_36)") {
  Stage stage;
  auto channel = stage.site.channel(kDefaultView);
  channel->start(make_start(1, init_box("one")));
  feed(*channel, "0", 0, true);
  feed(*channel, "1", 10);
  Player player(stage, "", 4096);
  player.box();
  REQUIRE(says(player.fragment(), "0"));
  REQUIRE(says(player.fragment(), "1"));
  for (std::uint64_t i = 2; i < 200; ++i) {
    const auto pushed = channel->counters().fragments;
    feed(*channel, std::to_string(i), i * 10, channel->take_keyframe_request(), 100'000);
    CHECK(channel->counters().fragments == pushed + 1);
    if (i % 10 == 0) ask(stage.port(), "/healthz");  // gives the loop its turn
  }
  feed(*channel, "the end", 2000, true);
  std::uint64_t expected = 20;
  int received = 0;
  for (std::string fragment; !says(fragment, "the end"); ++received) {
    fragment = player.fragment();
    REQUIRE(fragment.size() > 20);
    CHECK(decode_time(fragment) == expected);
    expected += 10;
  }
  CHECK(received < 150);
}

TEST_CASE("what cannot be played is said in a sentence") {
  Stage stage;
  const auto refused = [&](const std::string& query) {
    return ask(stage.port(), "/live.mp4?" + query, stage.bearer());
  };
  CHECK(refused("mode=sideways").status == 400);
  CHECK(refused("mode=sideways").body.starts_with("mode=sideways is not a view"));
  CHECK(refused("size=1x1").status == 400);
  CHECK(refused("mode=off").status == 400);
  CHECK(refused("run=nobody").status == 503);
  CHECK(refused("run=nobody").body == "There is no run \"nobody\".\n");
  CHECK(ask(stage.port(), "/live.mp4", stage.bearer(), "HEAD").headers.at("content-type") ==
        "video/mp4");
  CHECK(stage.site.channel(kDefaultView)->viewers() == 0);
}

TEST_CASE("a player that leaves is no viewer any more") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  {
    Player player(stage);
    CHECK(eventually([&] { return channel->viewers() == 1; }));
  }
  CHECK(eventually([&] { return channel->viewers() == 0; }));
}
