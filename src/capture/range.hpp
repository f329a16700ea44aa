// Which range a frame is drawn with.
#pragma once

#include <cstdint>
#include <limits>

#include "capture/plan.hpp"
#include "capture/scale.hpp"

namespace phosphene::capture {

/// Smallest and largest of some finite values; empty: min > max. NaN and ±Inf never enter.
struct Bounds {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  bool empty() const { return min > max; }
  void add(const Bounds& other);
  bool operator==(const Bounds&) const = default;
};

/// The range of one tensor (Scope::kLayer) or of all tensors of a view (kNetwork), frame after
/// frame. Bound to one thread.
///
/// kSteady widens within the frame that needs it, so that nothing clips, and to a coarse grid
/// (steps of 14 to 25 %; an octave for kLog), so that it changes rarely: each change repaints many
/// pixels. It narrows, in one step, when the frames of two half windows (32 frames each) would all
/// have done with three quarters of it. A frame without finite values changes nothing.
class RangeTracker {
 public:
  explicit RangeTracker(const Scaling& scaling);

  /// The range that the next frame is likely drawn with: certain for kFixed, what it was for
  /// kSteady, of no worth for kFrame.
  const Range& expected() const { return range_; }
  /// False for kFrame: its values must be seen before the first level can be written.
  bool is_predictable() const { return scaling_.range != RangeMode::kFrame; }

  /// Takes the bounds of a whole frame and says which range it is drawn with. If that equals what
  /// expected() said before, levels written meanwhile stand.
  Range update(const Bounds& frame);

 private:
  Range fit(const Bounds& bounds) const;

  Scaling scaling_;
  Range range_;
  bool known_ = false;      // range_ came from values
  Bounds recent_, before_;  // of this half window and the last one
  int frames_ = 0;          // in this half window
};

/// The range a tile of magnitudes (Quantity::kMagnitude, Pooling::kRms) is drawn with: a symmetric
/// one begins at 0, or is logarithmic over `decades` if they are above 0.
Range range_of_magnitudes(const Range& range, double decades);

}  // namespace phosphene::capture
