// Delimited framing: each message is preceded by its length as a varint; length 0 is the closing
// sentinel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace phosphene::wire {

inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr std::size_t kMaxMessageBytes = 32u << 20;
inline constexpr int kMaxLengthBytes = 5;  // of the varint before a message

/// The closing sentinel: an end of the stream without it is a crash.
inline constexpr std::string_view kSentinel{"\0", 1};

/// Appends the length of a message to `out`; the message itself follows.
void append_length(std::string& out, std::size_t message_bytes);
/// Appends a whole delimited message. Empty messages do not exist.
void append_message(std::string& out, std::string_view message);

/// Cuts a byte stream into messages. Bound to one thread. Memory grows with the bytes that came,
/// never with the length that was claimed, and stays below the largest message plus one read.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_message_bytes = kMaxMessageBytes)
      : max_bytes_(max_message_bytes) {}

  /// Room for at least `bytes` more; write there, then commit() what was written.
  char* prepare(std::size_t bytes);
  void commit(std::size_t bytes);
  void feed(std::string_view bytes);

  /// The next whole message (valid until prepare() or feed()), nothing if more bytes are needed or
  /// the sentinel was seen, an Error if a length is too large or malformed: the stream is then of
  /// no more use.
  Result<std::optional<std::string_view>> next();

  /// The sentinel was seen: what comes after it is ignored.
  bool closed() const { return closed_; }
  /// Bytes that next() has not given out yet.
  std::size_t pending_bytes() const { return end_ - begin_; }
  /// Gives memory back if nothing is pending: after one large message the room for it would stay.
  void trim();
  /// Bytes of memory held.
  std::size_t capacity() const { return buffer_.capacity(); }

 private:
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t max_bytes_;
  bool closed_ = false;
};

}  // namespace phosphene::wire
