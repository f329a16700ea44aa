// Secrets that come from outside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace phosphene {

/// Takes as long whatever differs.
inline bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;  // the length is no secret
  volatile std::uint8_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = difference | static_cast<std::uint8_t>(a[i] ^ b[i]);
  }
  return difference == 0;
}

/// What may be a token: 8 to 128 letters, digits, - or _.
inline bool is_token(std::string_view text) {
  return text.size() >= 8 && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '-' || c == '_';
         });
}

}  // namespace phosphene
