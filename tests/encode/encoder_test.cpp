#include "encode/encoder.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <string>

#include "base/log.hpp"
#include "decoder.hpp"
#include "encode/nal.hpp"
#include "scene.hpp"

using namespace phosphene;
using namespace phosphene::encode;

namespace {

std::unique_ptr<Encoder> made(const EncoderOptions& options) {
  auto encoder = make_encoder(options);
  REQUIRE(encoder);
  return *std::move(encoder);
}

EncoderOptions sized(int width, int height) {
  EncoderOptions options;
  options.width = width;
  options.height = height;
  return options;
}

std::string refusal(const EncoderOptions& options) {
  const auto encoder = make_encoder(options);
  REQUIRE_FALSE(encoder);
  return encoder.error().message;
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the stream says limited range and BT.709, and marks its keyframes") {
  const auto encoder = made(sized(64, 48));
  Decoder decoder(encoder->info());
  Scene scene(64, 48);
  for (int frame = 0; frame < 6; ++frame) {
    const bool asked = frame == 4;
    const auto packet = encoder->encode(scene.picture(), asked, {});
    REQUIRE(packet);
    const Decoded decoded = decoder.decode(packet->data);
    CHECK(packet->number == frame);
    CHECK(packet->keyframe == (frame == 0 || asked));
    CHECK(decoded.keyframe == packet->keyframe);
    CHECK(decoded.range == AVCOL_RANGE_MPEG);
    CHECK(decoded.matrix == AVCOL_SPC_BT709);
  }
}

TEST_CASE("a keyframe that was asked for can be decoded without what came before it") {
  std::mt19937 random(5);
  const auto encoder = made(sized(64, 48));
  Scene scene(64, 48);
  for (int frame = 0; frame < 3; ++frame) {
    scene.randomise(random);
    REQUIRE(encoder->encode(scene.picture(), false, {}));
  }
  const auto packet = encoder->encode(scene.picture(), true, {});
  REQUIRE(packet);
  Decoder late(encoder->info());
  const Decoded decoded = late.decode(packet->data);
  CHECK(std::abs(decoded.luma[77] - kLumaOfLevel[scene.levels[77]]) <= 6);
}

TEST_CASE("no keyframe comes that nobody asked for, whatever is shown and however long") {
  for (const Quality quality : {Quality::kExact, Quality::kSmooth}) {
    EncoderOptions options = sized(64, 64);
    options.fps = 2;
    options.quality = quality;
    const auto encoder = made(options);
    Scene scene(64, 64);
    std::mt19937 random(3);
    for (int frame = 0; frame < 400; ++frame) {
      if (frame % 7 == 0) scene.randomise(random);  // a cut
      const auto packet = encoder->encode(scene.picture(), frame == 0, {});
      REQUIRE(packet);
      CHECK(packet->keyframe == (frame == 0));
    }
  }
}

TEST_CASE("a picture without a Cr plane is neutral") {
  const auto encoder = made(sized(32, 32));
  Decoder decoder(encoder->info());
  Scene scene(32, 32);
  Picture picture = scene.picture();
  picture.cr = nullptr;
  const auto packet = encoder->encode(picture, false, {});
  REQUIRE(packet);
  for (const std::uint8_t cr : decoder.decode(packet->data).cr) CHECK(cr == kChromaNeutral);
}

TEST_CASE("a repeated picture costs next to nothing") {
  std::mt19937 random(6);
  const auto encoder = made(sized(320, 240));
  Scene scene(320, 240);
  scene.randomise(random);
  const auto first = encoder->encode(scene.picture(), false, {});
  REQUIRE(first);
  for (int frame = 0; frame < 5; ++frame) {
    const auto packet = encoder->encode(scene.picture(), false, {});
    REQUIRE(packet);
    CHECK(packet->data.size() * 200 < first->data.size());
  }
}

TEST_CASE("case_36 smooth: the rate stays below its cap, and the frame's number can be read") {
  std::mt19937 random(7);
  EncoderOptions options = sized(640, 480);
  options.quality = Quality::kSmooth;
  options.max_bit_rate = 1'000'000;
  const auto encoder = made(options);
  Decoder decoder(encoder->info());
  Scene scene(640, 480);
  scene.randomise(random);
  std::size_t bytes = 0;
  constexpr int kFrames = 90;
  for (int frame = 0; frame < kFrames; ++frame) {
    scene.drift(random, 0.3);
    // The margin as the canvas draws it: 32 cells of 2×2 in the last two rows, else black.
    const auto bit = [&](int x) { return x < 64 && (frame * 2654435761u >> x / 2 & 1); };
    for (int y = 478; y < 480; ++y)
      for (int x = 0; x < 640; ++x) scene.levels[y * 640 + x] = bit(x) ? 15 : 0;
    const auto packet = encoder->encode(scene.picture(), false, {});
    REQUIRE(packet);
    bytes += packet->data.size();
    const Decoded decoded = decoder.decode(packet->data);
    for (int x = 0; x < 64; x += 2) {
      int sum = 0;
      for (int y = 478; y < 480; ++y)
        sum += decoded.luma[y * 640 + x] + decoded.luma[y * 640 + x + 1];
      CHECK((sum / 4 > 125) == bit(x));
    }
  }
  // The buffer of half a second may be spent on top.
  const double seconds = kFrames / options.fps;
  CHECK(bytes * 8.0 <= options.max_bit_rate * (seconds + 0.5));
}

TEST_CASE("every size of the ladder's ends opens, and the level in avcC allows for it") {
  for (const auto& [width, height, level] :
       {std::tuple{2, 2, 10}, {1280, 720, 31}, {4096, 4096, 60}}) {
    const auto encoder = made(sized(width, height));
    REQUIRE(encoder->info().extradata.size() > 7);
    CHECK(encoder->info().extradata[0] == 1);
    CHECK(encoder->info().extradata[3] == level);
    CHECK(encoder->info().width == width);
    CHECK(encoder->info().height == height);
  }
}

TEST_CASE("without a codec packets carry the facts, numbers and keyframes all the same") {
  EncoderOptions options = sized(64, 48);
  options.name = "null";
  const auto encoder = made(options);
  Scene scene(64, 48);
  const std::vector<std::uint8_t> facts{1, 2, 3};
  for (int frame = 0; frame < 4; ++frame) {
    const auto packet = encoder->encode(scene.picture(), frame == 2, facts);
    REQUIRE(packet);
    CHECK(packet->number == frame);
    CHECK(packet->keyframe == (frame == 0 || frame == 2));
    CHECK(facts_of(packet->data) == facts);
    CHECK(packet->data.size() < 40);
  }
  const auto packet = encoder->encode(scene.picture(), false, {});
  REQUIRE(packet);
  CHECK_FALSE(facts_of(packet->data));
}

TEST_CASE("case_46 what cannot be encoded is refused in one sentence that names it") {
  CHECK(refusal(sized(639, 480)) ==
        "video of 639x480 pixels cannot be encoded: both sides must be even");
  CHECK(refusal(sized(640, 481)) ==
        "video of 640x481 pixels cannot be encoded: both sides must be even");
  CHECK(says(refusal(sized(0, 480)), "0x480"));
  CHECK(says(refusal(sized(-2, 480)), "-2x480"));
  CHECK(says(refusal(sized(20'000, 480)), "20000x480"));

  EncoderOptions options = sized(640, 480);
  for (const double fps : {0.0, -1.0, 1000.0, std::nan("")}) {
    options.fps = fps;
    CHECK(says(refusal(options), "frames a second"));
  }
  options = sized(640, 480);
  options.quality = Quality::kSmooth;
  options.max_bit_rate = 10;
  CHECK(says(refusal(options), "10 bit/s"));
}

TEST_CASE("case_42 an encoder that is missing or of no use is named, with what to do") {
  EncoderOptions options = sized(640, 480);
  const auto why = [&](const char* name) {
    options.name = name;
    return refusal(options);
  };
  CHECK(why("h264_turbo") ==
        "this build of libavcodec has no encoder h264_turbo: choose another, libx264 for instance");
  CHECK(why("mpeg4") == "the encoder mpeg4 does not make H.264: choose libx264");
  CHECK(says(why(""), "has no encoder"));

  // These are in some builds and not in others, and no test machine has their devices: each says
  // why it will not do.
  for (const char* name : {"libx264rgb", "h264_vaapi", "h264_nvenc", "h264_qsv", "h264_omx",
                           "h264_v4l2m2m", "libopenh264"}) {
    options.name = name;
    const auto encoder = make_encoder(options);
    if (encoder) continue;
    CAPTURE(encoder.error().message);
    CHECK(says(encoder.error().message, name));
    CHECK(says(encoder.error().message, "libx264"));
    CHECK_FALSE(says(encoder.error().message, "\n"));
  }
}

TEST_CASE("what FFmpeg logs comes through the one door for log lines") {
  static std::atomic<int> lines = 0;
  set_log_sink(
      [](LogLevel, std::string_view line) noexcept { lines += line.find("libx264") != line.npos; });
  made(sized(64, 48));
  set_log_sink(nullptr);
  CHECK(lines > 0);
}
