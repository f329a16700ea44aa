// A page's WebSocket: what it is told, and what it asks for.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stream/conversation.hpp"
#include "stream/hall.hpp"
#include "stream/in_flight.hpp"
#include "stream/subscription.hpp"
#include "stream/view.hpp"

namespace phosphene::stream {

/// One binary message each: ToPage out, FromPage in.
class PageViewer : public Conversation {
 public:
  using Query = std::map<std::string, std::string>;

  /// `query` is the first view; without any key of a view the page is asked to say what it wants to
  /// see.
  PageViewer(Hall& hall, const Query& query);
  ~PageViewer() override;

  Next write(lws* socket) override;
  bool has_news() const override;
  bool receive(lws* socket, std::string_view part, bool last) override;
  void tick() override;

 private:
  void show(const Query& query);
  void watch(const View& view);
  void leave(std::string_view why);
  void say(const v1::ToPage& message);
  void notice(std::string_view text);

  Hall& hall_;
  std::optional<View> view_;        // none: the page has not said yet
  std::optional<Query> next_view_;  // asked for while the last change was too young
  std::int64_t changed_us_ = 0;     // when the view last changed
  bool visible_ = true;
  Subscription subscription_;
  InFlight in_flight_;

  std::deque<SharedMessage> outbox_;  // small messages; full: the oldest goes
  std::optional<double> pong_;  // the newest ping waits for its answer, the ones before got none
  std::uint64_t runs_told_ = 0;
  std::string scalars_run_;
  std::uint64_t scalars_cursor_ = 0;
  std::string received_;  // of a message that is not complete
};

}  // namespace phosphene::stream
