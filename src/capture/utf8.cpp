#include <cstddef>
#include <cstdint>

#include "capture/codec.hpp"

namespace phosphene::capture {
namespace {

// Bytes of the character at the start of `text`, 0 if there is none: RFC 3629, no surrogates, no
// overlong forms.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const std::uint8_t second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : bytes;
}

}  // namespace

std::string to_utf8(std::string_view text) {
  std::string mended;
  mended.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes) {
      mended += text.substr(0, bytes);
    } else {
      mended += '?';
    }
    text.remove_prefix(bytes ? bytes : 1);
  }
  return mended;
}

}  // namespace phosphene::capture
