#include "capture/quantiser.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernel_inputs.hpp"

using namespace phosphene;
using namespace phosphene::capture;
using namespace phosphene::capture::test;

namespace {

const Scaling kSteadyAuto = {RangeMode::kSteady, Shape::kAuto, Scope::kLayer, 0, 0, 4};
Scaling fixed(double lo, double hi) {
  return {RangeMode::kFixed, Shape::kLinear, Scope::kLayer, lo, hi, 4};
}

Tile drawn(const TensorView& view, const TensorPlan& plan, const std::vector<std::uint64_t>& shape,
           const Scaling& scaling, Quantity quantity = Quantity::kValue) {
  auto quantiser = Quantiser::create(plan, quantity, shape);
  REQUIRE(quantiser.ok());
  RangeTracker range(scaling);
  Tile tile;
  quantiser->quantise(view, range, tile);
  return tile;
}

std::vector<int> levels_of(const TensorView& view, const Scaling& scaling) {
  const Tile tile = drawn(view, {}, declared(view), scaling);
  return unpacked(tile.levels, tile.cells);
}

}  // namespace

TEST_CASE("by hand: five numbers, packed, the odd end padded") {
  const std::vector<float> values = {0, 1, 15, 7.99f, 100};
  const Tile tile = drawn(view_of(values, {5}), {}, {5}, fixed(0, 16));
  CHECK(tile.levels == std::vector<std::uint8_t>{0x01, 0xf7, 0xf0});
  CHECK(tile.cells == 5);
  CHECK(tile.range == Range{0, 16, Shape::kLinear});
  CHECK(tile.bounds == Bounds{0, 100});
  CHECK(tile.marks.empty());
}

TEST_CASE("by hand: marks are gap and length of runs") {
  const std::vector<float> values = {1, kNaN, kNaN, 2, kInf, -kInf, kNaN, 3};
  const Tile tile = drawn(view_of(values, {8}), {}, {8}, fixed(0, 16));
  CHECK(unpacked(tile.levels, 8) == std::vector<int>{1, 3, 3, 2, 15, 15, 3, 3});
  CHECK(tile.marks == std::vector<std::uint32_t>{1, 2 * 4 + 1, 1, 2 * 4 + 2, 0, 1 * 4 + 1});
  CHECK(tile.bounds == Bounds{1, 3});
}

TEST_CASE("case_08: every dtype draws its values") {
  const std::vector<int> expected = {0, 1, 7, 3};
  const double f64[] = {0, 1, 7, 3};
  const float f32[] = {0, 1, 7, 3};
  const std::uint16_t f16[] = {0x0000, 0x3c00, 0x4700, 0x4200};
  const std::uint16_t bf16[] = {0x0000, 0x3f80, 0x40e0, 0x4040};
  const std::int8_t i8[] = {0, 1, 7, 3};
  const std::uint8_t u8[] = {0, 1, 7, 3};
  const std::int64_t i64[] = {0, 1, 7, 3};
  for (const auto& [data, dtype] :
       std::vector<std::pair<const void*, DType>>{{f64, DType::kFloat64},
                                                  {f32, DType::kFloat32},
                                                  {f16, DType::kFloat16},
                                                  {bf16, DType::kBFloat16},
                                                  {i8, DType::kInt8},
                                                  {u8, DType::kUInt8},
                                                  {i64, DType::kInt64}}) {
    CAPTURE(name_of(dtype));
    CHECK(levels_of(view_of(data, dtype, {4}), fixed(0, 16)) == expected);
    CHECK(levels_of(view_of(data, dtype, {2, 2}, {1, 2}), fixed(0, 16)) ==
          std::vector<int>{0, 7, 1, 3});
  }
  const std::uint8_t booleans[] = {0, 1, 255};
  CHECK(levels_of(view_of(booleans, DType::kBool, {3}), fixed(0, 1)) ==
        std::vector<int>{0, 15, 15});
  const std::int8_t signed_bytes[] = {-128, -1, 127};
  CHECK(levels_of(view_of(signed_bytes, DType::kInt8, {3}), fixed(-128, 128)) ==
        std::vector<int>{0, 7, 15});
  const std::int64_t large[] = {std::numeric_limits<std::int64_t>::min(),
                                std::numeric_limits<std::int64_t>::max()};
  CHECK(levels_of(view_of(large, DType::kInt64, {2}), kSteadyAuto) == std::vector<int>{0, 15});
}

TEST_CASE("float64 levels equal the formula, non-finite ones are marked") {
  std::vector<double> values;
  for (const float x : normal(999, 0.1f)) values.push_back(double{x} * 1.0000000001);
  values[5] = std::nan("");
  values[6] = -HUGE_VAL;
  const Tile tile = drawn(view_of(values.data(), DType::kFloat64, {999}), {}, {999}, kSteadyAuto);
  const std::vector<int> levels = unpacked(tile.levels, 999);
  const Scale scale(tile.range);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(levels[i] == (i == 5 ? 3 : i == 6 ? 15 : scale.level(values[i])));
  CHECK(tile.marks == std::vector<std::uint32_t>{5, 5, 0, 6});
}

