// Pooling against a reference that goes cell by cell, element by element.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/luma.hpp"
#include "capture/quantiser.hpp"
#include "kernel_inputs.hpp"

using namespace phosphene;
using namespace phosphene::capture;
using namespace phosphene::capture::test;

namespace {

std::int64_t planned(const TensorPlan& plan, const std::vector<std::int64_t>& shape,
                     std::uint32_t dim) {
  if (plan.extents.empty()) return shape[dim];
  return std::min(shape[dim], static_cast<std::int64_t>(plan.extents[dim]));
}

// The index of flattened element e of an axis, one a dimension.
std::map<std::uint32_t, std::int64_t> index_of(const TensorPlan& plan, const PlanAxis& axis,
                                               const std::vector<std::int64_t>& shape,
                                               std::int64_t e) {
  std::map<std::uint32_t, std::int64_t> index;
  for (auto dim = axis.dims.rbegin(); dim != axis.dims.rend(); ++dim) {
    const std::int64_t size = planned(plan, shape, *dim);
    index[*dim] = e % size;
    e /= size;
  }
  return index;
}

std::int64_t elements_of(const TensorPlan& plan, const PlanAxis& axis,
                         const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::uint32_t dim : axis.dims) product *= planned(plan, shape, dim);
  return product;
}

struct Cell {
  double value = 0;
  Mark mark = Mark::kNone;
};

// What a cell shows. `declared` is the shape of the plan, `view` what came.
Cell reference_cell(const TensorPlan& plan, const std::vector<std::int64_t>& declared_shape,
                    const TensorView& view, std::int64_t p, std::int64_t q) {
  const std::int64_t m = elements_of(plan, plan.outer, declared_shape),
                     n = elements_of(plan, plan.inner, declared_shape);
  const std::int64_t outer_cells = plan.outer.cells, inner_cells = plan.inner.cells;
  double lanes[4] = {};
  double extreme = 0;
  std::int64_t count = 0, position = 0;
  bool nan = false, inf = false;
  for (std::int64_t i = q * n / inner_cells; i < (q + 1) * n / inner_cells; ++i, ++position) {
    double column = 0;
    for (std::int64_t o = p * m / outer_cells; o < (p + 1) * m / outer_cells; ++o) {
      auto index = index_of(plan, plan.outer, declared_shape, o);
      index.merge(index_of(plan, plan.inner, declared_shape, i));
      std::int64_t offset = 0;
      bool there = true;
      for (const auto& [dim, at] : index) {
        there = there && at < view.shape[dim];
        offset += at * view.strides[dim];
      }
      if (!there) continue;
      const double x = double{static_cast<const float*>(view.data)[offset]};
      ++count;
      nan = nan || std::isnan(x);
      inf = inf || std::isinf(x);
      column += x * x;
      if (std::abs(x) > std::abs(extreme) || (std::abs(x) == std::abs(extreme) && x > 0))
        extreme = x;
    }
    lanes[position % 4] += column;
  }
  if (count == 0) return {0, Mark::kAbsent};
  if (nan) return {0, Mark::kNaN};
  if (inf) return {0, Mark::kInf};
  if (plan.pooling == Pooling::kExtreme) return {extreme, Mark::kNone};
  const double mean =
      ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) * (1.0 / static_cast<double>(count));
  const float narrow = static_cast<float>(mean);
  const bool normal = std::isnormal(narrow);
  return {double{normal ? std::sqrt(narrow) : static_cast<float>(std::sqrt(mean))}, Mark::kNone};
}

std::vector<Mark> marks_of(const Tile& tile) {
  std::vector<Mark> marks(tile.cells, Mark::kNone);
  std::size_t at = 0;
  for (std::size_t i = 0; i < tile.marks.size(); i += 2) {
    at += tile.marks[i];
    for (std::uint32_t n = tile.marks[i + 1] / 4; n > 0; --n)
      marks.at(at++) = static_cast<Mark>(tile.marks[i + 1] % 4);
  }
  return marks;
}

