#include "capture/statistics.hpp"

#include <doctest/doctest.h>

#include "kernel_inputs.hpp"

using namespace phosphene;
using namespace phosphene::capture;
using namespace phosphene::capture::test;

TEST_CASE("by hand: statistics of five numbers") {
  const std::vector<float> values = {2, 4, 4, 0, -10};
  const Statistics statistics = measure(view_of(values, {5}));
  CHECK(statistics.count == 5);
  CHECK(statistics.zero == 1);
  CHECK(statistics.nan == 0);
  CHECK(statistics.min == -10);
  CHECK(statistics.max == 4);
  CHECK(statistics.mean == doctest::Approx(0));
  CHECK(statistics.std == doctest::Approx(std::sqrt(136.0 / 5)));
  CHECK(statistics.l2 == doctest::Approx(std::sqrt(136.0)));
}

TEST_CASE("case_01: what is not finite is counted and enters nothing else") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    std::vector<float> values = normal(10'000, 1);
    const Statistics clean = measure(view_of(values, {10'000}));
    values.insert(values.begin() + 77, {kNaN, kInf, -kInf, kNaN, kNaN});
    const Statistics statistics = measure(view_of(values, {10'005}));
    CHECK(statistics.count == 10'005);
    CHECK(statistics.nan == 3);
    CHECK(statistics.inf == 2);
    CHECK(statistics.min == clean.min);
    CHECK(statistics.max == clean.max);
    CHECK(statistics.mean == doctest::Approx(clean.mean));
    CHECK(statistics.std == doctest::Approx(clean.std).epsilon(1e-12));
    CHECK(statistics.l2 == doctest::Approx(clean.l2).epsilon(1e-12));

    const std::vector<float> none(50, kNaN);
    const Statistics empty = measure(view_of(none, {50}));
    CHECK(empty.nan == 50);
    CHECK(empty.min == 0);
    CHECK(empty.std == 0);
  }
}

TEST_CASE("every tail length agrees with sums in long double") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    for (std::size_t n = 1; n <= 130; ++n) {
      std::vector<float> values = normal(n, 3, static_cast<unsigned>(n));
      if (n > 4) values[n - 2] = 0;
      long double sum = 0, norm = 0, squares = 0;
      std::uint64_t zeros = 0;
      for (const float x : values)
        sum += x, norm += static_cast<long double>(x) * x, zeros += x == 0;
      const long double mean = sum / static_cast<long double>(n);
      for (const float x : values) squares += (x - mean) * (x - mean);
      const Statistics statistics = measure(view_of(values, {static_cast<std::int64_t>(n)}));
      CHECK(statistics.zero == zeros);
      CHECK(statistics.mean == doctest::Approx(static_cast<double>(mean)).epsilon(1e-12));
      CHECK(statistics.std ==
            doctest::Approx(std::sqrt(static_cast<double>(squares) / static_cast<double>(n)))
                .epsilon(1e-12));
      CHECK(statistics.l2 == doctest::Approx(std::sqrt(static_cast<double>(norm))).epsilon(1e-12));
    }
  }
}

TEST_CASE("a small deviation around a large mean keeps its digits") {
  std::vector<double> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e9 + (i % 2 == 0 ? 1e-3 : -1e-3);
  const Statistics statistics = measure(view_of(values.data(), DType::kFloat64, {100'000}));
  CHECK(statistics.std == doctest::Approx(1e-3).epsilon(1e-4));
  CHECK(statistics.mean == doctest::Approx(1e9).epsilon(1e-15));
}

TEST_CASE("case_04: the largest and smallest numbers overflow nothing") {
  const std::vector<float> large(3000, 3e38f);
  CHECK(measure(view_of(large, {3000})).l2 == doctest::Approx(3e38 * std::sqrt(3000.0)));
  const std::vector<float> denormal(3000, kTiny);
  CHECK(measure(view_of(denormal, {3000})).l2 ==
        doctest::Approx(double{kTiny} * std::sqrt(3000.0)));
  for (const double size : {1e300, 1e-300}) {
    const std::vector<double> wide = {3 * size, -4 * size};
    const Statistics statistics = measure(view_of(wide.data(), DType::kFloat64, {2}));
    CHECK(statistics.l2 == doctest::Approx(5 * size));
    CHECK(statistics.mean == doctest::Approx(-0.5 * size));
    CHECK(statistics.std == doctest::Approx(3.5 * size));
  }
}

TEST_CASE("case_09: strided views and other dtypes are measured whole") {
  const std::vector<float> values = normal(60 * 70, 1);
  const Statistics straight = measure(view_of(values, {60, 70}));
  const Statistics turned = measure(view_of(values.data(), DType::kFloat32, {70, 60}, {1, 70}));
  CHECK(turned.count == straight.count);
  CHECK(turned.min == straight.min);
  CHECK(turned.std == doctest::Approx(straight.std).epsilon(1e-12));
  const std::uint8_t booleans[] = {0, 1, 1, 0, 1};
  const Statistics truth = measure(view_of(booleans, DType::kBool, {5}));
  CHECK(truth.mean == doctest::Approx(0.6));
  CHECK(truth.zero == 2);
  CHECK(measure(view_of(nullptr, DType::kFloat32, {0, 4})).count == 0);
  CHECK(measure(view_of(values, {})).count == 1);
}
