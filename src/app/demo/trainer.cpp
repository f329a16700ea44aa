#include "app/demo/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace phosphene::demo {
namespace {

constexpr int kJudgedImages = 2'000;
constexpr double kFloor = 1.0 / 50;  // of the learning rate, at the end of a cycle

NetworkShape shape_for(const DataSet& data, int batch) {
  NetworkShape shape;
  shape.batch = batch;
  shape.height = data.height;
  shape.width = data.width;
  shape.classes = data.classes;
  return shape;
}

}  // namespace

Trainer::Trainer(DataSet data, const TrainerOptions& options, const Kernels& kernels)
    : data_(std::move(data)),
      options_(options),
      network_(shape_for(data_, options.batch), options.seed, kernels),
      random_(options.seed),
      order_(data_.train.count()) {
  std::iota(order_.begin(), order_.end(), 0U);
  double sum = 0, squares = 0;
  for (const std::uint8_t pixel : data_.train.pixels) {
    sum += pixel;
    squares += double(pixel) * pixel;
  }
  const double mean = sum / double(data_.train.pixels.size());
  const double variance = squares / double(data_.train.pixels.size()) - mean * mean;
  mean_ = float(mean);
  scale_ = variance > 0 ? float(1 / std::sqrt(variance)) : 1;
  next_ = order_.size();
}

Network::Outcome Trainer::show(const Images& images, std::span<const std::uint32_t> which,
                               int shift) {
  const int height = data_.height, width = data_.width;
  float* out = network_.input().data();
  std::vector<std::uint8_t> labels;
  for (const std::uint32_t image : which) {
    labels.push_back(images.labels[image]);
    const std::uint8_t* pixels = images.pixels.data() + std::size_t(image) * height * width;
    const auto moved = [&] { return shift == 0 ? 0 : int(random_() % (2 * shift + 1)) - shift; };
    const int down = moved(), right = moved();
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int from_y = y - down, from_x = x - right;
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        *out++ = ((inside ? pixels[from_y * width + from_x] : 0) - mean_) * scale_;
      }
    }
  }
  return network_.forward(labels);
}

Trainer::Step Trainer::step() {
  std::vector<std::uint32_t> batch(options_.batch);
  for (std::uint32_t& image : batch) {
    if (next_ == order_.size()) {
      for (std::size_t i = order_.size(); i > 1; --i)
        std::swap(order_[i - 1], order_[random_() % i]);
      next_ = 0;
    }
    image = order_[next_++];
  }
  const Network::Outcome outcome = show(data_.train, batch, options_.shift);
  network_.backward();
  AdamStep how;
  how.learning_rate = float(learning_rate());
  how.weight_decay = float(options_.weight_decay);
  how.step = ++steps_;
  network_.update(how);
  return {outcome.loss, double(outcome.correct) / options_.batch};
}

double Trainer::learning_rate() const {
  const double phase = double(steps_ % options_.cycle) / double(options_.cycle);
  return options_.learning_rate *
         (kFloor + (1 - kFloor) * (1 + std::cos(std::numbers::pi * phase)) / 2);
}

std::uint32_t Trainer::slices() const {
  return std::uint32_t((data_.held_out.count() + options_.batch - 1) / options_.batch);
}

Trainer::Judged Trainer::judge(std::uint32_t slice) {
  const int first = int(slice) * options_.batch;
  std::vector<std::uint32_t> images(std::min(options_.batch, data_.held_out.count() - first));
  std::iota(images.begin(), images.end(), std::uint32_t(first));
  return {int(images.size()), show(data_.held_out, images, 0).correct};
}

double Trainer::evaluate() {
  const std::size_t window =
      std::min<std::size_t>(slices(), (kJudgedImages + options_.batch - 1) / options_.batch);
  judged_.push_back(judge(next_slice_));
  next_slice_ = (next_slice_ + 1) % slices();
  if (judged_.size() > window) judged_.pop_front();
  Judged sum;
  for (const Judged& slice : judged_) {
    sum.images += slice.images;
    sum.recognised += slice.recognised;
  }
  return double(sum.recognised) / sum.images;
}

double Trainer::evaluate_all() {
  int recognised = 0;
  for (std::uint32_t slice = 0; slice < slices(); ++slice) recognised += judge(slice).recognised;
  return double(recognised) / data_.held_out.count();
}

}  // namespace phosphene::demo
