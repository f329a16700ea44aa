#include "stream/media_time.hpp"

#include <doctest/doctest.h>

#include "media.hpp"

namespace {

using namespace phosphene::stream;

std::uint64_t placed(MediaTime& time, std::uint64_t in, bool follows) {
  auto fragment = make_fragment("x", in);
  time.place(fragment, follows);
  return decode_time({reinterpret_cast<const char*>(fragment.data()), fragment.size()});
}

}  // namespace

TEST_CASE("a late joiner's time begins at 0 and runs as the channel's does") {
  MediaTime time;
  CHECK(placed(time, 9000, false) == 0);
  CHECK(placed(time, 9512, true) == 512);
  CHECK(placed(time, 10000, true) == 1000);
}

TEST_CASE("skipped fragments leave no hole") {
  MediaTime time;
  placed(time, 9000, false);
  placed(time, 9500, true);
  CHECK(placed(time, 90000, false) == 1000);
  CHECK(placed(time, 90500, true) == 1500);
}

TEST_CASE("a new epoch goes on where the old one ended") {
  MediaTime time;
  placed(time, 9000, false);
  placed(time, 9500, true);
  CHECK(placed(time, 0, false) == 1000);
  CHECK(placed(time, 500, true) == 1500);
}

TEST_CASE("what is no fragment stays as it is") {
  MediaTime time;
  for (const std::string& text :
       {std::string(), std::string("moof"), box("mdat", "x"), box("moof", "abc"),
        box("moof", box("traf", box("tfdt", std::string(4, '\1')))),
        std::string("\0\0\0\x4moof", 8), std::string("\xff\xff\xff\xffmoof", 8)}) {
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    const auto before = bytes;
    time.place(bytes, false);
    CHECK(bytes == before);
  }
}
