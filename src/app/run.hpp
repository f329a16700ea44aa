// One training process, as the server knows it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/scalar_history.hpp"
#include "base/guarded.hpp"
#include "base/result.hpp"
#include "phosphene.pb.h"

namespace phosphene::app {

using FramePtr = std::shared_ptr<const v1::Frame>;

/// Frames that came from hooks, and those of them that no channel got, by cause.
struct FrameCounters {
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> dropped_unknown_view{0};  // nobody watches that view any more
  std::atomic<std::uint64_t> dropped_old_plan{0};      // captured before the view's plan changed
  std::atomic<std::uint64_t> dropped_undrawn{0};  // a newer one came before the channel took it
  std::atomic<std::uint64_t> dropped_invalid{0};  // not what the plan asked for
};

/// What all runs share with the registry that made them. Thread-safe.
class RunSignals {
 public:
  using Callback = std::function<void()>;

  /// Something that v1::Runs tells has changed.
  void changed();
  /// Some run's plans have changed: they wait to be sent.
  void planned();

  std::uint64_t version() const { return version_; }
  /// Waits until the version is another one than `known` or the time is over; the version then.
  std::uint64_t wait(std::uint64_t known, std::chrono::microseconds timeout);

  /// Called from any thread, must not block, nor call back into a run. An empty function takes it
  /// away.
  void on_changed(Callback callback);
  void on_planned(Callback callback);

  FrameCounters frames;
  std::atomic<std::size_t> held_bytes{0};  // of memory, by the tensors and curves of all runs

 private:
  std::atomic<std::uint64_t> version_{1};
  std::mutex mutex_;
  std::condition_variable woken_;
  Guarded<Callback> on_changed_;
  Guarded<Callback> on_planned_;
};

/// A run's tensors at one moment: valid (check.hpp), in the order they were declared. `attached_to`
/// names one of them, of the same kind and itself unattached, or is 0.
struct TensorTable {
  std::uint64_t version = 0;
  std::vector<v1::Tensor> tensors;
  std::vector<v1::Kind> kinds;  // that occur
  std::uint64_t parameter_elements = 0;
};

class ViewFeed;

/// Thread-safe. `now_us` is monotonic_us(), so that tests can be at any time they like.
class Run : public std::enable_shared_from_this<Run> {
 public:
  static constexpr std::size_t kMaxTensors = 20'000;
  static constexpr std::size_t kMaxNotices = 32;
  static constexpr std::size_t kMaxNoticeBytes = 500;
  static constexpr std::size_t kMaxHeldBytes = 256u << 20;  // of memory, by the tensors of all runs

  Run(std::string id, const v1::Hello& hello, std::shared_ptr<RunSignals> signals);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // ---- for everyone
  const std::string& id() const { return id_; }
  std::string name() const;
  std::int64_t started_us() const;  // by the wall clock, never in the future
  v1::RunState state() const;
  v1::RunInfo info() const;
  std::shared_ptr<const TensorTable> tensors() const;
  /// See ScalarHistory::since.
  std::optional<v1::RunScalars> scalars(std::uint64_t& cursor) const;
  v1::Scalars latest_scalars() const;

  // ---- for channels
  /// A new view of this run. It asks the hook for nothing before it has a plan.
  ViewFeed watch();

  // ---- for ingest
  /// The same process: it may replace a connection that seems alive.
  bool is_of(const v1::Hello& hello) const;
  /// A connection begins, and replaces one there may be; its number. Another process than before
  /// starts with no tensors.
  std::uint64_t connect(const v1::Hello& hello, std::int64_t now_us);
  /// A connection ended, in order or not; nothing happens if it was replaced before. `why` is a
  /// sentence, or empty.
  void disconnect(std::uint64_t connection, bool in_order, std::string_view why,
                  std::int64_t now_us);
  /// Anything after Hello. An Error if it breaks the protocol; a frame that is of no use is dropped
  /// and counted.
  Result<void> handle(v1::FromHook message, std::int64_t now_us);
  /// The plans, if they are not of version `sent`, which is moved.
  std::optional<v1::Plans> plans_after(std::uint64_t& sent) const;
  /// Time passes: finds out whether training pauses.
  void tick(std::int64_t now_us);
  bool connected() const;

