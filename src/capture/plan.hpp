// What a view needs of one tensor. Mirrors TensorPlan, Quantity and Scaling of
// proto/phosphene.proto, numbers included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/tensor.hpp"

namespace phosphene::capture {

enum class Quantity : std::uint8_t { kValue = 1, kMagnitude = 2 };

enum class RangeMode : std::uint8_t {
  kSteady = 1,  // widens at once, narrows slowly
  kFrame = 2,   // each frame's own
  kFixed = 3,   // lo and hi as given
};

enum class Shape : std::uint8_t {
  kLinear = 1,     // lo … hi
  kSymmetric = 2,  // −a … a
  kLog = 3,        // of the magnitude, `decades` below the top
  kAuto = 4,       // from 0 where nothing is negative, else symmetric; a Range never says this
};

enum class Scope : std::uint8_t { kLayer = 1, kNetwork = 2 };

enum class Pooling : std::uint8_t {
  kNone = 0,
  kRms = 1,      // root mean square, a magnitude
  kExtreme = 2,  // the largest magnitude, with its sign
};

struct Scaling {
  RangeMode range = RangeMode::kSteady;
  Shape shape = Shape::kAuto;
  Scope scope = Scope::kLayer;
  double lo = 0;                 // RangeMode::kFixed
  double hi = 0;                 // RangeMode::kFixed
  double decades = 4;            // Shape::kLog; what is not above 0 means 4
  double magnitude_decades = 0;  // Shape::kSymmetric; 0: magnitudes are drawn linearly, from 0
};

/// One axis of a tile: dimensions flattened in the order given, the last one fastest, m elements in
/// all. Cell p holds flattened elements ⌊p·m/cells⌋ … ⌊(p+1)·m/cells⌋.
struct PlanAxis {
  std::vector<std::uint32_t> dims;
  std::uint32_t cells = 1;
};

struct TensorPlan {
  std::uint32_t tensor = 0;
  Pooling pooling =
      Pooling::kNone;  // kNone: every element of the first `extents`, in C order, and no axes
  std::vector<std::uint64_t>
      extents;            // one a dimension: the first so many indices; empty means all
  PlanAxis outer, inner;  // pooled: a grid of outer.cells × inner.cells cells, inner fastest
};

/// More cells than the largest canvas has pixels are refused: they come from outside.
inline constexpr std::uint64_t kMaxCells = 4096ull * 4096;

/// What a plan means for a tensor of the declared shape. Dimensions that no axis names are read at
/// index 0.
struct Grid {
  std::uint32_t cells = 0;
  std::vector<std::uint64_t> extents;  // one a dimension, at most the shape
};

/// An Error says what of a plan does not fit a tensor of this shape.
Result<Grid> grid_of(const TensorPlan& plan, std::span<const std::uint64_t> shape);

}  // namespace phosphene::capture
