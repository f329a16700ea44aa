// Where the sections of a network stand: strips from top to bottom, in a strip columns from left to
// right, in a column small sections one above the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "canvas/fit.hpp"

namespace phosphene::canvas {

inline constexpr int kLabelHeight = 14;  // of the band above a section
inline constexpr int kLowStrip = 40;     // strips below it share labels and stand closer
inline constexpr int kSectionGap = 4;    // between sections, pixels; 2 in low strips

struct Item {
  Form form;
  double weight = 1;  // its area's target, in any unit
};

struct Place {
  Fit fit;
  int x = 0, y = 0;
};

struct Strip {
  std::size_t begin = 0, end = 0;  // items
  int y = 0, height = 0;           // without the label band above it
  int label_height = 0;            // 0: the band of a strip above counts for this one too
};

struct Arrangement {
  std::vector<Place> places;  // one an item; without room where fit.width is 0
  std::vector<Strip> strips;
};

/// Fills width × height. Deterministic.
Arrangement arrange(std::span<const Item> items, int width, int height);

}  // namespace phosphene::canvas
