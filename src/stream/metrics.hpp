// What the server counts about itself, and why it turned somebody away.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace phosphene::stream {

enum class Refused {
  kToken,
  kHost,
  kOrigin,
  kRequest,      // no such thing here, or a view that is none
  kMessage,      // garbage or too large, over the WebSocket
  kConnections,  // too many, in all or of one peer
  kStalled,      // a viewer who stopped reading
};
inline constexpr std::size_t kRefusedCauses = 7;

/// Bound to the loop thread.
struct Metrics {
  std::uint64_t http_requests = 0;
  std::uint64_t connections = 0;
  std::uint64_t accept_pauses = 0;
  std::uint64_t fragments = 0;  // delivered, summed over viewers
  std::uint64_t fragments_skipped = 0;
  std::uint64_t bytes_sent = 0;
  std::array<std::uint64_t, kRefusedCauses> refused{};
  std::int64_t open_connections = 0;
  std::int64_t pages = 0;
  std::int64_t viewers = 0;

  /// Counts, and logs `line`: at most one line a second for each cause.
  void refuse(Refused cause, std::string_view line);

  /// In Prometheus' text format.
  std::string to_text() const;

 private:
  struct Line {
    std::int64_t last_us = 0;
    std::uint64_t kept_back = 0;
  };
  std::array<Line, kRefusedCauses> lines_{};
};

}  // namespace phosphene::stream
