// No codec: what is behind the encoder runs, and can be tested and measured, alone.
#pragma once

#include "encode/encoder.hpp"

namespace phosphene::encode {

/// Its packets hold an access unit delimiter and the facts. A container takes them; nothing can be
/// decoded.
std::unique_ptr<Encoder> make_null_encoder(const EncoderOptions& options);

}  // namespace phosphene::encode
