#include "capture/scalar_ring.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using phosphene::capture::ScalarPoint;
using phosphene::capture::ScalarRing;

namespace {

struct Got {
  std::string name;
  std::uint64_t step;
  double value;
  bool operator==(const Got&) const = default;
};

std::vector<Got> drain(ScalarRing& ring) {
  std::vector<Got> got;
  ring.drain([&](const ScalarPoint& point, const std::string& name) {
    got.push_back({name, point.step, point.value});
  });
  return got;
}

}  // namespace

TEST_CASE("numbers belong to the step that is published after them") {
  ScalarRing ring;
  CHECK(ring.push("loss", 2.5));
  CHECK(ring.push("accuracy", 0.1));
  CHECK(drain(ring).empty());
  ring.publish(7);
  CHECK(ring.push("loss", 2.0));
  CHECK(drain(ring) == std::vector<Got>{{"loss", 7, 2.5}, {"accuracy", 7, 0.1}});
  ring.publish(8);
  CHECK(drain(ring) == std::vector<Got>{{"loss", 8, 2.0}});
}

TEST_CASE("a full ring refuses the newer numbers, counts them, and works on when it is emptied") {
  ScalarRing ring;
  for (std::size_t i = 0; i < ScalarRing::kCapacity; ++i) CHECK(ring.push("loss", 1));
  CHECK_FALSE(ring.push("loss", 2));
  CHECK_FALSE(ring.push("loss", 3));
  ring.publish(1);
  CHECK(ring.dropped() == 2);
  CHECK(drain(ring).size() == ScalarRing::kCapacity);
  CHECK(ring.push("loss", 4));
  ring.publish(2);
  CHECK(drain(ring) == std::vector<Got>{{"loss", 2, 4}});
}

TEST_CASE("names beyond bounds are refused, the others go on") {
  ScalarRing ring;
  CHECK_FALSE(ring.push("", 1));
  CHECK_FALSE(ring.push(std::string(ScalarRing::kMaxNameBytes + 1, 'x'), 1));
  for (std::size_t i = 0; i < ScalarRing::kMaxSeries; ++i) CHECK(ring.push(std::to_string(i), 1));
  CHECK_FALSE(ring.push("one more", 1));
  CHECK(ring.push("17", 5));
  ring.publish(1);
  CHECK(drain(ring).back() == Got{"17", 1, 5});
  CHECK(ring.dropped() == 3);
}

TEST_CASE("between two threads nothing is lost or out of order unless it is counted") {
  ScalarRing ring;
  constexpr std::uint64_t kSteps = 100'000;
  std::thread writer([&] {
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      ring.push(step % 2 ? "odd" : "even", static_cast<double>(step));
      ring.publish(step);
    }
  });
  std::uint64_t got = 0, last = 0;
  const auto take = [&] {
    ring.drain([&](const ScalarPoint& point, const std::string& name) {
      CHECK_EQ(point.value, static_cast<double>(point.step));
      CHECK_EQ(name, point.step % 2 ? "odd" : "even");
      CHECK_GT(point.step, last);
      last = point.step;
      ++got;
    });
  };
  while (last < kSteps && got + ring.dropped() < kSteps) take();
  writer.join();
  take();
  CHECK(got + ring.dropped() == kSteps);
}
