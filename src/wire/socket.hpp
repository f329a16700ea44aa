// Addresses, and the sockets behind them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/handle.hpp"
#include "base/result.hpp"

namespace phosphene::wire {

/// "unix:PATH" or "tcp:HOST:PORT" (HOST a name, an IPv4 address or [IPv6]; port 0 lets the kernel choose).
struct Address {
  enum class Transport { kUnix, kTcp };
  Transport transport = Transport::kUnix;
  std::string path;  // kUnix; at most 107 bytes
  std::string host;  // kTcp
  std::uint16_t port = 0;

  static Result<Address> parse(std::string_view text);
  std::string to_string() const;
};

/// Where a hook looks for a server, and a server listens, if nobody says otherwise:
/// $XDG_RUNTIME_DIR/phosphene/ingest.sock, else /tmp/phosphene-UID/ingest.sock.
Address default_address();

struct Listener {
  UniqueFd fd;      // non-blocking, close-on-exec
  Address address;  // as bound: the port is the one the kernel chose
};

/// A unix socket gets mode 0600 in a directory of mode 0700 that belongs to this user (refused otherwise); a
/// socket that no server answers on is replaced; one that is answered is an Error that names it.
Result<Listener> listen(const Address& address);

/// Non-blocking, close-on-exec, keep-alive on TCP (a pulled cable is noticed within 30 s). Waits at most
/// `timeout_ms` for the connection. A unix socket that another user owns is refused.
Result<UniqueFd> connect(const Address& address, int timeout_ms);

}  // namespace phosphene::wire
