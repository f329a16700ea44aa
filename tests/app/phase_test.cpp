#include "app/phase.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

using phosphene::app::Phase;

namespace {

constexpr std::int64_t kPeriod = 33'333;

/// Ticks over frames drawn every `interval` µs, each up to `jitter` late, the first at `first`.
struct Simulation {
  std::vector<std::int64_t> waits;  // of each frame, until its tick
  std::int64_t most_moved = 0;      // in one tick
  std::int64_t moved = 0;           // in all, without regard to direction

  Simulation(std::int64_t first, double interval, std::int64_t jitter, int ticks) {
    Phase phase(kPeriod);
    std::minstd_rand random(7);
    std::int64_t tick = kPeriod;
    int next = 0;
    const auto draw = [&] {
      const auto late = jitter > 0 ? static_cast<std::int64_t>(random()) % jitter : 0;
      return first + static_cast<std::int64_t>(next++ * interval) + late;
    };
    std::int64_t frame = draw();
    for (int i = 0; i < ticks; ++i) {
      int frames = 0;
      std::int64_t last = 0;
      for (; frame <= tick; frame = draw(), ++frames) {
        last = frame;
        waits.push_back(tick - frame);
      }
      const std::int64_t move = phase.after_tick(frames, tick - last);
      most_moved = std::max(most_moved, std::abs(move));
      moved += std::abs(move);
      tick += kPeriod + move;
    }
  }

  /// The longest wait of the last `n` frames.
  std::int64_t longest(std::size_t n) const {
    return *std::max_element(waits.end() - n, waits.end());
  }
};

}  // namespace

TEST_CASE("frames at the channel's rate are drawn shortly before its ticks, wherever they began") {
  for (std::int64_t first = 0; first < kPeriod; first += 1'111) {
    CAPTURE(first);
    const Simulation even(first, kPeriod, 0, 300);
    CHECK(even.longest(100) <= 7'000);
    CHECK(even.most_moved <= kPeriod / 50);
    const Simulation uneven(first, kPeriod, 8'000, 600);
    CHECK(uneven.longest(100) <= 16'000);
  }
}

TEST_CASE("a hook's clock that drifts is followed") {
  for (const double interval : {kPeriod * 0.9995, kPeriod * 1.0005}) {
    const Simulation drifting(0, interval, 2'000, 3'000);
    std::vector<std::int64_t> waits(drifting.waits.end() - 1'500, drifting.waits.end());
    std::sort(waits.begin(), waits.end());
    CHECK(waits[waits.size() * 9 / 10] <= 12'000);
  }
}

TEST_CASE("frames at another rate move no tick") {
  for (const double interval :
       {kPeriod * 0.5, kPeriod * 0.7, kPeriod * 1.4, kPeriod * 2.0, kPeriod * 30.0})
    CHECK(Simulation(5'000, interval, 0, 1'000).moved == 0);
}

TEST_CASE("no frames move no tick") {
  CHECK(Simulation(1'000'000'000, kPeriod, 0, 1'000).moved == 0);
}
