// Every kernel against plain float64, on both sets of instructions.
#include "capture/kernels.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/luma.hpp"
#include "capture/float16.hpp"
#include "capture/level_table.hpp"
#include "capture/level_writer.hpp"
#include "kernel_inputs.hpp"

using namespace phosphene;
using namespace phosphene::capture;
using namespace phosphene::capture::test;

namespace {

struct Case {
  Range range;
  bool magnitude;
};

const std::vector<Case> kCases = {
    {{-0.2, 0.2, Shape::kSymmetric}, false},
    {{-0.1937, 0.2113, Shape::kLinear}, false},
    {{0, 0.25, Shape::kLinear}, true},
    {{0, 0.25, Shape::kLinear}, false},
    {{0.25e-4, 0.25, Shape::kLog}, true},
    {{1e-7, 3.1e-3, Shape::kLog}, true},
    {{0.3, 0.3, Shape::kLinear}, false},
    {{0.9990000128746033, 1.0010000467300415, Shape::kLinear}, false},
    {{-3.4e38, 3.4e38, Shape::kSymmetric}, false},
    {{-1e-42, 1e-42, Shape::kSymmetric}, false},
};

// The edges of every level from both sides, and what is beyond all of them.
std::vector<float> borders(const Scale& scale, bool finite) {
  std::vector<float> values = {0.0f,  -0.0f,  kTiny, -kTiny, kMax,
                               -kMax, 1e-38f, 1e28f, -1e28f, 1.0f};
  for (const float threshold : scale.float32_thresholds()) {
    for (const float edge :
         {threshold, std::nextafter(threshold, kInf), std::nextafter(threshold, -kInf)}) {
      if (!std::isfinite(edge)) continue;
      values.push_back(edge);
      values.push_back(-edge);
    }
  }
  if (!finite) values.insert(values.end(), {kNaN, kInf, -kInf, -kNaN});
  return values;
}

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

int expected_level(const Case& test, const Scale& scale, float x) {
  if (std::isnan(x)) return kLevelNaN;
  if (std::isinf(x)) return kLevelInf;
  return scale.level(test.magnitude ? std::abs(double{x}) : double{x});
}

void check_levels(const Case& test, std::span<const float> values) {
  const Scale scale(test.range);
  LevelWriter writer;
  Tile tile;
  writer.write(values, test.magnitude, test.range, {}, tile);
  const std::vector<int> levels = unpacked(tile.levels, values.size());
  Bounds bounds;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (levels[i] != expected_level(test, scale, values[i])) {
      CAPTURE(i);
      CAPTURE(values[i]);
      CAPTURE(test.range.hi);
      REQUIRE(levels[i] == expected_level(test, scale, values[i]));
    }
    if (!std::isfinite(values[i])) continue;
    const bool magnitude = test.magnitude || test.range.shape == Shape::kLog;
    const double y = magnitude ? std::abs(double{values[i]}) : double{values[i]};
    bounds.add({y, y});
  }
  CHECK(tile.bounds == bounds);
  CHECK(tile.levels.size() == (values.size() + 1) / 2);
  if (values.size() % 2 != 0) CHECK((tile.levels.back() & 15) == 0);
}

}  // namespace

TEST_CASE("levels equal the float64 formula on every tail length and alignment") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    const std::vector<float> values = normal(200, 0.07f);
    for (const Case& test : kCases)
      for (std::size_t n = 0; n <= 130; ++n)
        for (const std::size_t shift : {0u, 1u, 3u, 7u})
          check_levels(test, std::span(values).subspan(shift, n));
  }
}

TEST_CASE("levels are right on both sides of every border, wherever in a block it falls") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    for (const Case& test : kCases) {
      std::vector<float> values = borders(Scale(test.range), true);
      for (int turn = 0; turn < 9; ++turn) {
        check_levels(test, values);
        std::ranges::rotate(values, values.begin() + 7);
      }
    }
  }
}