TEST_CASE("case_09: strides of every kind read the elements they name") {
  std::vector<float> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 16);
  const auto check = [&](const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& strides, int first) {
    const TensorView view = view_of(values.data() + first, DType::kFloat32, shape, strides);
    std::vector<int> expected;
    for (std::int64_t a = 0; a < shape[0]; ++a)
      for (std::int64_t b = 0; b < shape[1]; ++b)
        for (std::int64_t c = 0; c < shape[2]; ++c)
          expected.push_back(
              static_cast<int>((first + a * strides[0] + b * strides[1] + c * strides[2]) % 16));
    CHECK(levels_of(view, fixed(0, 16)) == expected);
  };
  check({3, 4, 5}, {20, 5, 1}, 0);
  check({5, 4, 3}, {1, 5, 20}, 0);
  check({3, 4, 5}, {-20, 5, -1}, 44);
  check({3, 4, 5}, {0, 0, 1}, 7);
  check({3, 4, 5}, {0, 0, 0}, 9);
  check({3, 2, 5}, {20, 10, 2}, 0);
  check({1, 1, 1}, {99, 98, 97}, 3);
}

TEST_CASE("case_10: empty shapes, rank 0 and rank 8") {
  const std::vector<float> values = normal(256, 1);
  CHECK(levels_of(view_of(nullptr, DType::kFloat32, {0}), kSteadyAuto).empty());
  CHECK(levels_of(view_of(nullptr, DType::kFloat32, {0, 3}), kSteadyAuto).empty());
  CHECK(levels_of(view_of(values, {}), fixed(values[0], values[0])) == std::vector<int>{8});
  CHECK(levels_of(view_of(values, {2, 2, 2, 2, 2, 2, 2, 2}), kSteadyAuto) ==
        levels_of(view_of(values, {256}), kSteadyAuto));
}

TEST_CASE("extents take the first indices of each dimension") {
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 16);
  TensorPlan plan;
  plan.extents = {1, 2, 3};
  const Tile tile = drawn(view_of(values, {2, 3, 4}), plan, {2, 3, 4}, fixed(0, 16));
  CHECK(unpacked(tile.levels, tile.cells) == std::vector<int>{0, 1, 2, 4, 5, 6});
}

TEST_CASE("case_12: what a shorter batch lacks is absent, not garbage") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tile rows = drawn(view_of(values, {2, 3}), {}, {4, 3}, fixed(0, 16));
  CHECK(unpacked(rows.levels, 12) == std::vector<int>{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0});
  CHECK(rows.marks == std::vector<std::uint32_t>{6, 6 * 4 + 3});
  const Tile columns = drawn(view_of(values, {3, 2}), {}, {3, 4}, fixed(0, 16));
  CHECK(unpacked(columns.levels, 12) == std::vector<int>{1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0});
  CHECK(columns.marks == std::vector<std::uint32_t>{2, 11, 2, 11, 2, 11});
  CHECK(columns.bounds == Bounds{1, 6});
  const Tile other_rank = drawn(view_of(values, {6}), {}, {3, 2}, fixed(0, 16));
  CHECK(other_rank.marks == std::vector<std::uint32_t>{0, 6 * 4 + 3});
  CHECK(other_rank.bounds.empty());
}

TEST_CASE("levels4 pass as they are, whatever the range") {
  const std::uint8_t rows[] = {0x01, 0x20, 0xfe,
                               0xd0};  // 3 wide: the last half byte of a row is none
  const TensorView view = view_of(rows, DType::kLevels4, {2, 3});
  const Tile tile =
      drawn(view, {}, {2, 3}, {RangeMode::kSteady, Shape::kLog, Scope::kLayer, 0, 0, 4});
  CHECK(unpacked(tile.levels, 6) == std::vector<int>{0, 1, 2, 15, 14, 13});
  CHECK(tile.range == Range{0, 16, Shape::kLinear});
  CHECK(tile.cells == 6);
}

TEST_CASE("magnitudes are drawn from 0") {
  const std::vector<float> values = {-4, 2, 0, 3};
  const Scaling symmetric = {RangeMode::kFrame, Shape::kSymmetric, Scope::kLayer, 0, 0, 4};
  const Tile tile = drawn(view_of(values, {4}), {}, {4}, symmetric, Quantity::kMagnitude);
  CHECK(tile.range == Range{0, 4, Shape::kLinear});
  CHECK(unpacked(tile.levels, 4) == std::vector<int>{15, 8, 0, 12});
  CHECK(tile.bounds == Bounds{0, 4});
}

