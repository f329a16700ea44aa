#include "encode/nal.hpp"

#include <doctest/doctest.h>

using namespace phosphene::encode;

namespace {

std::vector<Bytes> split(ByteView stream) {
  std::vector<Bytes> nals;
  while (const auto nal = take_from_annex_b(stream)) nals.emplace_back(nal->begin(), nal->end());
  return nals;
}

}  // namespace

TEST_CASE("an Annex B stream is cut at start codes of three and of four bytes") {
  const Bytes stream{0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 0, 9};
  CHECK(split(stream) == std::vector<Bytes>{{0x67, 1, 2}, {0x68, 3}, {0x65, 0, 9}});
}

TEST_CASE("what is before the first start code, and empty NAL units, are left out") {
  CHECK(split({}).empty());
  CHECK(split(Bytes{1, 2, 3}).empty());
  CHECK(split(Bytes{9, 0, 0, 1, 0x41}) == std::vector<Bytes>{{0x41}});
  CHECK(split(Bytes{0, 0, 1, 0, 0, 1, 0x41, 0, 0}) == std::vector<Bytes>{{0x41}});
  CHECK(split(Bytes{0, 0, 1}).empty());
}

TEST_CASE("a length-prefixed stream ends at a length that does not fit") {
  Bytes stream;
  append_length_prefixed(stream, Bytes{0x41, 1});
  append_length_prefixed(stream, Bytes(70'000, 0x42));
  ByteView rest = stream;
  CHECK(take_length_prefixed(rest)->size() == 2);
  CHECK(take_length_prefixed(rest)->size() == 70'000);
  CHECK_FALSE(take_length_prefixed(rest));

  for (const Bytes& broken : {Bytes{0, 0, 0}, Bytes{0, 0, 0, 0}, Bytes{0, 0, 0, 2, 0x41},
                              Bytes{0xff, 0xff, 0xff, 0xff, 0x41}}) {
    ByteView view = broken;
    CHECK_FALSE(take_length_prefixed(view));
  }
}

TEST_CASE(
    "avcC holds profile, level and both parameter sets; High profile says its sample format") {
  const Bytes sps{0x67, 0x42, 0xc0, 0x1f, 9}, pps{0x68, 7};
  CHECK(make_avcc(sps, pps) ==
        Bytes{1, 0x42, 0xc0, 0x1f, 0xff, 0xe1, 0, 5, 0x67, 0x42, 0xc0, 0x1f, 9, 1, 0, 2, 0x68, 7});
  const Bytes high{0x67, 100, 0, 31};
  const Bytes avcc = make_avcc(high, pps);
  CHECK(Bytes(avcc.end() - 4, avcc.end()) == Bytes{0xfd, 0xf8, 0xf8, 0});
}
