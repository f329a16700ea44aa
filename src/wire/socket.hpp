// Addresses, and the sockets behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/handle.hpp"
#include "base/result.hpp"

namespace phosphene::wire {

/// "unix:PATH" or "tcp:HOST:PORT?token=TOKEN" (HOST a name, an IPv4 address or [IPv6]; port 0 lets
/// the kernel choose). The token may be left out.
struct Address {
  enum class Transport { kUnix, kTcp };
  Transport transport = Transport::kUnix;
  std::string path;  // kUnix; at most 107 bytes
  std::string host;  // kTcp; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string token;  // kTcp; what a hook shows to be let in

  static Result<Address> parse(std::string_view text);
  std::string to_string() const;  // for logs: without the token
  std::string with_token() const;
};

/// Where a hook looks for a server, and a server listens, if nobody says otherwise:
/// $XDG_RUNTIME_DIR/phosphene/ingest.sock, else /tmp/phosphene-UID/ingest.sock.
Address default_address();

struct Listener {
  UniqueFd fd;      // non-blocking, close-on-exec
  Address address;  // as bound: the port is the one the kernel chose
};

/// A unix socket gets mode 0600; its directory is made with mode 0700 where there is none, and
/// refused where another user could put a socket in the place of ours. A socket that no server
/// answers on is replaced; one that is answered is an Error that names it.
Result<Listener> listen(const Address& address);

/// The next waiting connection, with the same properties as one made by connect(); nothing if none
/// waits.
Result<std::optional<UniqueFd>> accept(const Listener& listener);

/// Non-blocking, close-on-exec; on TCP without delay and with keep-alive (a pulled cable is noticed
/// within 30 s). Waits at most `timeout_ms` for the connection, beyond what the system needs to
/// look a name up. A unix socket that another user listens on is refused, unless that is root.
Result<UniqueFd> connect(const Address& address, int timeout_ms);

/// Sends what the socket takes now: bytes sent, 0 if it is full, an Error if the connection is
/// gone. Never SIGPIPE.
Result<std::size_t> send_some(int socket, std::string_view bytes);

/// Reads what is there, at most `room` bytes: bytes read, nothing if none wait, 0 at the end of the
/// stream, an Error if the connection is gone. Works on pipes and files as well.
Result<std::optional<std::size_t>> receive_some(int fd, char* into, std::size_t room);

/// Who is at the other end, for a person: "process 4711 of user 1000", "10.0.0.7:50412".
std::string peer_of(int socket);

}  // namespace phosphene::wire
