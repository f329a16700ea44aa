#include "canvas/composer.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "canvas/levels.hpp"
#include "canvas/span.hpp"

namespace phosphene::canvas {
namespace {

/// A plane of bytes within the picture.
struct Plane {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::uint8_t* at(int x, int y) const {
    return data + static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x);
  }
};

/// Whether offsets begin … end follow one another without a hole.
bool contiguous(std::span<const std::uint32_t> offsets) {
  return offsets.back() - offsets.front() + 1 == offsets.size() && std::ranges::is_sorted(offsets);
}

/// Copies a row of cells to the pixels that they cover.
void widen(const Span& span, int pixels, const std::uint8_t* cells, std::uint8_t* row) {
  const std::uint32_t count = span.end - span.begin;
  if (static_cast<std::uint32_t>(pixels) == count) {
    std::memcpy(row, cells, count);
    return;
  }
  for (std::uint32_t cell = 0; cell < count; ++cell) {
    const Extent extent = pixels_of(span, pixels, span.begin + cell);
    std::memset(row + extent.begin, cells[cell],
                static_cast<std::size_t>(extent.end - extent.begin));
  }
}

/// Draws a block of a tile's unpacked cells. Gaps keep what they have.
void paint(const Block& block, const TileOrder& order, const std::uint8_t* cells, Plane plane,
           std::vector<std::uint8_t>& scratch) {
  const std::span<const std::uint32_t> xs =
      std::span(order.x_offsets).subspan(block.x.begin, block.x.end - block.x.begin);
  const std::span<const std::uint32_t> ys =
      std::span(order.y_offsets).subspan(block.y.begin, block.y.end - block.y.begin);
  const Rect& rect = block.rect;
  const bool rows_lie = contiguous(xs);
  const bool columns_lie = !rows_lie && contiguous(ys);
  const std::size_t width = xs.size();

  // Where columns lie contiguously and pitch is constant, whole pages of rows are turned over at
  // once.
  constexpr std::uint32_t kPage = 16;
  scratch.resize(width * kPage);
  std::uint32_t page_begin = 0, page_end = 0;
  const std::size_t pitch = width > 1 ? xs[1] - xs[0] : 1;
  const bool even_pitch = columns_lie && [&] {
    for (std::size_t i = 1; i < width; ++i)
      if (xs[i] - xs[i - 1] != pitch) return false;
    return true;
  }();

  for (std::uint32_t cell = 0; cell < ys.size(); ++cell) {
    const std::uint8_t* row = nullptr;
    if (rows_lie) {
      row = cells + xs.front() + ys[cell];
    } else if (even_pitch) {
      if (cell >= page_end) {
        page_begin = cell;
        page_end = std::min(cell + kPage, static_cast<std::uint32_t>(ys.size()));
        transpose(cells + xs.front() + ys[cell], pitch, scratch.data(), width, width,
                  page_end - page_begin);
      }
      row = scratch.data() + (cell - page_begin) * width;
    } else {
      for (std::size_t i = 0; i < width; ++i) scratch[i] = cells[xs[i] + ys[cell]];
      row = scratch.data();
    }
    const Extent extent = pixels_of(block.y, rect.height, block.y.begin + cell);
    std::uint8_t* first = plane.at(rect.x, rect.y + extent.begin);
    widen(block.x, rect.width, row, first);
    for (int y = extent.begin + 1; y < extent.end; ++y)
      std::memcpy(plane.at(rect.x, rect.y + y), first, static_cast<std::size_t>(rect.width));
  }
}

/// The 2×2 blocks that a rectangle touches.
Rect halved(const Rect& rect) {
  const int right = (rect.x + rect.width + 1) / 2, bottom = (rect.y + rect.height + 1) / 2;
  return {rect.x / 2, rect.y / 2, right - rect.x / 2, bottom - rect.y / 2};
}

}  // namespace

struct Composer::State {
  struct Drawn {
    std::vector<Block> blocks;
    TileOrder order;
    bool marked = false;  // some of its chroma is not neutral
  };

