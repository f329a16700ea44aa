#include "encode/libav_encoder.hpp"

#include <cassert>
#include <string>
#include <utility>

#include "base/luma.hpp"
#include "encode/codec.hpp"
#include "encode/nal.hpp"

namespace phosphene::encode {
namespace {

void keep(void*, std::uint8_t*) {}

/// avcC from the parameter sets an encoder left in extradata; empty if they are not there.
Bytes avcc_of(ByteView annex_b) {
  ByteView sps, pps;
  while (const auto nal = take_from_annex_b(annex_b)) {
    if (type_of(*nal) == NalType::kSps && nal->size() >= 4) sps = *nal;
    if (type_of(*nal) == NalType::kPps) pps = *nal;
  }
  return sps.empty() || pps.empty() ? Bytes{} : make_avcc(sps, pps);
}

/// Appends what belongs in an MP4 sample: parameter sets are in the avcC alone, and delimiters say
/// what MP4 says itself.
void append_sample(Bytes& out, ByteView annex_b) {
  while (const auto nal = take_from_annex_b(annex_b)) {
    const NalType type = type_of(*nal);
    if (type != NalType::kSps && type != NalType::kPps && type != NalType::kDelimiter)
      append_length_prefixed(out, *nal);
  }
}

class LibavEncoder final : public Encoder {
 public:
  LibavEncoder(const EncoderOptions& options, AvCodecContext context, Bytes avcc)
      : info_{options.width, options.height, options.fps, std::move(avcc)},
        name_(options.name),
        context_(std::move(context)),
        frame_(av_frame_alloc()),
        packet_(av_packet_alloc()),
        neutral_(static_cast<std::size_t>(options.width / 2) * (options.height / 2),
                 kChromaNeutral) {}

  Result<Packet> encode(const Picture& picture, bool keyframe, ByteView facts) override {
    point_at(picture, keyframe);
    int status = avcodec_send_frame(context_.get(), frame_.get());
    av_buffer_unref(&frame_->buf[0]);
    if (status >= 0) status = avcodec_receive_packet(context_.get(), packet_.get());
    if (status == AVERROR(EAGAIN))
      return Error{"the encoder " + name_ +
                   " holds frames back, which is no use live: choose libx264"};
    if (status < 0)
      return Error{"the encoder " + name_ + " failed at frame " + std::to_string(next_) + ": " +
                   libav_text(status)};

    Packet packet;
    packet.number = next_++;
    packet.keyframe = packet_->flags & AV_PKT_FLAG_KEY;
    const ByteView stream(packet_->data, static_cast<std::size_t>(packet_->size));
    packet.data.reserve(stream.size() + facts.size() * 3 / 2 + 256);
    append_facts(packet.data, facts);
    append_sample(packet.data, stream);
    av_packet_unref(packet_.get());
    return packet;
  }

  const StreamInfo& info() const override { return info_; }

 private:
  void point_at(const Picture& picture, bool keyframe) {
    assert(picture.width == info_.width && picture.height == info_.height);
    AVFrame& frame = *frame_;
    frame.format = context_->pix_fmt;
    frame.width = picture.width;
    frame.height = picture.height;
    frame.color_range = context_->color_range;
    frame.color_primaries = context_->color_primaries;
    frame.color_trc = context_->color_trc;
    frame.colorspace = context_->colorspace;
    frame.pts = next_;
    frame.pict_type = keyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;

    const int chroma_stride = picture.width / 2;
    const auto plane = [&](int index, const std::uint8_t* data, std::ptrdiff_t stride) {
      frame.data[index] = const_cast<std::uint8_t*>(data);  // read only
      frame.linesize[index] = static_cast<int>(stride);
    };
    plane(0, picture.luma, picture.luma_stride);
    plane(1, neutral_.data(), chroma_stride);
    if (picture.cr)
      plane(2, picture.cr, picture.cr_stride);
    else
      plane(2, neutral_.data(), chroma_stride);

    // libx264 is done with a frame when the call returns, so it may read the picture where it lies.
    // Without a buffer libavcodec makes a copy first, for encoders that may read it later.
    if (name_ == kLibx264)
      frame.buf[0] = av_buffer_create(frame.data[0], 1, keep, nullptr, AV_BUFFER_FLAG_READONLY);
  }

  StreamInfo info_;
  std::string name_;
  AvCodecContext context_;
  AvFrame frame_;
  AvPacket packet_;
  Bytes neutral_;  // a chroma plane of 128
  std::int64_t next_ = 0;
};

}  // namespace

Result<std::unique_ptr<Encoder>> make_libav_encoder(const EncoderOptions& options) {
  auto context = open_codec(options);
  if (!context) return context.error();
  const AVCodecContext& codec = **context;
  Bytes avcc = avcc_of({codec.extradata, static_cast<std::size_t>(codec.extradata_size)});
  if (avcc.empty())
    return Error{
        "the encoder " + options.name +
        " gives no parameter sets before the first frame, which MP4 needs: choose libx264"};
  return std::unique_ptr<Encoder>(
      std::make_unique<LibavEncoder>(options, *std::move(context), std::move(avcc)));
}

}  // namespace phosphene::encode
