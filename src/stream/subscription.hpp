// One viewer's place in a broadcast; the broadcast counts it as long as it lives.
#pragma once

#include <memory>
#include <utility>

#include "stream/broadcast.hpp"

namespace phosphene::stream {

/// Move-only, bound to the loop thread. Empty: no subscription.
class Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::shared_ptr<Broadcast> broadcast) : broadcast_(std::move(broadcast)) {
    broadcast_->add_viewer();
  }
  Subscription(Subscription&& other) noexcept
      : broadcast_(std::move(other.broadcast_)), cursor_(other.cursor_) {}
  Subscription& operator=(Subscription&& other) noexcept {
    std::swap(broadcast_, other.broadcast_);
    std::swap(cursor_, other.cursor_);
    return *this;
  }
  ~Subscription() {
    if (broadcast_) broadcast_->remove_viewer();
  }

  explicit operator bool() const { return broadcast_ != nullptr; }
  bool has_news() const { return broadcast_ && broadcast_->has_news(cursor_); }
  SharedMessage next() { return broadcast_ ? broadcast_->next(cursor_) : nullptr; }
  const Broadcast::Cursor& cursor() const { return cursor_; }

 private:
  std::shared_ptr<Broadcast> broadcast_;
  Broadcast::Cursor cursor_;
};

}  // namespace phosphene::stream
