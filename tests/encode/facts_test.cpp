// The facts of a frame: through SEI and back.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "decoder.hpp"
#include "encode/encoder.hpp"
#include "encode/nal.hpp"
#include "scene.hpp"

using namespace phosphene;
using namespace phosphene::encode;

namespace {

Bytes sample_of(const Bytes& facts) {
  Bytes sample;
  append_facts(sample, facts);
  return sample;
}

/// True if a decoder would take some bytes for a start code.
bool has_start_code(const Bytes& sample) {
  for (std::size_t i = 4; i + 2 < sample.size(); ++i)
    if (sample[i] == 0 && sample[i + 1] == 0 && sample[i + 2] < 3) return true;
  return false;
}

}  // namespace

TEST_CASE("facts come back from the bytes that look like start codes") {
  const std::vector<Bytes> hard = {
      {0},
      {0, 0, 0},
      {0, 0, 1},
      {0, 0, 3},
      {0, 0, 3, 1},
      {0, 0, 0, 0, 0, 0, 0},
      {1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 1},
      {0x80, 0, 0},
  };
  for (const Bytes& facts : hard) {
    const Bytes sample = sample_of(facts);
    CHECK_FALSE(has_start_code(sample));
    CHECK(facts_of(sample) == facts);
  }
}

TEST_CASE("facts of every length come back: the size field grows at 239 and each 255 more") {
  std::mt19937 random(8);
  for (std::size_t length = 1; length < 1100; ++length) {
    Bytes facts(length);
    for (auto& byte : facts) byte = random() % 4;  // mostly bytes that need emulation prevention
    REQUIRE(facts_of(sample_of(facts)) == facts);
  }
  const Bytes large(100'000, 0);
  CHECK(facts_of(sample_of(large)) == large);
}

TEST_CASE("facts ride in the encoder's own access units, and a decoder hands them out too") {
  std::mt19937 random(9);
  EncoderOptions options;
  options.width = 160;
  options.height = 96;
  auto encoder = make_encoder(options);
  REQUIRE(encoder);
  Decoder decoder((*encoder)->info());
  Scene scene(160, 96);
  for (std::uint8_t frame = 0; frame < 5; ++frame) {
    scene.randomise(random);
    const Bytes facts{frame, 0, 0, 0, 1, 0, 0, 3, 255};
    const auto packet = (*encoder)->encode(scene.picture(), frame == 3, facts);
    REQUIRE(packet);
    CHECK(facts_of(packet->data) == facts);

    Bytes message(kFactsUuid, kFactsUuid + 16);
    message.insert(message.end(), facts.begin(), facts.end());
    const auto seen = decoder.decode(packet->data).user_data;
    CHECK(std::find(seen.begin(), seen.end(), message) != seen.end());
  }
}

TEST_CASE("no facts: nothing is found") {
  CHECK_FALSE(facts_of({}));
  CHECK(sample_of({}).empty());
  EncoderOptions options;
  auto encoder = make_encoder(options);
  REQUIRE(encoder);
  Scene scene(options.width, options.height);
  const auto packet = (*encoder)->encode(scene.picture(), false, {});
  REQUIRE(packet);
  CHECK_FALSE(facts_of(packet->data));  // libx264's own SEI is another's
}

TEST_CASE("facts are found behind other messages of the same SEI") {
  const Bytes facts{7, 8, 9};
  Bytes nal{6, 1, 2, 0xaa, 0xbb, 5, static_cast<std::uint8_t>(16 + facts.size())};
  nal.insert(nal.end(), kFactsUuid, kFactsUuid + 16);
  nal.insert(nal.end(), facts.begin(), facts.end());
  nal.push_back(0x80);
  Bytes sample;
  append_length_prefixed(sample, nal);
  CHECK(facts_of(sample) == facts);
}

TEST_CASE("bytes cut short or broken anywhere give no facts and read nothing beyond their end") {
  Bytes facts(300);
  std::iota(facts.begin(), facts.end(), std::uint8_t{0});
  const Bytes whole = sample_of(facts);
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(facts_of(Bytes(whole.begin(), whole.begin() + static_cast<long>(length))));

  std::mt19937 random(10);
  for (int round = 0; round < 2000; ++round) {
    Bytes broken = whole;
    for (int change = 0; change < 4; ++change)
      broken[random() % 30] = static_cast<std::uint8_t>(random());
    if (const auto found = facts_of(broken)) CHECK(found->size() <= broken.size());
  }
}
