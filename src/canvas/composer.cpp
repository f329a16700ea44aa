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

bool evenly_spaced(std::span<const std::uint32_t> offsets) {
  const std::uint32_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 1;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] - offsets[i - 1] != step) return false;
  return true;
}

/// Whether offsets follow one another without a hole.
bool contiguous(std::span<const std::uint32_t> offsets) {
  return evenly_spaced(offsets) && offsets.back() - offsets.front() + 1 == offsets.size();
}

/// The cells of a block's side, pixel by pixel.
struct Side {
  std::vector<Extent> runs;          // of pixels without a gap
  std::vector<std::uint32_t> cells;  // of each pixel, counted from the span's begin; 0 in gaps
};

void measure(const Span& span, int pixels, Side& side) {
  side.runs.clear();
  side.cells.assign(static_cast<std::size_t>(pixels), 0);
  const std::uint32_t groups = (span.end - span.begin) / span.group;
  const std::uint32_t pitch = static_cast<std::uint32_t>(pixels) + span.gap;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint32_t begin = group * pitch / groups;
    const std::uint32_t width = (group + 1) * pitch / groups - span.gap - begin;
    if (span.gap == 0 && group > 0) {
      side.runs.back().end = static_cast<int>(begin + width);
    } else {
      side.runs.push_back({static_cast<int>(begin), static_cast<int>(begin + width)});
    }
    std::uint32_t* at = side.cells.data() + begin;
    for (std::uint32_t e = 0, from = 0; e < span.group; ++e) {
      const std::uint32_t to = (e + 1) * width / span.group;
      for (; from < to; ++from) *at++ = group * span.group + e;
    }
  }
}

std::span<const std::uint32_t> part(const std::vector<std::uint32_t>& offsets, const Span& span) {
  return std::span(offsets).subspan(span.begin, span.end - span.begin);
}

/// Whether a block's columns lie in whole bytes of the tile, one pixel a cell, so that it can be
/// drawn without unpacking the tile first. So do the weights of nearly every dense layer.
bool columns_are_bytes(const Block& block, const TileOrder& order) {
  const std::span<const std::uint32_t> xs = part(order.x_offsets, block.x),
                                       ys = part(order.y_offsets, block.y);
  return !contiguous(xs) && contiguous(ys) && evenly_spaced(xs) && (xs[1] - xs[0]) % 2 == 0 &&
         (xs.front() + ys.front()) % 2 == 0 &&
         xs.size() == static_cast<std::size_t>(block.rect.width) &&
         ys.size() == static_cast<std::size_t>(block.rect.height);
}

/// Draws a block of which columns_are_bytes.
void paint_columns(const Block& block, const TileOrder& order, const std::uint8_t* levels,
                   Plane plane) {
  const std::span<const std::uint32_t> xs = part(order.x_offsets, block.x);
  const std::uint32_t first = xs.front() + order.y_offsets[block.y.begin];
  unpack_luma_transposed(
      levels + first / 2, (xs[1] - xs[0]) / 2, plane.at(block.rect.x, block.rect.y), plane.stride,
      static_cast<std::size_t>(block.rect.width), static_cast<std::size_t>(block.rect.height));
}

/// How many pixels in a row show cells that lie side by side, where that is so everywhere: a
/// kernel's width, at one pixel a cell. Else 0.
std::size_t piece_of(const Side& side) {
  std::size_t piece = 0;
  for (const Extent& run : side.runs) {
    const auto length = static_cast<std::size_t>(run.end - run.begin);
    const std::uint32_t* cells = side.cells.data() + run.begin;
    for (std::size_t i = 0; i < length;) {
      std::size_t n = 1;
      while (i + n < length && cells[i + n] == cells[i] + n) ++n;
      if (piece != 0 && n != piece) return 0;
      piece = n;
      i += n;
    }
  }
  return piece;
}

/// A row of pixels, kPiece at a time: a copy of known length is one move.
template <std::size_t kPiece>
void gather(const Side& side, const std::uint8_t* from, std::uint8_t* row) {
  for (const Extent& run : side.runs)
    for (auto x = static_cast<std::size_t>(run.begin); x < static_cast<std::size_t>(run.end);
         x += kPiece)
      std::memcpy(row + x, from + side.cells[x], kPiece);
}

/// The way to gather rows of this side.
auto gatherer(const Side& side) {
  switch (piece_of(side)) {
    case 3:
      return gather<3>;
    case 4:
      return gather<4>;
    case 5:
      return gather<5>;
    case 7:
      return gather<7>;
    default:
      return gather<1>;
  }
}

