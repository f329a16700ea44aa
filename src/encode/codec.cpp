#include "encode/codec.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>

#include "base/log.hpp"

namespace phosphene::encode {
namespace {

// Bounds the error of every luma sample by 6 of the 14.6 between two levels, whatever the picture:
// no rounding towards 0, no block dropped because its residual is small.
// docs/decisions/0005-exact-video.md has the sum.
constexpr int kExactQp = 13;
constexpr char kExactX264[] = "deadzone-inter=6:deadzone-intra=0:dct-decimate=0:fast-pskip=0";

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
  context->thread_count = 1;        // a channel is one thread; frame threads would hold frames back
  context->gop_size = INT_MAX / 2;  // only who asks for a keyframe knows to make its facts whole
  context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_LOW_DELAY;
  return context;
}

}  // namespace

Result<AvCodecContext> open_codec(const EncoderOptions& options) {
  route_libav_log();
  const auto codec = find_codec(options.name);
  if (!codec) return codec.error();
  AvCodecContext context = make_context(*codec, options);

  const bool libx264 = options.name == kLibx264;
  AVDictionary* settings = nullptr;
  av_dict_set(&settings, "forced-idr", "1", 0);
  av_dict_set(&settings, "sc_threshold", "0", 0);
  (libx264 ? set_libx264 : set_other)(*context, &settings, options);
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
                 ")" + (libx264 ? "" : ": choose libx264")};
  }
  if (options.quality == Quality::kExact && !libx264)
    log(LogLevel::kWarning, "the encoder " + options.name + " works at quantiser " +
                                std::to_string(kExactQp) +
                                ", but only libx264 is proven to keep every level exact");
  return context;
}

}  // namespace phosphene::encode
