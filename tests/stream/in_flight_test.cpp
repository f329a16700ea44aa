#include "stream/in_flight.hpp"

#include <doctest/doctest.h>

using phosphene::stream::InFlight;

TEST_CASE("who never acknowledges is never late") {
  InFlight flight;
  for (int i = 0; i < 100; ++i) flight.sent(i);
  CHECK_FALSE(flight.is_late(1'000'000'000));
}

TEST_CASE("the oldest fragment that did not arrive decides (case_36)") {
  InFlight flight;
  flight.sent(0);
  flight.arrived(1);
  flight.sent(1'000'000);
  flight.sent(2'000'000);
  CHECK_FALSE(flight.is_late(1'000'000 + InFlight::kPatience_us));
  CHECK(flight.is_late(1'000'001 + InFlight::kPatience_us));
  flight.arrived(2);
  CHECK_FALSE(flight.is_late(1'000'001 + InFlight::kPatience_us));
  CHECK(flight.is_late(2'000'001 + InFlight::kPatience_us));
  flight.arrived(3);
  CHECK_FALSE(flight.is_late(1'000'000'000));
}

TEST_CASE("acknowledgements that lie or come twice do no harm (case_41)") {
  InFlight flight;
  flight.arrived(~0ull);
  flight.sent(0);
  flight.arrived(~0ull);
  CHECK_FALSE(flight.is_late(1'000'000'000));
  flight.sent(5);
  flight.arrived(1);
  flight.arrived(0);
  CHECK(flight.is_late(1'000'000'000));
}
