// A scale as the float32 kernels read it.
#pragma once

#include <cstdint>

#include "capture/scale.hpp"

namespace phosphene::capture {

/// What the kernels do with x before they look its level up.
enum class Reading : std::uint8_t {
  kValue = 0,         // y = x
  kMagnitude = 1,     // y = |x|
  kLogMagnitude = 2,  // y = |x|, and the bits of y, which are nearly its logarithm, make the guess
};

/// Level of y = clamp(2j + (y ≥ odd[j]) + (y ≥ even[j]), 0, 15), where j is a guess that may be off
/// by nearly half a level: j = trunc(y·factor + bias) in float32, fused; what it looks up outside 0
/// … 7 does not matter.
///
/// The guess never falls as y grows, so it suffices to try it at both ends of each level: `usable`
/// says that it held there, and thus holds for every float32. Where it does not (a range of a few
/// float32 numbers) the level comes from Scale itself.
struct LevelTable {
  alignas(32) float odd[8] = {};   // smallest float32 of level 1, 3, … 15
  alignas(32) float even[8] = {};  // of level 2, 4, … 14, and +∞
  float factor = 0;
  float bias = 0;
  Reading reading = Reading::kValue;
  bool usable = false;
};

/// Exact for each finite float32 x with scale.level(x), or scale.level(|x|) if `magnitude`.
LevelTable make_level_table(const Scale& scale, bool magnitude);

}  // namespace phosphene::capture
