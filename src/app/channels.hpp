// The channels that are being shown, one a view.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/channel.hpp"
#include "base/result.hpp"

namespace phosphene::app {

/// Bound to the loop thread, but for close().
class Channels {
 public:
  static constexpr std::size_t kMaxChannels = 64;

  Channels(Runs& runs, std::string encoder, std::function<void()> wake)
      : runs_(runs), encoder_(std::move(encoder)), wake_(std::move(wake)) {}

  /// The channel of a view; starts it if nobody watches the view yet. Error: too many different
  /// views at once.
  Result<std::shared_ptr<stream::Broadcast>> open(const stream::View& view);

  /// GET /api/channels: [{"view", "size", "fps", "viewers"}].
  std::string json();
  std::string metrics();

  /// Ends all channels and waits for their threads.
  void close();

 private:
  void forget_finished();

  Runs& runs_;
  const std::string encoder_;
  const std::function<void()> wake_;
  ChannelCounters counters_;  // outlives the channels that count on it
  std::map<std::string, std::unique_ptr<Channel>> channels_;  // by the view's query
};

}  // namespace phosphene::app
