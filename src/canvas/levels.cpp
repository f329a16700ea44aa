#include "canvas/levels.hpp"

#include <algorithm>

#include "base/luma.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace phosphene::canvas {
namespace {

#ifdef __SSE2__

/// Of sixteen packed pairs, the levels in the high halves, and those in the low ones.
__m128i first_of(__m128i pairs) {
  return _mm_and_si128(_mm_srli_epi16(pairs, 4), _mm_set1_epi8(0x0F));
}
__m128i second_of(__m128i pairs) {
  return _mm_and_si128(pairs, _mm_set1_epi8(0x0F));
}

/// Luma of sixteen levels. (k·3738 + 128) / 256 is k·219/15 rounded, for all sixteen.
__m128i luma_of(__m128i levels) {
  const __m128i zero = _mm_setzero_si128(), factor = _mm_set1_epi16(3738),
                half = _mm_set1_epi16(128);
  const auto scaled = [&](__m128i wide) {
    return _mm_srli_epi16(_mm_add_epi16(_mm_mullo_epi16(wide, factor), half), 8);
  };
  const __m128i low = scaled(_mm_unpacklo_epi8(levels, zero)),
                high = scaled(_mm_unpackhi_epi8(levels, zero));
  return _mm_add_epi8(_mm_packus_epi16(low, high), _mm_set1_epi8(static_cast<char>(kLumaBlack)));
}

constexpr std::size_t kTile = 16;

/// Interleaves row i with row i + 8: one bit of a row's number becomes one of the column's.
void interleave(const __m128i* from, __m128i* to) {
  for (std::size_t i = 0; i < kTile / 2; ++i) {
    to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + kTile / 2]);
    to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + kTile / 2]);
  }
}

/// Loads sixteen rows and turns them over.
void load_transposed(const std::uint8_t* from, std::size_t stride, __m128i* rows) {
  __m128i other[kTile];
  for (std::size_t i = 0; i < kTile; ++i)
    rows[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * stride));
  interleave(rows, other);
  interleave(other, rows);
  interleave(rows, other);
  interleave(other, rows);
}

void store(__m128i row, std::uint8_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), row);
}

void transpose_tile(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to,
                    std::size_t to_stride) {
  __m128i rows[kTile];
  load_transposed(from, from_stride, rows);
  for (std::size_t i = 0; i < kTile; ++i) store(rows[i], to + i * to_stride);
}

/// Sixteen rows of sixteen packed pairs become thirty-two rows of luma: turned over while they are
/// packed, which is half the work.
void unpack_tile(const std::uint8_t* packed, std::size_t packed_stride, std::uint8_t* luma,
                 std::size_t luma_stride) {
  __m128i pairs[kTile];
  load_transposed(packed, packed_stride, pairs);
  for (std::size_t i = 0; i < kTile; ++i, luma += 2 * luma_stride) {
    store(luma_of(first_of(pairs[i])), luma);
    store(luma_of(second_of(pairs[i])), luma + luma_stride);
  }
}

#endif

}  // namespace

void unpack_luma(const std::uint8_t* packed, std::span<std::uint8_t> luma) {
  std::size_t i = 0;
#ifdef __SSE2__
  for (; i + 32 <= luma.size(); i += 32) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + i / 2));
    const __m128i first = first_of(bytes), second = second_of(bytes);
    auto* out = reinterpret_cast<__m128i*>(luma.data() + i);
    _mm_storeu_si128(out, luma_of(_mm_unpacklo_epi8(first, second)));
    _mm_storeu_si128(out + 1, luma_of(_mm_unpackhi_epi8(first, second)));
  }
#endif
  for (; i < luma.size(); ++i)
    luma[i] = kLumaOfLevel[i % 2 == 0 ? packed[i / 2] >> 4 : packed[i / 2] & 0x0F];
}

void transpose(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to,
               std::size_t to_stride, std::size_t width, std::size_t height) {
  std::size_t whole_x = 0, whole_y = 0;  // what the tiles cover
#ifdef __SSE2__
  whole_x = width / kTile * kTile;
  whole_y = height / kTile * kTile;
  constexpr std::size_t kPage = 64;  // rows: what a cache line of a column holds
  for (std::size_t page = 0; page < whole_y; page += kPage)
    for (std::size_t x = 0; x < whole_x; x += kTile)
      for (std::size_t y = page; y < std::min(page + kPage, whole_y); y += kTile)
        transpose_tile(from + x * from_stride + y, from_stride, to + y * to_stride + x, to_stride);
#endif
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = y < whole_y ? whole_x : 0; x < width; ++x)
      to[y * to_stride + x] = from[x * from_stride + y];
}

void double_cells(std::span<const std::uint8_t> cells, std::uint8_t* row) {
  std::size_t i = 0;
#ifdef __SSE2__
  for (; i + kTile <= cells.size(); i += kTile) {
    const __m128i each = _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells.data() + i));
    store(_mm_unpacklo_epi8(each, each), row + 2 * i);
    store(_mm_unpackhi_epi8(each, each), row + 2 * i + kTile);
  }
#endif
  for (; i < cells.size(); ++i) row[2 * i] = row[2 * i + 1] = cells[i];
}

void unpack_luma_transposed(const std::uint8_t* packed, std::size_t packed_stride,
                            std::uint8_t* luma, std::size_t luma_stride, std::size_t width,
                            std::size_t height) {
  std::size_t whole_x = 0, whole_y = 0;
#ifdef __SSE2__
  constexpr std::size_t kRows = 2 * kTile;  // of luma, from a tile of packed pairs
  constexpr std::size_t kPage = 2 * kRows;
  whole_x = width / kTile * kTile;
  whole_y = height / kRows * kRows;
  for (std::size_t page = 0; page < whole_y; page += kPage)
    for (std::size_t x = 0; x < whole_x; x += kTile)
      for (std::size_t y = page; y < std::min(page + kPage, whole_y); y += kRows)
        unpack_tile(packed + x * packed_stride + y / 2, packed_stride, luma + y * luma_stride + x,
                    luma_stride);
#endif
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = y < whole_y ? whole_x : 0; x < width; ++x) {
      const std::uint8_t pair = packed[x * packed_stride + y / 2];
      luma[y * luma_stride + x] = kLumaOfLevel[y % 2 == 0 ? pair >> 4 : pair & 0x0F];
    }
}

}  // namespace phosphene::canvas
