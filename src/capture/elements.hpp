// Reading elements of any dtype as floating-point numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/tensor_view.hpp"

namespace phosphene::capture {

/// float32 does not hold every value of the dtype: it is read as float64 (int64 rounded to
/// nearest).
constexpr bool is_wide(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kInt64;
}

/// n elements from `offset` on, `stride` apart, both in elements. bool reads as 0 and 1. T is
/// float, for what is not wide, or double, for what is.
template <typename T>
void read_elements(const TensorView& view, std::int64_t offset, std::int64_t stride, std::size_t n,
                   T* out);

}  // namespace phosphene::capture
