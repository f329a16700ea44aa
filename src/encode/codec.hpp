// How an H.264 encoder of libavcodec is found, set and opened.
#pragma once

#include "base/result.hpp"
#include "encode/encoder.hpp"
#include "encode/libav.hpp"

namespace phosphene::encode {

inline constexpr char kLibx264[] = "libx264";

/// Sizes and rates are taken as checked. Error: one sentence that says what to install or to
/// choose.
Result<AvCodecContext> open_codec(const EncoderOptions& options);

}  // namespace phosphene::encode
