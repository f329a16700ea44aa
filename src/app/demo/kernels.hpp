// The arithmetic of the network, compiled once for each instruction set and chosen when the program
// runs.
//
// All arrays are float32 in C order and not owned: images and maps (batch, channels, height,
// width), weights as PyTorch keeps them, (out, in, kernel, kernel) and (out, in). Thread-safe:
// nothing is kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace phosphene::demo {

/// A convolution of stride 1 whose output is as large as its input, padded with zeros. `kernel` is
/// odd.
struct ConvShape {
  int batch = 1, in = 1, out = 1, height = 1, width = 1, kernel = 3;
  std::size_t columns() const { return std::size_t(in) * kernel * kernel * height * width; }
};

struct DenseShape {
  int batch = 1, in = 1, out = 1;
};

/// 2×2 windows of `planes` maps; an odd last row or column is left out.
struct PoolShape {
  int planes = 1, height = 2, width = 2;
};

/// One step of AdamW (Loshchilov and Hutter 2019, algorithm 2). `step` counts from 1.
struct AdamStep {
  std::int64_t step = 1;
  float learning_rate = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, weight_decay = 0;
};

/// Gradients are written, not added to. A `dx` that is null is not wanted.
struct Kernels {
  const char* isa;  // "baseline", "avx2", "avx512"
  /// `columns` is scratch for ConvShape::columns() floats.
  void (*conv)(const ConvShape&, const float* x, const float* w, const float* b, float* columns,
               float* y);
  void (*conv_backward)(const ConvShape&, const float* x, const float* w, const float* dy,
                        float* columns, float* dw, float* db, float* dx);
  void (*dense)(const DenseShape&, const float* x, const float* w, const float* b, float* y);
  void (*dense_backward)(const DenseShape&, const float* x, const float* w, const float* dy,
                         float* dw, float* db, float* dx);
  void (*relu)(std::size_t count, float* y);
  /// Clears dy where the output y of relu is 0.
  void (*relu_backward)(std::size_t count, const float* y, float* dy);
  /// `winner` says which of its window's four pixels each output is.
  void (*max_pool)(const PoolShape&, const float* x, float* y, std::uint8_t* winner);
  void (*max_pool_backward)(const PoolShape&, const std::uint8_t* winner, const float* dy,
                            float* dx);
  void (*adam)(const AdamStep&, std::size_t count, float* w, const float* g, float* m, float* v);
};

/// The fastest that this CPU runs.
const Kernels& kernels();
/// All that this CPU runs, slowest first.
std::span<const Kernels* const> all_kernels();

}  // namespace phosphene::demo
