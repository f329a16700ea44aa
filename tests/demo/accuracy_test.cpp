// What the README says of the demo: minutes, not seconds.
#include <doctest/doctest.h>

#include <cstdio>

#include "app/demo/trainer.hpp"
#include "base/clock.hpp"

namespace phosphene::demo {
namespace {

/// Steps until all held-out images are recognised at the given rate; −1: not within `most`.
std::int64_t steps_to_reach(double accuracy, DataSet data, std::int64_t most) {
  Trainer trainer(std::move(data), {});
  std::int64_t training_us = 0;
  while (trainer.steps() < most) {
    const std::int64_t begin = monotonic_us();
    for (int step = 0; step < 100; ++step) trainer.step();
    training_us += monotonic_us() - begin;
    const double reached = trainer.evaluate_all();
    if (reached <= accuracy) continue;
    std::printf("%s: %.1f %% after %lld steps, %.0f s\n", trainer.data().name.c_str(),
                100 * reached, static_cast<long long>(trainer.steps()), double(training_us) / 1e6);
    return trainer.steps();
  }
  return -1;
}

TEST_CASE("more than 95 % of the held-out digits are recognised") {
  CHECK(steps_to_reach(0.95, load_digits(), 2'000) > 0);
}

TEST_CASE("more than 85 % of the held-out images of Fashion-MNIST are recognised") {
  auto data = load_default();
  REQUIRE(data);
  if (data->name == "digits") {
    MESSAGE("Debian's dataset-fashion-mnist is not installed");
    return;
  }
  CHECK(steps_to_reach(0.85, std::move(*data), 3'000) > 0);
}

}  // namespace
}  // namespace phosphene::demo
