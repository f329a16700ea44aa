// A real H.264 decoder, for tests: packets in, planes out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encode/encoder.hpp"
#include "encode/libav.hpp"

namespace phosphene::encode {

struct Decoded {
  int width = 0, height = 0;
  std::vector<std::uint8_t> luma, cb, cr;  // rows without padding
  AVColorRange range{};
  AVColorSpace matrix{};
  bool keyframe = false;
  std::vector<std::vector<std::uint8_t>> user_data;  // each unregistered SEI: UUID and payload
};

/// What a browser's canvas holds for a pixel: BT.709, limited range, nearest chroma sample.
struct Rgb {
  int r = 0, g = 0, b = 0;
};
Rgb rgb_at(const Decoded& picture, int x, int y);

class Decoder {
 public:
  explicit Decoder(const StreamInfo& info);
  /// Fails the test when the packet does not decode to one picture in the same call.
  Decoded decode(const std::vector<std::uint8_t>& access_unit);

 private:
  AvCodecContext context_;
  AvFrame frame_{av_frame_alloc()};
  AvPacket packet_{av_packet_alloc()};
};

}  // namespace phosphene::encode
