#include "encode/libav_encoder.hpp"

#include <algorithm>
#include <cassert>
#include <climits>
#include <cmath>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/luma.hpp"
#include "encode/libav.hpp"
#include "encode/nal.hpp"

namespace phosphene::encode {
namespace {

// Bounds the error of every luma sample by 6 of the 14.6 between two levels, whatever the picture:
// no rounding towards 0, no block dropped because its residual is small.
// docs/decisions/0005-exact-video.md has the sum.
constexpr int kExactQp = 13;
constexpr char kExactX264[] = "deadzone-inter=6:deadzone-intra=0:dct-decimate=0:fast-pskip=0";

// Whoever joins asks for a keyframe; this interval is for players that seek, and for lost data.
constexpr double kKeyframeIntervalSeconds = 10;

constexpr char kLibx264[] = "libx264";

void keep(void*, std::uint8_t*) {}

bool takes_yuv420p(const AVCodec* codec) {
  const AVPixelFormat* format = codec->pix_fmts;
  if (!format) return true;
  while (*format != AV_PIX_FMT_NONE && *format != AV_PIX_FMT_YUV420P) ++format;
  return *format == AV_PIX_FMT_YUV420P;
}

Result<const AVCodec*> find_codec(const std::string& name) {
  const AVCodec* codec = avcodec_find_encoder_by_name(name.c_str());
  if (!codec)
    return Error{"this build of libavcodec has no encoder " + name +
                 (name == kLibx264 ? ": install an FFmpeg built with libx264 (Debian: libavcodec59)"
                                   : ": choose another, libx264 for instance")};
  if (codec->id != AV_CODEC_ID_H264)
    return Error{"the encoder " + name + " does not make H.264: choose libx264"};
  if (!takes_yuv420p(codec))
    return Error{"the encoder " + name +
                 " takes no 4:2:0 frames from memory, only a device's own: choose libx264"};
  return codec;
}

void set_libx264(AVCodecContext& context, AVDictionary** settings, const EncoderOptions& options) {
  av_dict_set(settings, "tune", "zerolatency", 0);
  if (options.quality == Quality::kExact) {
    av_dict_set(settings, "preset", "ultrafast", 0);
    av_dict_set_int(settings, "qp", kExactQp, 0);
    av_dict_set(settings, "x264-params", kExactX264, 0);
  } else {
    // The next slower preset costs half as much again and shows no more of such pictures.
    av_dict_set(settings, "preset", "superfast", 0);
    av_dict_set(settings, "crf", "23", 0);
    context.rc_max_rate = options.max_bit_rate;
  }
}

/// As most encoders call it; avcodec_open2 leaves aside what one does not know.
void set_other(AVCodecContext& context, AVDictionary** settings, const EncoderOptions& options) {
  av_dict_set(settings, "zerolatency", "1", 0);
  av_dict_set(settings, "delay", "0", 0);
  if (options.quality == Quality::kExact) {
    av_dict_set_int(settings, "qp", kExactQp, 0);
    context.qmin = context.qmax = kExactQp;
  } else {
    context.bit_rate = context.rc_max_rate = options.max_bit_rate;
  }
}

AvCodecContext make_context(const AVCodec* codec, const EncoderOptions& options) {
  AvCodecContext context(avcodec_alloc_context3(codec));
  context->width = options.width;
  context->height = options.height;
  context->framerate = frame_rate(options.fps);
  context->time_base = av_inv_q(context->framerate);
  context->pix_fmt = AV_PIX_FMT_YUV420P;
  context->color_range = AVCOL_RANGE_MPEG;
  context->color_primaries = AVCOL_PRI_BT709;
  context->color_trc = AVCOL_TRC_BT709;
  context->colorspace = AVCOL_SPC_BT709;
  context->max_b_frames = 0;
  context->thread_count = 1;  // a channel is one thread; frame threads would hold frames back
  context->gop_size =
      std::max(1, static_cast<int>(std::lround(kKeyframeIntervalSeconds * options.fps)));
  context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_LOW_DELAY;
  return context;
}

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
  route_libav_log();
  const auto codec = find_codec(options.name);
  if (!codec) return codec.error();
  AvCodecContext context = make_context(*codec, options);

  AVDictionary* settings = nullptr;
  av_dict_set(&settings, "forced-idr", "1", 0);
  (options.name == kLibx264 ? set_libx264 : set_other)(*context, &settings, options);
  // Half a second of the rate: what a keyframe may take is what a slow link must wait for.
  context->rc_buffer_size =
      static_cast<int>(std::min<std::int64_t>(context->rc_max_rate / 2, INT_MAX));
  take_libav_error();
  const int status = avcodec_open2(context.get(), *codec, &settings);
  av_dict_free(&settings);
  if (status < 0) {
    std::string why = take_libav_error();
    if (why.empty()) why = libav_text(status);
    return Error{"the encoder " + options.name + " does not open at " +
                 std::to_string(options.width) + "x" + std::to_string(options.height) + " (" + why +
                 ")" + (options.name == kLibx264 ? "" : ": choose libx264")};
  }
  Bytes avcc = avcc_of({context->extradata, static_cast<std::size_t>(context->extradata_size)});
  if (avcc.empty())
    return Error{
        "the encoder " + options.name +
        " gives no parameter sets before the first frame, which MP4 needs: choose libx264"};
  if (options.quality == Quality::kExact && options.name != kLibx264)
    log(LogLevel::kWarning, "the encoder " + options.name + " works at quantiser " +
                                std::to_string(kExactQp) +
                                ", but only libx264 is proven to keep every level exact");
  return std::unique_ptr<Encoder>(
      std::make_unique<LibavEncoder>(options, std::move(context), std::move(avcc)));
}

}  // namespace phosphene::encode
