// The listening socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/handle.hpp"
#include "base/result.hpp"

namespace phosphene::stream {

struct Listener {
  UniqueFd fd;  // does not block
  std::uint16_t port = 0;
};

/// Listens on a name or an address. Port 0: any free one. A busy port: the next free of twenty,
/// unless it was asked for by name; then, and where the address is not this machine's, an Error
/// that names it.
Result<Listener> listen_on(const std::string& host, std::uint16_t port, bool port_asked_for);

/// "127.0.0.1:6160", "[::1]:6160".
std::string join(std::string_view host, std::uint16_t port);

}  // namespace phosphene::stream
