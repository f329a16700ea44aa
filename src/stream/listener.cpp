#include "stream/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace phosphene::stream {
namespace {

constexpr int kPortsTried = 20;
constexpr int kBacklog = 1024;

using Addresses = std::unique_ptr<addrinfo, Deleter<freeaddrinfo>>;

/// The socket, or errno.
std::pair<UniqueFd, int> try_listen(const addrinfo& address, std::uint16_t port) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return {UniqueFd(), errno};
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage to{};
  std::memcpy(&to, address.ai_addr, address.ai_addrlen);
  if (to.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(to).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(to).sin_port = htons(port);
  }
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&to), address.ai_addrlen) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return {UniqueFd(), errno};
  }
  return {std::move(fd), 0};
}

std::uint16_t port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

}  // namespace

std::string join(std::string_view host, std::uint16_t port) {
  std::string text(host);
  if (host.find(':') != std::string_view::npos) text = "[" + text + "]";
  return text + ":" + std::to_string(port);
}

Result<Listener> listen_on(const std::string& host, std::uint16_t port, bool port_asked_for) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int failure = getaddrinfo(host.c_str(), nullptr, &hints, &found); failure != 0) {
    return Error{"Cannot listen on " + join(host, port) + ": " + gai_strerror(failure) + "."};
  }
  const Addresses addresses(found);
  const int tries = port == 0 || port_asked_for ? 1 : kPortsTried;
  int why = 0;
  for (int i = 0; i < tries && port + i <= 65535; ++i) {
    for (const addrinfo* address = found; address; address = address->ai_next) {
      auto [fd, failure] = try_listen(*address, static_cast<std::uint16_t>(port + i));
      if (fd) {
        const std::uint16_t bound = port_of(fd.get());
        return Listener{std::move(fd), bound};
      }
      why = failure;
    }
    if (why != EADDRINUSE) break;
  }
  if (why == EADDRINUSE && tries > 1) {
    return Error{"Cannot listen on " + join(host, port) + ": it and the next " +
                 std::to_string(tries - 1) + " ports are in use; name a free one, or 0."};
  }
  std::string reason = why == EADDRINUSE ? "the address is in use" : std::strerror(why);
  return Error{"Cannot listen on " + join(host, port) + ": " + reason + "."};
}

}  // namespace phosphene::stream
