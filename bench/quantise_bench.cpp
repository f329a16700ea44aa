// What quantising costs, against memcpy of the same bytes.
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench.hpp"
#include "capture/quantiser.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::capture;
using bench::Report;

std::vector<float> normal(std::size_t n, float deviation) {
  // Repeats a block: 10⁸ random numbers would take longer than all the rest.
  std::mt19937 random(1);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(n);
  const std::size_t block = std::min<std::size_t>(n, 1 << 20);
  for (std::size_t i = 0; i < block; ++i) values[i] = distribution(random);
  for (std::size_t i = block; i < n; ++i) values[i] = values[i - block];
  return values;
}

TensorView view_of(const void* data, DType dtype, std::vector<std::int64_t> shape) {
  const phosphene_view view = {data, static_cast<phosphene_dtype>(dtype),
                               static_cast<std::int32_t>(shape.size()), shape.data(), nullptr};
  return *TensorView::from(view);
}

std::vector<std::uint64_t> declared(const TensorView& view) {
  return {view.shape.begin(), view.shape.begin() + view.rank};
}

const Scaling kSymmetric = {RangeMode::kSteady, Shape::kSymmetric, Scope::kLayer, 0, 0, 4};
const Scaling kLog = {RangeMode::kSteady, Shape::kLog, Scope::kLayer, 0, 0, 4};

struct Drawing {
  Drawing(const TensorView& tensor, const TensorPlan& plan, Quantity quantity,
          const Scaling& scaling)
      : view(tensor),
        quantiser(*Quantiser::create(plan, quantity, declared(tensor))),
        range(scaling) {}
  void run() {
    quantiser.quantise(view, range, tile);
    bench::keep(tile.levels.data());
  }
  TensorView view;
  Quantiser quantiser;
  RangeTracker range;
  Tile tile;
};

void against_memcpy(Report& report, const char* name, std::size_t n, int repeats, double limit) {
  const std::vector<float> values = normal(n, 0.05f);
  std::vector<float> copy(n);
  // In tensors that each fit a canvas.
  const std::size_t tensors = n > 10'000'000 ? 10 : 1, each = n / tensors;
  std::vector<Drawing> drawings;
  for (std::size_t i = 0; i < tensors; ++i)
    drawings.emplace_back(
        view_of(values.data() + i * each, DType::kFloat32, {static_cast<std::int64_t>(each)}),
        TensorPlan{}, Quantity::kValue, kSymmetric);
  const auto [copying, quantising] = bench::median_ms_in_turn(
      repeats,
      [&] {
        std::memcpy(copy.data(), values.data(), n * sizeof(float));
        bench::keep(copy.data());
      },
      [&] {
        for (Drawing& drawing : drawings) drawing.run();
      });
  report.note("memcpy float32 " + std::string(name), copying, "ms");
  report.note("quantise float32 " + std::string(name), quantising, "ms");
  report.at_most("quantise ÷ memcpy float32 " + std::string(name), quantising / copying, "ratio",
                 limit);
}

void other_ways(Report& report) {
  constexpr std::size_t n = 1'000'000;
  const std::vector<float> values = normal(n, 0.05f);
  const TensorView floats = view_of(values.data(), DType::kFloat32, {1000, 1000});
  Drawing log(floats, {}, Quantity::kMagnitude, kLog);
  report.note("quantise float32 10^6, log magnitude", bench::median_ms(50, [&] { log.run(); }),
              "ms");

  TensorView transposed = floats;
  std::swap(transposed.strides[0], transposed.strides[1]);
  Drawing turned(transposed, {}, Quantity::kValue, kSymmetric);
  report.note("quantise float32 10^6, transposed", bench::median_ms(20, [&] { turned.run(); }),
              "ms");

  std::vector<std::uint16_t> halves(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, &values[i], sizeof bits);
    halves[i] = static_cast<std::uint16_t>(bits >> 16);
  }
  Drawing half(view_of(halves.data(), DType::kBFloat16, {1000, 1000}), {}, Quantity::kValue,
               kSymmetric);
  report.note("quantise bfloat16 10^6", bench::median_ms(50, [&] { half.run(); }), "ms");

  const std::vector<double> doubles(values.begin(), values.end());
  Drawing wide(view_of(doubles.data(), DType::kFloat64, {1000, 1000}), {}, Quantity::kValue,
               kSymmetric);
  report.note("quantise float64 10^6", bench::median_ms(20, [&] { wide.run(); }), "ms");

  report.note("statistics float32 10^6",
              bench::median_ms(50,
                               [&] {
                                 const Statistics statistics = measure(floats);
                                 bench::keep(&statistics);
                               }),
              "ms");

  const TensorView kernels = view_of(values.data(), DType::kFloat32, {333, 333, 3, 3});
  Drawing conv(kernels, {0, Pooling::kRms, {}, {{0, 3}, 400}, {{1, 2}, 400}}, Quantity::kValue,
               kSymmetric);
  report.note("pool 333×333 kernels of 3×3 to 400×400", bench::median_ms(20, [&] { conv.run(); }),
              "ms");
  Drawing coarse(floats, {0, Pooling::kRms, {}, {{0}, 90}, {{1}, 90}}, Quantity::kValue,
                 kSymmetric);
  report.note("pool 1000×1000 to 90×90, root mean square",
              bench::median_ms(50, [&] { coarse.run(); }), "ms");
  Drawing extreme(floats, {0, Pooling::kExtreme, {}, {{0}, 400}, {{1}, 400}}, Quantity::kValue,
                  kSymmetric);
  report.note("pool 1000×1000 to 400×400, largest magnitude",
              bench::median_ms(50, [&] { extreme.run(); }), "ms");
}

/// A small convolutional network of 10⁶ parameters as a canvas of 1280×720 asks for it.
void network(Report& report) {
  const std::vector<float> values = normal(1'000'000, 0.05f);
  std::vector<Drawing> drawings;
  std::size_t used = 0;
  const auto add = [&](std::vector<std::int64_t> shape, const TensorPlan& plan) {
    const TensorView view = view_of(values.data() + used, DType::kFloat32, shape);
    used += view.elements();
    drawings.emplace_back(view, plan, Quantity::kValue, kSymmetric);
  };
  add({32, 1, 5, 5}, {});
  add({32}, {});
  add({64, 32, 3, 3}, {});
  add({64}, {});
  add({256, 3136}, {0, Pooling::kRms, {}, {{0}, 225}, {{1}, 1088}});
  add({256}, {});
  add({500, 256}, {});
  add({500}, {});
  add({10, 500}, {});
  add({10}, {});
  report.note("quantise a network of 10^6 parameters",
              bench::median_ms(200,
                               [&] {
                                 for (Drawing& drawing : drawings) drawing.run();
                               }),
              "ms");
  report.note("  of which 256×3136 to 225×1088 root mean squares",
              bench::median_ms(200, [&] { drawings[4].run(); }), "ms");
}

}  // namespace

int main(int argc, char** argv) {
  Report report(argc, argv);
  against_memcpy(report, "10^6", 1'000'000, 200, 1.8);
  against_memcpy(report, "10^8", 100'000'000, 5, 1.2);
  network(report);
  other_ways(report);
  return report.finish();
}
