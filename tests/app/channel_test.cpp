// A channel between a run and a viewer, with a hook that answers its plans, and no codec.
#include "app/channel.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "../patience.hpp"
#include "app/stage.hpp"
#include "base/clock.hpp"
#include "encode/encoder.hpp"
#include "hook_messages.hpp"

using namespace phosphene;
using namespace phosphene::app;
using test::eventually;

namespace {

std::optional<v1::Facts> facts_in(const std::string& fragment) {
  const std::size_t mdat = fragment.find("mdat");
  if (mdat == std::string::npos) return std::nullopt;
  const std::span media(reinterpret_cast<const std::uint8_t*>(fragment.data()) + mdat + 4,
                        fragment.size() - mdat - 4);
  const auto bytes = encode::facts_of(media);
  v1::Facts facts;
  if (!bytes || !facts.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())))
    return std::nullopt;
  return facts;
}

/// A viewer who reads everything.
class Viewer {
 public:
  explicit Viewer(std::shared_ptr<stream::Broadcast> broadcast) : broadcast_(std::move(broadcast)) {
    broadcast_->add_viewer();
  }
  ~Viewer() { broadcast_->remove_viewer(); }

  /// The next message that `wanted` accepts; skips others.
  std::optional<v1::ToPage> next(const std::function<bool(const v1::ToPage&)>& wanted) {
    return eventually([&]() -> std::optional<v1::ToPage> {
      while (const stream::SharedMessage message = broadcast_->next(cursor_)) {
        v1::ToPage page;
        REQUIRE(page.ParseFromString(std::string(message->page())));
        if (wanted(page)) return page;
      }
      return std::nullopt;
    });
  }
  std::optional<v1::ToPage> start() {
    return next([](const v1::ToPage& page) { return page.has_start(); });
  }
  /// The facts of the next frame that `wanted` accepts.
  std::optional<v1::Facts> facts(const std::function<bool(const v1::Facts&)>& wanted) {
    std::optional<v1::Facts> found;
    const auto page = next([&](const v1::ToPage& message) {
      if (!message.has_fragment()) return false;
      found = facts_in(message.fragment().data());
      return found && wanted(*found);
    });
    return page ? found : std::nullopt;
  }

 private:
  std::shared_ptr<stream::Broadcast> broadcast_;
  stream::Broadcast::Cursor cursor_;
};

/// A hook that is connected to a run, without a socket between.
struct Hook {
  explicit Hook(Runs& runs, const std::string& id) : run(runs.open(test::hello(id), 1)->run) {}

  void send(v1::FromHook message) { CHECK(run->handle(std::move(message), monotonic_us()).ok()); }
  /// The plans as soon as they ask for something.
  std::optional<v1::Plans> plans() {
    return eventually([&]() -> std::optional<v1::Plans> {
      std::optional<v1::Plans> plans = run->plans_after(sent);
      if (plans && plans->views_size() > 0 && plans->views(0).tensors_size() > 0) return plans;
      return std::nullopt;
    });
  }
  void answer(const v1::Plans& plans, std::uint64_t step, std::uint32_t tensor,
              std::uint32_t cells) {
    v1::FromHook message;
    v1::Frame& frame = *message.mutable_frame();
    frame.set_view(plans.views(0).view());
    frame.set_plans(plans.version());
    frame.set_step(step);
    *frame.add_tiles() = test::tile(tensor, cells);
    send(std::move(message));
  }

  std::shared_ptr<Run> run;
  std::uint64_t sent = 0;
};

stream::View view_of(stream::View::Mode mode) {
  stream::View view;
  view.mode = mode;
  view.width = 320;
  view.height = 240;
  view.fps = 100;
  return view;
}

}  // namespace

