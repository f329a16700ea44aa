#include "canvas/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "canvas/fit.hpp"
#include "canvas/reading.hpp"
#include "canvas/strips.hpp"

namespace phosphene::canvas {
namespace {

constexpr double kLeastArea =
    24 * 24;  // pixels that the smallest section asks for, where there is room
constexpr double kSmallestPitch = 6 * 6;  // pixels a section: more sections than that are left out
constexpr double kKernelWeight = 2;  // how much more area kernels ask for, so that they can be seen
constexpr int kCharWidth = 7;        // of a label's letters, pixels

/// A tensor that has its own section, with those that lie along it.
struct Host {
  std::size_t tensor = 0;
  Reading reading;
  std::vector<std::size_t> attached;
};

Axis axis_of(const ReadAxis& axis, std::uint32_t cells) {
  return {axis.dims, axis.sizes, axis.elements, cells};
}

ReadAxis all_dims(const Tensor& tensor) {
  ReadAxis axis;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    axis.dims.push_back(static_cast<int>(d));
    axis.sizes.push_back(tensor.shape[d]);
    axis.elements *= tensor.shape[d];
  }
  return axis;
}

Rect around(std::span<const Block> blocks) {
  Rect rect = blocks.front().rect;
  int right = rect.x + rect.width, bottom = rect.y + rect.height;
  for (const Block& block : blocks) {
    rect.x = std::min(rect.x, block.rect.x);
    rect.y = std::min(rect.y, block.rect.y);
    right = std::max(right, block.rect.x + block.rect.width);
    bottom = std::max(bottom, block.rect.y + block.rect.height);
  }
  rect.width = right - rect.x;
  rect.height = bottom - rect.y;
  return rect;
}

std::size_t characters(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// The end of a UTF-8 text, with an ellipsis before it, in at most `most` characters; empty if that
/// says nothing.
std::string shortened(const std::string& text, std::size_t most) {
  const std::size_t all = characters(text);
  if (all <= most) return text;
  if (most < 4) return {};
  std::size_t skip = all - (most - 1), at = 0;
  while (at < text.size() && ((text[at] & 0xC0) == 0x80 || skip-- > 0)) ++at;
  return "…" + text.substr(at);
}

std::string label_of(const Tensor& tensor, int width) {
  const auto most = static_cast<std::size_t>(width / kCharWidth);
  std::string shape;
  for (const std::uint64_t size : tensor.shape)
    shape += (shape.empty() ? " " : "×") + std::to_string(size);
  if (characters(tensor.name + shape) <= most) return tensor.name + shape;
  std::string_view name = tensor.name;
  if (characters(tensor.name) > most && name.ends_with(".weight")) name.remove_suffix(7);
  return shortened(std::string(name), most);
}

class Builder {
 public:
  Builder(std::span<const Tensor> tensors, const LayoutOptions& options)
      : tensors_(tensors), options_(options) {
    layout_.width = options.width;
    layout_.height = options.height;
  }

  Layout build() {
    find_hosts();
    const bool frames = std::ranges::any_of(
        hosts_, [&](const Host& host) { return tensors_[host.tensor].kind == Kind::kFrame; });
    if (frames) {
      place_frames();
    } else {
      place_strips();
    }
    double covered = 0;
    for (const Section& section : layout_.sections)
      for (const Block& block : section.blocks)
        covered += static_cast<double>(block.rect.width) * block.rect.height;
    layout_.covered = covered / (static_cast<double>(options_.width) * options_.height);
    layout_.left_out = static_cast<std::uint32_t>(tensors_.size() - layout_.sections.size());
    return std::move(layout_);
  }

 private:
  void find_hosts() {
    std::unordered_map<std::uint32_t, std::size_t> by_id;
    for (std::size_t i = 0; i < tensors_.size(); ++i) by_id.emplace(tensors_[i].id, i);
    std::vector<std::optional<Reading>> readings;
    for (const Tensor& tensor : tensors_) readings.push_back(read(tensor));

    // A norm's bias may be attached to the norm's weight, which is attached to a convolution's.
    std::vector<std::size_t> root(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      root[i] = i;
      for (int steps = 0; steps < kMaxRank && tensors_[root[i]].attached_to != 0; ++steps) {
        const auto found = by_id.find(tensors_[root[i]].attached_to);
        if (found == by_id.end()) break;
        root[i] = found->second;
      }
      const std::optional<Reading>& weight = readings[root[i]];
      const bool lies_along = readings[i] && root[i] != i && tensors_[root[i]].attached_to == 0 &&
                              weight && !weight->x.sizes.empty() && weight->examples == 1 &&
                              weight->x.sizes.front() == readings[i]->elements;
      if (!lies_along) root[i] = i;
    }
    std::unordered_map<std::size_t, std::size_t> host_of;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (!readings[i] || root[i] != i) continue;
      host_of.emplace(i, hosts_.size());
      hosts_.push_back({i, *readings[i], {}});
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (root[i] != i) hosts_[host_of.at(root[i])].attached.push_back(i);
  }

  /// At 1:1, centred; smaller where there is no room.
  void place_frames() {
    const int columns = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(hosts_.size()))));
    const int rows = (static_cast<int>(hosts_.size()) + columns - 1) / columns;
    const int width = options_.width / columns, height = (options_.height - kMarginHeight) / rows;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      Host& host = hosts_[i];
      ReadAxis &x = host.reading.x, &y = host.reading.y;
      // A frame as high as the canvas loses the margin's rows rather than its sharpness.
      if (!y.sizes.empty() && y.sizes.size() == 1 && rows == 1 &&
          y.elements > static_cast<std::uint64_t>(height) &&
          y.elements <= static_cast<std::uint64_t>(options_.height))
        y.elements = y.sizes.front() = static_cast<std::uint64_t>(height);
      const double scale = std::min(
          {1.0, width / static_cast<double>(x.elements), height / static_cast<double>(y.elements)});
      const auto cells = [&](std::uint64_t elements) {
        return std::max(1u, static_cast<std::uint32_t>(static_cast<double>(elements) * scale));
      };
      const std::uint32_t w = cells(x.elements), h = cells(y.elements);
      if (width <= 0 || height <= 0) continue;
      const int column = static_cast<int>(i) % columns, row = static_cast<int>(i) / columns;
      const int left = (column * width + (width - static_cast<int>(w)) / 2) & ~1;
      const int top = (row * height + (height - static_cast<int>(h)) / 2) & ~1;
      const Rect rect{left, top, static_cast<int>(w), static_cast<int>(h)};
      add(host.tensor, axis_of(x, w), axis_of(y, h), {{rect, {0, w, w, 0}, {0, h, h, 0}}});
    }
  }

  void place_strips() {
    const int height = options_.height - kMarginHeight;
    const double canvas = static_cast<double>(options_.width) * height;
    const auto weight = [](const Host& host) {
      const Reading& reading = host.reading;
      const bool kernels =
          reading.examples == 1 && reading.x.dims.size() > 1 && reading.y.dims.size() > 1;
      return std::sqrt(static_cast<double>(reading.elements)) * (kernels ? kKernelWeight : 1);
    };
    // More than the canvas can hold: the largest stay.
    const auto most = static_cast<std::size_t>(canvas / kSmallestPitch);
    if (hosts_.size() > most) {
      std::vector<double> weights;
      weights.reserve(hosts_.size());
      for (const Host& host : hosts_) weights.push_back(weight(host));
      std::ranges::nth_element(weights, weights.begin() + static_cast<std::ptrdiff_t>(most),
                               std::greater<>{});
      const double bound = weights[most];
      auto ties =
          static_cast<std::ptrdiff_t>(most) -
          std::ranges::count_if(hosts_, [&](const Host& host) { return weight(host) > bound; });
      std::erase_if(hosts_, [&](const Host& host) {
        return weight(host) < bound || (weight(host) == bound && ties-- <= 0);
      });
    }
    double sum = 0;
    for (const Host& host : hosts_) sum += weight(host);
    const double least =
        sum * std::min(kLeastArea, canvas / 4 / static_cast<double>(hosts_.size())) / canvas;
    std::vector<Item> items;
    items.reserve(hosts_.size());
    for (const Host& host : hosts_)
      items.push_back({form_of(host.reading, static_cast<int>(host.attached.size())),
                       std::max(least, weight(host))});

    const Arrangement arrangement = arrange(items, options_.width, height);
    std::vector<std::size_t> section_of(items.size(), 0);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Place& at = arrangement.places[i];
      if (at.fit.width == 0) continue;
      section_of[i] = layout_.sections.size();
      add_host(hosts_[i], items[i].form, at);
    }
    label(arrangement, section_of);
  }

  void add_host(const Host& host, const Form& form, const Place& at) {
    const Placement placement = place(form, at.fit, at.x, at.y);
    ReadAxis v = host.reading.y;
    if (at.fit.examples < host.reading.examples) {
      v.elements = v.elements / v.sizes.front() * at.fit.examples;
      v.sizes.front() = at.fit.examples;
    }
    Axis x = axis_of(host.reading.x, placement.u_cells), y = axis_of(v, placement.v_cells);
    if (at.fit.transposed) std::swap(x, y);
    add(host.tensor, std::move(x), std::move(y), placement.weight);
    for (std::size_t i = 0; i < placement.attached.size(); ++i) {
      x = axis_of(all_dims(tensors_[host.attached[i]]), placement.attached_cells);
      y = {};
      if (at.fit.transposed) std::swap(x, y);
      add(host.attached[i], std::move(x), std::move(y), placement.attached[i]);
    }
  }

  void add(std::size_t tensor, Axis x, Axis y, std::vector<Block> blocks) {
    Section section;
    section.tensor = tensor;
    section.rect = around(blocks);
    section.blocks = std::move(blocks);
    if (x.cells < x.elements || y.cells < y.elements) section.pooling = options_.pooling;
    double elements = 1;
    for (const std::uint64_t size : tensors_[tensor].shape) elements *= static_cast<double>(size);
    section.shown = static_cast<double>(x.elements) * static_cast<double>(y.elements) / elements;
    section.x = std::move(x);
    section.y = std::move(y);
    layout_.sections.push_back(std::move(section));
  }

  void label(const Arrangement& arrangement, std::span<const std::size_t> section_of) {
    const auto shown = [&](std::size_t item) { return arrangement.places[item].fit.width > 0; };
    const auto name = [&](std::size_t item) -> const std::string& {
      return tensors_[hosts_[item].tensor].name;
    };
    for (std::size_t s = 0; s < arrangement.strips.size(); ++s) {
      const Strip& strip = arrangement.strips[s];
      if (strip.label_height == 0) continue;
      if (strip.height < kLowStrip) {  // one label for this strip and those that share its band
        std::size_t end = s + 1;
        while (end < arrangement.strips.size() && arrangement.strips[end].label_height == 0) ++end;
        std::size_t first = strip.begin, last = arrangement.strips[end - 1].end - 1;
        while (first < last && !shown(first)) ++first;
        while (first < last && !shown(last)) --last;
        if (!shown(first)) continue;
        Section& section = layout_.sections[section_of[first]];
        section.label_rect = {0, strip.y - kLabelHeight, options_.width, kLabelHeight};
        section.label = shortened(first == last ? name(first) : name(first) + " … " + name(last),
                                  static_cast<std::size_t>(options_.width / kCharWidth));
        continue;
      }
      for (std::size_t i = strip.begin; i < strip.end; ++i) {
        if (!shown(i)) continue;
        Section& section = layout_.sections[section_of[i]];
        const Place& at = arrangement.places[i];
        section.label_rect = {at.x, at.y - kLabelHeight, at.fit.width, kLabelHeight};
        section.label = label_of(tensors_[section.tensor], at.fit.width);
        if (section.label.empty()) section.label_rect = {};
      }
    }
  }

  std::span<const Tensor> tensors_;
  LayoutOptions options_;
  std::vector<Host> hosts_;
  Layout layout_;
};

}  // namespace

Result<Layout> lay_out(std::span<const Tensor> tensors, const LayoutOptions& options) {
  const auto within = [](int side, int least) {
    return side >= least && side <= kMaxSide && side % 2 == 0;
  };
  if (!within(options.width, kMinWidth) || !within(options.height, kMinHeight))
    return Error{"a canvas of " + std::to_string(options.width) + "×" +
                 std::to_string(options.height) + " cannot be laid out: sides are even, from " +
                 std::to_string(kMinWidth) + "×" + std::to_string(kMinHeight) + " to " +
                 std::to_string(kMaxSide) + "×" + std::to_string(kMaxSide)};
  if (options.pooling == Pooling::kNone)
    return Error{"a layout needs a pooling for what has more elements than pixels"};
  return Builder(tensors, options).build();
}

}  // namespace phosphene::canvas