/// Draws a block of a tile's unpacked cells. Gaps keep what they have.
void paint(const Block& block, const TileOrder& order, const std::uint8_t* cells, Plane plane,
           std::vector<std::uint8_t>& scratch, Side& side) {
  const std::span<const std::uint32_t> xs = part(order.x_offsets, block.x),
                                       ys = part(order.y_offsets, block.y);
  const Rect& rect = block.rect;
  const auto width = static_cast<std::size_t>(rect.width),
             height = static_cast<std::size_t>(rect.height);
  const std::size_t pitch = xs.size() > 1 ? xs[1] - xs[0] : 1;
  const bool rows_lie = contiguous(xs);
  const bool turned = !rows_lie && contiguous(ys) && evenly_spaced(xs);
  if (turned && xs.size() == width && ys.size() == height) {
    transpose(cells + xs.front() + ys.front(), pitch, plane.at(rect.x, rect.y), plane.stride, width,
              height);
    return;
  }
  const bool exact = rows_lie && xs.size() == width;
  const bool doubled = (rows_lie || turned) && xs.size() * 2 == width && block.x.gap == 0;
  auto gather_row = gather<1>;
  if (!exact && !doubled) {
    measure(block.x, rect.width, side);
    if (!rows_lie && !turned)
      for (std::uint32_t& cell : side.cells) cell = xs[cell];
    gather_row = gatherer(side);
  }
  if (turned) {
    scratch.resize(xs.size() * ys.size());
    transpose(cells + xs.front() + ys.front(), pitch, scratch.data(), xs.size(), xs.size(),
              ys.size());
  }
  for (std::uint32_t cell = 0; cell < ys.size(); ++cell) {
    const std::uint8_t* from = cells + ys[cell];
    if (rows_lie) from += xs.front();
    if (turned) from = scratch.data() + cell * xs.size();
    const Extent extent = pixels_of(block.y, rect.height, block.y.begin + cell);
    std::uint8_t* row = plane.at(rect.x, rect.y + extent.begin);
    if (exact) {
      std::memcpy(row, from, width);
    } else if (doubled) {
      double_cells({from, xs.size()}, row);
    } else {
      gather_row(side, from, row);
    }
    for (int y = extent.begin + 1; y < extent.end; ++y)
      std::memcpy(plane.at(rect.x, rect.y + y), row, width);
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
    bool columns = false;  // columns_are_bytes, of every block
    bool marked = false;   // some of its chroma is not neutral
  };

  int width = 0, height = 0;
  std::vector<Drawn> sections;
  std::vector<std::uint8_t> luma, cr;
  std::vector<std::uint8_t> marks;  // Cr of every pixel, from the first mark on
  std::vector<std::uint8_t> cells, scratch;
  Side side;

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
      paint(block, section.order, cells.data(), full, scratch, side);
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
  for (const Section& section : layout.sections) {
    State::Drawn drawn{section.blocks, tile_order(section, tensors[section.tensor])};
    drawn.columns = std::ranges::all_of(
        drawn.blocks, [&](const Block& block) { return columns_are_bytes(block, drawn.order); });
    state.sections.push_back(std::move(drawn));
  }
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

  if (drawn.columns && tile.marks.empty() && !drawn.marked) {
    for (const Block& block : drawn.blocks)
      paint_columns(block, drawn.order, tile.levels.data(), state.luma_plane());
    return true;
  }
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
    paint(block, drawn.order, state.cells.data(), state.luma_plane(), state.scratch, state.side);
  if (tinted || drawn.marked) state.tint(drawn, tile.marks);
  drawn.marked = tinted;
  return true;
}

AbsentLines Composer::absent(std::size_t section, std::span<const MarkRun> marks) const {
  const auto is_absent = [](const MarkRun& run) { return run.mark == Mark::kAbsent; };
  if (std::ranges::none_of(marks, is_absent)) return {};
  const TileOrder& order = state_->sections[section].order;
  std::vector<bool> cells(order.cells);
  for (const MarkRun& run : marks)
    if (is_absent(run)) std::fill_n(cells.begin() + run.begin, run.length, true);
  const auto lines = [&](const std::vector<std::uint32_t>& along,
                         const std::vector<std::uint32_t>& across) {
    std::vector<std::uint32_t> runs;
    for (std::uint32_t line = 0; line < along.size(); ++line) {
      if (!std::ranges::all_of(across, [&](auto offset) { return cells[along[line] + offset]; }))
        continue;
      if (!runs.empty() && runs[runs.size() - 2] + runs.back() == line)
        ++runs.back();
      else
        runs.insert(runs.end(), {line, 1});
    }
    return runs;
  };
  return {lines(order.x_offsets, order.y_offsets), lines(order.y_offsets, order.x_offsets)};
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
