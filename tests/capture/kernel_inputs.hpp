// Numbers that kernels get wrong.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "capture/cpu.hpp"
#include "capture/tensor_view.hpp"

namespace phosphene::capture::test {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kMax = std::numeric_limits<float>::max();
inline constexpr float kTiny = std::numeric_limits<float>::denorm_min();

/// Runs a test with the plain kernels, then with the best ones.
inline constexpr std::array<Cpu, 2> kCpus = {Cpu::kScalar, Cpu::kAvx2};
struct CpuLimit {
  explicit CpuLimit(Cpu limit) { limit_cpu(limit); }
  ~CpuLimit() { limit_cpu(Cpu::kAvx2); }
};

inline std::vector<float> normal(std::size_t n, float deviation, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(n);
  for (float& value : values) value = distribution(random);
  return values;
}

inline TensorView view_of(const void* data, DType dtype, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides = {}) {
  const phosphene_view view = {data, static_cast<phosphene_dtype>(dtype),
                               static_cast<std::int32_t>(shape.size()), shape.data(),
                               strides.empty() ? nullptr : strides.data()};
  return *TensorView::from(view);
}

inline TensorView view_of(const std::vector<float>& values,
                          const std::vector<std::int64_t>& shape) {
  return view_of(values.data(), DType::kFloat32, shape);
}

inline std::vector<std::uint64_t> declared(const TensorView& view) {
  return {view.shape.begin(), view.shape.begin() + view.rank};
}

/// Levels one a cell.
inline std::vector<int> unpacked(std::span<const std::uint8_t> levels, std::size_t cells) {
  std::vector<int> result(cells);
  for (std::size_t i = 0; i < cells; ++i)
    result[i] = i % 2 == 0 ? levels[i / 2] >> 4 : levels[i / 2] & 15;
  return result;
}

inline bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace phosphene::capture::test
