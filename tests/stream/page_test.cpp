// What a page's WebSocket says and hears.
#include <doctest/doctest.h>

#include "media.hpp"
#include "stage.hpp"
#include "stream/in_flight.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::stream;

constexpr char kGradients[] = "mode=gradients&size=1280x720";

std::string first_view(const Stage& stage) {
  return "/ws?mode=parameters&token=" + stage.token();
}

bool says(const std::optional<v1::ToPage>& message, const std::string& name) {
  return message && message->fragment().data().find(name) != std::string::npos;
}

std::optional<v1::ToPage> next_fragment(WebSocket& page) {
  return page.receive(v1::ToPage::kFragment);
}

/// Pushes fragments until the page has one: it may not have subscribed yet.
void feed(Broadcast& channel, const std::string& name, bool keyframe = false,
          std::size_t padding = 0) {
  channel.push(make_fragment(name, 0, padding), keyframe);
}

}  // namespace

TEST_CASE("a page hears welcome, then the runs, then its channel from a keyframe on") {
  Stage stage;
  stage.site.set_runs("a run");
  auto channel = stage.running(kDefaultView);
  feed(*channel, "key", true);
  feed(*channel, "delta");
  WebSocket page(stage.port(), first_view(stage));
  const auto welcome = page.receive();
  REQUIRE(welcome);
  CHECK(welcome->welcome().protocol() == 1);
  CHECK(welcome->welcome().server().starts_with("phosphene "));
  const auto runs = page.receive();
  REQUIRE(runs);
  CHECK(runs->runs().runs(0).name() == "a run");
  const auto start = page.receive();
  REQUIRE(start);
  CHECK(start->start().init() == "INIT");
  CHECK(says(page.receive(), "key"));
  CHECK(says(page.receive(), "delta"));
}

TEST_CASE("a late joiner starts at a keyframe made for it") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "first", true);
  for (int i = 0; i < 100; ++i) feed(*channel, "delta");
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(page.receive(v1::ToPage::kStart));
  REQUIRE(eventually([&] { return channel->take_keyframe_request(); }));
  feed(*channel, "made for it", true);
  CHECK(says(page.receive(), "made for it"));
}

TEST_CASE("every page hears of a change of the runs, whole") {
  Stage stage;
  WebSocket one(stage.port(), first_view(stage)), two(stage.port(), first_view(stage));
  REQUIRE(one.receive(v1::ToPage::kRuns));
  REQUIRE(two.receive(v1::ToPage::kRuns));
  stage.site.set_runs("a new one");
  CHECK(one.receive(v1::ToPage::kRuns)->runs().runs(0).name() == "a new one");
  CHECK(two.receive(v1::ToPage::kRuns)->runs().runs(0).name() == "a new one");
}

TEST_CASE("scalars of the run that a view shows come once, the first with what was before") {
  Stage stage;
  stage.site.add_scalar(3);
  stage.site.add_scalar(2);
  WebSocket page(stage.port(), first_view(stage));
  const auto all = page.receive(v1::ToPage::kScalars);
  REQUIRE(all);
  CHECK(all->scalars().run() == "newest");
  CHECK(all->scalars().reset());
  CHECK(all->scalars().scalars().series(0).values_size() == 2);
  stage.site.add_scalar(1);
  const auto more = page.receive(v1::ToPage::kScalars);
  REQUIRE(more);
  CHECK_FALSE(more->scalars().reset());
  CHECK(more->scalars().scalars().series(0).values_size() == 1);
  CHECK(more->scalars().scalars().series(0).values(0) == 1);
  page.view({{"mode", "parameters"}, {"run", "another"}});
  const auto other = page.receive(v1::ToPage::kScalars);
  REQUIRE(other);
  CHECK(other->scalars().run() == "another");
  CHECK(other->scalars().reset());
}

TEST_CASE("a page without a view in its address says first what it wants") {
  Stage stage;
  auto channel = stage.running(kGradients);
  WebSocket page(stage.port(), "/ws", stage.bearer());
  REQUIRE(page.receive(v1::ToPage::kRuns));
  CHECK(stage.site.channel(kDefaultView)->viewers() == 0);
  page.view({{"mode", "gradients"}});
  CHECK(page.receive()->start().epoch() == 1);
  CHECK(channel->viewers() == 1);
}

TEST_CASE(
    "two pages with different modes at once (case_35); a page that changes its view leaves the old "
    "channel") {
  Stage stage;
  auto parameters = stage.running(kDefaultView), gradients = stage.running(kGradients);
  feed(*parameters, "weights", true);
  feed(*gradients, "slopes", true);
  WebSocket one(stage.port(), first_view(stage)),
      two(stage.port(), "/ws?mode=gradients", stage.bearer());
  CHECK(says(next_fragment(one), "weights"));
  CHECK(says(next_fragment(two), "slopes"));
  CHECK(parameters->viewers() == 1);
  one.view({{"mode", "gradients"}});
  CHECK(one.receive(v1::ToPage::kStart));
  CHECK(says(next_fragment(one), "slopes"));
  CHECK(parameters->viewers() == 0);
  CHECK(gradients->viewers() == 2);
}

