// The inner loops of composing: packed levels to luma, turning a matrix over, and both at once.
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

/// Every cell on two pixels of the row.
void double_cells(std::span<const std::uint8_t> cells, std::uint8_t* row);

/// luma[y][x] = the luma of level y of packed row x, for x < width, y < height; strides in bytes.
void unpack_luma_transposed(const std::uint8_t* packed, std::size_t packed_stride,
                            std::uint8_t* luma, std::size_t luma_stride, std::size_t width,
                            std::size_t height);

}  // namespace phosphene::canvas
