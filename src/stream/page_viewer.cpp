#include "stream/page_viewer.hpp"

#include <libwebsockets.h>

#include <utility>

#include "base/clock.hpp"

namespace phosphene::stream {
namespace {

constexpr std::uint32_t kProtocol = 1;
constexpr std::size_t kMaxMessageBytes = 16u << 10;  // of FromPage
constexpr std::size_t kMaxOutbox = 32;
// A window that is being dragged asks for many views; each costs an encoder.
constexpr std::int64_t kMinChangeInterval_us = 150'000;

static_assert(Message::kHeadroom >= LWS_PRE);

bool is_of_view(const std::string& key) {
  static constexpr std::string_view kKeys[] = {"run", "mode",  "quality", "size",  "fit",
                                               "fps", "scope", "range",   "shape", "pooling"};
  for (const std::string_view known : kKeys) {
    if (key == known) return true;
  }
  return false;
}

}  // namespace

PageViewer::PageViewer(Hall& hall, const Query& query) : hall_(hall) {
  ++hall_.metrics.pages;
  v1::ToPage welcome;
  welcome.mutable_welcome()->set_protocol(kProtocol);
  welcome.mutable_welcome()->set_server("phosphene " PHOSPHENE_VERSION);
  say(welcome);
  hall_.runs.refresh(hall_.site);
  for (const auto& [key, value] : query) {
    if (!is_of_view(key)) continue;
    show(query);
    break;
  }
}

PageViewer::~PageViewer() {
  leave({});
  --hall_.metrics.pages;
}

void PageViewer::say(const v1::ToPage& message) {
  if (outbox_.size() == kMaxOutbox) outbox_.pop_front();
  outbox_.push_back(make_message(message));
}

void PageViewer::notice(std::string_view text) {
  v1::ToPage message;
  message.mutable_notice()->set_text(std::string(text));
  say(message);
}

/// Ends the picture; without a reason nothing is said about it.
void PageViewer::leave(std::string_view why) {
  if (subscription_) --hall_.metrics.viewers;
  subscription_ = {};
  if (why.empty()) return;
  v1::ToPage message;
  message.mutable_stop()->set_why(std::string(why));
  say(message);
}

/// Whatever the site refuses, the view that was shown goes on.
void PageViewer::watch(const View& view) {
  if (view.mode == View::Mode::kOff || !visible_) {
    leave(view.mode == View::Mode::kOff ? "off" : "hidden");
    view_ = view;
    return;
  }
  Result<std::shared_ptr<Broadcast>> broadcast = hall_.site.subscribe(view);
  if (!broadcast) {
    notice(broadcast.error().message);
    if (!subscription_) leave(broadcast.error().message);
    return;
  }
  leave({});
  subscription_ = Subscription(std::move(*broadcast));
  ++hall_.metrics.viewers;
  view_ = view;
}

void PageViewer::show(const Query& query) {
  const Result<View> view = View::parse(query);
  if (!view) return notice(view.error().message);
  if (view_ == *view) return;
  changed_us_ = monotonic_us();
  watch(*view);
}

bool PageViewer::receive(lws* socket, std::string_view part, bool last) {
  const auto refuse = [&](lws_close_status status, std::string text) {
    hall_.metrics.refuse(Refused::kMessage, "A page was disconnected: " + text);
    lws_close_reason(socket, status, reinterpret_cast<unsigned char*>(text.data()), text.size());
    return false;
  };
  if (received_.size() + part.size() > kMaxMessageBytes) {
    return refuse(LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "its message is larger than 16 KiB.");
  }
  received_ += part;
  if (!last) return true;
  v1::FromPage message;
  const bool understood = lws_frame_is_binary(socket) && message.ParseFromString(received_);
  received_.clear();
  if (!understood) {
    return refuse(LWS_CLOSE_STATUS_INVALID_PAYLOAD, "its message is not a FromPage.");
  }
  if (message.has_view()) {
    Query query(message.view().query().begin(), message.view().query().end());
    if (!visible_ || monotonic_us() - changed_us_ >= kMinChangeInterval_us) {
      next_view_.reset();
      show(query);
    } else {
      next_view_ = std::move(query);
    }
  }
  if (message.has_ping()) {
    in_flight_.arrived(message.ping().fragments(), monotonic_us());
    pong_ = message.ping().time_ms();
  }
  if (message.has_visibility()) {
    // Visible once more, while it is: the page left frames out or fell behind, and begins anew.
    const bool again = visible_ && message.visibility().visible();
    visible_ = message.visibility().visible();
    if (next_view_) show(*std::exchange(next_view_, std::nullopt));
    const bool watching = static_cast<bool>(subscription_);
    if (view_ && (again ? watching : watching != visible_)) watch(View(*view_));
  }
  return true;
}

void PageViewer::tick() {
  if (next_view_) show(*std::exchange(next_view_, std::nullopt));
  if (!view_ || !outbox_.empty()) return;
  std::string run = hall_.site.run_of(*view_);
  if (run != scalars_run_) {
    scalars_run_ = std::move(run);
    scalars_cursor_ = 0;
  }
  if (scalars_run_.empty()) return;
  const bool first = scalars_cursor_ == 0;
  if (auto scalars = hall_.site.scalars(scalars_run_, scalars_cursor_)) {
    v1::ToPage message;
    *message.mutable_scalars() = std::move(*scalars);
    if (first) message.mutable_scalars()->set_reset(true);
    say(message);
  }
}

bool PageViewer::has_news() const {
  if (pong_ || !outbox_.empty() || runs_told_ != hall_.runs.number()) return true;
  return subscription_.has_news() && !in_flight_.is_full();
}

Conversation::Next PageViewer::write(lws* socket) {
  SharedMessage message;
  if (pong_) {
    v1::ToPage answer;
    answer.mutable_pong()->set_time_ms(*std::exchange(pong_, std::nullopt));
    message = make_message(answer);
  } else if (!outbox_.empty()) {
    message = std::move(outbox_.front());
    outbox_.pop_front();
  } else if (runs_told_ != hall_.runs.number()) {
    message = hall_.runs.message();
    runs_told_ = hall_.runs.number();
  } else if (!in_flight_.is_full()) {
    const std::uint64_t skipped = subscription_.cursor().skipped;
    message = subscription_.next();
    hall_.metrics.fragments_skipped += subscription_.cursor().skipped - skipped;
  }
  if (!message) return Next::kWait;
  // The frame's header goes into the headroom and leaves, or is copied, within this call; every
  // viewer is written to by this thread: so one buffer serves all.
  auto* from = reinterpret_cast<unsigned char*>(message->bytes.data()) + Message::kHeadroom;
  if (lws_write(socket, from, message->size(), LWS_WRITE_BINARY) < 0) return Next::kClose;
  hall_.metrics.bytes_sent += message->size();
  if (message->fragment) {
    ++hall_.metrics.fragments;
    in_flight_.sent(message->size());
  }
  return has_news() ? Next::kMore : Next::kWait;
}

}  // namespace phosphene::stream
