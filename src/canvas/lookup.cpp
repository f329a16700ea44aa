// From a pixel to the elements it shows and back, and from a section to what the hook must send for
// it.
#include <algorithm>
#include <cassert>
#include <iterator>

#include "canvas/layout.hpp"
#include "canvas/span.hpp"

namespace phosphene::canvas {
namespace {

bool contains(const Rect& rect, int x, int y) {
  return x >= rect.x && y >= rect.y && x - rect.x < rect.width && y - rect.y < rect.height;
}

std::uint64_t first_element(const Axis& axis, std::uint64_t cell) {
  return cell * axis.elements / axis.cells;
}

/// The cell of an axis that holds an element; nothing if the element is not shown.
std::optional<std::uint32_t> cell_on(const Axis& axis, std::span<const std::uint64_t> index) {
  std::uint64_t element = 0;
  for (std::size_t i = 0; i < axis.dims.size(); ++i) {
    const std::uint64_t at = index[static_cast<std::size_t>(axis.dims[i])];
    if (at >= axis.sizes[i]) return std::nullopt;
    element = element * axis.sizes[i] + at;
  }
  // The last cell p with ⌊p·m/C⌋ ≤ element.
  return static_cast<std::uint32_t>(((element + 1) * axis.cells - 1) / axis.elements);
}

/// How many indices of each dimension are shown.
std::vector<std::uint64_t> extents_of(const Section& section, const Tensor& tensor) {
  std::vector<std::uint64_t> extents = tensor.shape;
  for (const Axis* axis : {&section.x, &section.y})
    for (std::size_t i = 0; i < axis->dims.size(); ++i)
      extents[static_cast<std::size_t>(axis->dims[i])] = axis->sizes[i];
  return extents;
}

/// Whether x runs along the dimension that is fastest in memory, so that the hook pools along it.
bool inner_is_x(const Section& section, const Tensor& tensor) {
  const int fastest = static_cast<int>(tensor.shape.size()) - 1;
  return std::ranges::find(section.y.dims, fastest) == section.y.dims.end();
}

/// Where the elements of an axis lie within the shown part of the tensor, in C order.
std::vector<std::uint32_t> offsets_in(const Axis& axis, std::span<const std::uint64_t> extents) {
  std::vector<std::uint32_t> strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;)
    strides[d - 1] = strides[d] * static_cast<std::uint32_t>(extents[d]);
  std::vector<std::uint32_t> offsets{0};
  for (std::size_t i = 0; i < axis.dims.size(); ++i) {
    std::vector<std::uint32_t> finer;
    finer.reserve(offsets.size() * axis.sizes[i]);
    for (const std::uint32_t offset : offsets)
      for (std::uint32_t at = 0; at < axis.sizes[i]; ++at)
        finer.push_back(offset + at * strides[static_cast<std::size_t>(axis.dims[i])]);
    offsets = std::move(finer);
  }
  return offsets;
}

}  // namespace

TilePlan plan_of(const Section& section, const Tensor& tensor) {
  TilePlan plan;
  plan.pooling = section.pooling;
  plan.extents = extents_of(section, tensor);
  if (section.pooling == Pooling::kNone) return plan;
  const bool x_inner = inner_is_x(section, tensor);
  const Axis& outer = x_inner ? section.y : section.x;
  const Axis& inner = x_inner ? section.x : section.y;
  plan.outer_dims = outer.dims;
  plan.inner_dims = inner.dims;
  plan.outer_cells = outer.cells;
  plan.inner_cells = inner.cells;
  return plan;
}

TileOrder tile_order(const Section& section, const Tensor& tensor) {
  TileOrder order;
  order.cells = section.x.cells * section.y.cells;
  if (section.pooling == Pooling::kNone) {
    const std::vector<std::uint64_t> extents = extents_of(section, tensor);
    order.x_offsets = offsets_in(section.x, extents);
    order.y_offsets = offsets_in(section.y, extents);
    return order;
  }
  const bool x_inner = inner_is_x(section, tensor);
  for (std::uint32_t cell = 0; cell < section.x.cells; ++cell)
    order.x_offsets.push_back(cell * (x_inner ? 1 : section.y.cells));
  for (std::uint32_t cell = 0; cell < section.y.cells; ++cell)
    order.y_offsets.push_back(cell * (x_inner ? section.x.cells : 1));
  return order;
}

std::optional<Hit> hit(const Layout& layout, int x, int y) {
  for (std::size_t s = 0; s < layout.sections.size(); ++s) {
    const Section& section = layout.sections[s];
    if (!contains(section.rect, x, y)) continue;
    const auto after = std::ranges::partition_point(
        section.blocks, [&](const Block& block) { return block.rect.x <= x && block.rect.y <= y; });
    if (after == section.blocks.begin()) continue;
    const Block& block = *std::prev(after);
    if (!contains(block.rect, x, y)) continue;
    const auto cell_x = cell_at(block.x, block.rect.width, x - block.rect.x);
    const auto cell_y = cell_at(block.y, block.rect.height, y - block.rect.y);
    if (!cell_x || !cell_y) return std::nullopt;
    return Hit{s,
               *cell_x,
               *cell_y,
               first_element(section.x, *cell_x),
               first_element(section.x, *cell_x + std::uint64_t{1}),
               first_element(section.y, *cell_y),
               first_element(section.y, *cell_y + std::uint64_t{1})};
  }
  return std::nullopt;
}

std::optional<Rect> pixels_of(const Section& section, std::uint32_t cell_x, std::uint32_t cell_y) {
  const auto found = std::ranges::partition_point(section.blocks, [&](const Block& block) {
    return block.x.end <= cell_x || block.y.end <= cell_y;
  });
  if (found == section.blocks.end()) return std::nullopt;
  const Block& block = *found;
  const Extent x = pixels_of(block.x, block.rect.width, cell_x);
  const Extent y = pixels_of(block.y, block.rect.height, cell_y);
  return Rect{block.rect.x + x.begin, block.rect.y + y.begin, x.end - x.begin, y.end - y.begin};
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> cell_of(
    const Section& section, std::span<const std::uint64_t> index) {
  assert(index.size() == section.x.dims.size() + section.y.dims.size());
  const auto x = cell_on(section.x, index), y = cell_on(section.y, index);
  if (!x || !y) return std::nullopt;
  return std::pair{*x, *y};
}

}  // namespace phosphene::canvas
