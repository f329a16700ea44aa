// How a level is drawn: limited-range BT.709 luma, and the marks of cells that hold no finite
// number.
#pragma once

#include <array>
#include <cstdint>

#include "base/tensor.hpp"

namespace phosphene {

/// Luma of level k: 16 + k·219/15, rounded. Limited range, since full range merges levels in two
/// browsers.
inline constexpr std::array<std::uint8_t, kLevels> kLumaOfLevel = [] {
  std::array<std::uint8_t, kLevels> table{};
  for (int level = 0; level < kLevels; ++level) table[level] = (16 * 30 + level * 438 + 15) / 30;
  return table;
}();

inline constexpr std::uint8_t kLumaBlack = 16;
inline constexpr std::uint8_t kLumaWhite = 235;
inline constexpr std::uint8_t kChromaNeutral = 128;
inline constexpr std::uint8_t kCrNaN = 240;  // red
inline constexpr std::uint8_t kCrInf = 16;   // cyan

/// What a cell holds when it is not a finite number. Numbers are those of Tile.marks on the wire.
enum class Mark : std::uint8_t { kNone = 0, kNaN = 1, kInf = 2, kAbsent = 3 };

/// The level that a marked cell is drawn at, so that level = round(B/17) holds there too.
inline constexpr std::uint8_t kLevelNaN = 3;
inline constexpr std::uint8_t kLevelInf = 15;

}  // namespace phosphene
