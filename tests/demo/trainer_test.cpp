#include "app/demo/trainer.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace phosphene::demo {
namespace {

TEST_CASE("the digits are learnt within a few hundred steps") {
  Trainer trainer(load_digits(), {});
  CHECK(trainer.evaluate_all() < 0.3);
  for (int step = 0; step < 150; ++step) trainer.step();
  CHECK(trainer.evaluate_all() > 0.85);
}

TEST_CASE("the accuracy shown is that of the latest held-out images, a batch at a time") {
  Trainer trainer(load_digits(), {});
  double shown = 0;
  const int slices = (trainer.data().held_out.count() + 31) / 32;
  for (int slice = 0; slice < slices; ++slice) shown = trainer.evaluate();
  CHECK(shown == doctest::Approx(trainer.evaluate_all()));
}

TEST_CASE("the learning rate falls and starts again") {
  TrainerOptions options;
  options.learning_rate = 1e-3;
  options.cycle = 4;
  Trainer trainer(load_digits(), options);
  std::vector<double> rates;
  for (int step = 0; step < 6; ++step) {
    rates.push_back(trainer.learning_rate());
    trainer.step();
  }
  CHECK(rates[0] == doctest::Approx(1e-3));
  CHECK(rates[1] < rates[0]);
  CHECK(rates[3] < rates[2]);
  CHECK(rates[4] == doctest::Approx(1e-3));
}

TEST_CASE("equal seeds train equally") {
  Trainer one(load_digits(), {}), other(load_digits(), {});
  for (int step = 0; step < 3; ++step) CHECK(one.step().loss == other.step().loss);
}

}  // namespace
}  // namespace phosphene::demo