TEST_CASE("levels of float64 equal the formula on every tail length, borders and ends included") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    for (Case test : kCases) {
      for (const double size : {1.0, 1e250}) {
        test.range.lo *= size;
        test.range.hi *= size;
        const Scale scale(test.range);
        std::vector<double> values = {0.0,      -0.0,          5e-324,       1.7e308,
                                      -1.7e308, test.range.lo, test.range.hi};
        for (int k = 0; k <= 16; ++k) {
          const double edge = test.range.lo + (test.range.hi / 16 - test.range.lo / 16) * k;
          values.insert(values.end(),
                        {edge, std::nextafter(edge, 1e308), std::nextafter(edge, -1e308), -edge});
        }
        for (const double threshold : scale.terms().thresholds)
          values.insert(values.end(), {threshold, std::nextafter(threshold, 0.0)});
        std::erase_if(values, [](double x) { return !std::isfinite(x); });
        for (std::size_t n = 0; n <= values.size(); ++n) {
          LevelWriter writer;
          Tile tile;
          writer.write(std::span<const double>(values).first(n), test.magnitude, test.range, {},
                       tile);
          const std::vector<int> levels = unpacked(tile.levels, n);
          for (std::size_t i = 0; i < n; ++i) {
            const int expected = scale.level(test.magnitude ? std::abs(values[i]) : values[i]);
            if (levels[i] != expected) REQUIRE(levels[i] == expected);
          }
          if (n % 2 != 0) CHECK((tile.levels.back() & 15) == 0);
        }
      }
    }
  }
}

TEST_CASE("case_01, case_04: NaN, infinities and the ends of float32 among other numbers") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    for (const Case& test : kCases) {
      const std::vector<float> odd = {kNaN, kInf, -kInf, -kNaN, kMax, -kMax, kTiny, -0.0f};
      for (const float x : odd) {
        for (std::size_t at = 0; at < 130; at += 3) {
          std::vector<float> values = normal(130, 0.07f);
          values[at] = x;
          check_levels(test, values);
        }
      }
      check_levels(test, borders(Scale(test.range), false));
    }
  }
}

TEST_CASE("levels of a million numbers equal the float64 formula") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    const std::vector<float> values = normal(1'000'003, 0.05f, 7);
    for (const Case& test : kCases) check_levels(test, values);
  }
}

TEST_CASE("numbers that lie on the borders themselves get the level above") {
  // Whole sixteenths: float32 arithmetic alone puts many of them a level too low.
  std::vector<float> values;
  for (int i = -4000; i <= 4000; ++i) values.push_back(static_cast<float>(i) / 1000.0f);
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    for (const double a : {1.0, 2.5, 3.2, 4.0, 0.8})
      check_levels({{-a, a, Shape::kSymmetric}, false}, values);
  }
}

TEST_CASE("usual ranges are drawn by the fast kernel") {
  for (const Case& test : kCases) {
    const bool denormal = test.range.hi < 1e-38;
    CAPTURE(test.range.hi);
    if (!denormal) CHECK(make_level_table(Scale(test.range), test.magnitude).usable);
  }
}

TEST_CASE("a range of a few float32 numbers is still exact") {
  const float lo = 1e8f;
  std::vector<float> values;
  for (int i = -3; i < 20; ++i) values.push_back(lo + static_cast<float>(8 * i));
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    check_levels({{1e8, 1e8 + 32, Shape::kLinear}, false}, values);
    check_levels({{1e8, 1e8 + 100, Shape::kLinear}, false}, values);
    check_levels({{1e8 + 1, 1e8 + 90.5, Shape::kLinear}, false}, values);
  }
}

