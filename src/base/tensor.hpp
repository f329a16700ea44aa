// The words that every room uses for a tensor. Numbers equal those of proto/phosphene.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace phosphene {

enum class Kind : std::uint8_t { kParameter = 1, kGradient = 2, kActivation = 3, kFrame = 4 };

enum class DType : std::uint8_t {
  kFloat32 = 1,
  kFloat64 = 2,
  kFloat16 = 3,
  kBFloat16 = 4,
  kInt8 = 5,
  kUInt8 = 6,
  kBool = 7,
  kInt64 = 8,
  kLevels4 = 9,  // frames only: two levels a byte, the left in the high half, rows of ⌈W/2⌉ bytes
};

/// What a dimension of a tensor means. Hooks declare it; nothing is guessed from sizes.
enum class Role : std::uint8_t {
  kOther = 0,
  kOut = 1,      // output units or channels of a weight
  kIn = 2,       // input units or channels of a weight
  kDepth = 3,    // kernel or map depth
  kHeight = 4,   // kernel or map height
  kWidth = 5,    // kernel or map width
  kBatch = 6,    // examples
  kChannel = 7,  // channels or features of an activation
  kToken = 8,    // positions of a sequence
  kHead = 9,     // attention heads
};

/// "float32", "bfloat16", …; "unknown" for a number outside the enumeration.
std::string_view name_of(DType dtype);
/// "parameter", "gradient", "activation", "frame".
std::string_view name_of(Kind kind);
/// Bytes of one element; 0 for kLevels4 and for unknown numbers.
std::size_t bytes_of(DType dtype);

inline constexpr int kLevels = 16;
inline constexpr int kMaxRank = 8;

}  // namespace phosphene
