// Many elements to a cell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/absent.hpp"
#include "capture/lattice.hpp"
#include "capture/plan.hpp"
#include "capture/tensor_view.hpp"

namespace phosphene::capture {

/// Pools a tensor into the grid of a plan, as Quantiser defines it. Reads each element once. Its
/// scratch memory is a few blocks and some words for each cell of one axis. Bound to one thread.
class Pooler {
 public:
  /// `grid` is that of the plan.
  Pooler(const TensorPlan& plan, const Grid& grid);

  /// Fills grid.cells cells; NaN or ±Inf where an element is. T is float, or double where
  /// is_wide(view.dtype). The view has the rank that the plan is for.
  template <typename T>
  void pool(const TensorView& view, std::span<T> cells, AbsentCells& absent);

 private:
  struct Axis {
    std::vector<std::uint32_t> dims;
    std::uint32_t cells = 0;
    std::vector<std::int64_t> begins;   // flattened; cells + 1
    std::vector<std::int64_t> present;  // elements that exist, one a cell; of the view pooled last

    std::int64_t width(std::uint32_t cell) const { return begins[cell + 1] - begins[cell]; }
    void count_present(const Lattice& lattice);
  };
  /// 1/(outer count · present inner elements), one an inner cell. Outer counts are mostly n and n
  /// + 1.
  struct Reciprocals {
    std::int64_t outer_count = 0;
    std::vector<double> values;
  };
  struct Block {
    std::int64_t begin = 0, end = 0;             // flattened inner elements
    std::uint32_t first_cell = 0, end_cell = 0;  // its cells
  };

  static Axis axis_of(const PlanAxis& plan, const Grid& grid);
  /// As many cells as fit, at least one.
  Block block_from(std::uint32_t first_cell) const;
  const std::vector<double>& reciprocals(std::int64_t outer_count);
  template <typename Kind>
  void pool_as(const TensorView& view, const Lattice& outer, const Lattice& inner,
               std::span<typename Kind::Value> cells);

  Pooling pooling_;
  Grid grid_;
  Axis outer_, inner_;
  Reciprocals reciprocals_[2];
};

}  // namespace phosphene::capture
