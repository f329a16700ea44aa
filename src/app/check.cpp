#include "app/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/luma.hpp"
#include "base/tensor.hpp"

namespace phosphene::app {
namespace {

constexpr std::uint64_t kMaxCells = std::numeric_limits<std::uint32_t>::max();

bool in(int value, int first, int last) {
  return first <= value && value <= last;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  return b != 0 && a > limit / b ? limit + 1 : a * b;
}

}  // namespace

std::uint64_t elements_of(const google::protobuf::RepeatedField<std::uint64_t>& shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) elements = product(elements, size, kMaxElements);
  return elements;
}

Result<void> check_tensor(v1::Tensor& tensor) {
  const std::string name = cleaned(tensor.name(), kMaxNameBytes);
  const auto cannot = [&](std::string_view why) {
    return Error{"the tensor \"" + name + "\" cannot be shown: " + std::string(why)};
  };
  if (tensor.id() == 0) return cannot("its id is 0");
  if (name.empty()) return cannot("it has no name");
  tensor.set_name(name);
  if (!in(tensor.kind(), v1::KIND_PARAMETER, v1::KIND_FRAME))
    return cannot("kind " + std::to_string(tensor.kind()) + " is unknown to this server");
  if (!in(tensor.dtype(), v1::DTYPE_FLOAT32, v1::DTYPE_LEVELS4))
    return cannot("dtype " + std::to_string(tensor.dtype()) + " is unknown to this server");
  if (tensor.dtype() == v1::DTYPE_LEVELS4 && tensor.kind() != v1::KIND_FRAME)
    return cannot("only frames come as levels");
  if (tensor.shape_size() > kMaxRank)
    return cannot("it has " + std::to_string(tensor.shape_size()) + " dimensions, more than " +
                  std::to_string(kMaxRank));
  if (tensor.roles_size() != tensor.shape_size())
    return cannot("it has " + std::to_string(tensor.shape_size()) + " dimensions but " +
                  std::to_string(tensor.roles_size()) + " roles");
  if (tensor.kind() == v1::KIND_FRAME && tensor.shape_size() != 2)
    return cannot("a frame has two dimensions, height and width");
  std::uint64_t sizes = 1;  // without the zeros, so that no product of some dimensions overflows
  for (const std::uint64_t size : tensor.shape())
    if (size != 0) sizes = product(sizes, size, kMaxElements);
  if (sizes > kMaxElements) return cannot("it has more than 2^48 elements");
  for (int i = 0; i < tensor.roles_size(); ++i)
    if (!in(tensor.roles(i), v1::ROLE_OTHER, v1::ROLE_HEAD)) tensor.set_roles(i, v1::ROLE_OTHER);
  if (!(std::isfinite(tensor.lo()) && std::isfinite(tensor.hi()) && tensor.lo() <= tensor.hi()))
    return cannot("the range it declares is not finite and ascending");
  return {};
}

Result<void> check_tile(const v1::Tile& tile) {
  if (tile.levels().size() != (std::size_t{tile.cells()} + 1) / 2)
    return Error{"a tile of " + std::to_string(tile.cells()) + " cells has " +
                 std::to_string(tile.levels().size()) + " bytes of levels"};
  const v1::Range& range = tile.range();
  if (!(std::isfinite(range.lo()) && std::isfinite(range.hi()) && range.lo() <= range.hi()))
    return Error{"a tile's range is not finite and ascending"};
  if (!in(range.shape(), v1::SHAPE_LINEAR, v1::SHAPE_LOG))
    return Error{"a tile's range has no shape that this server knows"};
  if (range.shape() == v1::SHAPE_LOG && range.lo() <= 0)
    return Error{"a tile's logarithmic range does not begin above 0"};
  if (tile.marks_size() % 2 != 0) return Error{"a tile's marks are cut short"};
  std::uint64_t end = 0;
  for (int i = 0; i < tile.marks_size(); i += 2) {
    const std::uint32_t length = tile.marks(i + 1) / 4;
    if (length == 0 || tile.marks(i + 1) % 4 == static_cast<int>(Mark::kNone))
      return Error{"a tile has an empty run of marks"};
    end += std::uint64_t{tile.marks(i)} + length;
    if (end > tile.cells()) return Error{"a tile's marks reach beyond its cells"};
  }
  return {};
}

std::uint32_t cells_of(const v1::TensorPlan& plan, const v1::Tensor& tensor) {
  std::uint64_t cells = 1;
  if (plan.pooling() != v1::POOLING_NONE) {
    cells = product(plan.outer().cells(), plan.inner().cells(), kMaxCells);
  } else {
    if (plan.extents_size() != 0 && plan.extents_size() != tensor.shape_size()) return 0;
    for (int i = 0; i < tensor.shape_size(); ++i) {
      const std::uint64_t size = tensor.shape(i);
      cells =
          product(cells, plan.extents_size() ? std::min(size, plan.extents(i)) : size, kMaxCells);
    }
  }
  return cells > kMaxCells ? 0 : static_cast<std::uint32_t>(cells);
}

std::string cleaned(std::string_view utf8, std::size_t max_bytes) {
  if (utf8.size() > max_bytes) {
    std::size_t cut = max_bytes;
    while (cut > 0 && (utf8[cut] & 0xc0) == 0x80) --cut;  // not within a character
    utf8 = utf8.substr(0, cut);
  }
  std::string text(utf8);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace phosphene::app
