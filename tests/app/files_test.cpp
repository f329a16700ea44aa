#include "app/files.hpp"

#include <doctest/doctest.h>

using namespace phosphene;
using namespace phosphene::app;

TEST_CASE("whatever the limit of open files, all connections fit under it") {
  for (std::uint64_t limit = 48; limit < 6000; ++limit) {
    const Result<Room> room = share_files(limit);
    REQUIRE(room);
    CHECK(room->viewers >= 8);
    CHECK(room->hooks >= 2);
    CHECK(static_cast<std::uint64_t>(room->viewers) + 2 * room->hooks + 32 <= limit);
  }
}

TEST_CASE("a generous limit leaves the usual room, too low a one is named") {
  CHECK(share_files(1'000'000)->viewers == kMostRoom.viewers);
  CHECK(share_files(1'000'000)->hooks == kMostRoom.hooks);
  CHECK(share_files(40).error().message.find("40 files") != std::string::npos);
}
