#include "app/scalar_history.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hook_messages.hpp"

using namespace phosphene;
using app::ScalarHistory;

namespace {

bool add(ScalarHistory& history, const std::string& name, std::uint64_t step, double value) {
  return history.add(test::scalar(name, step, value).scalars());
}

}  // namespace

TEST_CASE("a reader gets what came since it last asked, and nothing twice") {
  ScalarHistory history;
  add(history, "loss", 1, 2.5);
  add(history, "accuracy", 1, 0.1);

  std::uint64_t cursor = 0;
  auto news = history.since(cursor);
  REQUIRE(news);
  CHECK(news->reset());
  REQUIRE(news->scalars().series_size() == 2);
  CHECK(news->scalars().series(0).name() == "loss");
  CHECK(news->scalars().series(0).values(0) == 2.5);
  CHECK_FALSE(history.since(cursor));

  add(history, "loss", 2, 2.25);
  news = history.since(cursor);
  REQUIRE(news);
  CHECK_FALSE(news->reset());
  REQUIRE(news->scalars().series_size() == 1);
  CHECK(news->scalars().series(0).steps_size() == 1);
  CHECK(news->scalars().series(0).steps(0) == 2);
  CHECK_FALSE(history.since(cursor));
}

TEST_CASE("case_33: a curve of any length keeps its first step and a bounded number of points") {
  ScalarHistory history;
  std::uint64_t cursor = 0;
  constexpr std::uint64_t kSteps = 100'000;
  for (std::uint64_t step = 0; step < kSteps; ++step)
    add(history, "loss", step, -static_cast<double>(step));
  const auto all = history.since(cursor);
  REQUIRE(all);
  const v1::Series& loss = all->scalars().series(0);
  CHECK(loss.steps_size() <= static_cast<int>(ScalarHistory::kMaxPoints));
  CHECK(loss.steps_size() > static_cast<int>(ScalarHistory::kMaxPoints / 2));
  CHECK(loss.steps(0) == 0);
  const std::uint64_t stride = loss.steps(1);
  for (int i = 0; i < loss.steps_size(); ++i) {
    CHECK(loss.steps(i) == stride * static_cast<std::uint64_t>(i));
    CHECK(loss.values(i) == -static_cast<double>(loss.steps(i)));
  }
  CHECK(loss.steps(loss.steps_size() - 1) + stride >= kSteps);
  CHECK(history.latest().series(0).steps(0) == kSteps - 1);
}

TEST_CASE("a reader starts over after points were thrown out, even one that had seen all") {
  ScalarHistory history;
  std::uint64_t cursor = 0;
  for (std::uint64_t step = 0; step < ScalarHistory::kMaxPoints; ++step)
    add(history, "loss", step, 1);
  REQUIRE(history.since(cursor));
  add(history, "loss", ScalarHistory::kMaxPoints, 1);  // one too many
  const auto news = history.since(cursor);
  REQUIRE(news);
  CHECK(news->reset());
  CHECK(news->scalars().series(0).steps_size() == ScalarHistory::kMaxPoints / 2 + 1);
  CHECK_FALSE(history.since(cursor));
}

TEST_CASE("a reader with the cursor of another history starts over") {
  ScalarHistory history;
  add(history, "loss", 1, 1);
  std::uint64_t cursor = 1'000'000;
  const auto news = history.since(cursor);
  REQUIRE(news);
  CHECK(news->reset());
}

TEST_CASE("case_01: a loss that is not a number is kept: it is what happened") {
  ScalarHistory history;
  CHECK(add(history, "loss", 1, std::numeric_limits<double>::quiet_NaN()));
  CHECK(std::isnan(history.latest().series(0).values(0)));
}

TEST_CASE(
    "case_41: series beyond the limit, without a name or of unequal lengths are left out, the rest "
    "stays") {
  ScalarHistory history;
  for (std::size_t i = 0; i < ScalarHistory::kMaxSeries; ++i)
    CHECK(add(history, "series " + std::to_string(i), 1, 1));
  CHECK_FALSE(add(history, "one more", 1, 1));
  CHECK_FALSE(add(history, "", 1, 1));
  v1::Scalars uneven = test::scalar("series 0", 2, 7).scalars();
  uneven.mutable_series(0)->add_steps(3);
  CHECK_FALSE(history.add(uneven));
  CHECK(add(history, "series 1", 2, 5));
  CHECK(history.latest().series_size() == static_cast<int>(ScalarHistory::kMaxSeries));
  CHECK(history.latest().series(0).values(0) == 1);
  CHECK(history.latest().series(1).values(0) == 5);
}