// A range so narrow around each reference value that another float32 would get another level shows
// that bits are equal.
void check_pooling(const TensorPlan& plan, const std::vector<std::int64_t>& declared_shape,
                   const TensorView& view) {
  const std::vector<std::uint64_t> shape(declared_shape.begin(), declared_shape.end());
  std::vector<Cell> cells;
  for (std::int64_t p = 0; p < plan.outer.cells; ++p)
    for (std::int64_t q = 0; q < plan.inner.cells; ++q)
      cells.push_back(reference_cell(plan, declared_shape, view, p, q));
  Bounds bounds;
  for (const Cell& cell : cells)
    if (cell.mark == Mark::kNone) bounds.add({cell.value, cell.value});

  for (const Cpu cpu : kCpus) {
    const CpuLimit limit(cpu);
    auto quantiser = Quantiser::create(plan, Quantity::kValue, shape);
    REQUIRE(quantiser.ok());
    REQUIRE(quantiser->cells() == cells.size());
    quantiser->read(view);
    CHECK(quantiser->bounds() == bounds);  // bit-equal values at both ends
    for (const Range& range :
         {Range{-0.3, 0.3, Shape::kLinear}, Range{0, 0.0401, Shape::kLinear},
          Range{bounds.min, bounds.max, Shape::kLinear}, Range{1e-5, 0.1, Shape::kLog}}) {
      if (bounds.empty()) break;
      Tile tile;
      quantiser->write(range, tile);
      const Scale scale(range);
      const std::vector<int> levels = unpacked(tile.levels, cells.size());
      const std::vector<Mark> marks = marks_of(tile);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const int expected = cells[i].mark == Mark::kNone  ? scale.level(cells[i].value)
                             : cells[i].mark == Mark::kNaN ? 3
                             : cells[i].mark == Mark::kInf ? 15
                                                           : 0;
        if (levels[i] != expected || marks[i] != cells[i].mark) {
          CAPTURE(i);
          CHECK(levels[i] == expected);
          REQUIRE(marks[i] == cells[i].mark);
        }
      }
    }
  }
}

TensorPlan plan_for(Pooling pooling, PlanAxis outer, PlanAxis inner,
                    std::vector<std::uint64_t> extents = {}) {
  return {1, pooling, std::move(extents), std::move(outer), std::move(inner)};
}

constexpr std::array<Pooling, 2> kPoolings = {Pooling::kRms, Pooling::kExtreme};

}  // namespace

TEST_CASE("by hand: rows of two pooled to one column") {
  const std::vector<float> values = {3, 4, -1, 7, 0, 0, -5, 5};
  const TensorView view = view_of(values, {4, 2});
  auto rms = Quantiser::create(plan_for(Pooling::kRms, {{0}, 4}, {{1}, 1}), Quantity::kValue,
                               declared(view));
  rms->read(view);
  CHECK(rms->bounds() == Bounds{0, 5});
  Tile tile;
  rms->write({0, 16, Shape::kLinear}, tile);
  CHECK(tile.levels == std::vector<std::uint8_t>{0x35, 0x05});  // 3.54, 5, 0, 5
  auto extreme = Quantiser::create(plan_for(Pooling::kExtreme, {{0}, 4}, {{1}, 1}),
                                   Quantity::kValue, declared(view));
  extreme->read(view);
  extreme->write({-8, 8, Shape::kSymmetric}, tile);
  CHECK(tile.levels == std::vector<std::uint8_t>{0xcf, 0x8d});  // 4, 7, 0, 5
}

TEST_CASE("matrices pooled on one axis, the other, both, by narrow and wide cells") {
  const std::vector<float> values = normal(97 * 211, 0.05f);
  const TensorView view = view_of(values, {97, 211});
  for (const Pooling pooling : kPoolings)
    for (const std::uint32_t outer : {97u, 80u, 33u, 10u, 1u})
      for (const std::uint32_t inner : {211u, 150u, 100u, 74u, 60u, 13u, 1u})
        check_pooling(plan_for(pooling, {{0}, outer}, {{1}, inner}), {97, 211}, view);
}

TEST_CASE("cells wider than a block, and rows of several blocks") {
  const std::vector<float> values = normal(3 * 9001, 0.05f);
  for (const Pooling pooling : kPoolings) {
    for (const std::uint32_t cells : {1u, 2u, 3u, 700u, 3500u, 9001u})
      check_pooling(plan_for(pooling, {{0}, 2}, {{1}, cells}), {3, 9001},
                    view_of(values, {3, 9001}));
    check_pooling(plan_for(pooling, {{0}, 100}, {{}, 1}), {27003}, view_of(values, {27003}));
    check_pooling(plan_for(pooling, {{}, 1}, {{0}, 100}), {27003}, view_of(values, {27003}));
  }
}

TEST_CASE("kernels stand with their width across and their height down") {
  const std::vector<float> values = normal(12 * 7 * 3 * 5, 0.05f);
  const TensorView view = view_of(values, {12, 7, 3, 5});
  for (const Pooling pooling : kPoolings)
    for (const std::uint32_t outer : {60u, 40u, 9u})
      for (const std::uint32_t inner : {21u, 10u, 4u})
        check_pooling(plan_for(pooling, {{0, 3}, outer}, {{1, 2}, inner}), {12, 7, 3, 5}, view);
}

TEST_CASE("case_09: pooling transposed, reversed and broadcast views") {
  const std::vector<float> values = normal(40 * 50, 0.05f);
  for (const Pooling pooling : kPoolings) {
    const TensorPlan plan = plan_for(pooling, {{0}, 17}, {{1}, 19});
    check_pooling(plan, {50, 40}, view_of(values.data(), DType::kFloat32, {50, 40}, {1, 50}));
    check_pooling(plan, {40, 50},
                  view_of(values.data() + 1999, DType::kFloat32, {40, 50}, {-50, -1}));
    check_pooling(plan, {40, 50}, view_of(values.data(), DType::kFloat32, {40, 50}, {0, 1}));
    check_pooling(plan, {40, 50}, view_of(values.data(), DType::kFloat32, {40, 50}, {1, 0}));
    check_pooling(plan, {20, 25}, view_of(values.data(), DType::kFloat32, {20, 25}, {100, 2}));
  }
}

