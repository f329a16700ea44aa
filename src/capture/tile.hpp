// What a frame holds of one tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/range.hpp"
#include "capture/statistics.hpp"

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
  std::optional<std::uint64_t> step;     // where it is not the frame's
};

}  // namespace phosphene::capture
