// GET /live.mp4: one endless file, for a bare <video src>, VLC and ffplay.
#pragma once

#include <string>

#include "stream/conversation.hpp"
#include "stream/hall.hpp"
#include "stream/media_time.hpp"
#include "stream/subscription.hpp"

namespace phosphene::stream {

/// Sends the init segment, then fragments from a keyframe on. A new epoch with the same init goes
/// on as if nothing had been; another one is sent.
class Mp4Viewer : public Conversation {
 public:
  Mp4Viewer(Hall& hall, Subscription subscription);
  ~Mp4Viewer() override;

  Next write(lws* socket) override;
  bool has_news() const override { return !head_sent_ || subscription_.has_news(); }

 private:
  /// The bytes to send for a message, behind headroom, in `bytes_`; false: none.
  bool prepare(const Message& message);

  Hall& hall_;
  Subscription subscription_;
  MediaTime time_;
  std::string init_;               // sent last
  std::uint64_t last_number_ = 0;  // of the fragment sent last; 0: none of this epoch
  std::string bytes_;
  bool head_sent_ = false;
};

}  // namespace phosphene::stream
