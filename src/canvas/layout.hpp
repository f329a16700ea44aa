// Where each tensor of a network stands on the canvas, and which of its elements each pixel shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/tensor.hpp"

namespace phosphene::canvas {

inline constexpr int kMaxSide = 4096;
inline constexpr int kMinWidth = 64;  // the frame's number needs as much
inline constexpr int kMinHeight = 16;
inline constexpr int kNumberCells = 32;  // of 2×2 pixels, most significant first
inline constexpr int kMarginHeight =
    2;  // the canvas's last rows: x = 0 … 63 bear the frame's number

enum class Pooling : std::uint8_t { kNone = 0, kRms = 1, kExtreme = 2 };

struct Tensor {
  std::uint32_t id = 0;
  std::string name;
  Kind kind = Kind::kParameter;
  DType dtype = DType::kFloat32;
  std::vector<std::uint64_t> shape;
  std::vector<Role> roles;        // as many as dimensions
  std::uint32_t attached_to = 0;  // id of the weight whose outputs these values belong to
};

struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Rect&) const = default;
};

/// One drawn axis of a section: the flattened elements of some dimensions, the last one fastest, in
/// cells. Cell p holds flattened elements ⌊p·m/C⌋ … ⌊(p+1)·m/C⌋.
struct Axis {
  std::vector<int> dims;
  std::vector<std::uint64_t> sizes;  // how many indices of each are shown
  std::uint64_t elements = 1;        // m
  std::uint32_t cells = 1;           // C ≤ m
};

/// Cells begin … end on the P pixels of a block's side, in groups of `group` cells with `gap`
/// pixels between: with G groups, group j covers pixels ⌊j·(P+gap)/G⌋ … ⌊(j+1)·(P+gap)/G⌋ − gap,
/// and in its w pixels cell e covers ⌊e·w/group⌋ … ⌊(e+1)·w/group⌋.
struct Span {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t group = 1;  // divides end − begin
  std::uint32_t gap = 0;
};

/// A rectangle of cells. A section is one block, or several where an axis folds into bands.
struct Block {
  Rect rect;
  Span x, y;
};

struct Section {
  std::size_t tensor = 0;  // index into the tensors laid out
  Rect rect;               // around all blocks
  Axis x, y;
  std::vector<Block> blocks;         // along the fold: corners and cells never decrease
  Pooling pooling = Pooling::kNone;  // kNone: every cell is one element
  double shown = 1;                  // fraction of the tensor's elements that the cells stand for
  std::string label;                 // empty: an attached row, or no room
  Rect label_rect;
};

struct Layout {
  int width = 0, height = 0;
  std::vector<Section> sections;  // network order; attached ones right behind their weight
  double covered = 0;             // fraction of the canvas that sections fill
  std::uint32_t left_out = 0;     // tensors without room or without elements
};

struct LayoutOptions {
  int width = 1280;                 // pixels, even, kMinWidth … kMaxSide
  int height = 720;                 // pixels, even, kMinHeight … kMaxSide
  Pooling pooling = Pooling::kRms;  // where an axis has more elements than pixels; not kNone
};

/// Lays tensors out in the order given. Deterministic: equal arguments, equal layouts. Frames
/// (Kind::kFrame) stand at 1:1, centred. Thread-safe.
Result<Layout> lay_out(std::span<const Tensor> tensors, const LayoutOptions& options);

/// What the hook must send for a section: the tile's cells in their order.
struct TilePlan {
  Pooling pooling =
      Pooling::kNone;  // kNone: elements of the first `extents` in C order, and no axes
  std::vector<std::uint64_t> extents;       // one a dimension
  std::vector<int> outer_dims, inner_dims;  // pooled: a grid of outer × inner cells, inner fastest
  std::uint32_t outer_cells = 1, inner_cells = 1;
};
TilePlan plan_of(const Section& section, const Tensor& tensor);

/// How a drawn cell (cx, cy) is found in a tile: cell x_offsets[cx] + y_offsets[cy].
struct TileOrder {
  std::vector<std::uint32_t> x_offsets, y_offsets;
  std::uint32_t cells = 0;  // of the tile
};
TileOrder tile_order(const Section& section, const Tensor& tensor);

/// What a pixel shows.
struct Hit {
  std::size_t section = 0;
  std::uint32_t cell_x = 0, cell_y = 0;
  std::uint64_t x_begin = 0, x_end = 0;  // flattened elements of section.x
  std::uint64_t y_begin = 0, y_end = 0;  // flattened elements of section.y
};
/// Nothing where the pixel belongs to no cell: gaps, labels, the margin, outside.
std::optional<Hit> hit(const Layout& layout, int x, int y);

/// The pixels of a cell; nothing if no block shows it. Exactly those pixels for which hit() gives
/// the cell.
std::optional<Rect> pixels_of(const Section& section, std::uint32_t cell_x, std::uint32_t cell_y);

/// The cell that holds an element, given one index a dimension; nothing if the element is not
/// shown.
std::optional<std::pair<std::uint32_t, std::uint32_t>> cell_of(
    const Section& section, std::span<const std::uint64_t> index);

}  // namespace phosphene::canvas
