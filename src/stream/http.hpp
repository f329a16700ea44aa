// HTTP/1.1 as this server speaks it: a request read from libwebsockets, an answer that closes the
// connection.
#pragma once

#include <map>
#include <string>
#include <string_view>

struct lws;

namespace phosphene::stream {

struct Request {
  std::string method;                        // "GET"; empty: one that this server does not know
  std::string path;                          // decoded, begins with '/'
  std::map<std::string, std::string> query;  // decoded
  std::string host, origin, cookie, authorization;
  bool from_another_site = false;  // a browser says so (Sec-Fetch-Site)
};

/// Of a connection whose headers are complete.
Request read_request(lws* socket);

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string headers;  // more of them, each line with its end
  std::string body;
};

/// The bytes on the wire. `with_body` is false for HEAD.
std::string to_wire(const Response& response, bool with_body);

/// The head of an answer without a known end: it lasts until the connection closes.
std::string endless_head(std::string_view type);

}  // namespace phosphene::stream
