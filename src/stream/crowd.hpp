// The open connections: how many there are, of whom, and who makes room when there are too many.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "stream/conversation.hpp"

struct lws;

namespace phosphene::stream {

/// One connection, from its accept to its close.
struct Socket {
  lws* handle = nullptr;
  std::string peer;
  std::int64_t opened_us = 0;
  std::int64_t waiting_since_us = 0;           // for room to write; 0: not waiting
  std::unique_ptr<Conversation> conversation;  // null: has asked for nothing yet
  bool established = false;                    // may be written to
  bool is_http = false;                        // after its request nothing is read any more
};

/// "IPv4 address" or "IPv6 /64" at the other end, as a key.
std::string peer_of(int fd);

/// So that a peer who is gone without a word is noticed, and one who is slow is not hidden by the
/// kernel's buffers.
void tune_for_viewers(int fd);

/// Throws away what a client sends after its request. False: it has closed its end.
bool discard_input(int fd);

/// Bound to the loop thread. Limits connections in all and of one peer, so that one peer cannot
/// lock the others out. Where a limit is reached, whoever has been connected longest without asking
/// for anything makes room.
class Crowd {
 public:
  Crowd(int max_total, int max_per_peer) : max_total_(max_total), max_per_peer_(max_per_peer) {}

  /// Whether there is room for one more of that peer. `*leaving`: who has to go for it, if anybody.
  bool admits(const std::string& peer, Socket** leaving) const;
  Socket* add(lws* handle, std::string peer);
  void remove(Socket* socket);

  const auto& sockets() const { return sockets_; }

 private:
  int max_total_, max_per_peer_;
  std::unordered_map<const Socket*, std::unique_ptr<Socket>> sockets_;
  std::unordered_map<std::string, int> per_peer_;
};

}  // namespace phosphene::stream
