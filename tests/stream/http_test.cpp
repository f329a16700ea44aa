#include <doctest/doctest.h>

#include <array>
#include <fstream>

#include "media.hpp"
#include "stage.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::stream;
using namespace std::string_literals;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

constexpr std::string_view kIndex = "<!doctype html><head><title>page</title></head>";
const std::string kBig(300'000, 'x');
const std::array<Asset, 3> kAssets = {
    Asset{"index.html", "text/html", bytes_of(kIndex)},
    Asset{"assets/app-1a2b.js", "text/javascript", bytes_of(kBig)},
    Asset{"favicon.svg", "image/svg+xml", bytes_of("<svg/>")},
};

ServerOptions with_page() {
  ServerOptions options;
  options.assets = kAssets;
  return options;
}

std::string cookie_of(const Answer& answer) {
  const std::string header = answer.headers.at("set-cookie");
  return "Cookie: " + header.substr(0, header.find(';'));
}

}  // namespace

TEST_CASE("healthz needs no token; everything else does (case_41)") {
  Stage stage(with_page());
  const Answer health = ask(stage.port(), "/healthz");
  CHECK(health.status == 200);
  CHECK(health.body == "ok\n");
  for (const char* path : {"/", "/metrics", "/api/runs", "/api/channels", "/live.mp4",
                           "/assets/app-1a2b.js", "/nothing"}) {
    CAPTURE(path);
    const Answer without = ask(stage.port(), path);
    CHECK(without.status == 401);
    CHECK(without.body.find("token") != std::string::npos);
    const Answer wrong =
        ask(stage.port(), path, {"Authorization: Bearer 0123456789abcdef0123456789abcdef"});
    CHECK(wrong.status == 403);
  }
  CHECK(ask(stage.port(), "/api/runs?token=wrong").status == 403);
  CHECK(ask(stage.port(), "/api/runs",
            {"Cookie: phosphene_" + std::to_string(stage.port()) + "=wrong"})
            .status == 403);
  CHECK(ask(stage.port(), "/api/runs", {"Authorization: Basic " + stage.token()}).status == 401);
}

TEST_CASE("the token opens as bearer, in the query and as a cookie") {
  Stage stage(with_page());
  CHECK(ask(stage.port(), "/api/runs", stage.bearer()).body == "[]");
  CHECK(ask(stage.port(), "/api/channels?token=" + stage.token()).body == "[{}]");
  const Answer entered = ask(stage.port(), "/?token=" + stage.token());
  CHECK(
      ask(stage.port(), "/api/runs", {"Cookie: other=1; " + cookie_of(entered).substr(8)}).status ==
      200);
}

TEST_CASE("a token in the page's URL becomes a cookie and leaves the address bar") {
  Stage stage(with_page());
  const Answer entered =
      ask(stage.port(), "/?mode=gradients&token=" + stage.token() + "&run=a%26b");
  CHECK(entered.status == 303);
  CHECK(entered.headers.at("location") == "?mode=gradients&run=a%26b");
  const std::string cookie = entered.headers.at("set-cookie");
  CHECK(
      cookie.starts_with("phosphene_" + std::to_string(stage.port()) + "=" + stage.token() + ";"));
  for (const char* part : {"HttpOnly", "SameSite=Strict", "Path=/"})
    CHECK(cookie.find(part) != std::string::npos);
  CHECK(ask(stage.port(), "/?token=" + stage.token()).headers.at("location") == "?");
  CHECK(ask(stage.port(), "/?token=wrong").status == 403);
}

TEST_CASE("the cookie is named after the port that the browser sees, tunnelled or not (case_37)") {
  Stage stage(with_page());
  const Answer entered = ask(stage.port(), "/?token=" + stage.token(), {"Host: localhost:7777"});
  CHECK(entered.headers.at("set-cookie").starts_with("phosphene_7777="));
  CHECK(ask(stage.port(), "/", {"Host: localhost:7777", cookie_of(entered)}).status == 200);
}

TEST_CASE("the page is never cached, hashed assets always; both say what they are") {
  Stage stage(with_page());
  const Answer page = ask(stage.port(), "/", stage.bearer());
  CHECK(page.status == 200);
  CHECK(page.headers.at("cache-control") == "no-store");
  CHECK(page.headers.at("x-content-type-options") == "nosniff");
  const std::string policy = page.headers.at("content-security-policy");
  CHECK(policy.find("default-src 'none'") != std::string::npos);
  CHECK(page.body.find("<title>page</title>") != std::string::npos);
  // The one inline script is the one that the policy names.
  const std::size_t nonce = page.body.find("<script nonce=\"") + 15;
  CHECK(policy.find("'nonce-" + page.body.substr(nonce, 32) + "'") != std::string::npos);

  const Answer script = ask(stage.port(), "/assets/app-1a2b.js", stage.bearer());
  CHECK(script.headers.at("content-type") == "text/javascript");
  CHECK(script.headers.at("cache-control").find("immutable") != std::string::npos);
  CHECK(script.body == kBig);
  CHECK(ask(stage.port(), "/favicon.svg", stage.bearer()).headers.at("cache-control") ==
        "no-cache");
}