TEST_CASE("a channel waits for a run, asks it for what the view needs, and shows what comes") {
  Runs runs;
  ChannelCounters counters;
  Channel channel(view_of(stream::View::Mode::kParameters), runs, "null", counters, [] {});
  Viewer viewer(channel.broadcast());
  const auto waiting = viewer.next([](const v1::ToPage& page) { return page.has_stop(); });
  REQUIRE(waiting);
  CHECK(waiting->stop().why() == "waiting for a run");

  Hook hook(runs, "first");
  hook.send(test::declared({test::tensor(1, "weight", {8, 6})}));
  const auto plans = hook.plans();
  REQUIRE(plans);
  CHECK(plans->views(0).tensors(0).tensor() == 1);
  const auto start = viewer.start();
  REQUIRE(start);
  CHECK(start->start().run() == hook.run->id());
  CHECK(start->start().layout().sections_size() == 1);
  CHECK(start->start().layout().sections(0).name() == "weight");

  hook.answer(*plans, 41, 1, 48);
  const auto facts = viewer.facts([](const v1::Facts& f) { return f.step() == 41; });
  REQUIRE(facts);
  CHECK(facts->layout() == start->start().layout().id());
  REQUIRE(facts->tensors_size() == 1);
  CHECK(facts->tensors(0).tensor() == 1);

  SUBCASE("a repeated picture keeps its number, and says nothing twice") {
    const auto page = viewer.next([](const v1::ToPage& message) {
      return message.has_fragment() && !message.fragment().keyframe();  // its facts are whole
    });
    REQUIRE(page);
    const auto repeat = facts_in(page->fragment().data());
    REQUIRE(repeat);
    CHECK(repeat->number() == facts->number());
    CHECK(repeat->tensors_size() == 0);
  }
  SUBCASE("a viewer who comes later begins with a keyframe whose facts are whole") {
    Viewer late(channel.broadcast());
    const auto whole = late.facts([](const v1::Facts&) { return true; });
    REQUIRE(whole);
    CHECK(whole->step() == 41);
    CHECK(whole->tensors_size() == 1);
  }
  SUBCASE("case_40: another tensor, another layout, in another epoch") {
    hook.send(test::declared({test::tensor(2, "more", {4, 4})}));
    const auto again = viewer.start();
    REQUIRE(again);
    CHECK(again->start().epoch() > start->start().epoch());
    CHECK(again->start().layout().sections_size() == 2);
    const auto more = hook.plans();
    REQUIRE(more);
    CHECK(more->views(0).tensors_size() == 2);
    hook.answer(*more, 42, 2, 16);
    const auto next = viewer.facts([](const v1::Facts& f) { return f.step() == 42; });
    REQUIRE(next);
    CHECK(next->number() == facts->number() + 1);
  }
  SUBCASE("a newer run is followed by those who watch the newest") {
    Hook second(runs, "second");
    second.send(test::declared({test::tensor(1, "other", {5, 5})}));
    const auto again = viewer.start();
    REQUIRE(again);
    CHECK(again->start().layout().sections(0).name() == "other");
    CHECK(eventually([&] {
      const auto left = hook.run->plans_after(hook.sent);
      return left && left->views_size() == 0;
    }));
    // The page still shows the first run's picture when the second's facts are there.
    const auto others = second.plans();
    REQUIRE(others);
    second.answer(*others, 7, 1, 25);
    const auto next = viewer.facts([](const v1::Facts& f) { return f.step() == 7; });
    REQUIRE(next);
    CHECK(next->number() == facts->number() + 1);
  }
}

TEST_CASE("case_23, case_12: a tensor's facts say when its cells are from, and which it lacks") {
  const auto table = std::make_shared<TensorTable>();
  table->tensors = {test::tensor(1, "generator", {8, 6}), test::tensor(2, "critic", {8, 6})};
  const auto stage =
      Stage::create(view_of(stream::View::Mode::kParameters), "gan", table, "null", 1, 0);
  REQUIRE(stage);
  const auto draw = [&](std::uint64_t step, std::vector<v1::Tile> tiles) {
    (*stage)->draw(test::frame(0, 1, step, std::move(tiles)).frame());
    const auto fragment = (*stage)->encode(step == 1);
    REQUIRE(fragment);
    const auto facts = facts_in({fragment->bytes.begin(), fragment->bytes.end()});
    REQUIRE(facts);
    CHECK(facts->step() == step);
    return *facts;
  };
  const auto both = draw(1, {test::tile(1, 48), test::tile(2, 48)});
  REQUIRE(both.tensors_size() == 2);
  CHECK_FALSE(both.tensors(0).has_step());

  const auto one = draw(2, {test::tile(2, 48)});
  REQUIRE(one.tensors_size() == 1);
  CHECK(one.tensors(0).tensor() == 1);
  CHECK(one.tensors(0).step() == 1);

  CHECK(draw(3, {test::tile(2, 48)}).tensors_size() == 0);  // step 1 was said

  v1::Tile late = test::tile(2, 48);  // waited while a newer frame came
  late.set_step(3);
  v1::Tile shorter = test::tile(1, 48);
  shorter.add_marks(6 * 6);  // six of its eight rows are there
  shorter.add_marks(2 * 6 * 4 + 3);
  const auto other = draw(4, {shorter, late});
  REQUIRE(other.tensors_size() == 2);
  CHECK_FALSE(other.tensors(0).has_step());
  CHECK(other.tensors(0).absent_x_size() + other.tensors(0).absent_y_size() == 2);
  CHECK(other.tensors(1).step() == 3);

  const auto again = draw(5, {test::tile(1, 48), test::tile(2, 48)});
  REQUIRE(again.tensors_size() == 2);
  CHECK(again.tensors(0).absent_x_size() + again.tensors(0).absent_y_size() == 0);
  CHECK_FALSE(again.tensors(1).has_step());
}

