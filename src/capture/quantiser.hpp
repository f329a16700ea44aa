// From a tensor's memory to the levels of a tile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "capture/absent.hpp"
#include "capture/level_writer.hpp"
#include "capture/plan.hpp"
#include "capture/pool.hpp"
#include "capture/range.hpp"
#include "capture/tensor_view.hpp"
#include "capture/tile.hpp"

namespace phosphene::capture {

/// Draws one tensor for one view. Owns scratch memory that is bounded by the plan's cells and
/// allocated at most once; after the first frame nothing is allocated. Bound to one thread.
///
/// What is drawn is the value, or |value| for Quantity::kMagnitude; or of a pooled cell
///
/// - extreme: its value of largest magnitude; of equals the positive one.
/// - rms: √(Σx²·(1/n)) over the n values present, in float64. The squares of each flattened inner
///   element are summed over the cell's outer elements in ascending order; the sum of the cell's
///   inner element i goes to lane i mod 4, in ascending order; Σ = (lane 0 + lane 1) + (lane 2 +
///   lane 3). Where the inner axis is a single element, the outer one takes its place. The mean is
///   rounded to float32 and its root taken there; where that is not a normal number, the root is
///   taken in float64 and rounded. For float64 and int64 all is float64, and squares of what is not
///   within 2^±480 are summed apart, scaled by 2^∓1200, so that nothing overflows.
///
/// A cell with a NaN is marked NaN (level 3), else with ±Inf Inf (15). A cell none of whose
/// elements exist, as in a last batch that is shorter than planned, is absent (level 0); so is a
/// whole tile if the tensor's rank is not the declared one. Levels of DType::kLevels4 pass as they
/// are, with the range 0 … 16.
class Quantiser {
 public:
  /// `shape` is the declared one; `magnitude_decades` as in Scaling. An Error says what of the plan
  /// does not fit the shape.
  static Result<Quantiser> create(const TensorPlan& plan, Quantity quantity,
                                  std::span<const std::uint64_t> shape,
                                  double magnitude_decades = 0);

  std::uint32_t cells() const { return cells_; }

  /// Scope::kLayer: reads the tensor, updates its range, fills the tile. One pass, straight from
  /// contiguous float32, unless RangeMode::kFrame asks for two or the range moves.
  void quantise(const TensorView& view, RangeTracker& range, Tile& tile);

  /// Scope::kNetwork, first half: keeps what will be drawn; the view may go. Join bounds() of all
  /// tensors, then RangeTracker::update(), then write() each.
  void read(const TensorView& view);
  /// Of the finite values last read.
  const Bounds& bounds() const { return bounds_; }
  /// Scope::kNetwork, second half.
  void write(const Range& range, Tile& tile);

 private:
  Quantiser(const TensorPlan& plan, Quantity quantity, Grid grid, double magnitude_decades);

  template <typename T>
  void collect(const TensorView& view, std::vector<T>& values);
  void keep(const TensorView& view);
  bool is_drawn_in_place(const TensorView& view) const;
  Range as_drawn(const Range& range) const;

  std::uint32_t tensor_;
  std::uint32_t cells_;
  bool magnitudes_;  // what is drawn is never negative
  bool take_magnitude_;
  double magnitude_decades_;
  Grid grid_;
  std::vector<std::uint32_t> dims_;  // 0, 1, … rank − 1
  std::optional<Pooler> pooler_;
  LevelWriter writer_;
  // What keep() kept: narrow_ for dtypes whose values float32 holds, else wide_.
  DType dtype_ = DType::kFloat32;
  std::vector<float> narrow_;
  std::vector<double> wide_;
  AbsentCells absent_;
  Bounds bounds_;
};

}  // namespace phosphene::capture
