#include "app/demo/idx.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <string>

namespace phosphene::demo {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kTwoByThree = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

Bytes gzipped(const Bytes& bytes) {
  Bytes out(compressBound(bytes.size()) + 64);
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = uInt(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = uInt(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string complaint(const Bytes& bytes, std::size_t rank = 2) {
  const auto array = parse_idx(bytes, rank);
  return array ? "" : array.error().message;
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("an IDX array is read, plain and within gzip") {
  for (const Bytes& bytes : {kTwoByThree, gzipped(kTwoByThree)}) {
    const auto array = parse_idx(bytes, 2);
    REQUIRE(array);
    CHECK(array->shape == std::vector<std::uint32_t>{2, 3});
    CHECK(array->values == Bytes{1, 2, 3, 4, 5, 6});
  }
}

TEST_CASE("an IDX array cut short anywhere is an error, and so is one byte too many") {
  for (const Bytes& whole : {kTwoByThree, gzipped(kTwoByThree)}) {
    for (std::size_t size = 0; size < whole.size() - 8;
         ++size) {  // the last 8 of gzip are its checksum
      CAPTURE(size);
      CHECK(complaint(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size))) != "");
    }
  }
  Bytes longer = kTwoByThree;
  longer.push_back(7);
  CHECK(says(complaint(longer), "more than the 6 values"));
  CHECK(says(complaint(gzipped(longer)), "more than the 6 values"));
}

TEST_CASE("the error says what is wrong with an IDX array") {
  Bytes bytes = kTwoByThree;
  bytes[0] = 'P';
  CHECK(says(complaint(bytes), "not an IDX file"));
  bytes = kTwoByThree;
  bytes[2] = 0x0D;
  CHECK(says(complaint(bytes), "type 13, where unsigned bytes"));
  CHECK(says(complaint(kTwoByThree, 3), "rank 2, where rank 3"));
  bytes = kTwoByThree;
  bytes.resize(15);
  CHECK(says(complaint(bytes), "holds 3 values, but its header says 6"));
  bytes = gzipped(kTwoByThree);
  bytes[12] ^= 0xff;
  CHECK(says(complaint(bytes), "gzip"));
}

TEST_CASE("a header that claims more than memory is refused, and one that lies costs nothing") {
  Bytes bytes = {0,    0,    8,    3,    0xff, 0xff, 0xff, 0xff,
                 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  CHECK(says(complaint(bytes, 3), "1 GiB"));
  bytes = {0, 0, 8, 1, 0x3f, 0xff, 0xff, 0xff, 1, 2};
  CHECK(says(complaint(bytes, 1), "holds 2 values"));
  bytes = {0, 0, 8, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  CHECK(says(complaint(bytes), "1 GiB"));
}

}  // namespace
}  // namespace phosphene::demo
