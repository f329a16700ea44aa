#include "capture/plan.hpp"

#include <algorithm>
#include <string>

namespace phosphene::capture {
namespace {

std::string tensor_name(const TensorPlan& plan) {
  return "the plan of tensor " + std::to_string(plan.tensor);
}

}  // namespace

Result<Grid> grid_of(const TensorPlan& plan, std::span<const std::uint64_t> shape) {
  Grid grid;
  grid.extents.assign(shape.begin(), shape.end());
  if (!plan.extents.empty()) {
    if (plan.extents.size() != shape.size())
      return Error{tensor_name(plan) + " has " + std::to_string(plan.extents.size()) +
                   " extents for " + std::to_string(shape.size()) + " dimensions"};
    for (std::size_t d = 0; d < shape.size(); ++d)
      grid.extents[d] = std::min(shape[d], plan.extents[d]);
  }

  std::uint64_t cells = 1;
  if (plan.pooling == Pooling::kNone) {
    const bool empty = std::ranges::find(grid.extents, 0u) != grid.extents.end();
    for (const std::uint64_t extent : grid.extents)
      if (__builtin_mul_overflow(cells, std::max<std::uint64_t>(extent, 1), &cells))
        cells = kMaxCells + 1;
    if (empty) cells = 0;
  } else if (plan.pooling == Pooling::kRms || plan.pooling == Pooling::kExtreme) {
    std::uint32_t seen = 0;
    for (const PlanAxis* axis : {&plan.outer, &plan.inner}) {
      std::uint64_t elements = 1;
      for (const std::uint32_t dim : axis->dims) {
        if (dim >= shape.size())
          return Error{tensor_name(plan) + " names dimension " + std::to_string(dim) + " of " +
                       std::to_string(shape.size())};
        if (seen & (1u << dim))
          return Error{tensor_name(plan) + " names dimension " + std::to_string(dim) + " twice"};
        seen |= 1u << dim;
        if (__builtin_mul_overflow(elements, grid.extents[dim], &elements) || elements >> 59 != 0)
          return Error{tensor_name(plan) + " is for more elements than any memory holds"};
      }
      if (elements > 0 && axis->cells > elements)
        return Error{tensor_name(plan) + " asks for " + std::to_string(axis->cells) + " cells of " +
                     std::to_string(elements) + " elements"};
    }
    cells = std::uint64_t{plan.outer.cells} * plan.inner.cells;
  } else {
    return Error{tensor_name(plan) + " has an unknown pooling"};
  }
  if (cells > kMaxCells)
    return Error{tensor_name(plan) + " asks for more cells than the largest canvas has pixels"};
  grid.cells = static_cast<std::uint32_t>(cells);
  return grid;
}

}  // namespace phosphene::capture
