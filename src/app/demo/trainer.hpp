// Trains the demo's network without an end: mini-batches, AdamW, a learning rate that falls and
// starts again.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "app/demo/data_set.hpp"
#include "app/demo/network.hpp"

namespace phosphene::demo {

struct TrainerOptions {
  std::uint64_t seed = 1;
  int batch = 32;                 // examples a step, 1 … 1024
  double learning_rate = 1.5e-3;  // at the start of a cycle
  double weight_decay = 0.05;
  std::int64_t cycle =
      18'000;     // steps in which the rate falls along a cosine to a fiftieth, then starts again
  int shift = 1;  // augmentation: training images move by up to so many pixels each way
};

/// Bound to one thread.
class Trainer {
 public:
  Trainer(DataSet data, const TrainerOptions& options, const Kernels& kernels = demo::kernels());

  struct Step {
    double loss = 0;      // mean cross entropy of the batch, nats
    double accuracy = 0;  // of the batch, 0 … 1
  };
  /// One batch forwards, backwards, and an update of the parameters.
  Step step();

  /// Goes on through the held-out images by one batch, which overwrites the activations, and
  /// returns the share that was recognised of the latest min(2,000, all) of them; each by the
  /// network as it was when its turn came.
  double evaluate();
  /// Of all held-out images, by the network as it is now. Takes as long as it takes.
  double evaluate_all();

  std::int64_t steps() const { return steps_; }
  double learning_rate() const;  // of the next step
  const DataSet& data() const { return data_; }
  const Network& network() const { return network_; }

 private:
  /// Writes images into the network's input and returns the outcome of forward().
  Network::Outcome show(const Images& images, std::span<const std::uint32_t> which, int shift);
  struct Judged {
    int images = 0, recognised = 0;
  };
  Judged judge(std::uint32_t slice);
  std::uint32_t slices() const;  // of the held-out images, a batch each

  DataSet data_;
  TrainerOptions options_;
  Network network_;
  std::mt19937_64 random_;
  float mean_ = 0,
        scale_ = 1;  // of the training images' pixels: the network sees mean 0, variance 1
  std::vector<std::uint32_t> order_;  // of the training images in this epoch
  std::size_t next_ = 0;              // within order_
  std::int64_t steps_ = 0;
  std::uint32_t next_slice_ = 0;
  std::deque<Judged> judged_;  // the latest slices
};

}  // namespace phosphene::demo