TEST_CASE("without a page the server says so") {
  Stage stage;
  CHECK(ask(stage.port(), "/", stage.bearer()).body.find("without its page") != std::string::npos);
}

TEST_CASE(
    "below a reverse proxy's path everything works, stripped or not, with the slash or without "
    "(case_37)") {
  Stage stage(with_page());
  CHECK(ask(stage.port(), "/tools/phosphene/", stage.bearer()).body.find("<title>page</title>") !=
        std::string::npos);
  CHECK(ask(stage.port(), "/tools/phosphene/api/runs", stage.bearer()).body == "[]");
  CHECK(ask(stage.port(), "/tools/phosphene/assets/app-1a2b.js", stage.bearer()).body == kBig);
  CHECK(ask(stage.port(), "/tools/phosphene/healthz").status == 200);
  const Answer slashless = ask(stage.port(), "/tools/phosphene?mode=off", stage.bearer());
  CHECK(slashless.status == 308);
  CHECK(slashless.headers.at("location") == "./phosphene/?mode=off");
  CHECK(ask(stage.port(), "//api/runs", stage.bearer()).status == 200);
  const WebSocket socket(stage.port(), "/tools/phosphene/ws", stage.bearer());
  CHECK(socket.status() == 101);
}

TEST_CASE("a foreign Host or Origin is told apart from a tunnel and a proxy (case_37, case_41)") {
  ServerOptions options = with_page();
  options.allowed_hosts = {"lab.example"};
  Stage stage(options);
  const auto status = [&](Headers headers) {
    headers.push_back(stage.bearer()[0]);
    return ask(stage.port(), "/api/runs", headers).status;
  };
  CHECK(status({"Host: evil.example"}) == 421);
  CHECK(status({"Host: 127.0.0.1.evil.example:" + std::to_string(stage.port())}) == 421);
  CHECK(status({"Host: "}) == 421);
  CHECK(status({"Host: localhost:9999"}) == 200);
  CHECK(status({"Host: [::1]:9999"}) == 200);
  CHECK(status({"Host: lab.example"}) == 200);
  CHECK(status({"Host: localhost:1", "Origin: http://localhost:1"}) == 200);
  CHECK(status({"Host: localhost:1", "Origin: http://localhost:2"}) == 403);
  CHECK(status({"Host: localhost:1", "Origin: http://evil.example"}) == 403);
  CHECK(status({"Host: localhost:1", "Origin: null"}) == 403);
  CHECK(status({"Host: 127.0.0.1:1", "Origin: https://lab.example"}) == 200);
  CHECK(ask(stage.port(), "/healthz", {"Host: evil.example"}).status == 421);
  CHECK(ask(stage.port(), "/api/runs", {"Host: evil.example"}).body.find("evil.example") !=
        std::string::npos);
}

TEST_CASE("a WebSocket handshake is checked like any other request, before it is one (case_41)") {
  Stage stage;
  const auto status = [&](const Headers& headers, const std::string& path = "/ws") {
    return WebSocket(stage.port(), path, headers).status();
  };
  const std::string bearer = stage.bearer()[0];
  CHECK(status({}) == 401);
  CHECK(status({"Authorization: Bearer wrong"}) == 403);
  CHECK(status({bearer}) == 101);
  CHECK(status({}, "/ws?token=" + stage.token()) == 101);
  CHECK(status({bearer, "Host: evil.example"}) == 421);
  CHECK(status({bearer, "Host: localhost:1", "Origin: http://localhost:1"}) == 101);
  CHECK(status({bearer, "Host: localhost:1", "Origin: http://localhost:3000"}) == 403);
  CHECK(status({bearer}, "/elsewhere") == 404);
  const WebSocket refused(stage.port(), "/ws");
  CHECK(refused.answer().body.find("token") != std::string::npos);
}

