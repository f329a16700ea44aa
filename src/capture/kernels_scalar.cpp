#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "capture/cpu.hpp"
#include "capture/float16.hpp"
#include "capture/kernels.hpp"

namespace phosphene::capture {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// NaN enters neither bound: every comparison with it is false.
class Watch {
 public:
  void add(float y) {
    min_ = y < min_ ? y : min_;
    max_ = y > max_ ? y : max_;
    finite_ &= std::abs(y) < kInfinity;
  }
  Seen seen() const { return {min_, max_, finite_}; }

 private:
  float min_ = kInfinity;
  float max_ = -kInfinity;
  bool finite_ = true;
};

int level_of(float y, const LevelTable& table) {
  int level = 0;
  for (int j = 0; j < 8; ++j) level += (y >= table.odd[j]) + (y >= table.even[j]);
  return level;
}

Seen quantise(const float* x, std::size_t n, const LevelTable& table, std::uint8_t* levels) {
  Watch watch;
  const auto level = [&](std::size_t i) {
    const float y = table.reading == Reading::kValue ? x[i] : std::abs(x[i]);
    watch.add(y);
    return level_of(y, table);
  };
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    const int high = level(i);
    levels[i / 2] = static_cast<std::uint8_t>(high << 4 | level(i + 1));
  }
  if (n % 2 != 0) levels[n / 2] = static_cast<std::uint8_t>(level(n - 1) << 4);
  return watch.seen();
}

int level_of(double y, const Scale::Terms& terms, bool log) {
  if (log) {
    int level = 0;
    for (const double threshold : terms.thresholds) level += y >= threshold;
    return level;
  }
  const double level = 16 * (y * terms.unit - terms.lo) / terms.span;
  return level >= 15 ? 15 : level > 0 ? static_cast<int>(level) : 0;
}

SeenWide quantise_wide(const double* x, std::size_t n, const Scale::Terms& terms, bool log,
                       bool magnitude, std::uint8_t* levels) {
  constexpr double kWideInfinity = std::numeric_limits<double>::infinity();
  SeenWide seen = {kWideInfinity, -kWideInfinity, true};
  for (std::size_t i = 0; i < n; ++i) {
    const double y = magnitude || log ? std::abs(x[i]) : x[i];
    seen.min = y < seen.min ? y : seen.min;
    seen.max = y > seen.max ? y : seen.max;
    seen.finite &= std::abs(y) < kWideInfinity;
    const int level = level_of(y, terms, log);
    levels[i / 2] = static_cast<std::uint8_t>(i % 2 == 0 ? level << 4 : levels[i / 2] | level);
  }
  return seen;
}

Seen bounds(const float* x, std::size_t n, bool magnitude) {
  Watch watch;
  for (std::size_t i = 0; i < n; ++i) watch.add(magnitude ? std::abs(x[i]) : x[i]);
  return watch.seen();
}

Seen survey(const float* x, std::size_t n, std::uint64_t* zeros, double* sum) {
  Watch watch;
  for (std::size_t i = 0; i < n; ++i) {
    watch.add(x[i]);
    *zeros += x[i] == 0;
    *sum += double{x[i]};
  }
  return watch.seen();
}

void deviations(const float* x, std::size_t n, double around, double* squares, double* norm) {
  for (std::size_t i = 0; i < n; ++i) {
    const double value = double{x[i]};
    *squares += (value - around) * (value - around);
    *norm += value * value;
  }
}

void from_float16(const std::uint16_t* a, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = float_from_float16(a[i]);
}

void from_bfloat16(const std::uint16_t* a, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = float_from_bfloat16(a[i]);
}

void add_squares(const float* x, std::size_t n, double* sums, bool first) {
  for (std::size_t i = 0; i < n; ++i) sums[i] = (first ? 0 : sums[i]) + double{x[i]} * double{x[i]};
}

void max_keys(const float* x, std::size_t n, std::uint32_t* keys, bool first) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t key = extreme_key(std::bit_cast<std::uint32_t>(x[i]));
    keys[i] = first ? key : std::max(keys[i], key);
  }
}

void add_lanes(const double* x, std::size_t n, double* lanes) {
  for (std::size_t i = 0; i < n; ++i) lanes[i % 4] += x[i];
}

float root(double mean) {
  const float narrow = static_cast<float>(mean);
  const bool normal = narrow >= std::numeric_limits<float>::min() && narrow < kInfinity;
  return normal ? std::sqrt(narrow) : static_cast<float>(std::sqrt(mean));
}

void roots(const double* means, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = root(means[i]);
}

void pool_narrow(const PooledRow& row, float* y) {
  for (std::size_t cell = 0; cell < row.cells; ++cell) {
    double lanes[4] = {};
    for (std::int32_t i = 0; i < row.widths[cell]; ++i) {
      for (std::size_t r = 0; r < row.row_count; ++r) {
        const double x = double{row.rows[r][row.begins[cell] + i]};
        lanes[i] += x * x;
      }
    }
    const double sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    y[cell] = root(sum * row.reciprocals[cell]);
  }
}

}  // namespace

const Kernels kScalarKernels = {quantise,   quantise_wide, bounds,        survey,
                                deviations, from_float16,  from_bfloat16, add_squares,
                                max_keys,   add_lanes,     roots,         pool_narrow};

const Kernels& kernels() {
#if defined(PHOSPHENE_AVX2)
  if (cpu() == Cpu::kAvx2) return kAvx2Kernels;
#endif
  return kScalarKernels;
}

}  // namespace phosphene::capture
