// The server's end of the wire for tests: real sockets, libprotobuf.
#pragma once

#include <poll.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../patience.hpp"
#include "base/clock.hpp"
#include "phosphene.pb.h"
#include "wire/framing.hpp"
#include "wire/socket.hpp"

namespace phosphene::test {

namespace v1 = phosphene::v1;

/// One connection of a hook.
class Peer {
 public:
  explicit Peer(UniqueFd fd) : fd_(std::move(fd)) {}

  /// The next message; nothing when the stream ended or none came in time.
  std::optional<v1::FromHook> next(int timeout_ms = kPatienceMs) {
    const std::int64_t deadline = monotonic_us() + 1000 * timeout_ms;
    for (bool looked = false;; looked = true) {
      const auto message = reader_.next();
      if (!message) {
        ended_ = true;
        return std::nullopt;
      }
      if (*message) {
        v1::FromHook parsed;
        if (!parsed.ParseFromString(std::string(**message))) return std::nullopt;
        return parsed;
      }
      const std::int64_t left_us = deadline - monotonic_us();
      if (ended_ || (looked && left_us <= 0)) return std::nullopt;
      read(static_cast<int>(std::max<std::int64_t>(left_us, 0) / 1000));
    }
  }

  /// The next message of a kind; others are passed over.
  std::optional<v1::FromHook> next(v1::FromHook::MessageCase kind) {
    while (auto message = next()) {
      if (message->message_case() == kind) return message;
    }
    return std::nullopt;
  }

  /// Reads all that comes until the stream ends. True: with the closing sentinel.
  bool ends_in_order() {
    while (next()) {
    }
    return ended_ && reader_.closed();
  }
  bool ended() const { return ended_; }

  void send_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = wire::send_some(fd_.get(), bytes);
      if (!sent) return;
      bytes.remove_prefix(*sent);
    }
  }
  void send(const v1::ToHook& message) {
    std::string bytes;
    wire::append_message(bytes, message.SerializeAsString());
    send_bytes(bytes);
  }
  void welcome() {
    v1::ToHook message;
    message.mutable_welcome()->set_protocol(wire::kProtocolVersion);
    message.mutable_welcome()->set_server("test");
    send(message);
  }

 private:
  void read(int timeout_ms) {
    pollfd waiting{fd_.get(), POLLIN, 0};
    ::poll(&waiting, 1, timeout_ms);
    constexpr std::size_t kRoom = 1u << 16;
    const auto count = wire::receive_some(fd_.get(), reader_.prepare(kRoom), kRoom);
    if (!count || (*count && **count == 0)) {
      ended_ = true;
    } else if (*count) {
      reader_.commit(**count);
    }
  }

  UniqueFd fd_;
  wire::FrameReader reader_;
  bool ended_ = false;
};

/// Listens on a socket of its own.
class Server {
 public:
  static std::string fresh_address() {
    char directory[] = "/tmp/phosphene-test-XXXXXX";
    return std::string("unix:") + ::mkdtemp(directory) + "/ingest.sock";
  }

  explicit Server(const std::string& address = fresh_address()) {
    auto parsed = wire::Address::parse(address);
    if (parsed) {
      auto listener = wire::listen(*parsed);
      if (listener) listener_ = std::move(*listener);
    }
  }
  ~Server() { stop(); }

  bool listens() const { return static_cast<bool>(listener_.fd); }
  std::string address() const { return listener_.address.to_string(); }

  /// The next hook, welcomed.
  std::optional<Peer> accept() {
    const std::int64_t deadline = monotonic_us() + 1000 * kPatienceMs;
    while (monotonic_us() < deadline) {
      pollfd waiting{listener_.fd.get(), POLLIN, 0};
      ::poll(&waiting, 1, 100);
      auto accepted = wire::accept(listener_);
      if (accepted && *accepted) {
        Peer peer(std::move(**accepted));
        peer.welcome();
        return peer;
      }
    }
    return std::nullopt;
  }

  void stop() {
    listener_.fd.reset();
    if (!listener_.address.path.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(std::filesystem::path(listener_.address.path).parent_path(),
                                  ignored);
    }
  }

 private:
  wire::Listener listener_;
};

/// A view of everything of some tensors, as fast as it goes.
inline v1::ToHook plan_of(const std::vector<std::uint32_t>& tensors, std::uint64_t version = 1) {
  v1::ToHook message;
  message.mutable_plans()->set_version(version);
  v1::ViewPlan& view = *message.mutable_plans()->add_views();
  view.set_view(1);
  view.set_fps(1000);
  view.set_quantity(v1::QUANTITY_VALUE);
  view.mutable_scaling()->set_range(v1::RANGE_MODE_FIXED);
  view.mutable_scaling()->set_shape(v1::SHAPE_LINEAR);
  view.mutable_scaling()->set_scope(v1::SCOPE_LAYER);
  view.mutable_scaling()->set_lo(0);
  view.mutable_scaling()->set_hi(16);
  for (const std::uint32_t tensor : tensors) view.add_tensors()->set_tensor(tensor);
  return message;
}

inline v1::ToHook nothing(std::uint64_t version) {
  v1::ToHook message;
  message.mutable_plans()->set_version(version);
  return message;
}

/// The levels of a tile, one a byte.
inline std::vector<int> levels_of(const v1::Tile& tile) {
  std::vector<int> levels;
  for (std::uint32_t cell = 0; cell < tile.cells(); ++cell) {
    const auto byte = static_cast<std::uint8_t>(tile.levels()[cell / 2]);
    levels.push_back(cell % 2 ? byte & 15 : byte >> 4);
  }
  return levels;
}

}  // namespace phosphene::test
