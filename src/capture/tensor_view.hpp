// Where a tensor's values lie in somebody else's memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "base/tensor.hpp"
#include "capture/phosphene.h"

namespace phosphene::capture {

/// A tensor's memory: not owned, never written. Any strides, rank 0 … 8, empty shapes too.
/// DType::kLevels4 counts in half bytes: its rows begin on whole bytes.
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};  // in elements; 0 and negative ones are fine

  /// Checks what a caller of the C ABI handed in. An Error names the dtype, rank, shape or pointer
  /// that cannot be read.
  static Result<TensorView> from(const phosphene_view& view);

  /// Product of the shape; 1 for rank 0.
  std::uint64_t elements() const;
  /// The elements lie one behind the other in C order. True for at most one element.
  bool is_contiguous() const;
};

/// Rank 0 … 8, no negative size, and a count of elements that fits 2⁶² bits. An Error names the
/// fault.
Result<void> check_shape(std::span<const std::int64_t> shape);

}  // namespace phosphene::capture
