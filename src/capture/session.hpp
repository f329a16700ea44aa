// A training run as the trainer's thread sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "capture/bridge.hpp"
#include "capture/budget.hpp"
#include "capture/tensor_view.hpp"

namespace phosphene::capture {

struct SessionOptions {
  std::string name;      // empty: the program's
  std::string run;       // empty: random
  std::string address;   // empty: PHOSPHENE_ADDRESS, else the user's own socket
  double budget = 0.02;  // share of the step time that capturing may take; 1: no limit
};

struct Cost {
  std::uint64_t steps = 0;
  std::uint64_t frames_captured = 0;
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_dropped_queue = 0;
  std::uint64_t frames_dropped_budget = 0;
  double total_us = 0;
  double last_capture_us = 0;
  bool connected = false;
  bool watched = false;
};

/// The most that the end of a session waits for what is queued. A test that is to see all of it
/// on a loaded machine allows more.
inline std::atomic<int> close_limit_ms{200};

/// Bound to one thread, the trainer's. Never waits for the network. In a forked child every call
/// does nothing.
///
/// At the end of each step it is decided whether the next one captures: a view's rate says when it
/// is due, the budget whether it may. All tiles of a frame are of one step: what is bound is read
/// in step(), what does not last so long in capture(), and a second capture() in a step replaces
/// the first.
class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options);

  /// Ends the run in order; waits at most `close_limit_ms` for what is queued.
  ~Session();

  /// `info` without an id. Returns it; the same name and kind have the same one.
  Result<std::uint32_t> declare(TensorInfo info);
  /// nullopt unbinds.
  Result<void> bind(std::uint32_t tensor, const std::optional<TensorView>& view);
  bool wants(std::uint32_t tensor) const;
  Result<void> capture(std::uint32_t tensor, const TensorView& view);
  Result<void> scalar(std::string_view name, double value);
  void step(std::uint64_t number);
  Cost cost() const;

  /// True in a child that was forked after open().
  bool is_disabled() const { return bridge_->fork_guard.forked(); }
  /// Shown to the people who watch.
  void notice(std::string text) { bridge_->catalogue.notice(std::move(text)); }

 private:
  struct Tensor {
    Declared declared;
    std::optional<TensorView> bound;
  };

  Session(std::shared_ptr<Bridge> bridge, double budget);

  Result<void> check_attachment(const TensorInfo& info) const;
  Result<void> check(std::uint32_t tensor, const TensorView* view) const;
  void watched_step(std::uint64_t number);
  void capture_bound();
  void finish_frames(std::uint64_t number);
  void renew_watch();
  void arm(double now_us);

  std::shared_ptr<Bridge> bridge_;
  std::vector<Tensor> tensors_;                         // index = id − 1
  std::unordered_map<std::string, std::uint32_t> ids_;  // by kind and name
  std::uint64_t revision_ = 0;

  std::uint64_t watch_version_ = 0;
  std::shared_ptr<Watch> watch_;  // nullptr: nobody watches
  Budget budget_;
  std::size_t first_view_ = 0;  // who is asked first next time
  bool armed_ = false;          // this step captures something
  double last_step_us_ = 0;     // 0: not known
  double capture_us_ = 0;       // of this step so far
  double last_capture_us_ = 0;
};

}  // namespace phosphene::capture
