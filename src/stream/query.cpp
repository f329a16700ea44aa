#include "stream/query.hpp"

#include <cstdint>

namespace phosphene::stream {
namespace {

constexpr char kHex[] = "0123456789ABCDEF";
constexpr std::size_t kMaxPrintable = 64;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~,:/").find(c) != std::string_view::npos;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

std::string to_query(const std::map<std::string, std::string>& query) {
  std::string text;
  for (const auto& [key, value] : query) {
    if (!text.empty()) text += '&';
    text += percent_encode(key) + "=" + percent_encode(value);
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (quoted.size() >= kMaxPrintable) return quoted + "...";
    if (c >= ' ' && c <= '~') {
      quoted += c;
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return quoted;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = lead < 0x80           ? 1
                               : (lead >> 5) == 0x6  ? 2
                               : (lead >> 4) == 0xE  ? 3
                               : (lead >> 3) == 0x1E ? 4
                                                     : 0;
    if (length == 0 || i + length > text.size()) return false;
    std::uint32_t point = length == 1 ? lead : lead & (0x7Fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<std::uint8_t>(text[i + k]);
      if ((byte >> 6) != 2) return false;
      point = point << 6 | (byte & 0x3Fu);
    }
    constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kSmallest[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace phosphene::stream
