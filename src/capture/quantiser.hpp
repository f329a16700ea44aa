// From a tensor's memory to the levels of a tile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "capture/plan.hpp"
#include "capture/range.hpp"
#include "capture/scale.hpp"
#include "capture/statistics.hpp"
#include "capture/tensor_view.hpp"

namespace phosphene::capture {

/// One tensor's levels for one plan at one step. Reuse the object: its vectors keep their memory.
struct Tile {
  std::uint32_t tensor = 0;
  std::uint32_t cells = 0;
  std::vector<std::uint8_t>
      levels;  // ⌈cells/2⌉ bytes, the first cell in the high half; an odd end is padded with 0
  std::vector<std::uint32_t>
      marks;  // as Tile.marks on the wire: gap since the run before, length·4 + mark
  Range range;
  Bounds bounds;                         // of the finite values drawn
  std::optional<Statistics> statistics;  // the caller's to fill (measure()) and to clear
};

/// Draws one tensor for one view. Owns scratch memory that is bounded by the plan's cells and
/// allocated at most once; after the first frame nothing is allocated. Bound to one thread.
///
/// What is drawn: the value, or |value| for Quantity::kMagnitude; of a pooled cell its
///   rms      √(Σx²·(1/n)) with the n values present. The sum is float64: for each flattened inner
///   element, over the outer elements
///            of the cell in ascending order; then these sums over the inner elements in ascending
///            order. 1/n and √ are float64, the result is rounded to float32 unless the dtype is
///            float64 or int64.
///   extreme  the value of largest magnitude; of equals the positive one.
/// A cell with a NaN is marked NaN (level 3), else with ±Inf Inf (15). A cell none of whose
/// elements exist, as in a last batch that is shorter than planned, is absent (level 0); so is a
/// whole tile if the tensor's rank is not the declared one. Levels of DType::kLevels4 pass as they
/// are, with the range 0 … 16.
class Quantiser {
 public:
  /// `shape` is the declared one. An Error says what of the plan does not fit it.
  static Result<Quantiser> create(const TensorPlan& plan, Quantity quantity,
                                  std::span<const std::uint64_t> shape);

  std::uint32_t cells() const { return cells_; }

  /// Scope::kLayer: reads the tensor, updates its range, fills the tile. One pass over contiguous
  /// float32 unless the range moves.
  void quantise(const TensorView& view, RangeTracker& range, Tile& tile);

  /// Scope::kNetwork, first half: keeps what will be drawn; the view may go. Join bounds() of all
  /// tensors, then RangeTracker::update(), then write() each.
  void read(const TensorView& view);
  /// Of the finite values last read.
  const Bounds& bounds() const { return bounds_; }
  /// Scope::kNetwork, second half.
  void write(const Range& range, Tile& tile);

 private:
  Quantiser() = default;

  std::uint32_t tensor_ = 0;
  std::uint32_t cells_ = 0;
  Bounds bounds_;
};

}  // namespace phosphene::capture
