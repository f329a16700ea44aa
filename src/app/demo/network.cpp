#include "app/demo/network.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

namespace phosphene::demo {
namespace {

constexpr std::int64_t kParameters = 900'000;
constexpr int kHiddenStep = 16;  // whole vectors on every instruction set
constexpr float kFiltersBegin =
    0.25F;  // of ±1/√fan-in: what conv1 learns soon outweighs its noise, and is seen

/// Units of two dense layers, so that with `features` inputs they and what else there is stay just
/// below kParameters.
int hidden_units(std::int64_t features, std::int64_t elsewhere) {
  int units = kHiddenStep;
  while (elsewhere + (units + kHiddenStep) * (features + units + kHiddenStep) <= kParameters)
    units += kHiddenStep;
  return units;
}

}  // namespace

Network::Network(const NetworkShape& shape, std::uint64_t seed, const Kernels& kernels)
    : kernels_(&kernels), batch_(shape.batch), classes_(shape.classes) {
  // Small images are pooled once alone: there must be something left to see.
  const bool pooled = std::min(shape.height, shape.width) >= 16;
  const int height = pooled ? shape.height / 2 : shape.height,
            width = pooled ? shape.width / 2 : shape.width;
  add_convolution("conv1", {batch_, 1, shape.conv1, shape.height, shape.width, 5}, pooled);
  add_convolution("conv2", {batch_, shape.conv1, shape.conv2, height, width, 3}, true);
  const int features = shape.conv2 * (height / 2) * (width / 2);
  const int hidden = shape.hidden > 0
                         ? shape.hidden
                         : hidden_units(features, 26 * shape.conv1 + 9 * shape.conv1 * shape.conv2);
  add_dense("fc1", {batch_, features, hidden}, true);
  add_dense("fc2", {batch_, hidden, hidden}, true);
  add_dense("fc3", {batch_, hidden, classes_}, false);
  input_.resize(std::size_t(batch_) * shape.height * shape.width);
  allocate(seed);
}

void Network::add_convolution(std::string name, const ConvShape& shape, bool pooled) {
  Layer& layer = layers_.emplace_back();
  layer.name = std::move(name);
  layer.convolves = true;
  layer.conv = shape;
  layer.output.resize(std::size_t(shape.batch) * shape.out * shape.height * shape.width);
  layer.pooled = pooled;
  if (!pooled) return;
  layer.pool = {shape.batch * shape.out, shape.height, shape.width};
  layer.pooled_output.resize(std::size_t(layer.pool.planes) * (shape.height / 2) *
                             (shape.width / 2));
}

void Network::add_dense(std::string name, const DenseShape& shape, bool rectified) {
  Layer& layer = layers_.emplace_back();
  layer.name = std::move(name);
  layer.dense = shape;
  layer.rectified = rectified;
  layer.output.resize(std::size_t(shape.batch) * shape.out);
}

void Network::allocate(std::uint64_t seed) {
  const auto fan_in = [](const Layer& layer) {
    return std::size_t(layer.convolves ? layer.conv.in * layer.conv.kernel * layer.conv.kernel
                                       : layer.dense.in);
  };
  const auto units = [](const Layer& layer) {
    return std::size_t(layer.convolves ? layer.conv.out : layer.dense.out);
  };
  std::size_t count = 0, columns = 0;
  for (const Layer& layer : layers_) {
    count += units(layer) * (fan_in(layer) + 1);
    if (layer.convolves) columns = std::max(columns, layer.conv.columns());
  }
  columns_.resize(columns);
  for (auto* values : {&weights_, &weight_gradients_, &means_, &squares_}) values->resize(count);

  std::mt19937_64 random(seed);
  std::size_t at = 0;
  for (Layer& layer : layers_) {
    layer.output_gradient.resize(layer.output.size());
    layer.pooled_gradient.resize(layer.pooled_output.size());
    layer.winner.resize(layer.pooled_output.size());

    const std::int64_t out = units(layer), in = fan_in(layer);
    const auto take = [&](Floats& values, std::size_t offset, std::size_t size) {
      return std::span(values).subspan(at + offset, size);
    };
    layer.weight = take(weights_, 0, out * in);
    layer.bias = take(weights_, out * in, out);
    layer.weight_gradient = take(weight_gradients_, 0, out * in);
    layer.bias_gradient = take(weight_gradients_, out * in, out);
    const float bound = (&layer == &layers_.front() ? kFiltersBegin : 1) / std::sqrt(float(in));
    for (float& value : take(weights_, 0, out * (in + 1))) {
      value = bound * (2 * float(random() >> 40) / float(1 << 24) - 1);
    }
    at += out * (in + 1);

    std::vector<std::int64_t> shape = {out, in}, output_shape = {batch_, out};
    std::vector<Role> roles = {Role::kOut, Role::kIn},
                      output_roles = {Role::kBatch, Role::kChannel};
    if (layer.convolves) {
      shape = {out, layer.conv.in, layer.conv.kernel, layer.conv.kernel};
      output_shape.insert(output_shape.end(), {layer.conv.height, layer.conv.width});
      for (auto* both : {&roles, &output_roles})
        both->insert(both->end(), {Role::kHeight, Role::kWidth});
    }
    const std::string weight = layer.name + ".weight", bias = layer.name + ".bias";
    parameters_.push_back({weight, PHOSPHENE_PARAMETER, shape, roles, "", layer.weight});
    parameters_.push_back({bias, PHOSPHENE_PARAMETER, {out}, {Role::kOut}, weight, layer.bias});
    gradients_.push_back({weight, PHOSPHENE_GRADIENT, shape, roles, "", layer.weight_gradient});
    gradients_.push_back(
        {bias, PHOSPHENE_GRADIENT, {out}, {Role::kOut}, weight, layer.bias_gradient});
    activations_.push_back(
        {layer.name, PHOSPHENE_ACTIVATION, output_shape, output_roles, "", layer.output});
  }
}

std::span<const float> Network::input_of(std::size_t layer) const {
  return layer == 0 ? std::span<const float>(input_)
                    : std::span<const float>(layers_[layer - 1].result());
}

Network::Outcome Network::forward(std::span<const std::uint8_t> labels) {
  assert(labels.size() <= std::size_t(batch_));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const float* x = input_of(i).data();
    if (layer.convolves) {
      kernels_->conv(layer.conv, x, layer.weight.data(), layer.bias.data(), columns_.data(),
                     layer.output.data());
    } else {
      kernels_->dense(layer.dense, x, layer.weight.data(), layer.bias.data(), layer.output.data());
    }
    if (layer.rectified) kernels_->relu(layer.output.size(), layer.output.data());
    if (layer.pooled) {
      kernels_->max_pool(layer.pool, layer.output.data(), layer.pooled_output.data(),
                         layer.winner.data());
    }
  }