TEST_CASE("a steady frame that widens its range is drawn with the wider one, whole") {
  std::vector<float> values = normal(1000, 0.1f);
  auto quantiser = Quantiser::create({}, Quantity::kValue, std::vector<std::uint64_t>{1000});
  RangeTracker range(kSteadyAuto);
  Tile tile;
  quantiser->quantise(view_of(values, {1000}), range, tile);
  for (const float peak : {3.0f, -50.0f, 1e20f}) {
    values[700] = peak;
    quantiser->quantise(view_of(values, {1000}), range, tile);
    CHECK(tile.range.hi >= std::abs(double{peak}));
    const Scale scale(tile.range);
    const std::vector<int> levels = unpacked(tile.levels, 1000);
    for (std::size_t i = 0; i < 1000; ++i) CHECK(levels[i] == scale.level(double{values[i]}));
  }
}

TEST_CASE("case_06: a step of NaN does not change how the next is drawn") {
  const std::vector<float> values = normal(5000, 0.1f);
  std::vector<float> broken(5000, kNaN);
  auto quantiser = Quantiser::create({}, Quantity::kValue, std::vector<std::uint64_t>{5000});
  RangeTracker range(kSteadyAuto);
  Tile before, during, after;
  quantiser->quantise(view_of(values, {5000}), range, before);
  quantiser->quantise(view_of(broken, {5000}), range, during);
  quantiser->quantise(view_of(values, {5000}), range, after);
  CHECK(during.range == before.range);
  CHECK(during.bounds.empty());
  CHECK(during.marks == std::vector<std::uint32_t>{0, 5000 * 4 + 1});
  CHECK(std::ranges::all_of(during.levels, [](std::uint8_t byte) { return byte == 0x33; }));
  CHECK(after.levels == before.levels);
  CHECK(after.range == before.range);
  CHECK(after.marks.empty());
}

TEST_CASE("case_03: one range for a whole network, negative values included") {
  const std::vector<float> small = normal(100, 0.01f), large = normal(100, 1);
  std::vector<Quantiser> quantisers;
  for (int i = 0; i < 2; ++i)
    quantisers.push_back(*Quantiser::create({}, Quantity::kValue, std::vector<std::uint64_t>{100}));
  RangeTracker range({RangeMode::kSteady, Shape::kSymmetric, Scope::kNetwork, 0, 0, 4});
  quantisers[0].read(view_of(small, {100}));
  quantisers[1].read(view_of(large, {100}));
  Bounds bounds = quantisers[0].bounds();
  bounds.add(quantisers[1].bounds());
  const Range drawn_with = range.update(bounds);
  const Scale scale(drawn_with);
  Tile tile;
  for (int i = 0; i < 2; ++i) {
    quantisers[static_cast<std::size_t>(i)].write(drawn_with, tile);
    CHECK(tile.range == drawn_with);
    const std::vector<int> levels = unpacked(tile.levels, 100);
    for (std::size_t j = 0; j < 100; ++j)
      CHECK(levels[j] == scale.level(double{(i == 0 ? small : large)[j]}));
  }
}

TEST_CASE("the trainer's rounding of denormals to zero changes no level, and is left as it was") {
  std::vector<float> values(200);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * kTiny;
  const Tile plain = drawn(view_of(values, {200}), {}, {200}, kSteadyAuto);
  CHECK(plain.bounds.max > 0);
#if defined(__SSE__)
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  const Tile flushed = drawn(view_of(values, {200}), {}, {200}, kSteadyAuto);
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  CHECK((after & 0x8040) == 0x8040);
  CHECK(flushed.levels == plain.levels);
  CHECK(flushed.range == plain.range);
#endif
}

TEST_CASE("a view that cannot be read is refused in words") {
  const std::int64_t shape[] = {2, 3};
  const std::int64_t negative[] = {2, -3};
  const std::int64_t vast[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  const float values[6] = {};
  const auto refused = [](const phosphene_view& view) { return !TensorView::from(view).ok(); };
  CHECK(!refused({values, PHOSPHENE_FLOAT32, 2, shape, nullptr}));
  CHECK(refused({values, PHOSPHENE_FLOAT32, 2, negative, nullptr}));
  CHECK(refused({values, PHOSPHENE_FLOAT32, 2, vast, nullptr}));
  CHECK(refused({values, PHOSPHENE_FLOAT32, 9, shape, nullptr}));
  CHECK(refused({values, PHOSPHENE_FLOAT32, -1, shape, nullptr}));
  CHECK(refused({values, PHOSPHENE_FLOAT32, 2, nullptr, nullptr}));
  CHECK(refused({nullptr, PHOSPHENE_FLOAT32, 2, shape, nullptr}));
  CHECK(refused({reinterpret_cast<const char*>(values) + 1, PHOSPHENE_FLOAT32, 2, shape, nullptr}));
  CHECK(refused({values, static_cast<phosphene_dtype>(12), 2, shape, nullptr}));
  CHECK(refused({values, PHOSPHENE_LEVELS4, 1, shape, nullptr}));
  const std::int64_t far[] = {std::int64_t{1} << 61, 1};
  CHECK(refused({values, PHOSPHENE_FLOAT32, 2, shape, far}));
}
