// Draws tiles into a picture.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/luma.hpp"
#include "base/picture.hpp"
#include "canvas/layout.hpp"

namespace phosphene::canvas {

/// A run of cells that hold no finite number. Runs are ascending and do not overlap.
struct MarkRun {
  std::uint32_t begin = 0, length = 0;
  Mark mark = Mark::kNaN;
};

/// A tile as it came: levels packed two a byte, the first cell in the high half.
struct Tile {
  std::span<const std::uint8_t> levels;
  std::span<const MarkRun> marks;
};

/// Columns and rows of cells that a tensor does not have now, as runs: begin, length, begin, …
struct AbsentLines {
  std::vector<std::uint32_t> x, y;
};

/// Bound to the thread that made it. Holds one picture; drawing a tile touches its section alone.
class Composer {
 public:
  /// `tensors` are those the layout was made from.
  Composer(const Layout& layout, std::span<const Tensor> tensors);
  ~Composer();
  Composer(Composer&&) noexcept;
  Composer& operator=(Composer&&) noexcept;

  /// Draws a tile into a section. False, and nothing drawn, if it has too few levels or marks
  /// beyond its cells.
  bool draw(std::size_t section, const Tile& tile);

  /// What of a section is absent by a tile's marks. A cell is, if its column or its row is: a
  /// tensor that is smaller than declared ends earlier in some dimension, and each lies on one
  /// axis.
  AbsentLines absent(std::size_t section, std::span<const MarkRun> marks) const;

  /// Writes the frame's number into the margin: 32 cells of 2×2, black 0, white 1, the most
  /// significant first.
  void draw_number(std::uint32_t number);

  /// The picture as drawn so far; valid until the composer is drawn to or destroyed.
  Picture picture() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace phosphene::canvas
