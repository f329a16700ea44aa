#include "stream/crowd.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "base/clock.hpp"

namespace phosphene::stream {
namespace {

constexpr int kNotSentBytes = 16 << 10;  // what the kernel may hold that is not on its way yet
constexpr int kSilentMs = 30'000;        // unacknowledged for so long: the peer is gone
constexpr int kKeepAliveIdle_s = 15, kKeepAliveInterval_s = 5, kKeepAliveProbes = 3;

void set(int fd, int option, int value) {
  setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

}  // namespace

std::string peer_of(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size);
  if (peer.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return {reinterpret_cast<const char*>(&address), sizeof address};
  }
  const auto& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  const auto* bytes = reinterpret_cast<const char*>(&address);
  if (IN6_IS_ADDR_V4MAPPED(&address)) return {bytes + 12, 4};
  return {bytes, 8};
}

void tune_for_viewers(int fd) {
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  set(fd, TCP_KEEPIDLE, kKeepAliveIdle_s);
  set(fd, TCP_KEEPINTVL, kKeepAliveInterval_s);
  set(fd, TCP_KEEPCNT, kKeepAliveProbes);
  set(fd, TCP_USER_TIMEOUT, kSilentMs);
  set(fd, TCP_NOTSENT_LOWAT, kNotSentBytes);
}

bool discard_input(int fd) {
  std::array<char, 4096> bytes;
  for (int i = 0; i < 16; ++i) {
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) break;
  }
  return true;
}

bool Crowd::admits(const std::string& peer, Socket** leaving) const {
  const auto count = per_peer_.find(peer);
  const bool peer_full = count != per_peer_.end() && count->second >= max_per_peer_;
  const bool full = sockets_.size() >= static_cast<std::size_t>(max_total_);
  *leaving = nullptr;
  if (!peer_full && !full) return true;
  for (const auto& [key, socket] : sockets_) {
    if (socket->conversation || (peer_full && socket->peer != peer)) continue;
    if (!*leaving || socket->opened_us < (*leaving)->opened_us) *leaving = socket.get();
  }
  return *leaving != nullptr;
}

Socket* Crowd::add(lws* handle, std::string peer) {
  ++per_peer_[peer];
  auto socket = std::make_unique<Socket>();
  socket->handle = handle;
  socket->peer = std::move(peer);
  socket->opened_us = monotonic_us();
  Socket* added = socket.get();
  sockets_.emplace(added, std::move(socket));
  return added;
}

void Crowd::remove(Socket* socket) {
  const auto count = per_peer_.find(socket->peer);
  if (--count->second == 0) per_peer_.erase(count);
  sockets_.erase(socket);
}

}  // namespace phosphene::stream
