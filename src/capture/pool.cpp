#include "capture/pool.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "capture/elements.hpp"
#include "capture/kernels.hpp"
#include "capture/pool_kinds.hpp"

namespace phosphene::capture {
namespace {

constexpr std::int64_t kBlock =
    2048;                            // inner elements; a multiple of 4, so that lanes stay in step
constexpr std::int64_t kNarrow = 4;  // elements: up to here a cell is summed by gathering
constexpr std::int64_t kFewRows = 4;

/// Rows of inner elements, one an outer element.
template <typename T>
class Rows {
 public:
  Rows(const TensorView& view, const Lattice& inner)
      : view_(view),
        inner_(inner),
        in_place_(view.dtype == DType::kFloat32 && sizeof(T) == sizeof(float) &&
                  inner.is_contiguous()) {}

  /// Elements begin … end of the row at `offset`; those that do not exist read 0. Copied to
  /// `buffer` unless they lie in the tensor as they are needed.
  const T* read(std::int64_t offset, std::int64_t begin, std::int64_t end, T* buffer) const {
    if (in_place_) return static_cast<const T*>(view_.data) + offset + begin;
    for_each_run(inner_, begin, end, [&](const Run& run) {
      T* const out = buffer + (run.first - begin);
      const auto count = static_cast<std::size_t>(run.count);
      if (run.present) {
        read_elements(view_, offset + run.offset, run.stride, count, out);
      } else {
        std::fill_n(out, count, T{0});
      }
    });
    return buffer;
  }

 private:
  const TensorView& view_;
  const Lattice& inner_;
  bool in_place_;
};

/// Visits the offset of each element that exists of begin … end.
template <typename Visit>
void for_each_present(const Lattice& lattice, std::int64_t begin, std::int64_t end, Visit visit) {
  for_each_run(lattice, begin, end, [&](const Run& run) {
    if (!run.present) return;
    for (std::int64_t i = 0; i < run.count; ++i) visit(run.offset + i * run.stride);
  });
}

}  // namespace

Pooler::Axis Pooler::axis_of(const PlanAxis& plan, const Grid& grid) {
  Axis axis;
  axis.dims = plan.dims;
  if (grid.cells == 0) return axis;
  axis.cells = plan.cells;
  std::int64_t elements = 1;
  for (const std::uint32_t dim : plan.dims)
    elements *= static_cast<std::int64_t>(grid.extents[dim]);
  // ⌊p·m/C⌋ in parts, since p·m may be more than 64 bits hold.
  const std::int64_t cells = plan.cells, whole = elements / cells, rest = elements % cells;
  axis.begins.resize(plan.cells + std::size_t{1});
  for (std::int64_t p = 0; p <= cells; ++p)
    axis.begins[static_cast<std::size_t>(p)] = p * whole + p * rest / cells;
  axis.present.resize(plan.cells);
  return axis;
}

void Pooler::Axis::count_present(const Lattice& lattice) {
  const bool complete = lattice.is_complete();
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    present[cell] = complete ? width(cell) : 0;
    if (complete) continue;
    for_each_run(lattice, begins[cell], begins[cell + 1],
                 [&](const Run& run) { present[cell] += run.present ? run.count : 0; });
  }
}

Pooler::Pooler(const TensorPlan& plan, const Grid& grid)
    : pooling_(plan.pooling),
      grid_(grid),
      outer_(axis_of(plan.outer, grid)),
      inner_(axis_of(plan.inner, grid)) {
  // One inner element: the outer axis makes better rows, and the cells keep their order.
  if (grid.cells > 0 && inner_.cells == 1 && inner_.width(0) == 1) std::swap(outer_, inner_);
}

Pooler::Block Pooler::block_from(std::uint32_t first_cell) const {
  Block block = {inner_.begins[first_cell], inner_.begins[first_cell + 1], first_cell,
                 first_cell + 1};
  while (block.end_cell < inner_.cells && inner_.begins[block.end_cell + 1] <= block.begin + kBlock)
    block.end = inner_.begins[++block.end_cell];
  return block;
}

const std::vector<double>& Pooler::reciprocals(std::int64_t outer_count) {
  Reciprocals& cached = reciprocals_[outer_count % 2];
  if (cached.outer_count != outer_count) {
    cached.outer_count = outer_count;
    cached.values.resize(inner_.cells);
    for (std::uint32_t cell = 0; cell < inner_.cells; ++cell)
      cached.values[cell] = 1.0 / static_cast<double>(outer_count * inner_.present[cell]);
  }
  return cached.values;
}

