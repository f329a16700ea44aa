// From pictures to H.264 packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/picture.hpp"
#include "base/result.hpp"

namespace phosphene::encode {

enum class Quality {
  kExact,   // every level is recovered exactly
  kSmooth,  // rate-capped, for slow links
};

struct EncoderOptions {
  int width = 1280;  // pixels, even
  int height = 720;  // pixels, even
  double fps = 30;   // nominal, 0.1 … 240
  Quality quality = Quality::kExact;
  std::string name = "libx264";           // as libavcodec calls it; "null": no codec, but the facts
  std::int64_t max_bit_rate = 3'000'000;  // bit/s, kSmooth
};

struct Packet {
  std::vector<std::uint8_t> data;  // length-prefixed NAL units (AVCC)
  bool keyframe = false;
  std::int64_t number = 0;  // 0, 1, 2 … of this encoder: time is number ÷ fps
};

/// What a container needs to know of a stream.
struct StreamInfo {
  int width = 0, height = 0;
  double fps = 30;
  std::vector<std::uint8_t> extradata;  // avcC
};

/// UUID of the SEI message that carries a frame's facts, before a serialised phosphene.v1.Facts.
extern const std::uint8_t kFactsUuid[16];

/// Bound to the thread that made it.
class Encoder {
 public:
  virtual ~Encoder() = default;

  /// One picture in, its packet out, in the same call. The picture has the size the encoder was
  /// made for and need not outlive the call. `facts` ride in the access unit as user-data SEI. The
  /// first packet is a keyframe, so is each asked for.
  virtual Result<Packet> encode(const Picture& picture, bool keyframe,
                                std::span<const std::uint8_t> facts) = 0;
  virtual const StreamInfo& info() const = 0;
};

/// Error: the encoder is missing (and what to install), refuses the size, or needs a device.
Result<std::unique_ptr<Encoder>> make_encoder(const EncoderOptions& options);

/// The facts of an access unit of length-prefixed NAL units, emulation prevention undone; nothing
/// if there are none.
std::optional<std::vector<std::uint8_t>> facts_of(std::span<const std::uint8_t> access_unit);

}  // namespace phosphene::encode
