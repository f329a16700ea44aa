// A composed picture as it goes from the canvas to the encoder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phosphene {

/// 4:2:0, limited range, Cb 128 everywhere. Width and height are even. Not owned: valid until the
/// composer that made it is asked for the next one.
struct Picture {
  int width = 0;
  int height = 0;
  const std::uint8_t* luma = nullptr;
  std::ptrdiff_t luma_stride = 0;    // bytes
  const std::uint8_t* cr = nullptr;  // width/2 × height/2; nullptr: 128 everywhere
  std::ptrdiff_t cr_stride = 0;      // bytes
};

}  // namespace phosphene