template <typename Kind>
void Pooler::pool_as(const TensorView& view, const Lattice& outer, const Lattice& inner,
                     std::span<typename Kind::Value> cells) {
  using Value = typename Kind::Value;
  using Sum = typename Kind::Sum;
  const Rows<Value> rows(view, inner);
  const std::int64_t elements = inner_.begins.back();
  const std::int64_t widest = elements / inner_.cells + (elements % inner_.cells != 0);
  const bool narrow = std::is_same_v<Kind, pooling::NarrowRms> && widest > 1 && widest <= kNarrow &&
                      inner.is_complete();

  std::array<Value, kFewRows * kBlock> buffers;
  std::array<Sum, kBlock> sums;
  std::array<typename Kind::Cell, kBlock> done;
  std::array<std::int32_t, kBlock> begins, widths;

  Block block;
  for (std::uint32_t next = 0; elements > 0 && next < inner_.cells; next = block.end_cell) {
    block = block_from(next);
    const std::size_t cell_count = block.end_cell - block.first_cell;
    for (std::size_t i = 0; narrow && i < cell_count; ++i) {
      const auto cell = block.first_cell + static_cast<std::uint32_t>(i);
      begins[i] = static_cast<std::int32_t>(inner_.begins[cell] - block.begin);
      widths[i] = static_cast<std::int32_t>(inner_.width(cell));
    }
    for (std::uint32_t p = 0; p < outer_.cells; ++p) {
      if (outer_.present[p] == 0) continue;
      const double* const reciprocal = reciprocals(outer_.present[p]).data() + block.first_cell;
      Value* const out = cells.data() + std::size_t{p} * inner_.cells + block.first_cell;
      if constexpr (std::is_same_v<Kind, pooling::NarrowRms>) {
        if (narrow && outer_.present[p] <= kFewRows) {
          std::array<const float*, kFewRows> row{};
          std::size_t count = 0;
          for_each_present(outer, outer_.begins[p], outer_.begins[p + 1], [&](std::int64_t offset) {
            row[count] = rows.read(offset, block.begin, block.end, buffers.data() + count * kBlock);
            ++count;
          });
          const auto length = static_cast<std::int32_t>(block.end - block.begin);
          kernels().pool_narrow({row.data(), count, length, begins.data(), widths.data(),
                                 static_cast<std::int32_t>(widest), reciprocal, cell_count},
                                out);
          continue;
        }
      }
      const auto sum_up = [&](std::int64_t begin, std::int64_t end) {
        bool first = true;
        for_each_present(outer, outer_.begins[p], outer_.begins[p + 1], [&](std::int64_t offset) {
          Kind::add_row(rows.read(offset, begin, end, buffers.data()),
                        static_cast<std::size_t>(end - begin), sums.data(), first);
          first = false;
        });
      };
      if (cell_count == 1) {  // perhaps wider than a block
        Sum lanes[4] = {};
        for (std::int64_t at = block.begin; at < block.end; at += kBlock) {
          const std::int64_t end = std::min(at + kBlock, block.end);
          sum_up(at, end);
          Kind::fold(sums.data(), end - at, lanes);
        }
        done[0] = Kind::finish(lanes, reciprocal[0]);
      } else {
        sum_up(block.begin, block.end);
        const Sum* sum = sums.data();
        for (std::size_t i = 0; i < cell_count; ++i) {
          const std::int64_t width = inner_.width(block.first_cell + static_cast<std::uint32_t>(i));
          Sum lanes[4] = {};
          Kind::fold(sum, width, lanes);
          done[i] = Kind::finish(lanes, reciprocal[i]);
          sum += width;
        }
      }
      Kind::emit(done.data(), cell_count, out);
    }
  }
}

template <typename T>
void Pooler::pool(const TensorView& view, std::span<T> cells, AbsentCells& absent) {
  absent.clear();
  if (grid_.cells == 0) return;
  const Lattice outer = lattice_of(view, outer_.dims, grid_.extents);
  const Lattice inner = lattice_of(view, inner_.dims, grid_.extents);
  outer_.count_present(outer);
  inner_.count_present(inner);
  for (Reciprocals& cached : reciprocals_) cached.outer_count = 0;
  if constexpr (sizeof(T) == sizeof(float)) {
    pooling_ == Pooling::kRms ? pool_as<pooling::NarrowRms>(view, outer, inner, cells)
                              : pool_as<pooling::NarrowExtreme>(view, outer, inner, cells);
  } else {
    pooling_ == Pooling::kRms ? pool_as<pooling::WideRms>(view, outer, inner, cells)
                              : pool_as<pooling::WideExtreme>(view, outer, inner, cells);
  }
  const bool inner_gaps = std::ranges::find(inner_.present, 0) != inner_.present.end();
  for (std::uint32_t p = 0; p < outer_.cells; ++p) {
    if (outer_.present[p] > 0 && !inner_gaps) continue;
    for (std::uint32_t q = 0; q < inner_.cells; ++q) {
      if (outer_.present[p] > 0 && inner_.present[q] > 0) continue;
      const std::uint32_t cell = p * inner_.cells + q;
      cells[cell] = std::numeric_limits<T>::quiet_NaN();
      absent.add(cell, cell + 1);
    }
  }
}

template void Pooler::pool(const TensorView&, std::span<float>, AbsentCells&);
template void Pooler::pool(const TensorView&, std::span<double>, AbsentCells&);

}  // namespace phosphene::capture
