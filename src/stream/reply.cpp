#include "stream/reply.hpp"

#include <libwebsockets.h>

#include <algorithm>

namespace phosphene::stream {
namespace {

// libwebsockets gives what is left when a connection closes five seconds to go: let that be little.
constexpr std::size_t kPieceBytes = 64u << 10;

}  // namespace

Reply::Reply(const std::string& wire)
    : bytes_(std::string(LWS_PRE, '\0') + wire), written_(LWS_PRE) {}

Conversation::Next Reply::write(lws* socket) {
  const std::size_t piece = std::min(kPieceBytes, bytes_.size() - written_);
  if (piece == 0) return Next::kClose;  // the socket has room again: all of it has left
  auto* from = reinterpret_cast<unsigned char*>(bytes_.data() + written_);
  if (lws_write(socket, from, piece, LWS_WRITE_HTTP) < 0) return Next::kClose;
  written_ += piece;
  return Next::kMore;
}

}  // namespace phosphene::stream
