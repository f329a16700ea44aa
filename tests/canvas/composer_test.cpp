#include "canvas/composer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "canvas/levels.hpp"
#include "networks.hpp"

using namespace phosphene;
using namespace phosphene::canvas;

namespace {

/// A tile of random levels.
struct Packed {
  std::vector<std::uint8_t> bytes;

  Packed(std::uint32_t cells, std::uint32_t seed) : bytes((cells + 1) / 2) {
    std::minstd_rand random(seed + 1);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 8);
  }
  int level(std::uint32_t cell) const {
    return cell % 2 == 0 ? bytes[cell / 2] >> 4 : bytes[cell / 2] & 0x0F;
  }
};

std::uint8_t luma_at(const Picture& picture, int x, int y) {
  return picture.luma[y * picture.luma_stride + x];
}
std::uint8_t cr_at(const Picture& picture, int x, int y) {
  return picture.cr[y / 2 * picture.cr_stride + x / 2];
}

Layout laid_out(const std::vector<Tensor>& tensors, int width, int height) {
  auto layout = lay_out(tensors, {width, height});
  REQUIRE(layout.ok());
  return std::move(*layout);
}

/// Draws random tiles and counts pixels that are not the level of the cell that hit() names.
int wrong_pixels(const Network& network, int width, int height) {
  const Layout layout = laid_out(network.tensors, width, height);
  Composer composer(layout, network.tensors);
  std::vector<std::uint8_t> expected(
      static_cast<std::size_t>(width) * static_cast<std::size_t>(height), kLumaBlack);
  int wrong = 0;
  for (std::size_t s = 0; s < layout.sections.size(); ++s) {
    const Section& section = layout.sections[s];
    const TileOrder order = tile_order(section, network.tensors[section.tensor]);
    const Packed tile(order.cells, static_cast<std::uint32_t>(s));
    REQUIRE(composer.draw(s, {tile.bytes, {}}));
    Layout alone;
    alone.sections = {section};
    const Rect& rect = section.rect;
    for (int y = rect.y; y < rect.y + rect.height; ++y)
      for (int x = rect.x; x < rect.x + rect.width; ++x)
        if (const auto found = hit(alone, x, y)) {
          const std::uint32_t cell =
              order.x_offsets[found->cell_x] + order.y_offsets[found->cell_y];
          expected[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(x)] =
              kLumaOfLevel[static_cast<std::size_t>(tile.level(cell))];
        }
  }
  const Picture picture = composer.picture();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      wrong += luma_at(picture, x, y) !=
               expected[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                        static_cast<std::size_t>(x)];
  return wrong;
}

std::vector<Tensor> matrix(std::uint64_t out, std::uint64_t in) {
  std::vector<Tensor> tensors;
  add(tensors, "weight", {out, in}, "OI");
  return tensors;
}

}  // namespace

TEST_CASE("every pixel shows the level of the cell that it hits, gaps and margins are dark") {
  std::vector<Network> networks = seven_networks();
  for (Network& network : activations()) networks.push_back(std::move(network));
  networks.push_back(odd_shapes());
  for (const Network& network : networks) {
    CAPTURE(network.name);
    CHECK(wrong_pixels(network, 640, 360) == 0);
    CHECK(wrong_pixels(network, 1280, 720) == 0);
  }
}

TEST_CASE("unpacking equals the table for every level and every length") {
  for (std::size_t length = 0; length < 100; ++length) {
    const Packed tile(static_cast<std::uint32_t>(length + 1), static_cast<std::uint32_t>(length));
    std::vector<std::uint8_t> luma(length);
    unpack_luma(tile.bytes.data(), luma);
    for (std::uint32_t i = 0; i < length; ++i)
      CHECK(luma[i] == kLumaOfLevel[static_cast<std::size_t>(tile.level(i))]);
  }
}

TEST_CASE("doubling works for every length") {
  for (std::size_t length = 0; length < 70; ++length) {
    std::vector<std::uint8_t> cells(length), row(2 * length + 1, 7);
    for (std::size_t i = 0; i < length; ++i) cells[i] = static_cast<std::uint8_t>(11 * i + 1);
    double_cells(cells, row.data());
    for (std::size_t i = 0; i < 2 * length; ++i) CHECK(row[i] == cells[i / 2]);
    CHECK(row.back() == 7);
  }
}

