// The two inner loops of composing: packed levels to luma, and turning a matrix over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace phosphene::canvas {

/// Writes the luma of `luma.size()` packed levels, two a byte, the first in the high half.
void unpack_luma(const std::uint8_t* packed, std::span<std::uint8_t> luma);

/// to[y][x] = from[x][y] for x < width, y < height; strides in bytes.
void transpose(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to,
               std::size_t to_stride, std::size_t width, std::size_t height);

}  // namespace phosphene::canvas