  Layer& last = layers_.back();
  Outcome outcome;
  std::fill(last.output_gradient.begin(), last.output_gradient.end(), 0.0F);
  for (std::size_t example = 0; example < labels.size(); ++example) {
    assert(labels[example] < classes_);
    const auto logits = std::span(last.output).subspan(example * classes_, classes_);
    const auto gradient = std::span(last.output_gradient).subspan(example * classes_, classes_);
    const auto best = std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(double(logit) - *best);
    for (int c = 0; c < classes_; ++c) {
      const double probability = std::exp(double(logits[c]) - *best) / sum;
      gradient[c] = float((probability - (c == labels[example])) / double(labels.size()));
    }
    outcome.loss += (std::log(sum) + *best - logits[labels[example]]) / double(labels.size());
    outcome.correct += best - logits.begin() == labels[example];
  }
  return outcome;
}

void Network::backward() {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    const float* x = input_of(i).data();
    float* dx = i == 0 ? nullptr : layers_[i - 1].result_gradient().data();
    float* dy = layer.output_gradient.data();
    if (layer.pooled)
      kernels_->max_pool_backward(layer.pool, layer.winner.data(), layer.pooled_gradient.data(),
                                  dy);
    if (layer.rectified) kernels_->relu_backward(layer.output.size(), layer.output.data(), dy);
    if (layer.convolves) {
      kernels_->conv_backward(layer.conv, x, layer.weight.data(), dy, columns_.data(),
                              layer.weight_gradient.data(), layer.bias_gradient.data(), dx);
    } else {
      kernels_->dense_backward(layer.dense, x, layer.weight.data(), dy,
                               layer.weight_gradient.data(), layer.bias_gradient.data(), dx);
    }
  }
}

void Network::update(const AdamStep& step) {
  AdamStep without_decay = step;
  without_decay.weight_decay = 0;
  std::size_t at = 0;
  const auto move = [&](const AdamStep& how, std::size_t count) {
    kernels_->adam(how, count, &weights_[at], &weight_gradients_[at], &means_[at], &squares_[at]);
    at += count;
  };
  for (const Layer& layer : layers_) {
    move(step, layer.weight.size());
    move(without_decay, layer.bias.size());
  }
}

}  // namespace phosphene::demo
