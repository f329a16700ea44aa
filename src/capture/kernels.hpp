// The inner loops, each in plain C++ and in AVX2. Both give the same bits, but for the last digits
// of the sums that statistics are made from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/level_table.hpp"

namespace phosphene::capture {

/// What a kernel saw. If anything was NaN or ±Inf, `finite` is false and the rest, levels too, is
/// of no worth.
struct Seen {
  float min;  // of y as LevelTable says; +∞ if n = 0
  float max;  // −∞ if n = 0
  bool finite;
};

/// As Seen, for float64.
struct SeenWide {
  double min;
  double max;
  bool finite;
};

/// What one row of a pooled tile's narrow cells is made from.
struct PooledRow {
  const float* const* rows;  // the outer elements of the cells, in order; each `length` floats
  std::size_t row_count;
  std::int32_t length;
  const std::int32_t* begins;  // one a cell, into each row
  const std::int32_t* widths;  // one a cell, 1 … 4
  std::int32_t widest;
  const double* reciprocals;  // one a cell: 1/(width·row_count)
  std::size_t cells;
};

/// Pointers may be unaligned, n may be 0. Nothing is read or written beyond n. Thread-safe.
struct Kernels {
  /// Levels two a byte, the first in the high half; an odd n pads with 0. Needs table.usable.
  Seen (*quantise)(const float* x, std::size_t n, const LevelTable& table, std::uint8_t* levels);
  /// The same for float64, by the terms of a scale; of |x| if `magnitude` or `log`.
  SeenWide (*quantise_wide)(const double* x, std::size_t n, const Scale::Terms& terms, bool log,
                            bool magnitude, std::uint8_t* levels);
  Seen (*bounds)(const float* x, std::size_t n, bool magnitude);
  /// For statistics: bounds of x; its zeros and sum are added to *zeros and *sum.
  Seen (*survey)(const float* x, std::size_t n, std::uint64_t* zeros, double* sum);
  /// For statistics: Σ(x − around)² is added to *squares, Σx² to *norm.
  void (*deviations)(const float* x, std::size_t n, double around, double* squares, double* norm);
  void (*from_float16)(const std::uint16_t* a, std::size_t n, float* y);
  void (*from_bfloat16)(const std::uint16_t* a, std::size_t n, float* y);
  /// sums[i] = x[i]², or += where not `first`, in float64.
  void (*add_squares)(const float* x, std::size_t n, double* sums, bool first);
  /// keys[i] = max(keys[i], key of x[i]) with extreme_key().
  void (*max_keys)(const float* x, std::size_t n, std::uint32_t* keys, bool first);
  /// lanes[i mod 4] += x[i], in order.
  void (*add_lanes)(const double* x, std::size_t n, double* lanes);
  /// y[i] = √(means[i]) as float32: the root of the mean rounded to float32 where that is a normal
  /// number, else the root in float64, rounded.
  void (*roots)(const double* means, std::size_t n, float* y);
  /// The root mean squares of narrow cells, as Quantiser defines them, in one go.
  void (*pool_narrow)(const PooledRow& row, float* y);
};

extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;  // only on x86-64

/// Those that cpu() allows.
const Kernels& kernels();

/// Orders float32 by magnitude, the positive one first among equals, ±Inf above all numbers, NaN
/// above ±Inf.
constexpr std::uint32_t extreme_key(std::uint32_t bits) {
  return ((bits << 1) | (bits >> 31)) ^ 1;
}
/// The bits that a key was made from.
constexpr std::uint32_t extreme_bits(std::uint32_t key) {
  return ((key ^ 1) >> 1) | ((key ^ 1) << 31);
}

}  // namespace phosphene::capture
