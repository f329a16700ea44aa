#include "app/demo/network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace phosphene::demo {
namespace {

void fill_input(Network& network, unsigned seed) {
  std::mt19937 random(seed);
  for (float& pixel : network.input()) pixel = float(random() % 2001) / 1000 - 1;
}

TEST_CASE("gradients are the slopes of the loss, parameter by parameter") {
  const std::vector<std::uint8_t> labels = {2, 0, 1};
  for (const int side : {8, 17}) {  // pooled once and twice; an odd row left out
    Network network({3, side, side, 3, 2, 3, 5}, 7);
    fill_input(network, 11);
    const double loss = network.forward(labels).loss;
    network.backward();

    // A step may take a unit across ReLU's corner or change a window's largest pixel: then the
    // slopes to both sides differ, and the gradient lies between them.
    constexpr float kStep = 1e-3F;
    for (std::size_t t = 0; t < network.parameters().size(); ++t) {
      const TensorView& parameter = network.parameters()[t];
      CAPTURE(side);
      CAPTURE(parameter.name);
      std::vector<float> gradient(network.gradients()[t].values.begin(),
                                  network.gradients()[t].values.end());
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const float kept = parameter.values[i];
        parameter.values[i] = kept + kStep;
        const double above = (network.forward(labels).loss - loss) / kStep;
        parameter.values[i] = kept - kStep;
        const double below = (loss - network.forward(labels).loss) / kStep;
        parameter.values[i] = kept;
        const double doubt =
            1e-3 + 0.02 * std::abs(gradient[i]);  // float32, and the loss is curved
        CHECK(gradient[i] > std::min(above, below) - doubt);
        CHECK(gradient[i] < std::max(above, below) + doubt);
      }
      CHECK(std::any_of(gradient.begin(), gradient.end(), [](float value) { return value != 0; }));
    }
  }
}

TEST_CASE("the network has about a million parameters, whatever the images' size") {
  CHECK(Network({32, 28, 28, 10}, 1).parameter_count() == 890'762);
  for (const auto& [height, width] : {std::pair{8, 8}, {8, 64}, {17, 15}, {32, 32}, {64, 64}}) {
    const std::size_t count = Network({1, height, width, 10}, 1).parameter_count();
    CAPTURE(height);
    CAPTURE(width);
    CHECK(count > 600'000);
    CHECK(count < 1'100'000);
  }
}

TEST_CASE("tensors have PyTorch's names, shapes and order") {
  const Network network({32, 28, 28, 10}, 1);
  using Shape = std::vector<std::int64_t>;
  const std::pair<const char*, Shape> parameters[] = {
      {"conv1.weight", {32, 1, 5, 5}},  {"conv1.bias", {32}},
      {"conv2.weight", {64, 32, 3, 3}}, {"conv2.bias", {64}},
      {"fc1.weight", {256, 3136}},      {"fc1.bias", {256}},
      {"fc2.weight", {256, 256}},       {"fc2.bias", {256}},
      {"fc3.weight", {10, 256}},        {"fc3.bias", {10}}};
  REQUIRE(network.parameters().size() == std::size(parameters));
  for (std::size_t i = 0; i < std::size(parameters); ++i) {
    const TensorView &value = network.parameters()[i], &gradient = network.gradients()[i];
    CHECK(value.name == parameters[i].first);
    CHECK(value.shape == parameters[i].second);
    CHECK(gradient.name == value.name);
    CHECK(gradient.shape == value.shape);
    CHECK(value.roles.size() == value.shape.size());
    CHECK(value.attached_to == (i % 2 ? parameters[i - 1].first : ""));
  }
  const std::pair<const char*, Shape> activations[] = {{"conv1", {32, 32, 28, 28}},
                                                       {"conv2", {32, 64, 14, 14}},
                                                       {"fc1", {32, 256}},
                                                       {"fc2", {32, 256}},
                                                       {"fc3", {32, 10}}};
  REQUIRE(network.activations().size() == std::size(activations));
  for (std::size_t i = 0; i < std::size(activations); ++i) {
    CHECK(network.activations()[i].name == activations[i].first);
    CHECK(network.activations()[i].shape == activations[i].second);
  }
}

TEST_CASE(
    "a unit that is always dark has no gradient and stays as it is, but for the decay of its "
    "weights") {
  Network network({4, 8, 8, 3, 4, 4, 8}, 3);
  const auto named = [](std::span<const TensorView> tensors, const char* name) {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const TensorView& t) { return t.name == name; })
        ->values;
  };
  named(network.parameters(), "conv2.bias")[1] = -100;
  fill_input(network, 5);
  const float before = named(network.parameters(), "conv2.weight")[36];
  const std::vector<std::uint8_t> labels = {0, 1, 2, 0};
  AdamStep step;
  step.weight_decay = 0.5F;
  for (int i = 1; i <= 10; ++i) {
    network.forward(labels);
    network.backward();
    step.step = i;
    network.update(step);
    for (int tap = 36; tap < 72; ++tap) CHECK(named(network.gradients(), "conv2.weight")[tap] == 0);
  }
  CHECK(named(network.parameters(), "conv2.bias")[1] == -100);
  CHECK(named(network.parameters(), "conv2.weight")[36] ==
        doctest::Approx(before * std::pow(1 - 0.0005, 10)).epsilon(1e-5));
}

TEST_CASE("equal seeds begin equal, different seeds do not") {
  const auto first = [](std::uint64_t seed) {
    return Network({1, 8, 8, 10}, seed).parameters()[0].values[0];
  };
  CHECK(first(1) == first(1));
  CHECK(first(1) != first(2));
}

}  // namespace
}  // namespace phosphene::demo
