#include "stream/http.hpp"

#include <libwebsockets.h>

#include <utility>

namespace phosphene::stream {
namespace {

std::string header(lws* socket, lws_token_indexes token) {
  const int length = lws_hdr_total_length(socket, token);
  if (length <= 0) return {};
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  const int copied = lws_hdr_copy(socket, value.data(), static_cast<int>(value.size()), token);
  value.resize(copied > 0 ? static_cast<std::size_t>(copied) : 0);
  return value;
}

/// libwebsockets has taken the query apart at each '&' and decoded the parts.
std::map<std::string, std::string> read_query(lws* socket) {
  std::map<std::string, std::string> query;
  for (int i = 0;; ++i) {
    const int length = lws_hdr_fragment_length(socket, WSI_TOKEN_HTTP_URI_ARGS, i);
    if (length <= 0) return query;
    std::string part(static_cast<std::size_t>(length) + 1, '\0');
    const int copied = lws_hdr_copy_fragment(socket, part.data(), static_cast<int>(part.size()),
                                             WSI_TOKEN_HTTP_URI_ARGS, i);
    part.resize(copied > 0 ? static_cast<std::size_t>(copied) : 0);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      query.try_emplace(std::move(part));
    } else {
      query.try_emplace(part.substr(0, equals), part.substr(equals + 1));
    }
  }
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case 426:
      return "Upgrade Required";
    default:
      return "Service Unavailable";
  }
}

std::string head(int status, std::string_view type) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text += reason_of(status);
  text += "\r\nContent-Type: ";
  text += type;
  text +=
      "\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-site\r\n";
  return text;
}

}  // namespace

Request read_request(lws* socket) {
  Request request;
  char* path = nullptr;
  int length = 0;
  const int method = lws_http_get_uri_and_method(socket, &path, &length);
  if (method == LWSHUMETH_GET) request.method = "GET";
  if (method == LWSHUMETH_HEAD) request.method = "HEAD";
  if (method >= 0 && path) request.path.assign(path, static_cast<std::size_t>(length));
  request.query = read_query(socket);
  request.host = header(socket, WSI_TOKEN_HOST);
  request.origin = header(socket, WSI_TOKEN_ORIGIN);
  request.cookie = header(socket, WSI_TOKEN_HTTP_COOKIE);
  request.authorization = header(socket, WSI_TOKEN_HTTP_AUTHORIZATION);
  char site[16] = {};
  static constexpr std::string_view kSite = "sec-fetch-site:";
  request.from_another_site =
      lws_hdr_custom_copy(socket, site, sizeof site, kSite.data(), kSite.size()) > 0 &&
      std::string_view(site) == "cross-site";
  return request;
}

std::string to_wire(const Response& response, bool with_body) {
  std::string text = head(response.status, response.type);
  text += response.headers;
  text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
  if (with_body) text += response.body;
  return text;
}

std::string endless_head(std::string_view type) {
  return head(200, type) + "Cache-Control: no-store\r\nAccept-Ranges: none\r\n\r\n";
}

}  // namespace phosphene::stream
