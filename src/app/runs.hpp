// Every run the server knows.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/run.hpp"
#include "base/result.hpp"
#include "phosphene.pb.h"

namespace phosphene::app {

/// Thread-safe. At most kMaxRuns, and fewer where they hold more than half of the memory that all
/// may have (Run::kMaxHeldBytes); the oldest that ended goes first.
class Runs {
 public:
  static constexpr std::size_t kMaxRuns = 64;
  static constexpr std::size_t kMaxIdBytes = 128;

  /// Newest first, by when training began.
  std::vector<std::shared_ptr<Run>> all() const;
  /// By id, else the newest of that name; empty text: the newest of all. Null if there is none.
  std::shared_ptr<Run> find(std::string_view id_or_name) const;
  /// What every page is told.
  v1::Runs message() const;

  /// Grows when message() changes.
  std::uint64_t version() const { return signals_->version(); }
  /// Waits until the version is another one than `known` or the time is over; the version then.
  std::uint64_t wait(std::uint64_t known, std::chrono::microseconds timeout) const {
    return signals_->wait(known, timeout);
  }
  /// See RunSignals.
  void on_changed(RunSignals::Callback callback) { signals_->on_changed(std::move(callback)); }
  void on_planned(RunSignals::Callback callback) { signals_->on_planned(std::move(callback)); }
  const FrameCounters& frames() const { return signals_->frames; }
  std::size_t held_bytes() const { return signals_->held_bytes; }
  std::uint64_t forgotten() const { return forgotten_; }

  struct Opened {
    std::shared_ptr<Run> run;
    std::uint64_t connection;  // for Run::disconnect()
  };
  /// A connection said hello. The run it belongs to is, in this order: its own from before; that of
  /// its id, if no other process is connected as it; a new one, with a number behind its id if
  /// another process has that. An Error if the id cannot be used or there is no room.
  Result<Opened> open(const v1::Hello& hello, std::int64_t now_us);

  /// Time passes for all runs.
  void tick(std::int64_t now_us);

 private:
  std::shared_ptr<Run> run_for(const v1::Hello& hello) const;
  Result<void> make_room();
  bool forget_oldest_ended();

  const std::shared_ptr<RunSignals> signals_ = std::make_shared<RunSignals>();
  std::atomic<std::uint64_t> forgotten_{0};  // runs that made room for others
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Run>> runs_;  // newest first
};

}  // namespace phosphene::app
