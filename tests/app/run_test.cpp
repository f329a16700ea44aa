#include "app/run.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "app/runs.hpp"
#include "hook_messages.hpp"

using namespace phosphene;
using namespace phosphene::app;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kSecond = 1'000'000;

// A run with two tensors of six elements, watched by one view that wants both.
struct Watched {
  Runs runs;
  std::uint64_t connection = 0;
  std::shared_ptr<Run> run;
  ViewFeed feed;
  std::uint64_t plans = 0;

  Watched() {
    auto opened = runs.open(test::hello("r"), 0);
    REQUIRE(opened);
    run = opened->run;
    connection = opened->connection;
    handle(test::declared({test::tensor(1, "w", {2, 3}), test::tensor(2, "b", {6})}));
    feed = run->watch();
    feed.set_plan(test::plan({1, 2}));
    version();
    feed.wait(0us);  // what changed so far
  }
  void handle(v1::FromHook message, std::int64_t now_us = 0) {
    CHECK(run->handle(std::move(message), now_us));
  }
  std::uint64_t version() {
    std::uint64_t sent = 0;
    plans = run->plans_after(sent)->version();
    return plans;
  }
  void frame(std::uint64_t step, std::vector<v1::Tile> tiles) {
    handle(test::frame(feed.view(), plans, step, std::move(tiles)));
  }
};

}  // namespace

TEST_CASE("a frame reaches the view that asked for it, once") {
  Watched watched;
  watched.frame(7, {test::tile(1, 6), test::tile(2, 6)});
  const auto news = watched.feed.wait(10s);
  REQUIRE(news.frame);
  CHECK(news.frame->step() == 7);
  CHECK(news.frame->tiles_size() == 2);
  CHECK_FALSE(watched.feed.wait(0us).frame);
}

TEST_CASE("a channel that waits is woken by a frame from another thread") {
  Watched watched;
  std::thread ingest([&] { watched.frame(1, {test::tile(1, 6)}); });
  CHECK(watched.feed.wait(60s).frame);
  ingest.join();
}

TEST_CASE("a newer frame replaces one that was not drawn, and that is counted") {
  Watched watched;
  watched.frame(1, {test::tile(1, 6)});
  watched.frame(2, {test::tile(1, 6)});
  watched.frame(3, {test::tile(1, 6)});
  CHECK(watched.feed.wait(0us).frame->step() == 3);
  CHECK(watched.runs.frames().dropped_undrawn == 2);
  CHECK(watched.runs.frames().received == 3);
}

TEST_CASE("case_23: what only the replaced frame had is not lost with it") {
  Watched watched;
  v1::Tile with_statistics = test::tile(1, 6, '\x11');
  with_statistics.mutable_statistics()->set_count(6);
  watched.frame(1, {with_statistics, test::tile(2, 6, '\x22')});  // both optimisers
  watched.frame(2, {test::tile(1, 6, '\x33')});                   // one of them
  const FramePtr frame = watched.feed.wait(0us).frame;
  REQUIRE(frame);
  CHECK(frame->step() == 2);
  REQUIRE(frame->tiles_size() == 2);
  CHECK(frame->tiles(0).levels() == "\x33\x33\x33");
  CHECK(frame->tiles(0).statistics().count() == 6);
  CHECK(frame->tiles(1).tensor() == 2);
  CHECK(frame->tiles(1).levels() == "\x22\x22\x22");
  CHECK_FALSE(frame->tiles(0).has_step());
  CHECK(frame->tiles(1).step() == 1);  // which is not the frame's
}

TEST_CASE(
    "frames of an older plan, of another server's plan and of no view are dropped and counted by "
    "cause") {
  Watched watched;
  const std::uint64_t before = watched.plans;
  watched.feed.set_plan(test::plan({1}));
  watched.version();
  watched.handle(test::frame(watched.feed.view(), before, 1, {test::tile(1, 6)}));
  CHECK(watched.runs.frames().dropped_old_plan == 1);
  watched.handle(test::frame(watched.feed.view(), watched.plans + 1, 1, {test::tile(1, 6)}));
  CHECK(watched.runs.frames().dropped_old_plan == 2);
  watched.handle(test::frame(watched.feed.view() + 1, watched.plans, 1, {test::tile(1, 6)}));
  CHECK(watched.runs.frames().dropped_unknown_view == 1);
  CHECK_FALSE(watched.feed.wait(0us).frame);
}

TEST_CASE("a frame stays good when the plan of another view changes") {
  Watched watched;
  ViewFeed other = watched.run->watch();
  other.set_plan(test::plan({2}));
  watched.frame(1, {test::tile(1, 6)});  // answers plans from before
  CHECK(watched.feed.wait(0us).frame);
}

