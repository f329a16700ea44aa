// Cells that no element of a tensor stands behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace phosphene::capture {

struct CellRun {
  std::uint32_t begin = 0, end = 0;
};

/// Ascending runs of absent cells.
class AbsentCells {
 public:
  void clear() { runs_.clear(); }
  bool empty() const { return runs_.empty(); }
  void add(std::uint32_t begin, std::uint32_t end) {
    if (begin == end) return;
    if (!runs_.empty() && runs_.back().end == begin) {
      runs_.back().end = end;
    } else {
      runs_.push_back({begin, end});
    }
  }

  /// Answers for cells in ascending order.
  class Walk {
   public:
    explicit Walk(const AbsentCells& cells) : runs_(cells.runs_) {}
    bool is_absent(std::uint32_t cell) {
      while (at_ < runs_.size() && runs_[at_].end <= cell) ++at_;
      return at_ < runs_.size() && runs_[at_].begin <= cell;
    }

   private:
    const std::vector<CellRun>& runs_;
    std::size_t at_ = 0;
  };

 private:
  std::vector<CellRun> runs_;
};

}  // namespace phosphene::capture
