// Some dimensions of a tensor, flattened: the last one fastest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "capture/tensor_view.hpp"

namespace phosphene::capture {

/// What is planned of a tensor's dimensions, and what of it is there: a last batch may be shorter.
struct Lattice {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> sizes{};    // planned
  std::array<std::int64_t, kMaxRank> present{};  // at most the size
  std::array<std::int64_t, kMaxRank> strides{};

  /// Elements planned; 1 for rank 0.
  std::int64_t size() const;
  bool is_complete() const { return sizes == present; }
  /// Complete, and one run of stride 1 in memory.
  bool is_contiguous() const;
};

/// Dimensions `dims` of the view; neighbours are merged where all is there and one continues the
/// other. `extents` has one element for each of the view's dimensions.
Lattice lattice_of(const TensorView& view, std::span<const std::uint32_t> dims,
                   std::span<const std::uint64_t> extents);
/// All dimensions, all elements.
Lattice lattice_of(const TensorView& view);

/// Neighbouring flattened elements, equally far apart.
struct Run {
  std::int64_t first = 0;  // flattened
  std::int64_t count = 0;
  std::int64_t offset = 0;  // of the first, in elements; of no meaning if not present
  std::int64_t stride = 0;
  bool present = true;
};

/// Visits flattened elements begin … end in order, as few runs as the dimensions allow.
template <typename Visit>
void for_each_run(const Lattice& lattice, std::int64_t begin, std::int64_t end, Visit visit) {
  if (begin >= end) return;
  if (lattice.rank == 0) {
    visit(Run{0, 1, 0, 0, true});
    return;
  }
  const int last = lattice.rank - 1;
  std::array<std::int64_t, kMaxRank> index{};
  std::int64_t offset = 0;
  std::int64_t rest = begin;
  int missing = 0;  // outer dimensions whose index is beyond what is there
  for (int d = last; d >= 0; --d) {
    index[d] = rest % lattice.sizes[d];
    rest /= lattice.sizes[d];
    if (d == last) continue;
    offset += index[d] * lattice.strides[d];
    missing += index[d] >= lattice.present[d];
  }
  const std::int64_t stride = lattice.strides[last];
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row_end = std::min(index[last] + (end - at), lattice.sizes[last]);
    const std::int64_t there =
        missing > 0 ? index[last] : std::clamp(lattice.present[last], index[last], row_end);
    if (there > index[last])
      visit(Run{at, there - index[last], offset + index[last] * stride, stride, true});
    if (row_end > there) visit(Run{at + there - index[last], row_end - there, 0, 0, false});
    at += row_end - index[last];
    index[last] = 0;
    for (int d = last - 1; d >= 0 && at < end; --d) {
      missing -= index[d] >= lattice.present[d];
      offset += lattice.strides[d];
      if (++index[d] < lattice.sizes[d]) {
        missing += index[d] >= lattice.present[d];
        break;
      }
      offset -= lattice.sizes[d] * lattice.strides[d];
      index[d] = 0;
      missing += index[d] >= lattice.present[d];
    }
  }
}

}  // namespace phosphene::capture
