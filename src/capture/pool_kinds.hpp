// What pooling adds up, and how, for numbers that fit float32 (narrow) and others (wide). Shared by
// pool.cpp alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "capture/kernels.hpp"

namespace phosphene::capture::pooling {

/// Adds n sums to four lanes, sum i to lane i mod 4.
template <typename Sum>
void add_to_lanes(const Sum* sums, std::int64_t n, Sum (&lanes)[4]) {
  Sum lane0 = lanes[0], lane1 = lanes[1], lane2 = lanes[2], lane3 = lanes[3];
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    lane0 += sums[i];
    lane1 += sums[i + 1];
    lane2 += sums[i + 2];
    lane3 += sums[i + 3];
  }
  if (i < n) lane0 += sums[i];
  if (i + 1 < n) lane1 += sums[i + 1];
  if (i + 2 < n) lane2 += sums[i + 2];
  lanes[0] = lane0;
  lanes[1] = lane1;
  lanes[2] = lane2;
  lanes[3] = lane3;
}

/// The square of a float32 is exact in float64, and no sum of them overflows.
struct NarrowRms {
  using Value = float;
  using Sum = double;
  using Cell = double;  // the mean square; roots are taken many at a time

  static void add_row(const float* x, std::size_t n, Sum* sums, bool first) {
    kernels().add_squares(x, n, sums, first);
  }
  static void fold(const Sum* sums, std::int64_t n, Sum (&lanes)[4]) {
    if (n < 16) return add_to_lanes(sums, n, lanes);
    kernels().add_lanes(sums, static_cast<std::size_t>(n), lanes);
  }
  static Cell finish(const Sum (&lanes)[4], double reciprocal) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) * reciprocal;
  }
  static void emit(const Cell* cells, std::size_t n, Value* out) { kernels().roots(cells, n, out); }
};

/// Squares of float64 may leave its range: those of very large and very small numbers are summed
/// scaled (Blue 1978).
struct WideSum {
  double large = 0, middle = 0, small = 0;
  WideSum& operator+=(const WideSum& other) {
    large += other.large;
    middle += other.middle;
    small += other.small;
    return *this;
  }
};

struct WideRms {
  using Value = double;
  using Sum = WideSum;
  using Cell = double;

  static constexpr double kUp = 0x1p600, kDown = 0x1p-600;

  static void add_row(const double* x, std::size_t n, Sum* sums, bool first) {
    for (std::size_t i = 0; i < n; ++i) {
      if (first) sums[i] = {};
      const double magnitude = std::abs(x[i]);
      if (magnitude > 0x1p480) {
        sums[i].large += (magnitude * kDown) * (magnitude * kDown);
      } else if (magnitude < 0x1p-480) {
        sums[i].small += (magnitude * kUp) * (magnitude * kUp);
      } else {
        sums[i].middle += magnitude * magnitude;  // NaN too
      }
    }
  }
  static void fold(const Sum* sums, std::int64_t n, Sum (&lanes)[4]) {
    add_to_lanes(sums, n, lanes);
  }
  static Cell finish(const Sum (&lanes)[4], double reciprocal) {
    WideSum sum = lanes[0];
    sum += lanes[1];
    WideSum other = lanes[2];
    other += lanes[3];
    sum += other;
    if (std::isnan(sum.middle)) return sum.middle;
    if (sum.large > 0)
      return std::sqrt((sum.large + sum.middle * kDown * kDown) * reciprocal) * kUp;
    if (sum.middle > 0) return std::sqrt((sum.middle + sum.small * kDown * kDown) * reciprocal);
    return std::sqrt(sum.small * reciprocal) * kDown;
  }
  static void emit(const Cell* cells, std::size_t n, Value* out) { std::copy_n(cells, n, out); }
};

template <typename Key>
struct Largest {
  Key key = 0;
  Largest& operator+=(const Largest& other) {
    key = std::max(key, other.key);
    return *this;
  }
};

struct NarrowExtreme {
  using Value = float;
  using Sum = Largest<std::uint32_t>;
  using Cell = float;

  static void add_row(const float* x, std::size_t n, Sum* sums, bool first) {
    static_assert(sizeof(Sum) == sizeof(std::uint32_t));
    kernels().max_keys(x, n, &sums->key, first);
  }
  static void fold(const Sum* sums, std::int64_t n, Sum (&lanes)[4]) {
    add_to_lanes(sums, n, lanes);
  }
  static Cell finish(const Sum (&lanes)[4], double) {
    Sum all;
    for (const Sum& lane : lanes) all += lane;
    return std::bit_cast<float>(extreme_bits(all.key));
  }
  static void emit(const Cell* cells, std::size_t n, Value* out) { std::copy_n(cells, n, out); }
};

struct WideExtreme {
  using Value = double;
  using Sum = Largest<std::uint64_t>;
  using Cell = double;

  static void add_row(const double* x, std::size_t n, Sum* sums, bool first) {
    for (std::size_t i = 0; i < n; ++i) {
      const Sum key = {std::rotl(std::bit_cast<std::uint64_t>(x[i]), 1) ^ 1};
      if (first) sums[i] = {};
      sums[i] += key;
    }
  }
  static void fold(const Sum* sums, std::int64_t n, Sum (&lanes)[4]) {
    add_to_lanes(sums, n, lanes);
  }
  static Cell finish(const Sum (&lanes)[4], double) {
    Sum all;
    for (const Sum& lane : lanes) all += lane;
    return std::bit_cast<double>(std::rotr(all.key ^ 1, 1));
  }
  static void emit(const Cell* cells, std::size_t n, Value* out) { std::copy_n(cells, n, out); }
};

}  // namespace phosphene::capture::pooling