TEST_CASE("case_01: one NaN or infinity marks its cell and no other") {
  std::vector<float> values = normal(64 * 64, 0.05f);
  values[100] = kNaN;
  values[101] = kInf;
  values[2000] = -kInf;
  values[3333] = kNaN;
  for (const Pooling pooling : kPoolings)
    for (const std::uint32_t cells : {64u, 40u, 30u, 9u})
      check_pooling(plan_for(pooling, {{0}, cells}, {{1}, cells}), {64, 64},
                    view_of(values, {64, 64}));
}

TEST_CASE(
    "case_12: a shorter last batch leaves absent cells, and cells pool what there is of them") {
  const std::vector<float> values = normal(8 * 6 * 10, 0.05f);
  for (const Pooling pooling : kPoolings) {
    for (const std::int64_t batch : {8, 7, 5, 1, 0}) {
      check_pooling(plan_for(pooling, {{0}, 4}, {{1, 2}, 15}), {8, 6, 10},
                    view_of(values, {batch, 6, 10}));
      check_pooling(plan_for(pooling, {{1}, 6}, {{2, 0}, 20}), {8, 6, 10},
                    view_of(values, {batch, 6, 10}));
      check_pooling(plan_for(pooling, {{0, 1}, 48}, {{2}, 10}, {8, 6, 10}), {8, 6, 10},
                    view_of(values, {batch, 6, 9}));
    }
    check_pooling(plan_for(pooling, {{0}, 3}, {{1}, 2}, {4, 4, 1}), {8, 6, 10},
                  view_of(values, {8, 6, 10}));
  }
}

TEST_CASE("case_04: float64 beyond the range of its own squares") {
  for (const double size : {1e300, 1e-300, 1e200, 1e-200, 1.0}) {
    const std::vector<double> values = {3 * size, -4 * size, 0, 0, 12 * size, 5 * size};
    const TensorView view = view_of(values.data(), DType::kFloat64, {3, 2});
    auto quantiser = Quantiser::create(plan_for(Pooling::kRms, {{0}, 3}, {{1}, 1}),
                                       Quantity::kValue, declared(view));
    quantiser->read(view);
    CHECK(quantiser->bounds().max == doctest::Approx(std::sqrt(84.5) * size));
    CHECK(quantiser->bounds().min == 0);
    auto extreme = Quantiser::create(plan_for(Pooling::kExtreme, {{0}, 3}, {{1}, 1}),
                                     Quantity::kValue, declared(view));
    extreme->read(view);
    CHECK(extreme->bounds() == Bounds{-4 * size, 12 * size});
  }
}

TEST_CASE("case_04: float32 whose squares float32 cannot hold, and zeros") {
  for (const float size : {1e28f, 1e-28f, 1e-42f}) {
    std::vector<float> values = normal(40 * 40, 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= i % 5 == 0 ? 1.0f : size;
    std::fill(values.begin() + 400, values.begin() + 800, 0.0f);
    for (const Pooling pooling : kPoolings)
      for (const std::uint32_t cells : {30u, 18u, 7u})
        check_pooling(plan_for(pooling, {{0}, cells}, {{1}, cells}), {40, 40},
                      view_of(values, {40, 40}));
  }
}

TEST_CASE("a plan that does not fit its tensor is refused in words") {
  const std::vector<std::uint64_t> shape = {4, 6};
  const auto refused = [&](const TensorPlan& plan) {
    return !Quantiser::create(plan, Quantity::kValue, shape).ok();
  };
  CHECK(refused(plan_for(Pooling::kRms, {{0}, 5}, {{1}, 6})));
  CHECK(refused(plan_for(Pooling::kRms, {{2}, 1}, {{1}, 6})));
  CHECK(refused(plan_for(Pooling::kRms, {{0, 0}, 2}, {{1}, 6})));
  CHECK(refused(plan_for(Pooling::kNone, {}, {}, {4})));
  CHECK(refused(plan_for(static_cast<Pooling>(9), {{0}, 1}, {{1}, 1})));
  CHECK(!refused(plan_for(Pooling::kRms, {{0}, 4}, {{1}, 6})));
  const std::vector<std::uint64_t> vast = {1u << 20, 1u << 20};
  CHECK(!Quantiser::create(plan_for(Pooling::kNone, {}, {}), Quantity::kValue, vast).ok());
  CHECK(Quantiser::create(plan_for(Pooling::kRms, {{0}, 300}, {{1}, 300}), Quantity::kValue, vast)
            .ok());
}
