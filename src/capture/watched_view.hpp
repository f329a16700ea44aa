// One view that somebody looks at: its tensors' quantisers, ranges and frames.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/catalogue.hpp"
#include "capture/mailbox.hpp"
#include "capture/messages.hpp"
#include "capture/quantiser.hpp"
#include "capture/range.hpp"

namespace phosphene::capture {

/// Built and read by the sender's thread (create(), take_frame()); everything else belongs to the
/// trainer's. A frame's life: arm(), capture() of each tensor in the same step, finish().
class WatchedView {
 public:
  /// Allocates all that capturing needs. Tensors whose plan does not fit them are left out, with a
  /// sentence in `problems`; `cells_left` is what all views together may still use.
  static std::unique_ptr<WatchedView> create(const ViewPlan& plan, std::uint64_t plans_version,
                                             const std::vector<Declared>& declared,
                                             std::uint64_t& cells_left,
                                             std::vector<std::string>& problems);

  std::uint32_t id() const { return id_; }
  std::size_t tensors() const { return tensors_.size(); }
  std::uint32_t tensor_id(std::size_t index) const { return tensors_[index].id; }
  /// The declaration that the plan was fitted to.
  std::uint64_t revision(std::size_t index) const { return tensors_[index].revision; }

  /// Goes on with the ranges and the rhythm of the view that this one replaces, so that nothing
  /// flickers.
  void continue_from(const WatchedView& before);

  /// Whether it wants a frame at `now_us`; then the next one is due about a period later.
  bool is_due(double now_us);
  /// There is no budget now: a frame that is due stays so. True once a period that passes
  /// meanwhile.
  bool put_off(double now_us);
  bool is_armed() const { return armed_; }
  void arm();
  /// What its last frame cost.
  double cost_us() const { return cost_us_; }

  /// Quantises a tensor, and measures it if its turn has come. A second time in one step replaces
  /// the first.
  void capture(std::size_t index, const TensorView& view, std::uint64_t revision);

  enum class Outcome { kPosted, kReplacedOlder, kNothingCaptured };
  /// Hands the frame to the sender.
  Outcome finish(std::uint64_t step, double now_us);

  /// The newest frame not yet taken, valid until the next call; nullptr if there is none.
  const Frame* take_frame() { return frames_.take(); }

 private:
  struct Tensor {
    std::uint32_t id = 0;
    std::uint64_t revision = 0;
    Quantiser quantiser;
    RangeTracker range;  // Scope::kLayer
    bool captured = false;
    std::uint32_t measured_in = 0;  // the round in which its statistics were refreshed
  };

  explicit WatchedView(const ViewPlan& plan);
  void measure_in_turn(Tensor& tensor, const TensorView& view, Tile& tile);

  std::uint32_t id_;
  Quantity quantity_;
  Scaling scaling_;
  double period_us_;
  std::size_t cells_ = 0;
  std::vector<Tensor> tensors_;
  RangeTracker network_range_;  // Scope::kNetwork
  Mailbox<Frame> frames_;

  bool armed_ = false;
  double due_us_ = 0;
  double put_off_us_ = 0;
  double cost_us_ = 0;
  double frame_cost_us_ = 0;

  // Statistics cost at most a share of what the levels cost. A round ends when every tensor had its
  // turn.
  std::uint32_t round_ = 1;
  bool round_open_ = false;
  double round_began_us_ = 0;
  double statistics_balance_us_ = 0;
};

}  // namespace phosphene::capture
