// What all conversations of a server share.
#pragma once

#include <cstdint>

#include "stream/broadcast.hpp"
#include "stream/metrics.hpp"
#include "stream/server.hpp"

namespace phosphene::stream {

/// The state that every page gets, serialised once for all of them. Bound to the loop thread.
class RunsFeed {
 public:
  /// Five times a second: asks the site again where its state is a newer one.
  void refresh(Site& site) {
    const std::uint64_t version = site.runs_version();
    if (message_ && version == version_) return;
    version_ = version;
    ++number_;
    v1::ToPage message;
    *message.mutable_runs() = site.runs();
    message_ = make_message(message);
  }

  const SharedMessage& message() const { return message_; }
  std::uint64_t number() const { return number_; }  // grows with each message

 private:
  SharedMessage message_;
  std::uint64_t version_ = 0;
  std::uint64_t number_ = 0;
};

/// Bound to the loop thread.
struct Hall {
  Site& site;
  Metrics metrics;
  RunsFeed runs;
};

}  // namespace phosphene::stream
