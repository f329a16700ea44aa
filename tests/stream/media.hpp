// Small fragments that look like MP4 to this room: a moof with a decode time, an mdat that names
// the fragment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace phosphene::stream {

inline void append_be(std::string& to, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(value >> (8 * i));
}

inline std::string box(std::string_view type, const std::string& payload) {
  std::string made;
  append_be(made, payload.size() + 8, 4);
  made += type;
  return made + payload;
}

/// A fragment that says `name` and lasts from `time`.
inline std::vector<std::uint8_t> make_fragment(const std::string& name, std::uint64_t time,
                                               std::size_t padding = 0) {
  std::string tfdt;
  append_be(tfdt, 1u << 24, 4);  // version 1
  append_be(tfdt, time, 8);
  const std::string moof =
      box("moof", box("mfhd", std::string(8, '\0')) +
                      box("traf", box("tfhd", std::string(8, '\0')) + box("tfdt", tfdt)));
  const std::string all = moof + box("mdat", name + std::string(padding, '.'));
  return {all.begin(), all.end()};
}

inline std::uint64_t decode_time(std::string_view fragment) {
  std::uint64_t time = 0;
  const std::size_t at = fragment.find("tfdt") + 8;
  for (std::size_t i = 0; i < 8; ++i)
    time = time << 8 | static_cast<std::uint8_t>(fragment[at + i]);
  return time;
}

}  // namespace phosphene::stream