TEST_CASE("many changes of view at once end at the last") {
  Stage stage;
  WebSocket page(stage.port(), first_view(stage));
  for (int width = 100; width <= 600; width += 2) {
    page.view({{"mode", "parameters"}, {"size", std::to_string(width) + "x400"}});
  }
  auto last = stage.site.channel("mode=parameters&size=600x400");
  CHECK(eventually([&] { return last->viewers() == 1; }));
}

TEST_CASE("mode off ends the video, and says so") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(page.receive(v1::ToPage::kStart));
  page.view({{"mode", "off"}});
  CHECK(page.receive(v1::ToPage::kStop)->stop().why() == "off");
  CHECK(channel->viewers() == 0);
}

TEST_CASE(
    "a hidden page gets no video and nothing is read for it; visible again, it starts anew "
    "(case_38)") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "before", true);
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(says(next_fragment(page), "before"));
  page.visible(false);
  REQUIRE(page.receive(v1::ToPage::kStop));
  CHECK(channel->viewers() == 0);
  feed(*channel, "unseen");
  page.view({{"mode", "parameters"}, {"fps", "10"}});  // a hidden page may change its mind
  auto other = stage.running("mode=parameters&size=1280x720&fps=10");
  feed(*other, "after", true);
  page.visible(true);
  CHECK(page.receive(v1::ToPage::kStart));
  CHECK(says(page.receive(), "after"));
  CHECK(channel->viewers() == 0);
}

TEST_CASE("a page that fell behind says that it is visible, and starts anew without a stop") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "first", true);
  for (int i = 0; i < 100; ++i) feed(*channel, "delta");
  WebSocket page(stage.port(), first_view(stage));
  CHECK(eventually([&] { return channel->take_keyframe_request(); }));
  feed(*channel, "key", true);
  REQUIRE(says(next_fragment(page), "key"));
  for (int i = 0; i < 100; ++i) {
    feed(*channel, "delta");
    REQUIRE(says(next_fragment(page), "delta"));
  }
  page.visible(true);
  CHECK(page.receive()->start().init() == "INIT");
  CHECK(eventually([&] { return channel->take_keyframe_request(); }));
  CHECK(channel->viewers() == 1);
  feed(*channel, "anew", true);
  CHECK(says(page.receive(), "anew"));
}

TEST_CASE("a bad view is answered by its key and value, and the old one goes on") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "key", true);
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(says(next_fragment(page), "key"));
  page.view({{"mode", "sideways"}});
  CHECK(page.receive()->notice().text().starts_with("mode=sideways is not a view"));
  page.view({{"mode", "parameters"}, {"run", "nobody"}});
  CHECK(page.receive(v1::ToPage::kNotice)->notice().text() == "There is no run \"nobody\".");
  feed(*channel, "still here");
  CHECK(says(next_fragment(page), "still here"));
}

TEST_CASE("a first view that cannot be shown says why there is no picture") {
  Stage stage;
  WebSocket page(stage.port(), "/ws?run=nobody", stage.bearer());
  CHECK(page.receive(v1::ToPage::kNotice));
  CHECK(page.receive(v1::ToPage::kStop)->stop().why() == "There is no run \"nobody\".");
}

TEST_CASE("a new epoch reaches a page: another size while streaming (case_40)") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "old", true);
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(says(next_fragment(page), "old"));
  channel->start(make_start(2, "INIT2"));
  feed(*channel, "new", true);
  CHECK(page.receive()->start().init() == "INIT2");
  CHECK(says(page.receive(), "new"));
  channel->stop("The encoder failed.");
  CHECK(page.receive()->stop().why() == "The encoder failed.");
}

TEST_CASE("a ping is answered with its own time") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "key", true);
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(says(next_fragment(page), "key"));
  page.ping(1234.5, 1);
  const auto pong = page.receive(v1::ToPage::kPong);
  REQUIRE(pong);
  CHECK(pong->pong().time_ms() == 1234.5);
}

TEST_CASE("nothing follows while too much is on its way; then comes the next keyframe (case_36)") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "first", true);
  WebSocket page(stage.port(), first_view(stage));
  REQUIRE(says(next_fragment(page), "first"));
  page.ping(0, 1);
  REQUIRE(page.receive(v1::ToPage::kPong));
  feed(*channel, "on its way", false, InFlight::kLeast);
  REQUIRE(says(next_fragment(page), "on its way"));  // that it came, this page does not say
  for (int i = 0; i < 100; ++i) feed(*channel, "left out");
  page.ping(1, 1);  // behind which they would stand
  CHECK(page.receive()->has_pong());
  page.ping(2, 2);
  CHECK(page.receive()->has_pong());
  // The way is free: this viewer needs a keyframe, and the channel is asked for one.
  feed(*channel, "left out, too");
  while (!channel->take_keyframe_request()) std::this_thread::yield();
  feed(*channel, "keyframe", true);
  CHECK(says(next_fragment(page), "keyframe"));
}

