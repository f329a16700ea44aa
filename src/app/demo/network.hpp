// The demo's network: two convolutions and three dense layers, about 10⁶ parameters whatever the
// images' size.
//
//   conv1 5×5 ▸ ReLU ▸ [max pool] ▸ conv2 3×3 ▸ ReLU ▸ max pool ▸ fc1 ▸ ReLU ▸ fc2 ▸ ReLU ▸ fc3 ▸
//   softmax
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "app/demo/kernels.hpp"
#include "capture/phosphene.hpp"

namespace phosphene::demo {

/// Memory that begins on a cache line: where a sum begins decides how it is rounded, and equal
/// seeds shall train equally.
template <typename T>
struct CacheLines {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  CacheLines() = default;
  template <typename U>
  CacheLines(const CacheLines<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  bool operator==(const CacheLines&) const = default;
};
using Floats = std::vector<float, CacheLines<float>>;

/// A tensor to look at. Its values live as long as the network and never move.
struct TensorView {
  std::string name;
  phosphene_kind kind = PHOSPHENE_PARAMETER;
  std::vector<std::int64_t> shape;
  std::vector<Role> roles;  // one a dimension
  std::string attached_to;  // of a bias: the name of its weight
  std::span<float> values;  // C order
};

struct NetworkShape {
  int batch = 32;  // examples at once
  int height = 28, width = 28;
  int classes = 10;
  int conv1 = 32, conv2 = 64;  // channels
  int hidden = 0;  // units of fc1 and fc2; 0: as many as make 900,000 parameters or a little less
};

/// Bound to one thread.
class Network {
 public:
  /// Weights and biases begin uniform in ±1/√fan-in, as PyTorch's layers do; those of conv1 in a
  /// quarter of that.
  Network(const NetworkShape& shape, std::uint64_t seed, const Kernels& kernels = demo::kernels());
  Network(Network&&) = default;
  Network& operator=(Network&&) = default;

  /// Where the caller writes the images: batch × height × width.
  std::span<float> input() { return input_; }

  struct Outcome {
    double loss = 0;  // mean cross entropy, nats
    int correct = 0;
  };
  /// Fills the activations from input() and compares them with one label an example; at most
  /// `batch` of them.
  Outcome forward(std::span<const std::uint8_t> labels);
  /// Fills the gradients of the latest forward()'s loss.
  void backward();
  /// Moves the parameters against the gradients. Weights decay, biases do not.
  void update(const AdamStep& step);

  /// conv1.weight, conv1.bias, conv2.weight, …; shapes and order as in PyTorch.
  std::span<const TensorView> parameters() const { return parameters_; }
  /// The same names and order.
  std::span<const TensorView> gradients() const { return gradients_; }
  /// conv1, conv2 (batch, channel, height, width) before they are pooled, fc1, fc2 (batch,
  /// channel), all after ReLU, and fc3, the logits.
  std::span<const TensorView> activations() const { return activations_; }
  std::size_t parameter_count() const { return weights_.size(); }

 private:
  /// A convolution or a dense layer with what follows it.
  struct Layer {
    std::string name;
    bool convolves = false, rectified = true, pooled = false;
    ConvShape conv;
    DenseShape dense;
    PoolShape pool;
    std::span<float> weight, bias, weight_gradient, bias_gradient;
    Floats output, output_gradient;  // before pooling
    Floats pooled_output, pooled_gradient;
    std::vector<std::uint8_t> winner;
    const Floats& result() const { return pooled ? pooled_output : output; }
    Floats& result_gradient() { return pooled ? pooled_gradient : output_gradient; }
  };
  void add_convolution(std::string name, const ConvShape& shape, bool pooled);
  void add_dense(std::string name, const DenseShape& shape, bool rectified);
  void allocate(std::uint64_t seed);
  std::span<const float> input_of(std::size_t layer) const;

  const Kernels* kernels_;
  int batch_, classes_;
  Floats input_, columns_;
  Floats weights_, weight_gradients_, means_,
      squares_;  // of all layers, one after the other
  std::vector<Layer> layers_;
  std::vector<TensorView> parameters_, gradients_, activations_;
};

}  // namespace phosphene::demo
