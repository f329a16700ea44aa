#include "capture/tensor_view.hpp"

#include <algorithm>
#include <string>

namespace phosphene::capture {
namespace {

// So that offsets in bytes of any dtype, forwards and backwards, stay within int64.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 59;

void set_c_order(TensorView& view) {
  std::int64_t stride = 1;
  for (int d = view.rank - 1; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= std::max<std::int64_t>(view.shape[d], 1);
  }
}

// The offsets of the first and the last element must be sums that do not overflow.
bool strides_fit(const TensorView& view) {
  constexpr std::int64_t kLimit = std::int64_t{kMaxElements};
  std::int64_t reach = 0;
  for (int d = 0; d < view.rank; ++d) {
    std::int64_t far = 0;
    const std::int64_t stride = view.strides[d];
    if (stride > kLimit || stride < -kLimit) return false;
    if (__builtin_mul_overflow(view.shape[d] - 1, stride < 0 ? -stride : stride, &far))
      return false;
    if (__builtin_add_overflow(reach, far, &reach) || reach > kLimit) return false;
  }
  return true;
}

}  // namespace

Result<void> check_shape(std::span<const std::int64_t> shape) {
  if (shape.size() > std::size_t{kMaxRank})
    return Error{"a tensor of rank " + std::to_string(shape.size()) +
                 " cannot be shown: at most 8 dimensions"};
  std::uint64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return Error{"a dimension cannot have the size " + std::to_string(size)};
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)),
                               &product) ||
        product > kMaxElements)
      return Error{"the shape has more elements than any memory holds"};
  }
  return {};
}

Result<TensorView> TensorView::from(const phosphene_view& view) {
  if (view.rank < 0 || view.rank > kMaxRank)
    return Error{"a tensor of rank " + std::to_string(view.rank) +
                 " cannot be shown: 0 to 8 dimensions"};
  if (view.rank > 0 && view.shape == nullptr)
    return Error{"a tensor with dimensions needs its shape"};
  TensorView result;
  result.data = view.data;
  result.dtype = static_cast<DType>(view.dtype);
  result.rank = view.rank;
  if (view.dtype < PHOSPHENE_FLOAT32 || view.dtype > PHOSPHENE_LEVELS4)
    return Error{"dtype " + std::to_string(static_cast<int>(view.dtype)) + " is not known"};
  const std::span<const std::int64_t> shape(view.shape, static_cast<std::size_t>(view.rank));
  if (auto fits = check_shape(shape); !fits) return fits.error();
  std::ranges::copy(shape, result.shape.begin());
  set_c_order(result);
  if (result.dtype == DType::kLevels4) {
    if (view.rank != 2 || view.strides != nullptr)
      return Error{"levels4 is for frames: two dimensions, and no strides"};
    result.strides[0] = (result.shape[1] + 1) / 2 * 2;
  } else if (view.strides != nullptr) {
    std::copy_n(view.strides, view.rank, result.strides.begin());
  }
  if (result.elements() == 0) return result;
  if (view.data == nullptr) return Error{"a tensor with elements needs memory that holds them all"};
  const std::size_t bytes = std::max<std::size_t>(bytes_of(result.dtype), 1);
  if (reinterpret_cast<std::uintptr_t>(view.data) % bytes != 0)
    return Error{"the values must lie on multiples of " + std::to_string(bytes) + " bytes"};
  if (!strides_fit(result)) return Error{"the strides reach beyond any memory"};
  return result;
}

std::uint64_t TensorView::elements() const {
  std::uint64_t product = 1;
  for (int d = 0; d < rank; ++d) product *= static_cast<std::uint64_t>(shape[d]);
  return product;
}

bool TensorView::is_contiguous() const {
  if (elements() <= 1) return true;
  std::int64_t expected = 1;
  for (int d = rank - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

}  // namespace phosphene::capture
