// What stands at which path. Paths are matched from their end: behind a reverse proxy the server
// may live below any path, whether the proxy takes that off or not.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "stream/conversation.hpp"
#include "stream/door.hpp"
#include "stream/hall.hpp"
#include "stream/http.hpp"

namespace phosphene::stream {

/// Bound to the loop thread.
class Router {
 public:
  Router(Hall& hall, Door door, std::span<const Asset> assets);

  /// What an HTTP request gets. Never null.
  std::unique_ptr<Conversation> answer(const Request& request);

  /// What a WebSocket handshake gets: a page's conversation, or the answer that turns it away.
  std::variant<std::unique_ptr<Conversation>, Response> upgrade(const Request& request);

  const Door& door() const { return door_; }

 private:
  std::variant<std::unique_ptr<Conversation>, Response> route(const Request& request);
  Response page(const Request& request) const;
  Response turn_away(const Request& request, Door::Refusal refusal);
  const Asset* find_asset(std::string_view path) const;

  Hall& hall_;
  Door door_;
  std::span<const Asset> assets_;
};

}  // namespace phosphene::stream
