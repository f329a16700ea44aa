#include "stream/in_flight.hpp"

#include <doctest/doctest.h>

using phosphene::stream::InFlight;

TEST_CASE("who never acknowledges is never full") {
  InFlight flight;
  for (int i = 0; i < 100; ++i) flight.sent(InFlight::kLeast);
  CHECK_FALSE(flight.is_full());
}

TEST_CASE("as much is on its way as arrived in a second (case_36)") {
  InFlight flight;
  flight.arrived(0, 0);
  flight.sent(10 * InFlight::kLeast);  // a single one is never too much
  CHECK(flight.is_full());
  flight.arrived(1, 1'000);
  for (int i = 0; i < 9; ++i) {
    CHECK_FALSE(flight.is_full());
    flight.sent(InFlight::kLeast);
  }
  CHECK_FALSE(flight.is_full());
  flight.sent(InFlight::kLeast);
  CHECK(flight.is_full());
  flight.arrived(3, 2'000'000);  // two came, and what came long ago does not count any more
  CHECK(flight.is_full());
  flight.arrived(10, 2'000'001);
  CHECK_FALSE(flight.is_full());
}

TEST_CASE("small fragments are not held up") {
  InFlight flight;
  flight.arrived(0, 0);
  for (int i = 0; i < 255; ++i) flight.sent(1024);
  CHECK_FALSE(flight.is_full());
  flight.sent(1024);
  CHECK(flight.is_full());
}

TEST_CASE("acknowledgements that lie or come twice do no harm (case_41)") {
  InFlight flight;
  flight.arrived(~0ull, 0);
  flight.sent(InFlight::kLeast);
  flight.arrived(~0ull, 1);
  CHECK_FALSE(flight.is_full());
  flight.sent(2 * InFlight::kLeast);
  for (int i = 0; i < 3; ++i) flight.arrived(static_cast<std::uint64_t>(i % 2), 5);
  CHECK(flight.is_full());
  flight.arrived(2, 4);  // a clock that went back
  CHECK_FALSE(flight.is_full());
}
