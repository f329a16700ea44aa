// From numbers to a tile's levels and marks.
#pragma once

#include <optional>
#include <span>

#include "capture/absent.hpp"
#include "capture/level_table.hpp"
#include "capture/range.hpp"
#include "capture/scale.hpp"
#include "capture/tile.hpp"

namespace phosphene::capture {

/// Keeps the tables of the range used last, since ranges change rarely. Bound to one thread.
class LevelWriter {
 public:
  /// Fills levels, marks, range and bounds of `tile`, one cell a value; of |value| if `magnitude`.
  /// Absent cells hold NaN.
  void write(std::span<const float> values, bool magnitude, const Range& range,
             const AbsentCells& absent, Tile& tile);
  void write(std::span<const double> values, bool magnitude, const Range& range,
             const AbsentCells& absent, Tile& tile);

 private:
  void prepare(bool magnitude, const Range& range);
  template <typename T>
  void write_values(std::span<const T> values, bool magnitude, const Range& range,
                    const AbsentCells& absent, Tile& tile);

  std::optional<Scale> scale_;
  LevelTable table_;
  bool magnitude_ = false;
};

/// Of the finite values, or their magnitudes.
Bounds bounds_of(std::span<const float> values, bool magnitude);
Bounds bounds_of(std::span<const double> values, bool magnitude);

}  // namespace phosphene::capture
