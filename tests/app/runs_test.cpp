#include "app/runs.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "base/clock.hpp"
#include "hook_messages.hpp"

using namespace phosphene;
using namespace phosphene::app;
using namespace std::chrono_literals;

namespace {

Runs::Opened open(Runs& runs, const v1::Hello& hello) {
  auto opened = runs.open(hello, 0);
  REQUIRE(opened);
  return *opened;
}

}  // namespace

TEST_CASE("runs are found by id, by name, or as the newest") {
  Runs runs;
  CHECK_FALSE(runs.find(""));
  const auto first = open(runs, test::hello("a")).run;
  const auto second = open(runs, test::hello("b")).run;
  CHECK(runs.find("") == second);
  CHECK(runs.find("a") == first);
  CHECK(runs.find("a run called a") == first);
  CHECK_FALSE(runs.find("c"));
  CHECK(runs.message().runs(0).id() == "b");
}

TEST_CASE("the newest run is the one that began last, whenever it connected") {
  Runs runs;
  v1::Hello old = test::hello("old"), recent = test::hello("recent"), ahead = test::hello("ahead");
  recent.set_started_us(unix_us() - 1'000'000);
  old.set_started_us(unix_us() - 9'000'000);
  open(runs, recent);
  open(runs, old);  // reconnects after the server was restarted
  CHECK(runs.find("")->id() == "recent");
  ahead.set_started_us(unix_us() + 3'600'000'000);  // a clock that runs ahead
  open(runs, ahead);
  open(runs, test::hello("now"));
  CHECK(runs.find("")->id() == "now");
}

TEST_CASE("a trainer that takes up an old id is the newest again") {
  Runs runs;
  v1::Hello first = test::hello("a"), other = test::hello("b"), again = test::hello("a", 2);
  first.set_started_us(unix_us() - 9'000'000);
  other.set_started_us(unix_us() - 5'000'000);
  again.set_started_us(unix_us() - 1'000'000);
  const auto opened = open(runs, first);
  opened.run->disconnect(opened.connection, true, "", 2);
  open(runs, other);
  CHECK(runs.find("")->id() == "b");
  CHECK(open(runs, again).run == opened.run);
  CHECK(runs.find("")->id() == "a");
  CHECK(runs.all().size() == 2);
}

TEST_CASE("case_32: two processes of one id are two runs, each its own again after a reconnect") {
  Runs runs;
  const auto first = open(runs, test::hello("r", 1));
  const auto second = open(runs, test::hello("r", 2));
  CHECK(first.run->id() == "r");
  CHECK(second.run->id() == "r-2");
  CHECK(open(runs, test::hello("r", 3)).run->id() == "r-3");
  second.run->disconnect(second.connection, false, "", 0);
  CHECK(open(runs, test::hello("r", 2)).run == second.run);
  CHECK(runs.all().size() == 3);
}

TEST_CASE("case_29: a reconnect replaces a connection whose end was not noticed yet") {
  Runs runs;
  const auto before = open(runs, test::hello("r"));
  const auto after = open(runs, test::hello("r"));
  CHECK(after.run == before.run);
  before.run->disconnect(before.connection, false, "late", 0);  // noticed only now
  CHECK(after.run->state() == v1::RUN_STATE_RUNNING);
  after.run->disconnect(after.connection, true, "", 0);
  CHECK(after.run->state() == v1::RUN_STATE_ENDED);
}

TEST_CASE("a reconnect of a crashed run makes it running again and keeps its tensors and curves") {
  Runs runs;
  const auto before = open(runs, test::hello("r"));
  CHECK(before.run->handle(test::declared({test::tensor(1, "w", {2})}), 0));
  CHECK(before.run->handle(test::scalar("loss", 1, 2), 0));
  const std::uint64_t table = before.run->tensors()->version;
  before.run->disconnect(before.connection, false, "", 0);
  CHECK(before.run->state() == v1::RUN_STATE_CRASHED);
  const auto after = open(runs, test::hello("r"));
  CHECK(after.run->state() == v1::RUN_STATE_RUNNING);
  CHECK(after.run->tensors()->version == table);
  CHECK(after.run->latest_scalars().series_size() == 1);
}

TEST_CASE("a restarted trainer goes on with the curves of its id, but declares its own tensors") {
  Runs runs;
  const auto before = open(runs, test::hello("r", 1));
  CHECK(before.run->handle(test::declared({test::tensor(1, "w", {2})}), 0));
  CHECK(before.run->handle(test::scalar("loss", 1, 2), 0));
  before.run->disconnect(before.connection, false, "", 0);
  const auto after = open(runs, test::hello("r", 2));
  CHECK(after.run == before.run);
  CHECK(after.run->tensors()->tensors.empty());
  CHECK(after.run->latest_scalars().series_size() == 1);
}

TEST_CASE(
    "case_33: the oldest run that ended makes room; a full house is refused with a sentence") {
  Runs runs;
  std::vector<Runs::Opened> opened;
  for (std::size_t i = 0; i < Runs::kMaxRuns; ++i)
    opened.push_back(open(runs, test::hello(std::to_string(i))));
  const auto refused = runs.open(test::hello("one more"), 0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(std::to_string(Runs::kMaxRuns)) != std::string::npos);

  opened[5].run->disconnect(opened[5].connection, true, "", 0);
  opened[9].run->disconnect(opened[9].connection, true, "", 0);
  open(runs, test::hello("one more"));
  CHECK(runs.all().size() == Runs::kMaxRuns);
  CHECK_FALSE(runs.find("5"));
  CHECK(runs.find("9"));
}

TEST_CASE("case_41: an id that cannot stand in a line is refused") {
  Runs runs;
  for (const std::string& id : {std::string(), std::string("a\nb"), std::string(129, 'x')}) {
    CAPTURE(id);
    CHECK_FALSE(runs.open(test::hello(id), 0));
  }
  CHECK(runs.open(test::hello("größe/../…"), 0));
}

TEST_CASE("whoever waits is told of every change, and the callback too") {
  Runs runs;
  std::atomic<int> told{0};
  runs.on_changed([&] { ++told; });
  const std::uint64_t version = runs.version();
  std::thread ingest([&] { open(runs, test::hello("r")); });
  CHECK(runs.wait(version, 60s) != version);
  ingest.join();
  CHECK(told >= 1);
  const std::uint64_t before = runs.version();
  CHECK(runs.find("r")->handle(test::progress(3, 1), 0));
  CHECK(runs.version() != before);
}

TEST_CASE("the tensors of all runs have a bound, and runs that ended make room") {
  Runs runs;
  const auto declare = [](Run& run) {
    v1::FromHook message;
    for (std::uint32_t id = 1; id <= Run::kMaxTensors; ++id)
      *message.mutable_tensors()->add_tensors() =
          test::tensor(id, std::to_string(id) + std::string(500, 'n'), {8, 8});
    CHECK(run.handle(std::move(message), 0));
  };
  std::vector<Runs::Opened> opened;
  do {
    opened.push_back(open(runs, test::hello("r" + std::to_string(opened.size()), opened.size())));
    declare(*opened.back().run);
    REQUIRE(opened.size() < 20);
  } while (opened.back().run->tensors()->tensors.size() == Run::kMaxTensors);
  CHECK(runs.held_bytes() <= Run::kMaxHeldBytes);
  CHECK(opened.back().run->info().notices(0).find("memory") != std::string::npos);
  runs.tick(0);
  CHECK(runs.all().size() == opened.size());  // those that are connected stay

  opened[2].run->disconnect(opened[2].connection, true, "", 0);
  opened[2].run.reset();
  const std::size_t full = runs.held_bytes();
  runs.tick(0);
  CHECK(runs.all().size() == opened.size() - 1);
  CHECK(runs.forgotten() == 1);
  CHECK(runs.held_bytes() < full);
  declare(*opened.back().run);  // it connects anew, say: what had no room has it now
  CHECK(opened.back().run->tensors()->tensors.size() == Run::kMaxTensors);
}
