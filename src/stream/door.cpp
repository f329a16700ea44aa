#include "stream/door.hpp"

#include <utility>

#include "base/secret.hpp"
#include "stream/query.hpp"

namespace phosphene::stream {
namespace {

constexpr std::string_view kBearer = "Bearer ";

Door::Refusal refusal(Refused cause, int status, const std::string& sentence) {
  return {cause,
          {.status = status, .headers = "Cache-Control: no-store\r\n", .body = sentence + "\n"}};
}

}  // namespace

Door::Door(HostRules rules, std::string token, std::uint16_t port)
    : rules_(std::move(rules)), token_(std::move(token)), port_(port) {}

std::optional<Door::Refusal> Door::check_names(const Request& request) const {
  if (!rules_.allows_host(request.host)) {
    return refusal(Refused::kHost, 421,
                   request.host.empty()
                       ? "This request names no Host."
                       : "This server does not answer to the Host \"" + printable(request.host) +
                             "\"; if it should, start it with that name allowed.");
  }
  if (!request.origin.empty() && !rules_.allows_origin(request.origin, request.host)) {
    return refusal(Refused::kOrigin, 403,
                   "A page of \"" + printable(request.origin) + "\" may not use this server.");
  }
  return std::nullopt;
}

std::optional<Door::Refusal> Door::check_token(const Request& request) const {
  const auto fits = [&](std::string_view given) { return equal_in_constant_time(given, token_); };
  const std::string_view cookie = cookie_value(request.cookie, cookie_name(request));
  std::string_view bearer = request.authorization;
  bearer = bearer.starts_with(kBearer) ? bearer.substr(kBearer.size()) : std::string_view();
  const auto query = request.query.find("token");
  const std::string_view asked = query == request.query.end() ? std::string_view() : query->second;
  if (fits(cookie) || fits(bearer) || fits(asked)) return std::nullopt;

  if (cookie.empty() && bearer.empty() && asked.empty()) {
    return refusal(Refused::kToken, 401,
                   "This server wants its token: open the URL that it printed when it started.");
  }
  return refusal(
      Refused::kToken, 403,
      "This is not the token of this server: it may have been started anew; open the URL "
      "that it printed then.");
}

std::string Door::set_cookie(const Request& request) const {
  return "Set-Cookie: " + cookie_name(request) + "=" + token_ +
         "; Path=/; HttpOnly; SameSite=Strict\r\n";
}

std::string Door::cookie_name(const Request& request) const {
  const std::uint16_t seen = parse_authority(request.host).port;
  return "phosphene_" + std::to_string(seen != 0 ? seen : port_);
}

}  // namespace phosphene::stream
