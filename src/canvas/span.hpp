// The arithmetic of Span: which pixels a cell covers, and which cell covers a pixel.
#pragma once

#include <cstdint>
#include <optional>

#include "canvas/layout.hpp"

namespace phosphene::canvas {

/// Pixels begin … end, counted from a block's side.
struct Extent {
  int begin = 0, end = 0;
};

/// The pixels of `cell` (span.begin … span.end) on a side of `pixels`.
inline Extent pixels_of(const Span& span, int pixels, std::uint32_t cell) {
  const std::uint64_t pitch = static_cast<std::uint64_t>(pixels) + span.gap;
  const std::uint64_t groups = (span.end - span.begin) / span.group;
  const std::uint64_t group = (cell - span.begin) / span.group;
  const std::uint64_t e = (cell - span.begin) % span.group;
  const std::uint64_t begin = group * pitch / groups;
  const std::uint64_t width = (group + 1) * pitch / groups - span.gap - begin;
  return {static_cast<int>(begin + e * width / span.group),
          static_cast<int>(begin + (e + 1) * width / span.group)};
}

/// The cell on `pixel` (0 … pixels − 1); nothing in a gap.
inline std::optional<std::uint32_t> cell_at(const Span& span, int pixels, int pixel) {
  const std::uint64_t pitch = static_cast<std::uint64_t>(pixels) + span.gap;
  const std::uint64_t groups = (span.end - span.begin) / span.group;
  // The last group that begins at or before the pixel: ⌊j·pitch/groups⌋ ≤ pixel.
  const std::uint64_t group = ((static_cast<std::uint64_t>(pixel) + 1) * groups - 1) / pitch;
  const std::uint64_t begin = group * pitch / groups;
  const std::uint64_t width = (group + 1) * pitch / groups - span.gap - begin;
  const std::uint64_t within = static_cast<std::uint64_t>(pixel) - begin;
  if (within >= width) return std::nullopt;
  const std::uint64_t e = ((within + 1) * span.group - 1) / width;
  return static_cast<std::uint32_t>(span.begin + group * span.group + e);
}

}  // namespace phosphene::canvas
