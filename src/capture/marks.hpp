// Runs of cells that hold no finite number.
#pragma once

#include <cstdint>
#include <vector>

#include "base/luma.hpp"

namespace phosphene::capture {

/// Writes Tile.marks as on the wire: for each run the gap since the run before, then length·4 +
/// mark. Cells come in ascending order; neighbours with one mark become one run.
class MarkWriter {
 public:
  explicit MarkWriter(std::vector<std::uint32_t>& out) : out_(out) { out_.clear(); }

  void add(std::uint32_t cell, Mark mark) {
    if (cell == end_ && mark == mark_) {
      out_.back() += 4;
    } else {
      out_.push_back(cell - end_);
      out_.push_back(4 + static_cast<std::uint32_t>(mark));
      mark_ = mark;
    }
    end_ = cell + 1;
  }

 private:
  std::vector<std::uint32_t>& out_;
  std::uint32_t end_ = 0;
  Mark mark_ = Mark::kNone;
};

}  // namespace phosphene::capture