TEST_CASE("bounds of every tail length leave out what is not finite") {
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    for (std::size_t n = 0; n <= 130; ++n) {
      std::vector<float> values = normal(n, 2, static_cast<unsigned>(n));
      if (n > 5) values[n / 2] = kNaN;
      if (n > 9) values[n / 3] = -kInf;
      for (const bool magnitude : {false, true}) {
        Bounds expected;
        for (const float x : values) {
          if (!std::isfinite(x)) continue;
          const double y = magnitude ? std::abs(double{x}) : double{x};
          expected.add({y, y});
        }
        CHECK(bounds_of(values, magnitude) == expected);
      }
    }
  }
}

TEST_CASE("every float16 and bfloat16 is read exactly") {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> plain(bits.size()), fast(bits.size());
  kScalarKernels.from_float16(bits.data(), bits.size(), plain.data());
  CHECK(plain[0x3c00] == 1.0f);
  CHECK(plain[0xc000] == -2.0f);
  CHECK(plain[0x7bff] == 65504.0f);
  CHECK(plain[0x0001] == 0x1p-24f);
  CHECK(plain[0x83ff] == -1023 * 0x1p-24f);
  CHECK(plain[0x7c00] == kInf);
  CHECK(std::isnan(plain[0x7e01]));
  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    kernels().from_float16(bits.data(), bits.size(), fast.data());
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (!same_bits(plain[i], fast[i])) REQUIRE((std::isnan(plain[i]) && std::isnan(fast[i])));
    for (std::size_t n = 0; n < 20; ++n) {
      std::vector<float> some(n + 1, 5.0f);
      kernels().from_bfloat16(bits.data() + 0x3f7b, n, some.data());
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t wide = static_cast<std::uint32_t>(0x3f7b + i) << 16;
        CHECK(std::memcmp(&some[i], &wide, 4) == 0);
      }
      CHECK(some[n] == 5.0f);
    }
  }
}

TEST_CASE("extreme keys order by magnitude, positive first, then infinities, then NaN") {
  const std::vector<float> ascending = {-0.0f, 0.0f, -kTiny, kTiny, -1.0f, 1.0f,
                                        -kMax, kMax, -kInf,  kInf,  -kNaN};
  const auto key = [](float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return extreme_key(bits);
  };
  for (std::size_t i = 1; i < ascending.size(); ++i)
    CHECK(key(ascending[i - 1]) < key(ascending[i]));
  for (const float x : ascending) {
    const std::uint32_t bits = extreme_bits(key(x));
    CHECK(std::memcmp(&bits, &x, sizeof bits) == 0);
  }
}

TEST_CASE("pooling kernels give the same bits on every tail length") {
  if (cpu() == Cpu::kScalar) return;
  const Kernels& fast = kernels();
  std::vector<float> values = normal(150, 1e-3f);
  values[17] = kNaN;
  values[40] = kInf;
  values[41] = kMax;
  values[42] = kTiny;
  for (std::size_t n = 0; n <= 130; ++n) {
    for (const bool first : {true, false}) {
      std::vector<double> a(n, 0.125), b(n, 0.125);
      kScalarKernels.add_squares(values.data() + 1, n, a.data(), first);
      fast.add_squares(values.data() + 1, n, b.data(), first);
      CHECK(same_bytes(a, b));
      std::vector<std::uint32_t> c(n, 77), d(n, 77);
      kScalarKernels.max_keys(values.data() + 1, n, c.data(), first);
      fast.max_keys(values.data() + 1, n, d.data(), first);
      CHECK(c == d);
      std::vector<float> roots(n), more(n);
      for (std::size_t i = 0; i < n; ++i)
        a[i] *= std::pow(10.0, static_cast<double>(i * 7 % 100) - 50);
      kScalarKernels.roots(a.data(), n, roots.data());
      fast.roots(a.data(), n, more.data());
      CHECK(same_bytes(roots, more));
    }
    std::vector<double> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = 1.0 / static_cast<double>(i + 3);
    double a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 4};
    kScalarKernels.add_lanes(sums.data(), n, a);
    fast.add_lanes(sums.data(), n, b);
    CHECK(std::memcmp(a, b, sizeof a) == 0);
  }
}
