#include "stream/mp4_viewer.hpp"

#include <libwebsockets.h>

#include <span>
#include <utility>

#include "stream/http.hpp"

namespace phosphene::stream {

Mp4Viewer::Mp4Viewer(Hall& hall, Subscription subscription)
    : hall_(hall), subscription_(std::move(subscription)) {
  ++hall_.metrics.viewers;
}

Mp4Viewer::~Mp4Viewer() {
  --hall_.metrics.viewers;
}

bool Mp4Viewer::prepare(const Message& message) {
  if (message.media_bytes == 0) return false;
  if (!message.fragment) {
    last_number_ = 0;
    if (message.media() == init_) return false;
    init_ = message.media();
  }
  bytes_.assign(LWS_PRE, '\0');
  bytes_ += message.media();
  if (message.fragment) {
    const std::uint64_t number = subscription_.cursor().next - 1;
    const std::span all(reinterpret_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
    time_.place(all.subspan(LWS_PRE), last_number_ != 0 && number == last_number_ + 1);
    last_number_ = number;
    ++hall_.metrics.fragments;
  }
  return true;
}

Conversation::Next Mp4Viewer::write(lws* socket) {
  if (!head_sent_) {
    head_sent_ = true;
    bytes_ = std::string(LWS_PRE, '\0') + endless_head("video/mp4");
  } else {
    const std::uint64_t skipped = subscription_.cursor().skipped;
    SharedMessage message = subscription_.next();
    while (message && !prepare(*message)) message = subscription_.next();
    hall_.metrics.fragments_skipped += subscription_.cursor().skipped - skipped;
    if (!message) return Next::kWait;
  }
  const std::size_t size = bytes_.size() - LWS_PRE;
  auto* from = reinterpret_cast<unsigned char*>(bytes_.data()) + LWS_PRE;
  if (lws_write(socket, from, size, LWS_WRITE_HTTP) < 0) return Next::kClose;
  hall_.metrics.bytes_sent += size;
  return has_news() ? Next::kMore : Next::kWait;
}

}  // namespace phosphene::stream
