// How a tensor is read: which of its dimensions run along x and which along y. Roles decide, never
// sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "canvas/layout.hpp"

namespace phosphene::canvas {

/// Some dimensions of a tensor, flattened, the last one fastest.
struct ReadAxis {
  std::vector<int> dims;
  std::vector<std::uint64_t> sizes;
  std::uint64_t elements = 1;
  std::uint64_t unit = 1;  // elements that belong together: a kernel's or a map's side
};

struct Reading {
  ReadAxis x, y;
  std::uint64_t examples = 1;  // of an activation: y runs over so many, and may show fewer
  std::uint64_t elements = 1;  // of the whole tensor
};

/// Nothing for a tensor that has no elements, more than 2⁴⁰ of them, or not one role a dimension.
std::optional<Reading> read(const Tensor& tensor);

}  // namespace phosphene::canvas
