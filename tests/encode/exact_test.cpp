// Quality `exact`: a real encoder, a real decoder, every pixel compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "decoder.hpp"
#include "encode/encoder.hpp"
#include "scene.hpp"

using namespace phosphene;
using namespace phosphene::encode;

namespace {

struct Reading {
  int misread_levels = 0;  // by round(B/17)
  int misread_marks = 0;   // blocks whose colour is another than the scene's
  int largest_error = 0;   // of luma
  int tinted_cb = 0;       // blocks whose Cb is not 128
};

Mark mark_of(int cr) {
  return cr > 184 ? Mark::kNaN : cr < 72 ? Mark::kInf : Mark::kNone;
}

Reading read(const Decoded& decoded, Scene& scene) {
  Reading reading;
  REQUIRE(decoded.width == scene.width());
  REQUIRE(decoded.height == scene.height());
  for (int y = 0; y < scene.height(); ++y)
    for (int x = 0; x < scene.width(); ++x) {
      const int i = y * scene.width() + x;
      const int level = static_cast<int>(std::lround(rgb_at(decoded, x, y).b / 17.0));
      reading.misread_levels += level != scene.levels[i];
      reading.largest_error = std::max(reading.largest_error,
                                       std::abs(decoded.luma[i] - kLumaOfLevel[scene.levels[i]]));
    }
  for (std::size_t i = 0; i < scene.cr.size(); ++i) {
    reading.misread_marks += mark_of(decoded.cr[i]) != mark_of(scene.cr[i]);
    reading.tinted_cb += decoded.cb[i] != kChromaNeutral;
  }
  return reading;
}

/// Encodes and decodes `frames` pictures, each changed by `change`; the sum of all misreadings.
template <typename Change>
Reading play(Scene& scene, int frames, Change&& change) {
  EncoderOptions options;
  options.width = scene.width();
  options.height = scene.height();
  auto encoder = make_encoder(options);
  REQUIRE(encoder);
  Decoder decoder((*encoder)->info());
  Reading total;
  for (int frame = 0; frame < frames; ++frame) {
    change(frame);
    const auto packet = (*encoder)->encode(scene.picture(), false, {});
    REQUIRE(packet);
    const Reading reading = read(decoder.decode(packet->data), scene);
    total.misread_levels += reading.misread_levels;
    total.misread_marks += reading.misread_marks;
    total.tinted_cb += reading.tinted_cb;
    total.largest_error = std::max(total.largest_error, reading.largest_error);
  }
  return total;
}

void check_exact(const Reading& reading) {
  CHECK(reading.misread_levels == 0);
  CHECK(reading.misread_marks == 0);
  CHECK(reading.tinted_cb == 0);
  CHECK(reading.largest_error <= 6);  // the bound of docs/decisions/0005-exact-video.md
}

}  // namespace

TEST_CASE("exact: noise that shares nothing between frames") {
  std::mt19937 random(1);
  Scene scene(320, 240);
  check_exact(play(scene, 10, [&](int) { scene.randomise(random); }));
}

TEST_CASE("exact: levels that drift by one as weights and as gradients do, over many frames") {
  std::mt19937 random(2);
  Scene scene(256, 192);
  scene.randomise(random);
  for (const double share : {0.004, 0.02, 0.3}) {
    CAPTURE(share);
    check_exact(play(scene, 100, [&](int) { scene.drift(random, share); }));
  }
}

TEST_CASE("exact: black and white pixels that change places, the largest residual there is") {
  Scene scene(160, 96);
  check_exact(play(scene, 6, [&](int frame) {
    for (std::size_t i = 0; i < scene.levels.size(); ++i)
      scene.levels[i] = (i + i / scene.width() + frame) % 2 ? 15 : 0;
  }));
}

TEST_CASE("exact: a single pixel one level off in a plain picture is not smoothed away") {
  Scene scene(160, 96);
  std::fill(scene.levels.begin(), scene.levels.end(), std::uint8_t{7});
  check_exact(play(scene, 40, [&](int frame) {
    auto& level = scene.levels[static_cast<std::size_t>(frame) * 379 % scene.levels.size()];
    level = frame % 2 ? 8 : 6;
  }));
}

TEST_CASE("case_46 exact: sizes that are no multiple of a macroblock") {
  std::mt19937 random(3);
  for (const auto& [width, height] : {std::pair{2, 2}, {18, 1026}, {870, 626}, {1366, 34}}) {
    CAPTURE(width);
    CAPTURE(height);
    Scene scene(width, height);
    scene.randomise(random);
    check_exact(play(scene, 4, [&](int) { scene.drift(random, 0.3); }));
  }
}

TEST_CASE("case_01 exact: marked cells keep their colour and their level, and spoil no neighbour") {
  std::mt19937 random(4);
  const auto some = [&] { return random() % 2 ? Mark::kNaN : Mark::kInf; };
  Scene scene(192, 128);

  SUBCASE("30 % of cells of 2×2") {
    check_exact(play(scene, 10, [&](int) {
      scene.randomise(random);
      std::fill(scene.cr.begin(), scene.cr.end(), kChromaNeutral);
      for (int y = 0; y < scene.height(); y += 2)
        for (int x = 0; x < scene.width(); x += 2)
          if (random() % 10 < 3) scene.mark(x, y, 2, some());
    }));
  }
  SUBCASE("single pixels") {
    check_exact(play(scene, 10, [&](int) {
      scene.drift(random, 0.02);
      const int x = static_cast<int>(random() % scene.width());
      const int y = static_cast<int>(random() % scene.height());
      scene.mark(x, y, 1, some());
    }));
  }
  SUBCASE("all of them") {
    check_exact(play(scene, 3, [&](int) {
      for (int y = 0; y < scene.height(); y += 2)
        for (int x = 0; x < scene.width(); x += 2) scene.mark(x, y, 2, some());
    }));
  }
}
