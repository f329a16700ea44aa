// One peer that opens very many connections (case_36).
#include <doctest/doctest.h>

#include <deque>

#include "stage.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::stream;

ServerOptions small() {
  ServerOptions options;
  options.max_connections = 24;
  options.max_connections_per_peer = 8;
  return options;
}

}  // namespace

TEST_CASE("a thousand sockets of one peer lock out neither others nor itself (case_36)") {
  Stage stage;
  WebSocket viewer(stage.port(), "/ws?mode=parameters", stage.bearer(), "127.0.0.2");
  REQUIRE(viewer.status() == 101);
  std::deque<Client> idle;
  for (int i = 0; i < 1000; ++i) idle.emplace_back(stage.port());
  Client other(stage.port(), "127.0.0.3");
  other.send(request_text("/healthz", {}));
  CHECK(other.read_to_close().ends_with("ok\n"));
  CHECK(ask(stage.port(), "/healthz").status ==
        200);  // of the same peer: one that asked for nothing made room
  CHECK(stage.metric("phosphene_connections") <= 514);
  auto channel = stage.running(kDefaultView);
  CHECK(viewer.receive(v1::ToPage::kStart));
}

TEST_CASE(
    "a peer's viewers beyond its limit are refused; viewers are never thrown out for newcomers") {
  Stage stage(small());
  std::deque<WebSocket> pages;
  for (int i = 0; i < 8; ++i) {
    CHECK(pages.emplace_back(stage.port(), "/ws?mode=parameters", stage.bearer()).status() == 101);
  }
  const Answer refused = ask(stage.port(), "/healthz");
  CHECK((refused.status == 503 || refused.status == 0));  // the close may overtake the answer
  CHECK(WebSocket(stage.port(), "/ws?mode=parameters", stage.bearer(), "127.0.0.2").status() ==
        101);
  auto channel = stage.running(kDefaultView);
  for (WebSocket& page : pages) CHECK(page.receive(v1::ToPage::kStart));
  pages.pop_back();
  CHECK(eventually([&] { return ask(stage.port(), "/healthz").status == 200; }));
}

TEST_CASE("many peers together stay within the limit of all") {
  Stage stage(small());
  std::deque<Client> idle;
  for (int peer = 2; peer < 10; ++peer) {
    for (int i = 0; i < 8; ++i)
      idle.emplace_back(stage.port(), ("127.0.0." + std::to_string(peer)).c_str());
  }
  CHECK(ask(stage.port(), "/healthz").status == 200);
  CHECK(stage.metric("phosphene_connections") <= 24);
}
