// Everything that is watched under one version of the plans.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "capture/watched_view.hpp"

namespace phosphene::capture {

struct Watch {
  /// One place where a tensor is shown.
  struct Place {
    WatchedView* view;
    std::size_t index;
  };

  std::vector<std::unique_ptr<WatchedView>> views;

  /// Where a tensor is shown. Trainer's thread.
  std::span<const Place> places_of(std::uint32_t tensor) const;
  /// The tensors shown anywhere.
  std::span<const std::uint32_t> tensors() const { return tensors_; }

  /// On the sender's thread, whose work the allocations are. What cannot be shown is said in
  /// `problems`.
  static std::shared_ptr<Watch> create(const Plans& plans, const std::vector<Declared>& declared,
                                       std::vector<std::string>& problems);

 private:
  std::vector<Place> places_;        // sorted by tensor
  std::vector<std::size_t> begins_;  // of a tensor's places, by its id; one more at the end
  std::vector<std::uint32_t> tensors_;
};

/// The watch in force, from the sender to the trainer. Looking for a new one costs one load.
/// Thread-safe.
class CurrentWatch {
 public:
  void publish(std::shared_ptr<Watch> watch) {
    watch_.with([&](std::shared_ptr<Watch>& current) { current.swap(watch); });
    version_.fetch_add(1, std::memory_order_release);
  }
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  std::shared_ptr<Watch> get() const {
    return watch_.with([](const std::shared_ptr<Watch>& current) { return current; });
  }

 private:
  Guarded<std::shared_ptr<Watch>> watch_;
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace phosphene::capture