TEST_CASE("a frame taken before the plan changed does not come after it") {
  Watched watched;
  watched.frame(1, {test::tile(1, 6)});
  watched.feed.set_plan(test::plan({1}));
  CHECK_FALSE(watched.feed.wait(0us).frame);
}

TEST_CASE(
    "case_41: a frame that is not what the plan asked for is dropped, counted and told once") {
  Watched watched;
  watched.frame(1, {test::tile(1, 5)});  // too few cells
  watched.frame(1, {test::tile(3, 6)});  // not in the plan
  v1::Tile tile = test::tile(1, 6);
  tile.mutable_levels()->pop_back();
  watched.frame(1, {test::tile(2, 6), tile});  // cut short
  CHECK(watched.runs.frames().dropped_invalid == 3);
  CHECK_FALSE(watched.feed.wait(0us).frame);
  CHECK(watched.run->info().notices_size() == 1);
}

TEST_CASE(
    "case_12: frames of a shape that was declared since, and not laid out yet, are dropped as "
    "old") {
  Watched watched;
  watched.handle(test::declared({test::tensor(1, "w", {2, 2})}));
  watched.frame(1, {test::tile(1, 4), test::tile(2, 6)});
  CHECK(watched.runs.frames().dropped_old_plan == 1);
  CHECK(watched.run->info().notices_size() == 0);
  watched.feed.set_plan(test::plan({1, 2}));
  watched.version();
  watched.frame(2, {test::tile(1, 4), test::tile(2, 6)});
  CHECK(watched.feed.wait(0us).frame);
}

TEST_CASE("plans are sent whole when they change, and nothing is asked for by a view that ended") {
  Watched watched;
  std::uint64_t sent = 0;
  auto plans = watched.run->plans_after(sent);
  REQUIRE(plans);
  REQUIRE(plans->views_size() == 1);
  CHECK(plans->views(0).view() == watched.feed.view());
  CHECK(plans->views(0).tensors_size() == 2);
  CHECK_FALSE(watched.run->plans_after(sent));

  ViewFeed second = watched.run->watch();
  CHECK_FALSE(watched.run->plans_after(sent));  // no plan yet
  second.set_plan(test::plan({1}));
  CHECK(watched.run->plans_after(sent)->views_size() == 2);

  const std::uint64_t before = sent;
  second = ViewFeed();
  plans = watched.run->plans_after(sent);
  REQUIRE(plans);
  CHECK(plans->views_size() == 1);
  CHECK(plans->version() > before);
  watched.feed = ViewFeed();
  CHECK(watched.run->plans_after(sent)->views_size() == 0);
}

TEST_CASE("ingest is woken when plans change") {
  Watched watched;
  int woken = 0;
  watched.runs.on_planned([&] { ++woken; });
  watched.feed.set_plan(test::plan({1}));
  CHECK(woken == 1);
  watched.feed = ViewFeed();
  CHECK(woken == 2);
}

TEST_CASE(
    "a channel learns that tensors changed, and of nothing when they are only declared again") {
  Watched watched;
  const std::uint64_t before = watched.feed.wait(0us).tensors_version;
  watched.handle(test::declared({test::tensor(1, "w", {2, 3})}));
  CHECK(watched.feed.wait(0us).tensors_version == before);
  watched.handle(test::declared({test::tensor(1, "w", {2, 4})}));
  CHECK(watched.feed.wait(10s).tensors_version != before);
  const auto table = watched.run->tensors();
  REQUIRE(table->tensors.size() == 2);
  CHECK(table->tensors[0].shape(1) == 4);
  CHECK(table->parameter_elements == 8 + 6);
}

TEST_CASE("case_41: a tensor that cannot be shown is told, the others are shown") {
  Watched watched;
  v1::Tensor strange = test::tensor(3, "strange", {2});
  strange.set_dtype(static_cast<v1::DType>(99));
  watched.handle(test::declared({strange, test::tensor(4, "fine", {2})}));
  CHECK(watched.run->tensors()->tensors.size() == 3);
  REQUIRE(watched.run->info().notices_size() == 1);
  CHECK(watched.run->info().notices(0).find("strange") != std::string::npos);
}

TEST_CASE("a tensor is attached only to one that can carry it") {
  Watched watched;
  const auto attached = [](std::uint32_t id, std::uint32_t to) {
    v1::Tensor tensor = test::tensor(id, "t" + std::to_string(id), {2});
    tensor.set_attached_to(to);
    return tensor;
  };
  // 3 to a weight; 4 to itself; 5 to one that is attached; 6 to nobody; 7 to another kind.
  v1::Tensor gradient = attached(7, 1);
  gradient.set_kind(v1::KIND_GRADIENT);
  watched.handle(
      test::declared({attached(3, 1), attached(4, 4), attached(5, 3), attached(6, 99), gradient}));
  const auto table = watched.run->tensors();
  std::vector<std::uint32_t> to;
  for (const v1::Tensor& tensor : table->tensors) to.push_back(tensor.attached_to());
  CHECK(to == std::vector<std::uint32_t>{0, 0, 1, 0, 0, 0, 0});
  CHECK(table->kinds == std::vector<v1::Kind>{v1::KIND_PARAMETER, v1::KIND_GRADIENT});
}

