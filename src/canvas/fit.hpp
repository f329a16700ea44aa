// How one weight and what is attached to it fill a rectangle.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "canvas/layout.hpp"
#include "canvas/reading.hpp"

namespace phosphene::canvas {

/// What decides how a tensor fits. u runs along its outputs (x unless transposed), v across them.
struct Form {
  std::uint64_t u = 1, v = 1;            // elements
  std::uint64_t unit_u = 1, unit_v = 1;  // elements of a kernel's or a map's side
  std::uint64_t examples = 1;            // v may show the first few alone
  int attached = 0;                      // rows of one value an output
  auto operator<=>(const Form&) const = default;
};
Form form_of(const Reading& reading, int attached);

/// An axis on pixels. Pooled where it has fewer cells than elements.
struct AxisFit {
  int pixels = 0;
  std::uint32_t cells = 0;
  std::uint32_t group = 1;
  std::uint32_t gap = 0;
  double scale = 0;  // pixels an element, below 1 where pooled
};

struct Fit {
  int width = 0, height = 0;  // pixels used; 0: there is no room
  bool transposed = false;    // u runs along y
  bool wrapped = false;       // a vector in rows without gaps
  int bands = 1;
  bool folds_u = false;        // the bands follow one another along v, each with a part of u
  std::uint64_t examples = 1;  // shown
  AxisFit u, v;                // of a whole band
  int rows = 0;                // attached rows shown
  int thickness = 0;           // of each, pixels
  int thicker = 0;             // so many of them, the first ones, are two pixels thicker
  int row_gap = 0;             // above each
  double covered = 0;          // pixels of the blocks
  double value = 0;            // covered, less what makes the picture harder to read
};

/// The best way to show `form` within width × height.
Fit fit(const Form& form, int width, int height);

/// The blocks of the weight, and those of each attached tensor, with the top left corner at (x, y).
struct Placement {
  std::uint32_t u_cells = 1, v_cells = 1;  // of the weight
  std::uint32_t attached_cells = 1;        // along u
  std::vector<Block> weight;
  std::vector<std::vector<Block>> attached;
};
Placement place(const Form& form, const Fit& fit, int x, int y);

}  // namespace phosphene::canvas
