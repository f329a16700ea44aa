#include "app/channel.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/phase.hpp"
#include "app/stage.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace phosphene::app {
namespace {

constexpr std::int64_t kIdleUs = 100'000;  // between looks for a run
constexpr std::int64_t kRelayoutUs =
    250'000;  // a hook that declares tensor after tensor does not flicker
constexpr std::int64_t kRelayoutShare = 10;   // of the time that laying out takes, at least
constexpr std::int64_t kRetryUs = 2'000'000;  // after the encoder failed
constexpr std::int64_t kKeyframeRequestsUs = 300'000;  // requests are served at most so often
constexpr std::int64_t kKeyframeIntervalUs =
    10'000'000;                // a keyframe comes anyway: facts are whole there
constexpr int kMaxBehind = 4;  // ticks; beyond them time is let go

}  // namespace

/// The thread's own state.
class Channel::Work {
 public:
  Work(Channel& channel, Runs& runs, std::string encoder, ChannelCounters& counters)
      : channel_(channel),
        view_(channel.view_),
        broadcast_(*channel.broadcast_),
        runs_(runs),
        encoder_(std::move(encoder)),
        counters_(counters),
        period_us_(static_cast<std::int64_t>(1e6 / channel.view_.fps)),
        phase_(period_us_) {}

  void run() {
    while (!channel_.stopping_ && !channel_.end_unless_watched()) {
      if (follow_run())
        tick();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(kIdleUs));
    }
  }

 private:
  void say(const std::string& why) {
    if (std::exchange(said_, why) != why) broadcast_.stop(why);
  }

  /// Sees to it that the stage is that of the run to be shown. False: there is nothing to show now.
  bool follow_run() {
    const std::shared_ptr<Run> run = runs_.find(view_.run);
    if (run != feed_.run()) {
      stage_.reset();
      feed_ = run ? run->watch() : ViewFeed();
      staged_us_ = failed_us_ = 0;
      impossible_.reset();
    }
    if (!run) {
      say(view_.run.empty() ? "waiting for a run" : "no run is called '" + view_.run + "'");
      return false;
    }
    const std::int64_t now = monotonic_us();
    if (now - failed_us_ < kRetryUs && failed_us_ > 0) return false;
    const std::shared_ptr<const TensorTable> table = run->tensors();
    if (!stage_ && impossible_ == table) return false;
    if (stage_ && (stage_->tensors_version() == table->version || now - staged_us_ < relayout_us_))
      return true;
    return set_stage(*run, table, now);
  }

  bool set_stage(const Run& run, const std::shared_ptr<const TensorTable>& table,
                 std::int64_t now) {
    Result<std::unique_ptr<Stage>> stage =
        Stage::create(view_, run.id(), table, encoder_, ++layouts_, number_);
    if (!stage) {
      stage_.reset();
      impossible_ = table;
      feed_.set_plan({});
      say(stage.error().message);
      return false;
    }
    stage_ = *std::move(stage);
    said_.clear();
    feed_.set_plan(stage_->plan());
    broadcast_.start(stage_->start());
    staged_us_ = next_tick_us_ = monotonic_us();
    relayout_us_ = std::max(kRelayoutUs, kRelayoutShare * (staged_us_ - now));
    keyframe_us_ = 0;
    return true;
  }

  /// Draws what comes until the next tick, then encodes the picture as it is.
  void tick() {
    next_tick_us_ += period_us_;
    std::int64_t now = monotonic_us();
    if (now > next_tick_us_ + kMaxBehind * period_us_) {
      counters_.ticks_missed += static_cast<std::uint64_t>((now - next_tick_us_) / period_us_);
      next_tick_us_ = now;
    }
    int frames = 0;
    std::int64_t drawn_us = 0;
    do {
      const ViewFeed::News news =
          feed_.wait(std::chrono::microseconds(std::max<std::int64_t>(next_tick_us_ - now, 0)));
      if (news.frame) draw(*news.frame);
      now = monotonic_us();
      if (news.frame) {
        ++frames;
        drawn_us = now;
      }
    } while (now < next_tick_us_ && !channel_.stopping_);
    if (channel_.stopping_) return;
    if (!stage_->has_picture()) {
      next_tick_us_ = now;
      return;
    }
    const std::int64_t early_us = next_tick_us_ - drawn_us;
    encode(now);
    next_tick_us_ += phase_.after_tick(frames, early_us);
  }

  void draw(const v1::Frame& frame) {
    const std::uint64_t refused = stage_->tiles_refused();
    stage_->draw(frame);
    number_ = stage_->number();
    counters_.tiles_refused += stage_->tiles_refused() - refused;
    ++counters_.frames_drawn;
  }

  void encode(std::int64_t now) {
    keyframe_wanted_ |= broadcast_.take_keyframe_request();
    const std::int64_t age = now - keyframe_us_;
    const bool keyframe = keyframe_us_ == 0 || age >= kKeyframeIntervalUs ||
                          (keyframe_wanted_ && age >= kKeyframeRequestsUs);
    Result<Stage::Fragment> fragment = stage_->encode(keyframe);
    if (!fragment) {
      ++counters_.failures;
      log(LogLevel::kError, fragment.error().message);
      stage_.reset();
      say(fragment.error().message);
      failed_us_ = now;
      return;
    }
    if (fragment->keyframe) {
      keyframe_us_ = now;
      keyframe_wanted_ = false;
    }
    ++counters_.frames_encoded;
    counters_.bytes_encoded += fragment->bytes.size();
    broadcast_.push(std::move(fragment->bytes), fragment->keyframe);
  }

  Channel& channel_;
  const stream::View& view_;
  stream::Broadcast& broadcast_;
  Runs& runs_;
  const std::string encoder_;
  ChannelCounters& counters_;
  const std::int64_t period_us_;

  Phase phase_;
  ViewFeed feed_;
  std::unique_ptr<Stage> stage_;
  std::shared_ptr<const TensorTable> impossible_;  // no stage could be made of it
  std::uint32_t layouts_ = 0;
  // Frames are numbered on from stage to stage, and from somewhere: an old picture must not be
  // taken for one of another layout.
  std::uint32_t number_ = static_cast<std::uint32_t>(monotonic_us()) & 0xFFFFFFu;
  std::string said_;
  std::int64_t staged_us_ = 0;
  std::int64_t relayout_us_ = kRelayoutUs;
  std::int64_t failed_us_ = 0;
  std::int64_t next_tick_us_ = 0;
  std::int64_t keyframe_us_ = 0;
  bool keyframe_wanted_ = false;
};

Channel::Channel(stream::View view, Runs& runs, std::string encoder, ChannelCounters& counters,
                 std::function<void()> wake)
    : view_(std::move(view)),
      broadcast_(std::make_shared<stream::Broadcast>(std::move(wake))),
      life_(Life{.watched_us = monotonic_us()}),
      thread_([this, &runs, encoder = std::move(encoder), &counters] {
        Work(*this, runs, encoder, counters).run();
      }) {}

Channel::~Channel() {
  stopping_ = true;
  thread_.join();
}

bool Channel::expect_viewer() {
  return life_.with([](Life& life) {
    life.watched_us = monotonic_us();
    return !life.finished;
  });
}

bool Channel::finished() const {
  return life_.with([](const Life& life) { return life.finished; });
}

bool Channel::end_unless_watched() {
  return life_.with([this](Life& life) {
    const std::int64_t now = monotonic_us();
    if (broadcast_->viewers() > 0) life.watched_us = now;
    life.finished = now - life.watched_us >= kLingerUs;
    return life.finished;
  });
}

}  // namespace phosphene::app
