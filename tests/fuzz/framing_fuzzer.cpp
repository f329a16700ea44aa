// FrameReader: any bytes in any pieces give the messages that those in one piece give, in bounded
// memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "wire/framing.hpp"

using phosphene::wire::FrameReader;

namespace {

constexpr std::size_t kMaxMessageBytes = 1000;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  std::vector<std::string> messages;
  bool closed = false;
  bool failed = false;
  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view bytes, std::size_t piece) {
  FrameReader reader(kMaxMessageBytes);
  Outcome outcome;
  while (!bytes.empty() && !outcome.failed) {
    const std::string_view now = bytes.substr(0, piece);
    bytes.remove_prefix(now.size());
    reader.feed(now);
    for (;;) {
      const auto next = reader.next();
      outcome.failed = !next;
      if (!next || !*next) break;
      outcome.messages.emplace_back(**next);
    }
    require(reader.capacity() <= kMaxMessageBytes + phosphene::wire::kMaxLengthBytes + now.size());
  }
  outcome.closed = reader.closed();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Outcome whole = read(bytes, kMaxMessageBytes);
  require(whole == read(bytes, piece));
  require(whole == read(bytes, 1));

  // What was read can be written and read again.
  std::string written;
  for (const std::string& message : whole.messages)
    phosphene::wire::append_message(written, message);
  require(read(written, piece).messages == whole.messages);
  return 0;
}
