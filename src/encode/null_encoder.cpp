#include "encode/null_encoder.hpp"

#include <cassert>

#include "encode/nal.hpp"

namespace phosphene::encode {
namespace {

// Valid, and of no consequence: Constrained Baseline, level 1, one macroblock.
constexpr std::uint8_t kSps[] = {0x67, 0x42, 0xc0, 0x0a, 0xdd, 0xc4};
constexpr std::uint8_t kPps[] = {0x68, 0xce, 0x38, 0x80};
constexpr std::uint8_t kDelimiter[] = {static_cast<std::uint8_t>(NalType::kDelimiter), 0xf0};

class NullEncoder final : public Encoder {
 public:
  explicit NullEncoder(const EncoderOptions& options)
      : info_{options.width, options.height, options.fps, make_avcc(kSps, kPps)} {}

  Result<Packet> encode([[maybe_unused]] const Picture& picture, bool keyframe,
                        ByteView facts) override {
    assert(picture.width == info_.width && picture.height == info_.height);
    Packet packet;
    append_length_prefixed(packet.data, kDelimiter);
    append_facts(packet.data, facts);
    packet.number = next_++;
    packet.keyframe = keyframe || packet.number == 0;
    return packet;
  }

  const StreamInfo& info() const override { return info_; }

 private:
  StreamInfo info_;
  std::int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<Encoder> make_null_encoder(const EncoderOptions& options) {
  return std::make_unique<NullEncoder>(options);
}

}  // namespace phosphene::encode
