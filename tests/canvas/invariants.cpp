#include "invariants.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace phosphene::canvas {
namespace {

constexpr std::uint64_t kNobody = ~std::uint64_t{0};

/// Which cell each pixel shows, by pixels_of().
struct Owners {
  int width, height;
  std::vector<std::uint64_t> of;

  explicit Owners(const Layout& layout)
      : width(layout.width),
        height(layout.height),
        of(static_cast<std::size_t>(layout.width) * static_cast<std::size_t>(layout.height),
           kNobody) {}

  std::uint64_t& at(int x, int y) {
    return of[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
              static_cast<std::size_t>(x)];
  }

  std::uint64_t owner(int x, int y) {
    return x < 0 || y < 0 || x >= width || y >= height ? kNobody : at(x, y);
  }

  /// False if a pixel is outside or taken.
  bool take(const Rect& rect, std::uint64_t owner) {
    if (rect.width <= 0 || rect.height <= 0 || rect.x < 0 || rect.y < 0 ||
        rect.x + rect.width > width || rect.y + rect.height > height - kMarginHeight)
      return false;
    for (int y = rect.y; y < rect.y + rect.height; ++y)
      for (int x = rect.x; x < rect.x + rect.width; ++x) {
        if (at(x, y) != kNobody) return false;
        at(x, y) = owner;
      }
    return true;
  }
};

std::uint64_t elements(std::span<const std::uint64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>{});
}

std::uint64_t count_of(const Section& section) {
  return static_cast<std::uint64_t>(section.x.cells) * section.y.cells;
}

std::string broken_section(const Section& section, const Tensor& tensor, const Layout& layout) {
  if (section.rect.x % 2 != 0 || section.rect.y % 2 != 0) return "stands on an odd coordinate";
  for (const Axis* axis : {&section.x, &section.y}) {
    if (axis->dims.size() != axis->sizes.size())
      return "has an axis whose sizes are not those of its dimensions";
    if (axis->elements != elements(axis->sizes))
      return "has an axis whose elements are not its sizes' product";
    if (axis->cells == 0 || axis->cells > axis->elements) return "has more cells than elements";
  }
  if (section.x.dims.size() + section.y.dims.size() != tensor.shape.size())
    return "leaves a dimension out";
  const bool pooled = section.x.cells < section.x.elements || section.y.cells < section.y.elements;
  if (pooled != (section.pooling != Pooling::kNone)) return "says the wrong pooling";
  const double shown = static_cast<double>(section.x.elements) *
                       static_cast<double>(section.y.elements) /
                       static_cast<double>(elements(tensor.shape));
  if (section.shown != shown) return "says the wrong fraction";
  const Rect& label = section.label_rect;
  if (section.label.empty() != (label.width == 0))
    return "has a label without room or room without a label";
  if (label.x < 0 || label.y < 0 || label.x + label.width > layout.width)
    return "has its label outside";

  const TileOrder order = tile_order(section, tensor);
  if (order.x_offsets.size() != section.x.cells || order.y_offsets.size() != section.y.cells)
    return "has an order of the wrong size";
  std::vector<bool> seen(order.cells, false);
  for (const std::uint32_t y : order.y_offsets)
    for (const std::uint32_t x : order.x_offsets) {
      if (x + y >= order.cells || seen[x + y])
        return "names a cell of its tile twice, or one that is not there";
      seen[x + y] = true;
    }
  if (order.cells != seen.size() || std::ranges::count(seen, true) != order.cells)
    return "leaves a cell of its tile out";
  const TilePlan plan = plan_of(section, tensor);
  const std::uint64_t planned =
      plan.pooling == Pooling::kNone
          ? elements(plan.extents)
          : static_cast<std::uint64_t>(plan.outer_cells) * plan.inner_cells;
  if (planned != order.cells) return "asks for another number of cells than it draws";
  return {};
}

}  // namespace

std::string broken_rule(std::span<const Tensor> tensors, const Layout& layout) {
  Owners owners(layout);
  std::vector<std::uint64_t> first_cell;
  std::uint64_t cells = 0;
  for (const Section& section : layout.sections) {
    const Tensor& tensor = tensors[section.tensor];
    const std::string who = "section of " + tensor.name + " ";
    if (std::string broken = broken_section(section, tensor, layout); !broken.empty())
      return who + broken;
    first_cell.push_back(cells);
    for (std::uint32_t y = 0; y < section.y.cells; ++y)
      for (std::uint32_t x = 0; x < section.x.cells; ++x) {
        const auto rect = pixels_of(section, x, y);
        if (!rect) return who + "does not draw a cell";
        if (!owners.take(*rect, cells++)) return who + "draws a cell outside or on another one";
      }
  }
  // Where sections are many, hit() is asked about each alone: no two share a pixel, as was seen
  // above.
  constexpr std::size_t kMany = 100;
  Layout alone;
  for (std::size_t s = 0; s < layout.sections.size(); ++s) {
    const Section& section = layout.sections[s];
    const bool many = layout.sections.size() > kMany;
    if (!many && s > 0) break;
    if (many) alone.sections = {section};
    const Rect asked = many ? section.rect : Rect{0, 0, layout.width, layout.height};
    for (int y = asked.y - 1; y <= asked.y + asked.height; ++y) {
      for (int x = asked.x - 1; x <= asked.x + asked.width; ++x) {
        const std::uint64_t owner = owners.owner(x, y);
        const auto found = hit(many ? alone : layout, x, y);
        if (!found && many && (owner < first_cell[s] || owner >= first_cell[s] + count_of(section)))
          continue;
        if (!found && owner == kNobody) continue;
        const auto here = [&](const char* what) {
          return "pixel " + std::to_string(x) + ", " + std::to_string(y) + what;
        };
        if (!found) return here(" hits nothing but shows a cell");
        const std::size_t in = many ? s : found->section;
        const std::uint64_t row =
            static_cast<std::uint64_t>(found->cell_y) * layout.sections[in].x.cells;
        if (first_cell[in] + row + found->cell_x != owner)
          return here(" hits another cell than it shows");
        if (found->x_begin >= found->x_end || found->y_begin >= found->y_end)
          return here(" shows no element");
      }
    }
  }
  // Weights in the order given; what is attached right behind its weight.
  for (std::size_t i = 1; i < layout.sections.size(); ++i) {
    const std::size_t before = layout.sections[i - 1].tensor, now = layout.sections[i].tensor;
    if (now <= before && tensors[now].attached_to == 0 && tensors[before].attached_to == 0)
      return "sections are out of order";
  }
  return {};
}

}  // namespace phosphene::canvas
