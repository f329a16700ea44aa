#include "stream/security.hpp"

#include <arpa/inet.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace phosphene::stream {
namespace {

constexpr std::size_t kTokenBytes = 16;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  }
  if (result.size() > 1 && result.back() == '.') result.pop_back();
  return result;
}

bool is_address(const std::string& name) {
  std::array<std::uint8_t, 16> address;
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

std::string machine_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return lower(name.data());
}

}  // namespace

std::string random_token() {
  std::array<std::uint8_t, kTokenBytes> bytes;
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) std::abort();  // a kernel without it has no secrets to offer
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const std::uint8_t byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

Authority parse_authority(std::string_view text) {
  std::string_view name = text, port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return {};
    name = text.substr(1, close - 1);
    port = text.substr(close + 1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    name = text.substr(0, colon);
    port = text.substr(colon);
  }
  Authority authority;
  if (!port.empty()) {
    const char* end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data() + 1, end, authority.port);
    if (port[0] != ':' || error != std::errc() || stop != end) return {};
  }
  authority.name = lower(name);
  return authority;
}

bool is_loopback(std::string_view host) {
  const std::string name = lower(host);
  if (name == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

HostRules::HostRules(const std::string& listen_host, std::vector<std::string> allowed)
    : listen_host_(lower(listen_host)), allowed_(std::move(allowed)) {
  for (std::string& name : allowed_) name = lower(name);
}

bool HostRules::is_allowed(std::string_view name) const {
  return std::ranges::find(allowed_, name) != allowed_.end();
}

bool HostRules::allows_host(std::string_view host) const {
  const std::string name = parse_authority(host).name;
  if (name.empty()) return false;
  if (is_loopback(name) || name == listen_host_ || is_allowed(name)) return true;
  if (is_loopback(listen_host_)) return false;
  return is_address(name) || name == machine_name();
}

bool HostRules::allows_origin(std::string_view origin, std::string_view host) const {
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;  // "null"
  const Authority from = parse_authority(origin.substr(scheme + 3)), to = parse_authority(host);
  if (from.name.empty()) return false;
  return (from.name == to.name && from.port == to.port) || is_allowed(from.name);
}

std::string_view cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return {};
}

}  // namespace phosphene::stream
