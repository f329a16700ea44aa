// Any H.264 encoder of libavcodec that takes 4:2:0 frames from memory and gives each one's packet
// at once.
#pragma once

#include "encode/encoder.hpp"

namespace phosphene::encode {

/// Sizes and rates are taken as checked.
Result<std::unique_ptr<Encoder>> make_libav_encoder(const EncoderOptions& options);

}  // namespace phosphene::encode
