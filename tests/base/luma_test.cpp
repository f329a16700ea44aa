#include "base/luma.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace phosphene;

TEST_CASE("luma of a level is 16 + k·219/15, rounded") {
  for (int level = 0; level < kLevels; ++level)
    CHECK(kLumaOfLevel[level] == std::lround(16 + level * 219.0 / 15));
  CHECK(kLumaOfLevel.front() == kLumaBlack);
  CHECK(kLumaOfLevel.back() == kLumaWhite);
}
