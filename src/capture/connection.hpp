// The hook's end of one connection: whole messages in, whole messages out, never waiting.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/handle.hpp"
#include "base/result.hpp"
#include "wire/framing.hpp"

namespace phosphene::capture {

/// Bound to the sender's thread.
class Connection {
 public:
  explicit Connection(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  /// Queues a message. The queue has no bound of its own: the sender fills it only when it is
  /// empty.
  void push(std::string_view message) { wire::append_message(out_, message); }
  void push_sentinel() { out_ += wire::kSentinel; }
  bool all_written() const { return written_ == out_.size(); }

  /// Writes what the kernel takes now. No signal is raised when the peer is gone.
  Result<void> write_some();

  /// Reads what is there now. False: the peer has ended the stream.
  Result<bool> read_some();
  /// The next whole message, valid until read_some().
  Result<std::optional<std::string_view>> next() { return reader_.next(); }

  /// Says that nothing more comes; what was written still arrives.
  void end_writing();

 private:
  UniqueFd fd_;
  wire::FrameReader reader_;
  std::string out_;
  std::size_t written_ = 0;
};

}  // namespace phosphene::capture
