#include "capture/lattice.hpp"

#include <numeric>

namespace phosphene::capture {
namespace {

Lattice merged(const Lattice& lattice) {
  Lattice result;
  for (int d = 0; d < lattice.rank; ++d) {
    if (lattice.sizes[d] == 1) continue;
    const int last = result.rank - 1;
    if (last >= 0 && result.strides[last] == lattice.sizes[d] * lattice.strides[d]) {
      result.sizes[last] *= lattice.sizes[d];
      result.strides[last] = lattice.strides[d];
    } else {
      result.sizes[result.rank] = lattice.sizes[d];
      result.strides[result.rank] = lattice.strides[d];
      ++result.rank;
    }
  }
  result.present = result.sizes;
  return result;
}

}  // namespace

std::int64_t Lattice::size() const {
  std::int64_t product = 1;
  for (int d = 0; d < rank; ++d) product *= sizes[d];
  return product;
}

bool Lattice::is_contiguous() const {
  return is_complete() && (rank == 0 || (rank == 1 && strides[0] == 1) || size() == 0);
}

Lattice lattice_of(const TensorView& view, std::span<const std::uint32_t> dims,
                   std::span<const std::uint64_t> extents) {
  Lattice lattice;
  for (const std::uint32_t dim : dims) {
    const auto size = static_cast<std::int64_t>(extents[dim]);
    lattice.sizes[lattice.rank] = size;
    lattice.present[lattice.rank] = std::min(size, view.shape[dim]);
    lattice.strides[lattice.rank] = view.strides[dim];
    ++lattice.rank;
  }
  return lattice.is_complete() ? merged(lattice) : lattice;
}

Lattice lattice_of(const TensorView& view) {
  std::array<std::uint32_t, kMaxRank> dims{};
  std::array<std::uint64_t, kMaxRank> extents{};
  std::iota(dims.begin(), dims.end(), 0u);
  for (int d = 0; d < view.rank; ++d) extents[d] = static_cast<std::uint64_t>(view.shape[d]);
  const auto rank = static_cast<std::size_t>(view.rank);
  return lattice_of(view, std::span(dims).first(rank), std::span(extents).first(rank));
}

}  // namespace phosphene::capture
