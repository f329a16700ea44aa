#include "canvas/reading.hpp"

#include <algorithm>
#include <utility>

namespace phosphene::canvas {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;  // p·m stays within 64 bits

bool is_spatial(Role role) {
  return role == Role::kDepth || role == Role::kHeight || role == Role::kWidth;
}

/// Outer to inner: examples, then units, then what one unit's map or kernel consists of.
int depth_of(Role role) {
  switch (role) {
    case Role::kBatch:
      return 0;
    case Role::kToken:
      return 2;
    case Role::kDepth:
    case Role::kHeight:
    case Role::kWidth:
      return 3;
    default:
      return 1;
  }
}

/// Whether each dimension runs along x.
std::vector<bool> along_x(const Tensor& tensor) {
  const std::size_t rank = tensor.roles.size();
  const bool has_channel = std::ranges::find(tensor.roles, Role::kChannel) != tensor.roles.end();
  const auto tokens = std::ranges::count(tensor.roles, Role::kToken);
  std::vector<bool> x(rank, false);
  bool token_seen = false, next_other = true;
  for (std::size_t i = rank; i-- > 0;) {  // from the fastest on
    switch (tensor.roles[i]) {
      case Role::kOut:
      case Role::kChannel:
      case Role::kHead:
      case Role::kWidth:
        x[i] = true;
        break;
      case Role::kToken:  // of attention's two the last; else rows, unless there is nothing for the
                          // columns
        x[i] = !token_seen && (tokens > 1 || !has_channel);
        token_seen = true;
        break;
      case Role::kOther:  // folded: columns and rows by turns
        x[i] = next_other;
        next_other = !next_other;
        break;
      default:
        break;
    }
  }
  return x;
}

ReadAxis axis_of(const Tensor& tensor, const std::vector<bool>& along, bool wanted) {
  ReadAxis axis;
  for (std::size_t i = 0; i < along.size(); ++i)
    if (along[i] == wanted) axis.dims.push_back(static_cast<int>(i));
  std::ranges::sort(axis.dims, {}, [&](int d) { return std::pair(depth_of(tensor.roles[d]), d); });
  for (const int d : axis.dims) {
    const std::uint64_t size = tensor.shape[d];
    axis.sizes.push_back(size);
    axis.elements *= size;
    if (is_spatial(tensor.roles[d])) axis.unit *= size;
  }
  const bool units_alone = !axis.dims.empty() && !is_spatial(tensor.roles[axis.dims.back()]);
  if (units_alone && axis.dims.size() > 1) axis.unit = axis.sizes.back();
  return axis;
}

}  // namespace

std::optional<Reading> read(const Tensor& tensor) {
  if (tensor.roles.size() != tensor.shape.size()) return std::nullopt;
  Reading reading;
  for (const std::uint64_t size : tensor.shape) {
    if (size == 0 || size > kMostElements / reading.elements) return std::nullopt;
    reading.elements *= size;
  }
  const std::vector<bool> along = along_x(tensor);
  reading.x = axis_of(tensor, along, true);
  reading.y = axis_of(tensor, along, false);
  if (!reading.y.dims.empty() && tensor.roles[reading.y.dims.front()] == Role::kBatch)
    reading.examples = reading.y.sizes.front();
  return reading;
}

}  // namespace phosphene::canvas