TEST_CASE("a link on another site leads in all the same: the page asks once more by itself") {
  Stage stage(with_page());
  const Answer first = ask(stage.port(), "/?mode=off", {"Sec-Fetch-Site: cross-site"});
  CHECK(first.status == 401);
  CHECK(first.body.find("http-equiv=refresh content=\"0;url=?again=1&mode=off\"") !=
        std::string::npos);
  CHECK(ask(stage.port(), "/?again=1", {"Sec-Fetch-Site: cross-site"}).body.find("refresh") ==
        std::string::npos);
  CHECK(ask(stage.port(), "/").body.find("refresh") == std::string::npos);
}

TEST_CASE("what is not there, and what is not GET, is said") {
  Stage stage;
  CHECK(ask(stage.port(), "/api/nothing", stage.bearer()).status == 404);
  CHECK(ask(stage.port(), "/nothing.txt", stage.bearer()).body ==
        "There is nothing at /nothing.txt.\n");
  CHECK(ask(stage.port(), "/ws", stage.bearer()).status == 426);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    CAPTURE(method);
    Headers headers = stage.bearer();
    headers.push_back("Content-Length: 0");
    CHECK(ask(stage.port(), "/api/runs", headers, method).status == 405);
  }
  const Answer head = ask(stage.port(), "/api/runs", stage.bearer(), "HEAD");
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == "2");
  CHECK(head.body.empty());
}

TEST_CASE("metrics are Prometheus text, the server's own and the site's") {
  Stage stage;
  ask(stage.port(), "/api/runs");
  const Answer answer = ask(stage.port(), "/metrics", stage.bearer());
  CHECK(answer.headers.at("content-type").starts_with("text/plain; version=0.0.4"));
  CHECK(answer.body.find("\nphosphene_http_requests_total 2\n") != std::string::npos);
  CHECK(answer.body.find("\nphosphene_refused_total{cause=\"token\"} 1\n") != std::string::npos);
  CHECK(answer.body.ends_with("phosphene_test 1\n"));
  CHECK(answer.body.find("# TYPE phosphene_viewers gauge\n") != std::string::npos);
}

TEST_CASE("a busy port: the next free one, or an error where it was asked for by name") {
  TestSite site;
  Stage first;
  ServerOptions options;
  options.port = first.port();
  auto next = Server::create(options, site);
  REQUIRE(next.ok());
  CHECK((*next)->port() > first.port());
  options.port_asked_for = true;
  auto refused = Server::create(options, site);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "Cannot listen on 127.0.0.1:" + std::to_string(first.port()) + ": the address is in use.");
  options.host = "192.0.2.1";
  CHECK(Server::create(options, site).error().message.starts_with("Cannot listen on 192.0.2.1:"));
  options.host = "no such host";
  CHECK_FALSE(Server::create(options, site).ok());
}

TEST_CASE("the URL is what a person opens") {
  Stage stage;
  CHECK(stage.server().listen() == "127.0.0.1:" + std::to_string(stage.port()));
  CHECK(stage.server().url() == "http://" + stage.server().listen() + "/?token=" + stage.token());
  CHECK(stage.token().size() == 32);
}

TEST_CASE("garbage instead of a request closes its connection and disturbs nobody (case_41)") {
  Stage stage;
  std::string noise;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(i * 7919 >> 3);
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  for (
      const std::string& text :
      {noise, std::string("GET\r\n\r\n"), std::string("\r\n\r\n\r\n"),
       std::string("GET /../../etc/passwd HTTP/1.1\r\n\r\n"),
       "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + std::string(100'000, 'a') + "\r\n\r\n",
       std::string(
           "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: nonsense\r\nConnection: Upgrade\r\n\r\n"),
       std::string("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: nonsense\r\nConnection: "
                   "keep-alive\r\n\r\n"),
       "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: "
       "h2c\r\n"
       "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"s,
       std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
       std::string("CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
       "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: close\r\n" + key +
           "\r\n",
       "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n" + key + "\r\n",
       "GET /ws?token=" + stage.token() +
           " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
       "POST /ws HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" + noise}) {
    CAPTURE(text.substr(0, 60));
    Client client(stage.port());
    client.send(text);
    CHECK(client.is_closed_by_peer());
    CHECK(ask(stage.port(), "/healthz").status == 200);
  }
}

TEST_CASE("HTTP/2 is not spoken, and so cannot be a way around the door") {
  Stage stage;
  Client client(stage.port());
  // The request rides on the upgrade itself: stream 1.
  client.send(
      "GET /api/runs?token=" + stage.token() +
      " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
      "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"s);
  // HEADERS on stream 3: GET, http, /, authority localhost.
  client.send("\0\0\x0e\1\5\0\0\0\3\x82\x86\x84\x41\x09localhost"s);
  CHECK(client.read_to_close().find("[]") == std::string::npos);
  CHECK(ask(stage.port(), "/healthz").status == 200);
}