TEST_CASE("case_33: tensors and notices are bounded") {
  Watched watched;
  v1::FromHook many;
  for (std::uint32_t i = 0; i < Run::kMaxTensors + 10; ++i)
    *many.mutable_tensors()->add_tensors() = test::tensor(100 + i, "t", {1});
  watched.handle(std::move(many));
  CHECK(watched.run->tensors()->tensors.size() == Run::kMaxTensors);

  for (int i = 0; i < 100; ++i) {
    v1::FromHook notice;
    notice.mutable_notice()->set_text("notice " + std::to_string(i) + std::string(10'000, 'x'));
    watched.handle(notice);
    watched.handle(notice);  // the same again says nothing new
  }
  const v1::RunInfo info = watched.run->info();
  REQUIRE(info.notices_size() == static_cast<int>(Run::kMaxNotices));
  CHECK(info.notices(info.notices_size() - 1).substr(0, 9) == "notice 99");
  CHECK(info.notices(0).size() <= Run::kMaxNoticeBytes);
}

TEST_CASE("training pauses when no step comes for five seconds, and goes on with the next") {
  Watched watched;
  watched.handle(test::progress(100, 50), 10 * kSecond);
  watched.run->tick(15 * kSecond);
  CHECK(watched.run->state() == v1::RUN_STATE_RUNNING);
  watched.handle(test::progress(100, 0), 15 * kSecond);  // the hook lives, training does not
  const std::uint64_t version = watched.runs.version();
  watched.run->tick(15 * kSecond + 1);
  CHECK(watched.run->state() == v1::RUN_STATE_PAUSED);
  CHECK(watched.runs.version() != version);
  CHECK(watched.feed.wait(10s).state == v1::RUN_STATE_PAUSED);
  watched.handle(test::progress(101, 50), 60 * kSecond);
  CHECK(watched.run->state() == v1::RUN_STATE_RUNNING);
}

TEST_CASE("training whose steps take long pauses after ten of them") {
  Watched watched;
  watched.handle(test::progress(100, 0.5), 0);
  watched.run->tick(20 * kSecond);
  CHECK(watched.run->state() == v1::RUN_STATE_RUNNING);
  watched.run->tick(20 * kSecond + 1);
  CHECK(watched.run->state() == v1::RUN_STATE_PAUSED);
}

TEST_CASE("a frame is a step too") {
  Watched watched;
  watched.run->tick(6 * kSecond);
  CHECK(watched.run->state() == v1::RUN_STATE_PAUSED);
  watched.frame(1, {test::tile(1, 6)});
  CHECK(watched.run->state() == v1::RUN_STATE_RUNNING);
}

TEST_CASE("an end in order and a crash are told apart, and neither pauses") {
  for (const bool in_order : {true, false}) {
    Watched watched;
    watched.run->disconnect(watched.connection, in_order, in_order ? "" : "the connection broke",
                            0);
    const auto expected = in_order ? v1::RUN_STATE_ENDED : v1::RUN_STATE_CRASHED;
    CHECK(watched.feed.wait(10s).state == expected);
    watched.run->tick(100 * kSecond);
    CHECK(watched.run->state() == expected);
    CHECK(watched.run->info().notices_size() == (in_order ? 0 : 1));
  }
}

TEST_CASE(
    "a message kind this server does not know is skipped; a second hello breaks the protocol") {
  Watched watched;
  CHECK(watched.run->handle(v1::FromHook(), 0));
  CHECK_FALSE(watched.run->handle(test::from_hook(test::hello("r")), 0));
}

TEST_CASE("a source that hears no plans is shown where a plan asks for whole tensors") {
  Watched watched;
  watched.handle(test::frame(0, 0, 5, {test::tile(1, 6), test::tile(2, 4), test::tile(9, 6)}));
  const FramePtr frame = watched.feed.wait(0us).frame;
  REQUIRE(frame);
  CHECK(frame->step() == 5);
  REQUIRE(frame->tiles_size() == 1);
  CHECK(frame->tiles(0).tensor() == 1);
  watched.handle(test::frame(0, 0, 6, {test::tile(9, 6)}));
  CHECK(watched.runs.frames().dropped_unknown_view == 1);
}

TEST_CASE("a view may outlive its registry") {
  auto watched = std::make_unique<Watched>();
  ViewFeed feed = std::move(watched->feed);
  watched.reset();
  CHECK_FALSE(feed.wait(0us).frame);
  feed.set_plan(test::plan({1}));
}