TEST_CASE("a viewer that stops reading skips, and its neighbour gets every frame (case_36)") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  feed(*channel, "0", true);
  WebSocket quick(stage.port(), first_view(stage));
  WebSocket slow(stage.port(), first_view(stage), {}, "127.0.0.1", 4096);
  REQUIRE(says(next_fragment(quick), "0"));
  REQUIRE(says(next_fragment(slow), "0"));
  constexpr int kFragments = 100;  // of which half a second waits for a viewer
  for (int i = 1; i <= kFragments; ++i) {
    feed(*channel, "number " + std::to_string(i) + ";", channel->take_keyframe_request(), 100'000);
    CHECK(says(next_fragment(quick), "number " + std::to_string(i) + ";"));
  }
  feed(*channel, "the end", true);
  CHECK(says(next_fragment(quick), "the end"));
  int received = 0;
  bool after_gap_keyframe = true, ended = false;
  std::uint64_t number = 0;
  while (!ended) {
    const auto fragment = next_fragment(slow);
    REQUIRE(fragment);
    ended = says(fragment, "the end");
    const std::string& data = fragment->fragment().data();
    const std::size_t at = data.find("number ");
    if (at != std::string::npos) {
      const std::uint64_t now = std::stoull(data.substr(at + 7));
      if (now != number + 1)
        after_gap_keyframe = after_gap_keyframe && fragment->fragment().keyframe();
      number = now;
    }
    ++received;
  }
  CHECK(received < kFragments / 2);
  CHECK(after_gap_keyframe);
  CHECK(stage.metric("phosphene_fragments_skipped_total") >= kFragments / 2);
}

TEST_CASE("a page that leaves is no viewer any more, with or without goodbye (case_27)") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  {
    WebSocket page(stage.port(), first_view(stage));
    REQUIRE(page.receive(v1::ToPage::kStart));
    CHECK(channel->viewers() == 1);
    CHECK(stage.metric("phosphene_viewers") == 1);
    CHECK(stage.metric("phosphene_pages") == 1);
  }
  CHECK(eventually([&] { return channel->viewers() == 0; }));
  CHECK(stage.metric("phosphene_viewers") == 0);
  WebSocket polite(stage.port(), first_view(stage));
  REQUIRE(polite.receive(v1::ToPage::kStart));
  polite.send_frame(8, "");
  CHECK(polite.is_closed_by_peer());
  CHECK(eventually([&] { return channel->viewers() == 0; }));
}

TEST_CASE("garbage and oversized messages close their page and nobody else's (case_41)") {
  Stage stage;
  auto channel = stage.running(kDefaultView);
  WebSocket bystander(stage.port(), first_view(stage));
  REQUIRE(bystander.receive(v1::ToPage::kStart));
  const auto broken = [&](auto&& misbehave) {
    WebSocket page(stage.port(), first_view(stage));
    REQUIRE(page.status() == 101);
    misbehave(page);
    CHECK(page.is_closed_by_peer());
    return page.close_code();
  };
  CHECK(broken([](WebSocket& page) { page.send_frame(2, "\xff\xff\xff garbage"); }) == 1007);
  CHECK(broken([](WebSocket& page) { page.send_frame(1, "text"); }) == 1007);
  CHECK(broken([](WebSocket& page) { page.send_frame(2, std::string(20'000, 'x')); }) == 1009);
  CHECK(broken([](WebSocket& page) {
          page.send_frame(2, std::string(10'000, 'x'), false);
          page.send_frame(0, std::string(10'000, 'x'), false);
        }) == 1009);
  // A frame that promises 2^62 bytes: its first 16 KiB are enough to know.
  broken([](WebSocket& page) {
    page.send_raw(std::string("\x82\xff\x40\0\0\0\0\0\0\0\1\2\3\4", 14) + std::string(20'000, 'x'));
  });
  broken([](WebSocket& page) { page.send_raw(std::string(3000, '\x7f')); });
  CHECK(broken([](WebSocket& page) { page.send_raw("\x82\x05hello"); }) ==
        1007);  // not masked either
  feed(*channel, "undisturbed", true);
  CHECK(says(next_fragment(bystander), "undisturbed"));
  CHECK(stage.metric("phosphene_refused_total{cause=\"message\"}") == 6);
}

TEST_CASE("a server that ends closes its pages") {
  std::optional<Stage> stage(std::in_place);
  WebSocket page(stage->port(), first_view(*stage));
  REQUIRE(page.receive(v1::ToPage::kWelcome));
  stage.reset();
  CHECK(page.is_closed_by_peer());
}
