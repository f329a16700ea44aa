#include "encode/encoder.hpp"

#include <string>
#include <utility>

#include "encode/libav_encoder.hpp"
#include "encode/null_encoder.hpp"

namespace phosphene::encode {
namespace {

constexpr int kMaxSide = 16384;  // pixels; no level of H.264 has room for more
constexpr std::int64_t kMinBitRate = 50'000;

std::optional<Error> wrong(const EncoderOptions& options) {
  const std::string size = std::to_string(options.width) + "x" + std::to_string(options.height);
  if (options.width < 2 || options.height < 2 || options.width > kMaxSide ||
      options.height > kMaxSide)
    return Error{"video of " + size + " pixels cannot be encoded: sides are 2 … " +
                 std::to_string(kMaxSide)};
  if (options.width % 2 || options.height % 2)
    return Error{"video of " + size + " pixels cannot be encoded: both sides must be even"};
  if (!(options.fps >= 0.1 && options.fps <= 240))
    return Error{"video of " + std::to_string(options.fps) +
                 " frames a second cannot be encoded: 0.1 … 240 can"};
  if (options.quality == Quality::kSmooth && options.max_bit_rate < kMinBitRate)
    return Error{"a cap of " + std::to_string(options.max_bit_rate) +
                 " bit/s is too low for video: the least is " + std::to_string(kMinBitRate)};
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Encoder>> make_encoder(const EncoderOptions& options) {
  if (auto error = wrong(options)) return *std::move(error);
  if (options.name == "null") return make_null_encoder(options);
  return make_libav_encoder(options);
}

}  // namespace phosphene::encode
