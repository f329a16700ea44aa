#include "app/check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hook_messages.hpp"

using namespace phosphene;
using namespace phosphene::app;

namespace {

// What a change does to a tensor that is fine.
template <typename Change>
Result<void> tensor_with(Change change) {
  v1::Tensor tensor = test::tensor(3, "conv1.weight", {32, 16, 3, 3});
  REQUIRE(check_tensor(tensor));
  change(tensor);
  return check_tensor(tensor);
}

template <typename Change>
Result<void> tile_with(Change change) {
  v1::Tile tile = test::tile(3, 7);
  REQUIRE(check_tile(tile));
  change(tile);
  return check_tile(tile);
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("case_10: tensors of any rank up to eight can be shown, empty ones too") {
  for (const auto& shape : std::vector<std::vector<std::uint64_t>>{
           {}, {0}, {0, 3}, {1'000'000}, {2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7, 8}}) {
    v1::Tensor tensor = test::tensor(1, "x", shape);
    CHECK(check_tensor(tensor));
  }
  v1::Tensor tensor = test::tensor(1, "x", std::vector<std::uint64_t>(9, 1));
  CHECK_FALSE(check_tensor(tensor));
}

TEST_CASE("a tensor that cannot be shown is refused with a sentence that names it") {
  const auto refused = tensor_with([](v1::Tensor& t) { t.set_dtype(static_cast<v1::DType>(77)); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("conv1.weight") != std::string::npos);
  CHECK(refused.error().message.find("77") != std::string::npos);

  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_id(0); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.clear_name(); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.clear_kind(); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_kind(static_cast<v1::Kind>(-1)); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.clear_dtype(); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_dtype(v1::DTYPE_LEVELS4); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_kind(v1::KIND_FRAME); }));  // rank 4
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.mutable_roles()->RemoveLast(); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_hi(kInf); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_lo(1); }));
}

TEST_CASE("no product of a tensor's sizes overflows") {
  CHECK(tensor_with([](v1::Tensor& t) { t.set_shape(0, std::uint64_t{1} << 40); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) { t.set_shape(0, ~std::uint64_t{0}); }));
  CHECK_FALSE(tensor_with([](v1::Tensor& t) {
    t.set_shape(0, 0);
    t.set_shape(1, ~std::uint64_t{0});
    t.set_shape(2, ~std::uint64_t{0});
  }));
}

TEST_CASE("a role this server does not know is any other dimension") {
  v1::Tensor tensor = test::tensor(1, "x", {2, 3});
  tensor.set_roles(0, static_cast<v1::Role>(42));
  tensor.set_roles(1, v1::ROLE_IN);
  CHECK(check_tensor(tensor));
  CHECK(tensor.roles(0) == v1::ROLE_OTHER);
  CHECK(tensor.roles(1) == v1::ROLE_IN);
}

TEST_CASE("a tile has two levels a byte for each of its cells") {
  CHECK(tile_with([](v1::Tile&) {}));
  CHECK(tile_with([](v1::Tile& t) { t.set_cells(8); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.set_cells(6); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.set_cells(9); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.set_cells(0xffffffff); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.clear_levels(); }));
}

TEST_CASE("case_04: a tile's range is finite and ascending") {
  CHECK(tile_with([](v1::Tile& t) { t.mutable_range()->set_hi(1e28); }));
  CHECK(tile_with([](v1::Tile& t) { t.mutable_range()->set_hi(-1); }));  // lo = hi
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.mutable_range()->set_hi(-2); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.mutable_range()->set_hi(kInf); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.mutable_range()->set_lo(kNaN); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.mutable_range()->set_shape(v1::SHAPE_AUTO); }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.mutable_range()->set_shape(v1::SHAPE_LOG); }));
  CHECK(tile_with([](v1::Tile& t) {
    t.mutable_range()->set_shape(v1::SHAPE_LOG);
    t.mutable_range()->set_lo(1e-4);
  }));
  CHECK_FALSE(tile_with([](v1::Tile& t) { t.clear_range(); }));
}

TEST_CASE("case_01: marks are runs within the tile's cells") {
  const auto marked = [](std::vector<std::uint32_t> marks) {
    return tile_with([&](v1::Tile& t) { t.mutable_marks()->Assign(marks.begin(), marks.end()); })
        .ok();
  };
  CHECK(marked({0, 7 * 4 + 1}));                // all seven NaN
  CHECK(marked({2, 1 * 4 + 1, 0, 2 * 4 + 2}));  // cell 2 NaN, cells 3 and 4 infinite
  CHECK(marked({6, 1 * 4 + 3}));                // the last one absent
  CHECK_FALSE(marked({0, 8 * 4 + 1}));          // one too many
  CHECK_FALSE(marked({7, 1 * 4 + 1}));          // one too far
  CHECK_FALSE(marked({5, 1 * 4 + 1, 1, 1 * 4 + 1}));
  CHECK_FALSE(marked({0, 1}));                                  // a run of no cells
  CHECK_FALSE(marked({0, 1 * 4 + 0}));                          // of no mark
  CHECK_FALSE(marked({3}));                                     // half a run
  CHECK_FALSE(marked({0xffffffff, 4 + 1, 0xffffffff, 4 + 1}));  // wraps nowhere
}

TEST_CASE("a plan's cells are counted as the hook counts them") {
  const v1::Tensor tensor = test::tensor(1, "w", {6, 5, 4});
  v1::TensorPlan plan;
  CHECK(cells_of(plan, tensor) == 120);
  for (const std::uint64_t extent : {6, 2, 4}) plan.add_extents(extent);
  CHECK(cells_of(plan, tensor) == 48);
  plan.set_extents(1, 100);  // more than there are
  CHECK(cells_of(plan, tensor) == 120);
  plan.mutable_extents()->RemoveLast();
  CHECK(cells_of(plan, tensor) == 0);
  plan.set_pooling(v1::POOLING_RMS);
  plan.mutable_outer()->set_cells(3);
  plan.mutable_inner()->set_cells(7);
  CHECK(cells_of(plan, tensor) == 21);
  plan.mutable_outer()->set_cells(0xffffffff);
  CHECK(cells_of(plan, tensor) == 0);
}

TEST_CASE("text from outside becomes one line, cut between characters") {
  CHECK(cleaned("loss\nof\tstep\x7f", 100) == "loss of step ");
  CHECK(cleaned("größe", 100) == "größe");
  CHECK(cleaned("größe", 3) == "gr");  // ö has two bytes
  CHECK(cleaned("größe", 4) == "grö");
  CHECK(cleaned("größe", 0).empty());
}
