#include "wire/framing.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace phosphene::wire {

void append_length(std::string& out, std::size_t message_bytes) {
  while (message_bytes >= 0x80) {
    out.push_back(static_cast<char>(message_bytes | 0x80));
    message_bytes >>= 7;
  }
  out.push_back(static_cast<char>(message_bytes));
}

void append_message(std::string& out, std::string_view message) {
  assert(!message.empty());
  append_length(out, message.size());
  out.append(message);
}

char* FrameReader::prepare(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < bytes && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  const std::size_t needed = end_ + bytes;
  if (buffer_.size() < needed) {
    // Twice as much each time, so that a large message is not copied at every read, but no more
    // than it can need.
    const std::size_t largest = std::max(needed, max_bytes_ + kMaxLengthBytes + bytes);
    buffer_.reserve(std::clamp(2 * buffer_.size(), needed, largest));
    buffer_.resize(buffer_.capacity());
  }
  return buffer_.data() + end_;
}

void FrameReader::commit(std::size_t bytes) {
  assert(bytes <= buffer_.size() - end_);
  if (!closed_) end_ += bytes;
}

void FrameReader::trim() {
  if (begin_ != end_) return;
  begin_ = end_ = 0;
  std::vector<char>().swap(buffer_);
}

void FrameReader::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(prepare(bytes.size()), bytes.data(), bytes.size());
  commit(bytes.size());
}

Result<std::optional<std::string_view>> FrameReader::next() {
  std::uint64_t length = 0;
  std::size_t at = begin_;
  for (int shift = 0;; shift += 7, ++at) {
    if (at == end_) return std::optional<std::string_view>();
    const auto byte = static_cast<unsigned char>(buffer_[at]);
    length |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    const bool last = (byte & 0x80) == 0;
    if (last && byte == 0 && shift > 0)
      return Error{"a message's length is padded with zero bits: these are not phosphene messages"};
    if (last) break;
    if (shift == 7 * (kMaxLengthBytes - 1))
      return Error{"a message's length takes more than " + std::to_string(kMaxLengthBytes) +
                   " bytes: these are not phosphene messages"};
  }
  if (length == 0) {
    closed_ = true;
    begin_ = end_ = 0;
    return std::optional<std::string_view>();
  }
  if (length > max_bytes_)
    return Error{"a message claims " + std::to_string(length) + " bytes, more than the " +
                 std::to_string(max_bytes_) + " allowed"};
  ++at;
  if (end_ - at < length) return std::optional<std::string_view>();
  begin_ = at + length;
  return std::optional<std::string_view>({buffer_.data() + at, static_cast<std::size_t>(length)});
}

}  // namespace phosphene::wire