TEST_CASE("unpacking and turning over at once works for every size around a tile's") {
  for (std::size_t width : {1, 15, 16, 17, 33, 70}) {
    for (std::size_t height : {1, 2, 31, 32, 33, 65, 130}) {
      const std::size_t row = height + height % 2 + 4;  // levels, whole bytes
      const Packed tile(static_cast<std::uint32_t>(width * row),
                        static_cast<std::uint32_t>(height));
      std::vector<std::uint8_t> luma(height * (width + 5), 7);
      unpack_luma_transposed(tile.bytes.data(), row / 2, luma.data(), width + 5, width, height);
      int wrong = 0;
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width + 5; ++x) {
          const auto level = static_cast<std::uint32_t>(x * row + y);
          wrong += luma[y * (width + 5) + x] !=
                   (x < width ? kLumaOfLevel[static_cast<std::size_t>(tile.level(level))] : 7);
        }
      CAPTURE(width);
      CAPTURE(height);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("turning over works for every size around a tile's") {
  for (std::size_t width : {1, 15, 16, 17, 33, 70}) {
    for (std::size_t height : {1, 15, 16, 17, 65, 130}) {
      std::vector<std::uint8_t> from(width * (height + 3)), to(height * (width + 5), 7);
      std::minstd_rand random(static_cast<std::uint32_t>(width * 1000 + height));
      for (std::uint8_t& byte : from) byte = static_cast<std::uint8_t>(random() >> 8);
      transpose(from.data(), height + 3, to.data(), width + 5, width, height);
      int wrong = 0;
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width + 5; ++x)
          wrong += to[y * (width + 5) + x] != (x < width ? from[x * (height + 3) + y] : 7);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE(
    "case_01: a NaN cell is red at level 3, an infinite one cyan at level 15, an absent one dark") {
  for (const auto& [out, in] :
       {std::pair<std::uint64_t, std::uint64_t>{300, 200}, {7, 5}, {3000, 4000}}) {
    const std::vector<Tensor> tensors = matrix(out, in);
    const Layout layout = laid_out(tensors, 640, 360);
    Composer composer(layout, tensors);
    const TileOrder order = tile_order(layout.sections[0], tensors[0]);
    const Packed tile(order.cells, 1);
    const std::vector<MarkRun> marks = {
        {2, 2, Mark::kNaN}, {9, 1, Mark::kInf}, {20, 3, Mark::kAbsent}};
    REQUIRE(composer.draw(0, {tile.bytes, marks}));
    std::vector<Mark> mark_of(order.cells, Mark::kNone);
    for (const MarkRun& run : marks) std::fill_n(mark_of.begin() + run.begin, run.length, run.mark);
    const Picture picture = composer.picture();
    int wrong = 0, red = 0, cyan = 0;
    for (int y = 0; y < layout.height; ++y) {
      for (int x = 0; x < layout.width; ++x) {
        const auto found = hit(layout, x, y);
        if (!found) continue;
        const std::uint32_t cell = order.x_offsets[found->cell_x] + order.y_offsets[found->cell_y];
        const std::uint8_t luma = luma_at(picture, x, y), cr = cr_at(picture, x, y);
        switch (mark_of[cell]) {
          case Mark::kNaN:
            wrong += luma != kLumaOfLevel[kLevelNaN] || cr != kCrNaN;
            ++red;
            break;
          case Mark::kInf:
            wrong += luma != kLumaOfLevel[kLevelInf] || (cr != kCrInf && cr != kCrNaN);
            ++cyan;
            break;
          case Mark::kAbsent:
            wrong += luma != kLumaBlack;
            break;
          case Mark::kNone:
            wrong += luma != kLumaOfLevel[static_cast<std::size_t>(tile.level(cell))];
            break;
        }
      }
    }
    CHECK(wrong == 0);
    CHECK(red > 0);
    CHECK(cyan > 0);

    SUBCASE("and the next tile without marks leaves no colour behind") {
      REQUIRE(composer.draw(0, {tile.bytes, {}}));
      const Picture next = composer.picture();
      CHECK(std::count_if(next.cr, next.cr + layout.width * layout.height / 4,
                          [](std::uint8_t cr) { return cr != kChromaNeutral; }) == 0);
    }
  }
}

TEST_CASE("case_12: what a shorter batch lacks is told as columns or rows of cells") {
  std::vector<Tensor> tensors;
  add(tensors, "activation", {8, 20}, "BC");  // rows examples, columns channels
  const Layout layout = laid_out(tensors, 640, 360);
  REQUIRE(layout.sections[0].pooling == Pooling::kNone);
  const Composer composer(layout, tensors);
  using Runs = std::vector<std::uint32_t>;
  const MarkRun batch{5 * 20, 3 * 20, Mark::kAbsent}, nan{7, 2, Mark::kNaN};
  const AbsentLines shorter = composer.absent(0, std::vector{nan, batch});
  CHECK(shorter.x.empty());
  CHECK(shorter.y == Runs{5, 3});
  std::vector<MarkRun> channels;  // two in the middle and the last of each example
  for (std::uint32_t example = 0; example < 8; ++example) {
    channels.push_back({example * 20 + 4, 2, Mark::kAbsent});
    channels.push_back({example * 20 + 19, 1, Mark::kAbsent});
  }
  const AbsentLines narrower = composer.absent(0, channels);
  CHECK(narrower.x == Runs{4, 2, 19, 1});
  CHECK(narrower.y.empty());
  const AbsentLines whole = composer.absent(0, std::vector{MarkRun{0, 160, Mark::kAbsent}});
  CHECK(whole.x == Runs{0, 20});
  CHECK(whole.y == Runs{0, 8});
  CHECK(composer.absent(0, std::vector{nan}).y.empty());
}

TEST_CASE("case_01: a tile that is NaN throughout is red throughout") {
  const std::vector<Tensor> tensors = matrix(100, 80);
  const Layout layout = laid_out(tensors, 640, 360);
  Composer composer(layout, tensors);
  const std::vector<std::uint8_t> levels(4000);
  const MarkRun all{0, 8000, Mark::kNaN};
  REQUIRE(composer.draw(0, {levels, {&all, 1}}));
  const Picture picture = composer.picture();
  int wrong = 0;
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x)
      if (hit(layout, x, y))
        wrong +=
            luma_at(picture, x, y) != kLumaOfLevel[kLevelNaN] || cr_at(picture, x, y) != kCrNaN;
  CHECK(wrong == 0);
}

TEST_CASE("a mark in one section stays when its neighbour is drawn") {
  const Network network = seven_networks()[0];
  const Layout layout = laid_out(network.tensors, 640, 360);
  Composer composer(layout, network.tensors);
  const auto draw = [&](std::size_t s, std::span<const MarkRun> marks) {
    const Packed tile(
        tile_order(layout.sections[s], network.tensors[layout.sections[s].tensor]).cells, 3);
    REQUIRE(composer.draw(s, {tile.bytes, marks}));
  };
  const MarkRun all{0, 32, Mark::kNaN};
  draw(1, std::span(&all, 1));  // conv1's bias
  const Picture picture = composer.picture();
  const std::vector<std::uint8_t> before(picture.cr, picture.cr + 320 * 180);
  REQUIRE(std::count(before.begin(), before.end(), kCrNaN) > 0);
  for (std::size_t s = 0; s < layout.sections.size(); ++s)
    if (s != 1) draw(s, std::span<const MarkRun>());
  CHECK(std::equal(before.begin(), before.end(), composer.picture().cr));
}

TEST_CASE("tiles that do not fit are refused and change nothing") {
  const std::vector<Tensor> tensors = matrix(30, 20);
  const Layout layout = laid_out(tensors, 640, 360);
  Composer composer(layout, tensors);
  const std::vector<std::uint8_t> levels(300, 0xFF), too_few(299, 0xFF);
  const MarkRun beyond{599, 2, Mark::kNaN}, wraps{4, 0xFFFFFFFF, Mark::kNaN};
  CHECK_FALSE(composer.draw(0, {too_few, {}}));
  CHECK_FALSE(composer.draw(0, {levels, {&beyond, 1}}));
  CHECK_FALSE(composer.draw(0, {levels, {&wraps, 1}}));
  CHECK_FALSE(composer.draw(1, {levels, {}}));
  const Picture picture = composer.picture();
  CHECK(std::count(picture.luma, picture.luma + 640 * 360, kLumaBlack) == 640 * 360);
  CHECK(composer.draw(0, {levels, {}}));
}

TEST_CASE("the frame's number can be read from the margin, above which nothing of it is drawn") {
  for (const auto& [width, height] : {std::pair{64, 16}, {1280, 720}}) {
    const std::vector<Tensor> tensors = matrix(10, 10);
    const Layout layout = laid_out(tensors, width, height);
    Composer composer(layout, tensors);
    for (const std::uint32_t number : {0u, 1u, 0x80000000u, 0xDEADBEEFu, 0xFFFFFFFFu}) {
      composer.draw_number(number);
      const Picture picture = composer.picture();
      std::uint32_t read = 0;
      for (int cell = 0; cell < kNumberCells; ++cell) {
        const std::uint8_t luma = luma_at(picture, cell * 2, height - 2);
        CHECK((luma == kLumaBlack || luma == kLumaWhite));
        for (const auto& [dx, dy] : {std::pair{1, 2}, {0, 1}, {1, 1}})
          CHECK(luma_at(picture, cell * 2 + dx, height - dy) == luma);
        read = read << 1 | (luma == kLumaWhite);
      }
      CHECK(read == number);
      CHECK(luma_at(picture, 0, height - 3) == kLumaBlack);
    }
  }
}
