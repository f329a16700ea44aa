// A small network learns to tell the three arms of a spiral apart, and shows all it has while it
// does.
//
//   build/phosphene serve &      # before or after: the hook finds it
//   build/examples/train_cpp     # [STEPS], default: until Ctrl-C
//
// What is needed to watch a network is marked with "phosphene".
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "phosphene.hpp"  // phosphene

using phosphene::Role;
using Vector = std::vector<float>;

namespace {

constexpr int kBatch = 96;
constexpr int kArms = 3;
constexpr float kLearningRate = 1e-3f;
constexpr auto kPace =
    std::chrono::milliseconds(20);  // for the eye: it would learn this within a second

volatile std::sig_atomic_t stopped = 0;  // Ctrl-C ends the run in order

/// Parameters, their gradients, and Adam's memory of them.
struct Parameters {
  explicit Parameters(std::size_t count)
      : value(count), gradient(count), mean(count), square(count) {}

  void update(int step) {
    const float correct_mean = 1 - std::pow(0.9f, static_cast<float>(step));
    const float correct_square = 1 - std::pow(0.999f, static_cast<float>(step));
    for (std::size_t i = 0; i < value.size(); ++i) {
      mean[i] += 0.1f * (gradient[i] - mean[i]);
      square[i] += 0.001f * (gradient[i] * gradient[i] - square[i]);
      value[i] -= kLearningRate * (mean[i] / correct_mean) /
                  (std::sqrt(square[i] / correct_square) + 1e-8f);
    }
  }

  Vector value, gradient, mean, square;
};

/// outputs = weight · inputs + bias for each example of a batch, rectified in hidden layers.
class Dense {
 public:
  Dense(int inputs, int outputs, bool rectified, std::mt19937& random)
      : inputs_(inputs),
        outputs_(outputs),
        rectified_(rectified),
        weight_(static_cast<std::size_t>(inputs) * outputs),
        bias_(outputs),
        activation_(static_cast<std::size_t>(kBatch) * outputs) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0f / static_cast<float>(inputs)));
    std::generate(weight_.value.begin(), weight_.value.end(), [&] { return normal(random); });
  }

  /// phosphene: the names, shapes and roles of what this layer has. It reads them by itself from
  /// now on.
  void show(phosphene::Session& cast, const std::string& name) {
    const auto weight = cast.parameter(name + ".weight", weight_.value, {outputs_, inputs_},
                                       {Role::kOut, Role::kIn});
    cast.parameter(name + ".bias", bias_.value, {outputs_}, {Role::kOut}, {.attached_to = weight});
    const auto gradient = cast.gradient(name + ".weight", weight_.gradient, {outputs_, inputs_},
                                        {Role::kOut, Role::kIn});
    cast.gradient(name + ".bias", bias_.gradient, {outputs_}, {Role::kOut},
                  {.attached_to = gradient});
    cast.activation(name, activation_, {kBatch, outputs_}, {Role::kBatch, Role::kChannel});
  }

  const Vector& forward(const Vector& input) {
    input_ = &input;
    for (int b = 0; b < kBatch; ++b) {
      for (int o = 0; o < outputs_; ++o) {
        float sum = bias_.value[o];
        for (int i = 0; i < inputs_; ++i) sum += weight(o, i) * input[b * inputs_ + i];
        activation_[b * outputs_ + o] = rectified_ ? std::max(sum, 0.0f) : sum;
      }
    }
    return activation_;
  }

  /// Takes the gradient by the activation, returns the one by the input.
  Vector backward(Vector gradient) {
    std::fill(weight_.gradient.begin(), weight_.gradient.end(), 0.0f);
    std::fill(bias_.gradient.begin(), bias_.gradient.end(), 0.0f);
    Vector by_input(static_cast<std::size_t>(kBatch) * inputs_);
    for (int b = 0; b < kBatch; ++b) {
      for (int o = 0; o < outputs_; ++o) {
        const int at = b * outputs_ + o;
        const float by_output = rectified_ && activation_[at] <= 0 ? 0 : gradient[at];
        bias_.gradient[o] += by_output;
        for (int i = 0; i < inputs_; ++i) {
          weight_.gradient[o * inputs_ + i] += by_output * (*input_)[b * inputs_ + i];
          by_input[b * inputs_ + i] += by_output * weight(o, i);
        }
      }
    }
    return by_input;
  }

  void update(int step) {
    weight_.update(step);
    bias_.update(step);
  }

 private:
  float weight(int output, int input) const { return weight_.value[output * inputs_ + input]; }

  int inputs_, outputs_;
  bool rectified_;
  Parameters weight_, bias_;
  const Vector* input_ = nullptr;
  Vector activation_;
};

/// Points on the arms, with some noise, and the arm of each.
void draw_batch(std::mt19937& random, Vector& points, std::vector<int>& arms) {
  std::uniform_real_distribution<float> along(0.1f, 1);
  std::normal_distribution<float> noise(0, 0.1f);
  for (int b = 0; b < kBatch; ++b) {
    const float radius = along(random);
    arms[b] = b % kArms;
    const float angle = 5 * radius + static_cast<float>(arms[b]) * 6.2832f / kArms + noise(random);
    points[2 * b] = radius * std::cos(angle);
    points[2 * b + 1] = radius * std::sin(angle);
  }
}

struct Outcome {
  float loss = 0;      // mean cross entropy, nats
  float accuracy = 0;  // 0 … 1
  Vector gradient;     // of the loss by each logit
};

Outcome judge(const Vector& logits, const std::vector<int>& arms) {
  Outcome outcome{.gradient = Vector(logits.size())};
  for (int b = 0; b < kBatch; ++b) {
    const float* logit = &logits[b * kArms];
    const float top = *std::max_element(logit, logit + kArms);
    float sum = 0;
    for (int k = 0; k < kArms; ++k) sum += std::exp(logit[k] - top);
    for (int k = 0; k < kArms; ++k) {
      const float probability = std::exp(logit[k] - top) / sum;
      outcome.gradient[b * kArms + k] = (probability - (k == arms[b] ? 1.0f : 0.0f)) / kBatch;
    }
    outcome.loss += (std::log(sum) + top - logit[arms[b]]) / kBatch;
    outcome.accuracy += (logit[arms[b]] == top ? 1.0f : 0.0f) / kBatch;
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { stopped = 1; });
  const int steps = argc > 1 ? std::atoi(argv[1]) : 1'000'000'000;
  std::mt19937 random(1);
  Dense first(2, 64, true, random);
  Dense second(64, 64, true, random);
  Dense third(64, kArms, false, random);

  phosphene::Session cast({.name = "spiral"});  // phosphene
  first.show(cast, "first");
  second.show(cast, "second");
  third.show(cast, "third");

  Vector points(2 * kBatch);
  std::vector<int> arms(kBatch);
  for (int step = 1; step <= steps && !stopped; ++step) {
    draw_batch(random, points, arms);
    const Vector& logits = third.forward(second.forward(first.forward(points)));
    Outcome outcome = judge(logits, arms);
    first.backward(second.backward(third.backward(std::move(outcome.gradient))));
    for (Dense* layer : {&first, &second, &third}) layer->update(step);

    cast.scalar("loss", outcome.loss);  // phosphene
    cast.scalar("accuracy", outcome.accuracy);
    cast.step(static_cast<std::uint64_t>(step));

    if (step % 100 == 0 || step == steps) {
      std::printf("step %d: loss %.3f, accuracy %.0f %%\n", step, outcome.loss,
                  100 * outcome.accuracy);
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(kPace);
  }
}
