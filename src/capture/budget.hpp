// How often the hook may capture, so that it takes no more than its share of the training's time.
#pragma once

#include <algorithm>

namespace phosphene::capture {

/// An account in microseconds: training earns `share` of its time, captures are paid from it, and
/// while it is in debt nothing is captured. Over many steps captures therefore take at most
/// `share`. Bound to the trainer's thread.
class Budget {
 public:
  explicit Budget(double share) : share_(share) {}

  /// A step took `us`. What was earned in a pause is not kept: the next steps would pay for it.
  void earn(double us) {
    balance_us_ = std::min(balance_us_ + share_ * us, share_ * std::max(us, kKeptUs));
  }
  void spend(double us) { balance_us_ -= us; }

  /// Whether a capture may follow, `planned_us` being promised to others already.
  bool allows(double planned_us) const { return share_ >= 1 || balance_us_ >= planned_us; }

 private:
  static constexpr double kKeptUs = 100e3;
  double share_;
  double balance_us_ = 0;
};

}  // namespace phosphene::capture
