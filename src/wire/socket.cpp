#include "wire/socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/clock.hpp"

namespace phosphene::wire {
namespace {

using AddressList = std::unique_ptr<addrinfo, Deleter<::freeaddrinfo>>;

std::string reason(int error) {
  return std::generic_category().message(error);
}

Error failed(std::string_view what, const Address& address, int error) {
  return Error{"cannot " + std::string(what) + " " + address.to_string() + ": " + reason(error)};
}

UniqueFd stream_socket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

sockaddr_un unix_name(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), std::min(path.size(), sizeof(name.sun_path) - 1));
  return name;
}

const sockaddr* generic(const sockaddr_un& name) {
  return reinterpret_cast<const sockaddr*>(&name);
}

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

// A peer that vanished without a word is noticed after 10 + 3·5 s of silence by the probes, and
// after 25 s by the user timeout while data are on their way (the probes wait for those).
void keep_alive(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

Result<AddressList> look_up(const Address& address, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (error)
    return Error{"cannot find the host of " + address.to_string() + ": " + ::gai_strerror(error)};
  return AddressList(list);
}

// ---------------------------------------------------------------- listening

// Makes the directory if it is not there. What is returned holds a lock on it, so that two servers
// that start at the same time do not both take a stale socket away.
Result<UniqueFd> socket_directory(const Address& address) {
  const std::size_t slash = address.path.rfind('/');
  const std::string directory = slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                                           : address.path.substr(0, slash);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{"cannot make the directory " + directory + " for a socket: " + reason(errno)};
  UniqueFd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  if (!opened || ::fstat(opened.get(), &status) != 0)
    return Error{"cannot open the directory " + directory + " for a socket: " + reason(errno)};
  const bool trusted = status.st_uid == ::geteuid() || status.st_uid == 0;
  const bool others_write = (status.st_mode & 022) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (!trusted || others_write)
    return Error{"refusing to listen on " + address.to_string() + ": other users may change " +
                 directory + " (it should belong to you, with mode 0700)"};
  // Where others can read, they could hold the lock for ever.
  if ((status.st_mode & 077) == 0) ::flock(opened.get(), LOCK_EX);
  return opened;
}

Result<void> remove_stale_socket(const Address& address) {
  struct stat status{};
  if (::lstat(address.path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return Error{"cannot listen on " + address.to_string() + ": there is a file of that name"};
  const UniqueFd probe = stream_socket(AF_UNIX);
  const sockaddr_un name = unix_name(address.path);
  // A full backlog (EAGAIN) is a server too.
  if (::connect(probe.get(), generic(name), sizeof name) == 0 || errno == EAGAIN)
    return Error{"another server already listens on " + address.to_string()};
  if (errno != ECONNREFUSED) return failed("listen on", address, errno);
  if (::unlink(address.path.c_str()) != 0 && errno != ENOENT)
    return failed("replace the stale socket of", address, errno);
  return {};
}

Result<Listener> listen_unix(const Address& address) {
  const auto directory = socket_directory(address);
  if (!directory) return directory.error();
  if (const auto removed = remove_stale_socket(address); !removed) return removed.error();
  UniqueFd socket = stream_socket(AF_UNIX);
  const sockaddr_un name = unix_name(address.path);
  // The mode before bind() is the mode the socket is born with: there is no moment at which others
  // could open it.
  if (!socket || ::fchmod(socket.get(), 0600) != 0 ||
      ::bind(socket.get(), generic(name), sizeof name) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return failed("listen on", address, errno);
  return Listener{std::move(socket), address};
}

std::uint16_t bound_port(int socket) {
  sockaddr_storage name{};
  socklen_t bytes = sizeof name;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &bytes) != 0) return 0;
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

Result<Listener> listen_tcp(const Address& address) {
  const auto list = look_up(address, AI_PASSIVE);
  if (!list) return list.error();
  int error = EADDRNOTAVAIL;
  for (const addrinfo* entry = list->get(); entry; entry = entry->ai_next) {
    UniqueFd socket = stream_socket(entry->ai_family);
    if (socket) {
      set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
      if (::bind(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0 &&
          ::listen(socket.get(), SOMAXCONN) == 0) {
        Listener listener{std::move(socket), address};
        listener.address.port = bound_port(listener.fd.get());
        return listener;
      }
    }
    error = errno;
  }
  return failed("listen on", address, error);
}

// ---------------------------------------------------------------- connecting

Result<UniqueFd> connect_unix(const Address& address) {
  UniqueFd socket = stream_socket(AF_UNIX);
  const sockaddr_un name = unix_name(address.path);
  if (!socket || ::connect(socket.get(), generic(name), sizeof name) != 0)
    return failed("connect to", address, errno);
  ucred server{};
  socklen_t bytes = sizeof server;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &server, &bytes) != 0)
    return failed("connect to", address, errno);
  if (server.uid != ::geteuid() && server.uid != 0)
    return Error{"refusing to connect to " + address.to_string() + ": user " +
                 std::to_string(server.uid) + " listens there"};
  return socket;
}

// 0, or why the connection could not be made before the deadline.
int finish_connecting(int socket, std::int64_t deadline_us) {
  for (;;) {
    const std::int64_t left_us = std::max<std::int64_t>(deadline_us - monotonic_us(), 0);
    pollfd waiting{socket, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>((left_us + 999) / 1000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return errno;
    if (ready == 0) return ETIMEDOUT;
    int error = 0;
    socklen_t bytes = sizeof error;
    return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
  }
}

Result<UniqueFd> connect_tcp(const Address& address, int timeout_ms) {
  const auto list = look_up(address, 0);
  if (!list) return list.error();
  const std::int64_t deadline_us = monotonic_us() + std::int64_t{1000} * timeout_ms;
  int error = EADDRNOTAVAIL;
  for (const addrinfo* entry = list->get(); entry; entry = entry->ai_next) {
    UniqueFd socket = stream_socket(entry->ai_family);
    if (!socket) {
      error = errno;
      continue;
    }
    keep_alive(socket.get());
    error = ::connect(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connecting(socket.get(), deadline_us);
    if (error == 0) return socket;
  }
  return failed("connect to", address, error);
}

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

Result<Listener> listen(const Address& address) {
  return address.transport == Address::Transport::kUnix ? listen_unix(address)
                                                        : listen_tcp(address);
}

Result<std::optional<UniqueFd>> accept(const Listener& listener) {
  UniqueFd socket(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    // A connection that went away while it waited is nobody's failure.
    if (would_block(errno) || errno == ECONNABORTED) return std::optional<UniqueFd>();
    return failed("accept a connection on", listener.address, errno);
  }
  if (listener.address.transport == Address::Transport::kTcp) keep_alive(socket.get());
  return std::optional<UniqueFd>(std::move(socket));
}

Result<UniqueFd> connect(const Address& address, int timeout_ms) {
  return address.transport == Address::Transport::kUnix ? connect_unix(address)
                                                        : connect_tcp(address, timeout_ms);
}

Result<std::size_t> send_some(int socket, std::string_view bytes) {
  const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (would_block(errno)) return std::size_t{0};
  return Error{"the connection is gone: " + reason(errno)};
}

Result<std::optional<std::size_t>> receive_some(int fd, char* into, std::size_t room) {
  const ssize_t got = ::read(fd, into, room);
  if (got >= 0) return std::optional<std::size_t>(static_cast<std::size_t>(got));
  if (would_block(errno)) return std::optional<std::size_t>();
  return Error{"the connection is gone: " + reason(errno)};
}

std::string peer_of(int socket) {
  sockaddr_storage name{};
  socklen_t bytes = sizeof name;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&name), &bytes) != 0)
    return "an unknown peer";
  if (name.ss_family == AF_UNIX) {
    ucred peer{};
    bytes = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return "a local process";
    return "process " + std::to_string(peer.pid) + " of user " + std::to_string(peer.uid);
  }
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&name), bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown peer";
  const bool ipv6 = name.ss_family == AF_INET6;
  return (ipv6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

}  // namespace phosphene::wire
