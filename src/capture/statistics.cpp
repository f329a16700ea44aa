#include "capture/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "capture/elements.hpp"
#include "capture/float_environment.hpp"
#include "capture/kernels.hpp"
#include "capture/lattice.hpp"
#include "capture/range.hpp"

namespace phosphene::capture {
namespace {

constexpr std::size_t kBlock = 2048;

/// Of finite values, each times a power of two.
struct Moments {
  double count = 0, mean = 0, squares = 0, norm = 0;  // squares: Σ(x − mean)²; norm: Σx²

  void add(const Moments& other) {
    if (other.count == 0) return;
    const double all = count + other.count;
    const double apart = other.mean - mean;
    mean += apart * (other.count / all);
    squares += other.squares + apart * apart * (count / all * other.count);
    norm += other.norm;
    count = all;
  }
};

Moments moments_around(const float* x, std::size_t n, double mean, double) {
  Moments moments = {static_cast<double>(n), mean, 0, 0};
  kernels().deviations(x, n, mean, &moments.squares, &moments.norm);
  return moments;
}

Moments moments_around(const double* x, std::size_t n, double mean, double scale) {
  Moments moments = {static_cast<double>(n), mean, 0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    const double value = x[i] * scale;
    moments.squares += (value - mean) * (value - mean);
    moments.norm += value * value;
  }
  return moments;
}

/// Takes a tensor's values block by block. T is float, or double for wide dtypes.
template <typename T>
class Survey {
 public:
  explicit Survey(double scale) : scale_(scale) {}

  void add_run(const TensorView& view, const Run& run) {
    for (std::int64_t done = 0; done < run.count;) {
      const auto count = std::min(static_cast<std::size_t>(run.count - done), kBlock - pending_);
      read_elements(view, run.offset + done * run.stride, run.stride, count,
                    block_.data() + pending_);
      pending_ += count;
      done += static_cast<std::int64_t>(count);
      if (pending_ == kBlock) flush();
    }
  }
  void flush() {
    add(block_.data(), pending_);
    pending_ = 0;
  }
  void add(const T* x, std::size_t n) {
    if (n == 0) return;
    if constexpr (std::is_same_v<T, float>) {
      std::uint64_t zeros = 0;
      double sum = 0;
      const Seen seen = kernels().survey(x, n, &zeros, &sum);
      if (seen.finite) return add_finite(x, n, zeros, sum, {double{seen.min}, double{seen.max}});
    }
    add_slowly(x, n);
  }

  Moments moments;
  Bounds bounds;
  std::uint64_t nan = 0, inf = 0, zero = 0;

 private:
  void add_finite(const T* x, std::size_t n, std::uint64_t zeros, double sum, const Bounds& seen) {
    zero += zeros;
    bounds.add(seen);
    moments.add(moments_around(x, n, sum / static_cast<double>(n), scale_));
  }
  void add_slowly(const T* x, std::size_t n) {
    std::array<T, kBlock> finite;
    std::size_t count = 0;
    std::uint64_t zeros = 0;
    double sum = 0;
    Bounds seen;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isnan(x[i])) {
        ++nan;
      } else if (std::isinf(x[i])) {
        ++inf;
      } else {
        finite[count++] = x[i];
        zeros += x[i] == 0;
        sum += double{x[i]} * scale_;
        seen.add({double{x[i]}, double{x[i]}});
      }
    }
    if (count > 0) add_finite(finite.data(), count, zeros, sum, seen);
  }

  double scale_;
  std::array<T, kBlock> block_;
  std::size_t pending_ = 0;
};

template <typename T>
Statistics measure_scaled(const TensorView& view, double scale) {
  const Lattice lattice = lattice_of(view);
  Survey<T> survey(scale);
  const auto count = static_cast<std::size_t>(lattice.size());
  if (std::is_same_v<T, float> && view.dtype == DType::kFloat32 && lattice.is_contiguous()) {
    const auto* values = static_cast<const T*>(view.data);
    for (std::size_t i = 0; i < count; i += kBlock)
      survey.add(values + i, std::min(kBlock, count - i));
  } else {
    for_each_run(lattice, 0, lattice.size(), [&](const Run& run) { survey.add_run(view, run); });
    survey.flush();
  }
  Statistics result;
  result.count = count;
  result.nan = survey.nan;
  result.inf = survey.inf;
  result.zero = survey.zero;
  if (survey.bounds.empty()) return result;
  result.min = survey.bounds.min;
  result.max = survey.bounds.max;
  result.mean = survey.moments.mean / scale;
  result.std = std::sqrt(survey.moments.squares / survey.moments.count) / scale;
  result.l2 = std::sqrt(survey.moments.norm) / scale;
  return result;
}

}  // namespace

Statistics measure(const TensorView& view) {
  const DefaultFloatEnvironment guard;
  if (!is_wide(view.dtype)) return measure_scaled<float>(view, 1);
  // Squares of float64 may leave its range; then once more with everything scaled.
  const Statistics plain = measure_scaled<double>(view, 1);
  const double largest = std::max(std::abs(plain.min), std::abs(plain.max));
  if (largest > 0x1p480) return measure_scaled<double>(view, 0x1p-600);
  if (largest < 0x1p-480 && largest > 0) return measure_scaled<double>(view, 0x1p600);
  return plain;
}

}  // namespace phosphene::capture
