// What one connection is for once its request was let in: an answer, an endless mp4, a page's
// WebSocket.
#pragma once

#include <cstddef>
#include <string_view>

struct lws;

namespace phosphene::stream {

/// Bound to the loop thread, as everything that takes an `lws*`.
class Conversation {
 public:
  enum class Next {
    kWait,   // nothing more to write until has_news()
    kMore,   // call again as soon as the socket has room
    kClose,  // done, or the peer is gone
  };

  virtual ~Conversation() = default;

  /// The socket has room, and nothing of an earlier write is left: writes at most once.
  virtual Next write(lws* socket) = 0;
  /// There is something to write again. Cheap: asked for every connection whenever anything
  /// changed.
  virtual bool has_news() const { return false; }
  /// A part of a WebSocket message; `last` ends the message. False: the connection must close.
  virtual bool receive(lws* /*socket*/, std::string_view /*part*/, bool /*last*/) { return false; }
  /// Five times a second.
  virtual void tick() {}
};

}  // namespace phosphene::stream
