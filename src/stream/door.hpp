// Who gets in: Host, Origin and token of every request, over HTTP and WebSocket alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stream/http.hpp"
#include "stream/metrics.hpp"
#include "stream/security.hpp"

namespace phosphene::stream {

class Door {
 public:
  Door(HostRules rules, std::string token, std::uint16_t port);

  const std::string& token() const { return token_; }

  struct Refusal {
    Refused cause;
    Response response;  // one sentence
  };
  /// Nothing: Host and Origin are those of a browser that means this server.
  std::optional<Refusal> check_names(const Request& request) const;
  /// Nothing: the request bears the token, as a cookie, as `Authorization: Bearer` or as `token=`
  /// in its query.
  std::optional<Refusal> check_token(const Request& request) const;

  /// The header that turns the token in a URL into a cookie. Named after the port that the browser
  /// sees, so that two servers on one machine do not overwrite each other's.
  std::string set_cookie(const Request& request) const;

 private:
  std::string cookie_name(const Request& request) const;

  HostRules rules_;
  std::string token_;
  std::uint16_t port_;
};

}  // namespace phosphene::stream