TEST_CASE("what a run does not have is said") {
  Runs runs;
  ChannelCounters counters;
  Hook hook(runs, "run");
  hook.send(test::declared({test::tensor(1, "weight", {8, 6})}));
  Channel channel(view_of(stream::View::Mode::kGradients), runs, "null", counters, [] {});
  Viewer viewer(channel.broadcast());
  const auto stop = viewer.next([](const v1::ToPage& page) { return page.has_stop(); });
  REQUIRE(stop);
  CHECK(stop->stop().why() == "this run has no gradients to show");
  // It leaves those alone who do see something: no plans are sent again and again.
  std::uint64_t sent = 0;
  hook.run->plans_after(sent);
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  CHECK_FALSE(hook.run->plans_after(sent));
  hook.send(test::declared({test::tensor(2, "weight", {8, 6}, v1::KIND_GRADIENT)}));
  CHECK(viewer.start());
}

TEST_CASE("case_10: tensors without elements are nothing to wait for, and that is said") {
  Runs runs;
  ChannelCounters counters;
  Hook hook(runs, "run");
  hook.send(test::declared({test::tensor(1, "weight", {0, 3})}));
  Channel channel(view_of(stream::View::Mode::kParameters), runs, "null", counters, [] {});
  Viewer viewer(channel.broadcast());
  const auto stop = viewer.next([](const v1::ToPage& page) { return page.has_stop(); });
  REQUIRE(stop);
  CHECK(stop->stop().why().find("none of this run's parameters") != std::string::npos);
  hook.send(test::declared({test::tensor(2, "more", {8, 6})}));
  CHECK(viewer.start());
}

TEST_CASE("an encoder that is missing is said to the viewer") {
  Runs runs;
  ChannelCounters counters;
  Hook hook(runs, "run");
  hook.send(test::declared({test::tensor(1, "weight", {8, 6})}));
  Channel channel(view_of(stream::View::Mode::kParameters), runs, "crayon", counters, [] {});
  Viewer viewer(channel.broadcast());
  const auto stop = viewer.next([](const v1::ToPage& page) { return page.has_stop(); });
  REQUIRE(stop);
  CHECK(stop->stop().why().find("crayon") != std::string::npos);
}

TEST_CASE("a channel ends when nobody has watched for a while, and takes its plan away") {
  Runs runs;
  ChannelCounters counters;
  Hook hook(runs, "run");
  hook.send(test::declared({test::tensor(1, "weight", {8, 6})}));
  Channel channel(view_of(stream::View::Mode::kParameters), runs, "null", counters, [] {});
  {
    Viewer viewer(channel.broadcast());
    REQUIRE(viewer.start());
    REQUIRE(hook.plans());
    CHECK_FALSE(channel.finished());
  }
  CHECK(channel.expect_viewer());
  CHECK(eventually([&] { return channel.finished(); }));
  CHECK_FALSE(channel.expect_viewer());
  // The plan goes when the channel's thread does, a moment after it is seen to have finished.
  const auto left = eventually([&] { return hook.run->plans_after(hook.sent); });
  REQUIRE(left);
  CHECK(left->views_size() == 0);
}
