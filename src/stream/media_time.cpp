#include "stream/media_time.hpp"

#include <string_view>

namespace phosphene::stream {
namespace {

std::uint64_t read_be(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

void write_be(std::span<std::uint8_t> bytes, std::uint64_t value) {
  for (std::size_t i = bytes.size(); i-- > 0; value >>= 8) {
    bytes[i] = static_cast<std::uint8_t>(value);
  }
}

/// The payload of the first box of that type; empty if there is none.
std::span<std::uint8_t> find_box(std::span<std::uint8_t> boxes, std::string_view type) {
  while (boxes.size() >= 8) {
    const std::uint64_t size = read_be(boxes.first(4));
    if (size < 8 || size > boxes.size()) break;
    const std::string_view name(reinterpret_cast<const char*>(boxes.data()) + 4, 4);
    if (name == type) return boxes.subspan(8, size - 8);
    boxes = boxes.subspan(size);
  }
  return {};
}

}  // namespace

void MediaTime::place(std::span<std::uint8_t> fragment, bool follows) {
  const auto tfdt = find_box(find_box(find_box(fragment, "moof"), "traf"), "tfdt");
  if (tfdt.size() < 8) return;
  const std::size_t width = tfdt[0] == 1 ? 8 : 4;  // the version of the box
  if (tfdt.size() < 4 + width) return;
  const auto field = tfdt.subspan(4, width);

  const std::uint64_t in = read_be(field);
  if (last_in_) {
    if (follows && in > *last_in_) duration_ = in - *last_in_;
    last_out_ += duration_;
  }
  last_in_ = in;
  write_be(field, last_out_);
}

}  // namespace phosphene::stream
