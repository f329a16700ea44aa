#include "capture/budget.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using phosphene::capture::Budget;

namespace {

/// The share of the time that captures of `cost_us` take in steps of `step_us`, from one capture to
/// a later one.
double share_taken(Budget budget, double step_us, double cost_us) {
  constexpr int kCaptures = 50;
  double time_us = 0;
  for (int captures = 0;;) {
    const bool captured = budget.allows(0);
    if (captured) {
      if (captures++ == kCaptures) return kCaptures * cost_us / time_us;
      budget.spend(cost_us);
    }
    const double us = step_us + (captured ? cost_us : 0);
    budget.earn(us);
    time_us += us;
  }
}

}  // namespace

TEST_CASE("captures take their share of the time, whatever steps and captures cost") {
  for (const double step_us : {100.0, 1e3, 1e6}) {
    for (const double cost_us : {10.0, 1e3, 1e5}) {
      const double at_every_step = cost_us / (step_us + cost_us);
      const double share = share_taken(Budget(0.02), step_us, cost_us);
      CHECK(share <= 0.0201);
      CHECK(share >= std::min(at_every_step, 0.02) * 0.8);  // whole steps only
    }
  }
}

TEST_CASE("a pause is not saved up") {
  Budget budget(0.02);
  budget.earn(3600e6);  // an hour at a breakpoint
  budget.earn(1000);
  budget.spend(3000);
  CHECK_FALSE(budget.allows(0));
}

TEST_CASE("views in one step share what there is") {
  Budget budget(0.02);
  budget.earn(100e3);  // 2 ms
  CHECK(budget.allows(0));
  CHECK(budget.allows(1500));
  CHECK_FALSE(budget.allows(2500));
}

TEST_CASE("a whole share is no limit") {
  Budget budget(1);
  budget.spend(1e9);
  CHECK(budget.allows(1e9));
}
