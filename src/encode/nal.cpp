#include "encode/nal.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace phosphene::encode {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::string_view kStartCode{"\0\0\1", 3};

std::size_t find_start_code(ByteView stream) {
  return std::string_view(reinterpret_cast<const char*>(stream.data()), stream.size())
      .find(kStartCode);
}

void append(Bytes& out, ByteView bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_u16(Bytes& out, std::size_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace

std::optional<ByteView> take_from_annex_b(ByteView& stream) {
  for (;;) {
    const std::size_t start = find_start_code(stream);
    if (start == std::string_view::npos) return std::nullopt;
    stream = stream.subspan(start + kStartCode.size());
    const std::size_t end = std::min(find_start_code(stream), stream.size());
    ByteView nal = stream.first(end);
    stream = stream.subspan(end);
    // Zeros before a start code belong to no NAL unit: each ends in a byte that is not 0.
    while (!nal.empty() && nal.back() == 0) nal = nal.first(nal.size() - 1);
    if (!nal.empty()) return nal;
  }
}

std::optional<ByteView> take_length_prefixed(ByteView& stream) {
  if (stream.size() < kLengthBytes) return std::nullopt;
  const std::size_t length = std::size_t{stream[0]} << 24 | std::size_t{stream[1]} << 16 |
                             std::size_t{stream[2]} << 8 | stream[3];
  stream = stream.subspan(kLengthBytes);
  if (length == 0 || length > stream.size()) return std::nullopt;
  const ByteView nal = stream.first(length);
  stream = stream.subspan(length);
  return nal;
}

void append_length_prefixed(Bytes& out, ByteView nal) {
  append_u16(out, nal.size() >> 16);
  append_u16(out, nal.size());
  append(out, nal);
}

Bytes make_avcc(ByteView sps, ByteView pps) {
  const std::uint8_t profile = sps[1];
  Bytes out{1, profile, sps[2], sps[3], 0xfc | (kLengthBytes - 1), 0xe0 | 1};
  append_u16(out, sps.size());
  append(out, sps);
  out.push_back(1);
  append_u16(out, pps.size());
  append(out, pps);
  // From High profile on: chroma format 4:2:0, eight bits of luma and chroma, no SPS extensions.
  if (profile >= 100) append(out, std::to_array<std::uint8_t>({0xfc | 1, 0xf8, 0xf8, 0}));
  return out;
}

}  // namespace phosphene::encode
