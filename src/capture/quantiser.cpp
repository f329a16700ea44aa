#include "capture/quantiser.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "capture/elements.hpp"
#include "capture/float_environment.hpp"
#include "capture/lattice.hpp"

namespace phosphene::capture {
namespace {

constexpr Range kRangeOfLevels = {0, kLevels, Shape::kLinear};

}  // namespace

Result<Quantiser> Quantiser::create(const TensorPlan& plan, Quantity quantity,
                                    std::span<const std::uint64_t> shape,
                                    double magnitude_decades) {
  auto grid = grid_of(plan, shape);
  if (!grid) return grid.error();
  return Quantiser(plan, quantity, std::move(*grid), magnitude_decades);
}

Quantiser::Quantiser(const TensorPlan& plan, Quantity quantity, Grid grid, double magnitude_decades)
    : tensor_(plan.tensor),
      cells_(grid.cells),
      magnitudes_(quantity == Quantity::kMagnitude || plan.pooling == Pooling::kRms),
      take_magnitude_(quantity == Quantity::kMagnitude),
      magnitude_decades_(magnitude_decades),
      grid_(std::move(grid)),
      dims_(grid_.extents.size()) {
  std::iota(dims_.begin(), dims_.end(), 0u);
  if (plan.pooling != Pooling::kNone) pooler_.emplace(plan, grid_);
}

Range Quantiser::as_drawn(const Range& range) const {
  return magnitudes_ ? range_of_magnitudes(range, magnitude_decades_) : range;
}

template <typename T>
void Quantiser::collect(const TensorView& view, std::vector<T>& values) {
  absent_.clear();
  values.resize(cells_);
  if (static_cast<std::size_t>(view.rank) != dims_.size()) {
    std::ranges::fill(values, std::numeric_limits<T>::quiet_NaN());
    absent_.add(0, cells_);
  } else if (pooler_) {
    pooler_->pool(view, std::span<T>(values), absent_);
  } else {
    for_each_run(lattice_of(view, dims_, grid_.extents), 0, cells_, [&](const Run& run) {
      T* const out = values.data() + run.first;
      if (run.present) {
        read_elements(view, run.offset, run.stride, static_cast<std::size_t>(run.count), out);
      } else {
        std::fill_n(out, run.count, std::numeric_limits<T>::quiet_NaN());
        absent_.add(static_cast<std::uint32_t>(run.first),
                    static_cast<std::uint32_t>(run.first + run.count));
      }
    });
  }
}

void Quantiser::keep(const TensorView& view) {
  dtype_ = view.dtype;
  is_wide(view.dtype) ? collect(view, wide_) : collect(view, narrow_);
}

void Quantiser::read(const TensorView& view) {
  const DefaultFloatEnvironment guard;
  keep(view);
  bounds_ = {};
  if (dtype_ == DType::kLevels4) return;  // they have a range of their own
  bounds_ = is_wide(dtype_) ? bounds_of(std::span<const double>(wide_), take_magnitude_)
                            : bounds_of(std::span<const float>(narrow_), take_magnitude_);
}

void Quantiser::write(const Range& range, Tile& tile) {
  const DefaultFloatEnvironment guard;
  tile.tensor = tensor_;
  const Range drawn = dtype_ == DType::kLevels4 ? kRangeOfLevels : as_drawn(range);
  if (is_wide(dtype_)) {
    writer_.write(std::span<const double>(wide_), take_magnitude_, drawn, absent_, tile);
  } else {
    writer_.write(std::span<const float>(narrow_), take_magnitude_, drawn, absent_, tile);
  }
}

bool Quantiser::is_drawn_in_place(const TensorView& view) const {
  return view.dtype == DType::kFloat32 && !pooler_ &&
         static_cast<std::size_t>(view.rank) == dims_.size() &&
         lattice_of(view, dims_, grid_.extents).is_contiguous();
}

void Quantiser::quantise(const TensorView& view, RangeTracker& range, Tile& tile) {
  if (!range.is_predictable() || view.dtype == DType::kLevels4) {
    read(view);
    write(range.update(bounds_), tile);
    return;
  }
  const DefaultFloatEnvironment guard;
  const bool in_place = is_drawn_in_place(view);
  if (!in_place) keep(view);
  const auto draw = [&](const Range& with) {
    if (!in_place) return write(with, tile);
    const std::span<const float> values(static_cast<const float*>(view.data), cells_);
    tile.tensor = tensor_;
    writer_.write(values, take_magnitude_, as_drawn(with), AbsentCells{}, tile);
  };
  const Range expected = range.expected();
  draw(expected);
  bounds_ = tile.bounds;
  const Range drawn = range.update(bounds_);
  if (drawn != expected) draw(drawn);
}

}  // namespace phosphene::capture
