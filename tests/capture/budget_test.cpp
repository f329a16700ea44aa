#include "capture/budget.hpp"

#include <doctest/doctest.h>

using phosphene::capture::Budget;

namespace {

/// The share of the time that captures of `cost_us` take in steps of `step_us`.
double share_taken(Budget budget, double step_us, double cost_us) {
  double total = 0, spent = 0;
  for (int i = 0; i < 100'000; ++i) {
    const bool captures = budget.allows(0);
    if (captures) {
      budget.spend(cost_us);
      spent += cost_us;
    }
    const double us = step_us + (captures ? cost_us : 0);
    budget.earn(us);
    total += us;
  }
  return spent / total;
}

}  // namespace

TEST_CASE("captures take their share of the time, whatever steps and captures cost") {
  for (const double step_us : {10.0, 1e3, 1e6}) {
    for (const double cost_us : {100.0, 1e3, 1e5}) {
      const double wanted = cost_us / (step_us + cost_us);  // captured at every step
      const double share = share_taken(Budget(0.02), step_us, cost_us);
      CHECK(share <= 0.0201);
      CHECK(share >= (wanted < 0.02 ? wanted * 0.99 : 0.0198));
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
