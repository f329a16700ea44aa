#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/secret.hpp"
#include "wire/socket.hpp"

namespace phosphene::wire {
namespace {

constexpr std::size_t kMaxPathBytes = sizeof(sockaddr_un::sun_path) - 1;

Error not_an_address(std::string_view text) {
  return Error{"\"" + std::string(text) +
               "\" is not an address: write unix:PATH or tcp:HOST:PORT?token=TOKEN"};
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  Address address;
  if (text.substr(0, 5) == "unix:") {
    address.path = text.substr(5);
    if (address.path.empty()) return not_an_address(text);
    if (address.path.size() > kMaxPathBytes)
      return Error{"the path of " + std::string(text) + " is longer than the " +
                   std::to_string(kMaxPathBytes) + " bytes a unix socket can have"};
    if (address.path.find('\0') != std::string::npos) return not_an_address(text);
    return address;
  }
  if (text.substr(0, 4) != "tcp:") return not_an_address(text);

  address.transport = Transport::kTcp;
  if (const std::size_t query = text.find('?'); query != std::string_view::npos) {
    constexpr std::string_view kKey = "?token=";
    const std::string_view token = text.substr(std::min(text.size(), query + kKey.size()));
    if (text.substr(query, kKey.size()) != kKey || !is_token(token))
      return Error{"what follows " + std::string(text.substr(0, query)) +
                   " is not ?token= and 8 to 128 letters, digits, - or _"};
    address.token = token;
    text = text.substr(0, query);
  }
  std::string_view host = text.substr(4);
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return not_an_address(text);
  const std::string_view port = host.substr(colon + 1);
  host = host.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return Error{"write the IPv6 address of \"" + std::string(text) +
                 "\" in brackets: tcp:[HOST]:PORT"};
  const auto [end, error] = std::from_chars(port.begin(), port.end(), address.port);
  if (host.empty() || host.find_first_of(std::string_view("[]\0", 3)) != std::string_view::npos ||
      error != std::errc() || end != port.end())
    return not_an_address(text);
  address.host = host;
  return address;
}

std::string Address::to_string() const {
  if (transport == Transport::kUnix) return "unix:" + path;
  const bool ipv6 = host.find(':') != std::string::npos;
  return "tcp:" + (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Address::with_token() const {
  return token.empty() ? to_string() : to_string() + "?token=" + token;
}

Address default_address() {
  Address address;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && runtime[0] == '/')
    address.path = std::string(runtime) + "/phosphene/ingest.sock";
  if (address.path.empty() || address.path.size() > kMaxPathBytes)
    address.path = "/tmp/phosphene-" + std::to_string(::geteuid()) + "/ingest.sock";
  return address;
}

}  // namespace phosphene::wire
