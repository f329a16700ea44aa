// The one rule that turns a number into a level.
#pragma once

#include <array>

#include "capture/plan.hpp"

namespace phosphene::capture {

/// What the levels 0 … 15 of a tile mean. Travels with it.
struct Range {
  double lo = 0;
  double hi = 0;
  Shape shape = Shape::kLinear;  // never kAuto; kLog: 0 < lo, and levels are of the magnitude
  bool operator==(const Range&) const = default;
};

/// Level of a finite x, exactly, in float64 with IEEE rounding; the reference that every kernel is
/// held to.
///   linear, symmetric: clamp(⌊16·(x−lo)/(hi−lo)⌋, 0, 15); lo = hi: 8. (All three numbers are
///   scaled by 2⁻⁸ first where
///     hi−lo or x−lo would overflow, which changes no other result.)
///   log: the number of k in 1 … 15 with |x| ≥ lo·(hi/lo)^(k/16), each power a product of the
///   square roots
///     s₈ = √hi/√lo, s₄ = √s₈, s₂ = √s₄, s₁ = √s₂, largest first, times lo. Nothing but correctly
///     rounded operations: the same on every machine. Zero is level 0.
class Scale {
 public:
  /// The rule in numbers, for loops. Linear: 16·(x·unit − lo)/span, cut off; log: thresholds.
  struct Terms {
    double unit = 1;  // 1; or 2⁻⁸ where the span would overflow; or 0 where there is none
    double lo = 0;
    double span = 0;
    std::array<double, 15> thresholds{};  // log
  };

  explicit Scale(const Range& range);

  int level(double x) const;
  /// The smallest float32 of each level 1 … 15, in order; +∞ where there is none. For kLog, of the
  /// magnitude.
  std::array<float, 15> float32_thresholds() const;
  const Range& range() const { return range_; }
  const Terms& terms() const { return terms_; }

 private:
  Range range_;
  Terms terms_;
};

}  // namespace phosphene::capture
