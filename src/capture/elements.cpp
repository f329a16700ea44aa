#include "capture/elements.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "capture/float16.hpp"
#include "capture/kernels.hpp"

namespace phosphene::capture {
namespace {

template <typename From, typename To, typename Convert>
void read_as(const void* data, std::int64_t offset, std::int64_t stride, std::size_t n, To* out,
             Convert convert) {
  const From* from = static_cast<const From*>(data) + offset;
  if (stride == 1) {
    for (std::size_t i = 0; i < n; ++i) out[i] = convert(from[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = convert(from[static_cast<std::int64_t>(i) * stride]);
  }
}

void read_levels4(const void* data, std::int64_t offset, std::int64_t stride, std::size_t n,
                  float* out) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  for (std::size_t i = 0; i < n; ++i, offset += stride)
    out[i] = static_cast<float>(offset % 2 == 0 ? bytes[offset / 2] >> 4 : bytes[offset / 2] & 0xf);
}

}  // namespace

template <typename T>
void read_elements(const TensorView& view, std::int64_t offset, std::int64_t stride, std::size_t n,
                   T* out) {
  if (n == 0) return;
  const auto cast = [](auto x) { return static_cast<T>(x); };
  const auto* halves = static_cast<const std::uint16_t*>(view.data);
  if constexpr (std::is_same_v<T, double>) {
    switch (view.dtype) {
      case DType::kFloat64:
        return read_as<double>(view.data, offset, stride, n, out, cast);
      case DType::kInt64:
        return read_as<std::int64_t>(view.data, offset, stride, n, out, cast);
      default:
        assert(!"only wide dtypes are read as float64");
    }
  } else {
    switch (view.dtype) {
      case DType::kFloat32:
        return read_as<float>(view.data, offset, stride, n, out, cast);
      case DType::kFloat16:
        if (stride == 1) return kernels().from_float16(halves + offset, n, out);
        return read_as<std::uint16_t>(view.data, offset, stride, n, out, float_from_float16);
      case DType::kBFloat16:
        if (stride == 1) return kernels().from_bfloat16(halves + offset, n, out);
        return read_as<std::uint16_t>(view.data, offset, stride, n, out, float_from_bfloat16);
      case DType::kInt8:
        return read_as<std::int8_t>(view.data, offset, stride, n, out, cast);
      case DType::kUInt8:
        return read_as<std::uint8_t>(view.data, offset, stride, n, out, cast);
      case DType::kBool:
        return read_as<std::uint8_t>(view.data, offset, stride, n, out,
                                     [](std::uint8_t x) { return x != 0 ? 1.0f : 0.0f; });
      case DType::kLevels4:
        return read_levels4(view.data, offset, stride, n, out);
      case DType::kFloat64:
      case DType::kInt64:
        assert(!"wide dtypes are read as float64");
    }
  }
}

template void read_elements(const TensorView&, std::int64_t, std::int64_t, std::size_t, float*);
template void read_elements(const TensorView&, std::int64_t, std::int64_t, std::size_t, double*);

}  // namespace phosphene::capture
