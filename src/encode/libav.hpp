// What is common to all code that calls FFmpeg's libraries: owners of their handles, their log,
// their errors.
#pragma once

#include <memory>
#include <string>

#include "base/handle.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace phosphene::encode {

template <typename T, void (*kFree)(T**)>
struct FreeByAddress {
  void operator()(T* handle) const { kFree(&handle); }
};

using AvCodecContext =
    std::unique_ptr<AVCodecContext, FreeByAddress<AVCodecContext, avcodec_free_context>>;
using AvFrame = std::unique_ptr<AVFrame, FreeByAddress<AVFrame, av_frame_free>>;
using AvPacket = std::unique_ptr<AVPacket, FreeByAddress<AVPacket, av_packet_free>>;
using AvFormatContext = std::unique_ptr<AVFormatContext, Deleter<avformat_free_context>>;

/// Sends what FFmpeg's libraries log to phosphene::log, its warnings and worse as warnings, the
/// rest as debugging. Thread-safe; what is called again does nothing.
void route_libav_log();

/// The last line that FFmpeg's libraries logged as an error on this thread, which often says more
/// than a code does. Forgotten when taken; empty if there was none.
std::string take_libav_error();

/// What an error code of theirs means.
std::string libav_text(int code);

/// A frame rate as a fraction: exact for every rate people write (29.97, 24000/1001, 0.5).
AVRational frame_rate(double fps);

}  // namespace phosphene::encode
