// Who may ask: the token, the Host and the Origin of a request. Pure functions on text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace phosphene::stream {

/// 128 random bits as 32 hexadecimal digits.
std::string random_token();

/// "example.org:8080" → "example.org", 8080; "[::1]" → "::1", 0. Lower case, no closing dot. An
/// empty name: malformed.
struct Authority {
  std::string name;
  std::uint16_t port = 0;  // 0: none given
};
Authority parse_authority(std::string_view text);

/// 127.0.0.0/8, ::1 or "localhost".
bool is_loopback(std::string_view host);

/// Decides on Host and Origin. A page of another site can make a browser send requests here, under
/// a name of its own that it lets point to this machine (DNS rebinding): such a name is not let in.
/// A number is nobody's name.
class HostRules {
 public:
  /// `listen_host`: as given to the server. `allowed`: more names, of reverse proxies for instance.
  HostRules(const std::string& listen_host, std::vector<std::string> allowed);

  /// On any port, since tunnels change it. Listening on loopback only: the loopback names and
  /// addresses; else any address and this machine's name too.
  bool allows_host(std::string_view host) const;
  /// Same authority as Host, or a name that was allowed explicitly (a proxy that rewrites Host).
  /// `origin` is not empty.
  bool allows_origin(std::string_view origin, std::string_view host) const;

 private:
  bool is_allowed(std::string_view name) const;

  std::string listen_host_;  // lower case, as are these:
  std::vector<std::string> allowed_;
};

/// The value of one cookie in a Cookie header, empty if it is not there.
std::string_view cookie_value(std::string_view header, std::string_view name);

}  // namespace phosphene::stream