  int width = 0, height = 0;
  std::vector<Drawn> sections;
  std::vector<std::uint8_t> luma, cr;
  std::vector<std::uint8_t> marks;  // Cr of every pixel, from the first mark on
  std::vector<std::uint8_t> cells, scratch;

  Plane luma_plane() { return {luma.data(), static_cast<std::size_t>(width)}; }
  Plane cr_plane() { return {cr.data(), static_cast<std::size_t>(width / 2)}; }

  /// Tints every 2×2 block that a marked cell touches; a NaN is stronger than an infinity.
  void tint(const Drawn& section, std::span<const MarkRun> runs) {
    std::ranges::fill(cells, kChromaNeutral);
    for (const MarkRun& run : runs) {
      if (run.mark == Mark::kNaN) std::fill_n(cells.begin() + run.begin, run.length, kCrNaN);
      if (run.mark == Mark::kInf) std::fill_n(cells.begin() + run.begin, run.length, kCrInf);
    }
    marks.resize(luma.size(), kChromaNeutral);
    const Plane full{marks.data(), static_cast<std::size_t>(width)};
    for (const Block& block : section.blocks) {
      paint(block, section.order, cells.data(), full, scratch);
      const Rect half = halved(block.rect);
      for (int y = half.y; y < half.y + half.height; ++y) {
        for (int x = half.x; x < half.x + half.width; ++x) {
          const std::uint8_t *above = full.at(2 * x, 2 * y), *below = full.at(2 * x, 2 * y + 1);
          const auto [least, most] = std::minmax({above[0], above[1], below[0], below[1]});
          *cr_plane().at(x, y) = most > kChromaNeutral ? most : least;
        }
      }
    }
  }
};

Composer::Composer(const Layout& layout, std::span<const Tensor> tensors)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.width = layout.width;
  state.height = layout.height;
  const auto pixels =
      static_cast<std::size_t>(layout.width) * static_cast<std::size_t>(layout.height);
  state.luma.assign(pixels, kLumaBlack);
  state.cr.assign(pixels / 4, kChromaNeutral);
  for (const Section& section : layout.sections)
    state.sections.push_back({section.blocks, tile_order(section, tensors[section.tensor])});
}

Composer::~Composer() = default;
Composer::Composer(Composer&&) noexcept = default;
Composer& Composer::operator=(Composer&&) noexcept = default;

bool Composer::draw(std::size_t section, const Tile& tile) {
  State& state = *state_;
  if (section >= state.sections.size()) return false;
  State::Drawn& drawn = state.sections[section];
  const std::size_t count = drawn.order.cells;
  if (tile.levels.size() < (count + 1) / 2) return false;
  for (const MarkRun& run : tile.marks)
    if (run.begin > count || run.length > count - run.begin) return false;

  state.cells.resize(count);
  unpack_luma(tile.levels.data(), state.cells);
  bool tinted = false;
  for (const MarkRun& run : tile.marks) {
    std::uint8_t luma = kLumaBlack;
    if (run.mark == Mark::kNaN) luma = kLumaOfLevel[kLevelNaN];
    if (run.mark == Mark::kInf) luma = kLumaOfLevel[kLevelInf];
    tinted |= run.length > 0 && (run.mark == Mark::kNaN || run.mark == Mark::kInf);
    std::fill_n(state.cells.begin() + run.begin, run.length, luma);
  }
  for (const Block& block : drawn.blocks)
    paint(block, drawn.order, state.cells.data(), state.luma_plane(), state.scratch);
  if (tinted || drawn.marked) state.tint(drawn, tile.marks);
  drawn.marked = tinted;
  return true;
}

void Composer::draw_number(std::uint32_t number) {
  const Plane luma = state_->luma_plane();
  for (int y = state_->height - kMarginHeight; y < state_->height; ++y)
    for (int cell = 0; cell < kNumberCells; ++cell) {
      const bool white = (number >> (kNumberCells - 1 - cell) & 1) != 0;
      std::memset(luma.at(cell * 2, y), white ? kLumaWhite : kLumaBlack, 2);
    }
}

Picture Composer::picture() const {
  const State& state = *state_;
  return {state.width, state.height,    state.luma.data(),
          state.width, state.cr.data(), state.width / 2};
}

}  // namespace phosphene::canvas