 private:
  friend class ViewFeed;

  struct View {
    v1::ViewPlan plan;             // without tensors: nothing is asked for
    std::uint64_t planned_at = 0;  // version of the plans that first held it
    std::uint64_t tensors_at = 0;  // tensors_version_ that it was made for
    std::unordered_map<std::uint32_t, std::uint32_t> cells;  // expected, by tensor
    std::shared_ptr<v1::Frame> newest;                       // not taken yet
    bool woken = false;                                      // the tensors or the state changed
    std::condition_variable wake;
  };

  void set_plan(std::uint32_t view, v1::ViewPlan plan);
  void remove_view(std::uint32_t view);

  void take_tensors(v1::Tensors&& tensors);
  void take_frame(v1::Frame&& frame, std::int64_t now_us);
  void drop_invalid(const std::string& why);
  void offer_unasked(const v1::Frame& frame);
  void deliver(View& view, std::shared_ptr<v1::Frame> frame);
  void step_came(std::uint64_t step, std::int64_t now_us);
  void add_notice(std::string_view text);
  void count_bytes();
  bool set_state(v1::RunState state);
  void wake_views();
  const TensorTable& table() const;

  const std::string id_;
  const std::shared_ptr<RunSignals> signals_;

  // Under mutex_, all that follows.
  mutable std::mutex mutex_;
  v1::Hello hello_;
  std::int64_t started_us_;
  v1::RunState state_ = v1::RUN_STATE_CRASHED;
  std::uint64_t connection_ = 0;  // number of the latest
  bool connected_ = false;
  v1::Progress progress_;
  std::int64_t last_step_us_ = 0;
  double usual_step_us_ = 0;
  std::vector<std::string> notices_;
  bool told_invalid_ = false;
  ScalarHistory scalars_;
  std::vector<v1::Tensor> tensors_;
  std::size_t tensor_bytes_ = 0;
  std::size_t counted_bytes_ = 0;  // in the signals' held_bytes
  std::unordered_map<std::uint32_t, std::size_t> tensor_index_;
  std::uint64_t tensors_version_ = 1;
  mutable std::shared_ptr<const TensorTable> table_;  // of tensors_version_, made when asked for
  std::uint64_t plans_version_;
  std::uint32_t next_view_ = 1;
  std::map<std::uint32_t, View> views_;
};

/// A view's place at a run: its plan goes to the hook, the newest frame comes back. Bound to one
/// thread; the view ends with it. Holds one frame at most: a newer one replaces it (counted), and
/// takes over what only the older one had.
class ViewFeed {
 public:
  ViewFeed() = default;
  ViewFeed(ViewFeed&& other) noexcept;
  ViewFeed& operator=(ViewFeed&& other) noexcept;
  ~ViewFeed();

  explicit operator bool() const { return run_ != nullptr; }
  const std::shared_ptr<Run>& run() const { return run_; }
  std::uint32_t view() const { return view_; }

  /// What the hook is to send from now on; the view's number is filled in. Frames of an older plan
  /// do not come any more. A plan without tensors asks for nothing.
  void set_plan(v1::ViewPlan plan);

  struct News {
    FramePtr frame;                     // null: none that was not given out before
    std::uint64_t tensors_version = 0;  // another one than the plan was made for: lay out anew
    v1::RunState state = v1::RUN_STATE_UNSPECIFIED;
  };
  /// Waits until a frame is there, or the tensors or the state of the run changed, or the time is
  /// over.
  News wait(std::chrono::microseconds timeout);

 private:
  friend class Run;
  ViewFeed(std::shared_ptr<Run> run, std::uint32_t view) : run_(std::move(run)), view_(view) {}
  std::shared_ptr<Run> run_;
  std::uint32_t view_ = 0;
};

}  // namespace phosphene::app
