#include "canvas/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "invariants.hpp"
#include "networks.hpp"

using namespace phosphene;
using namespace phosphene::canvas;

namespace {

Layout laid_out(const std::vector<Tensor>& tensors, int width, int height) {
  auto layout = lay_out(tensors, {width, height});
  REQUIRE_MESSAGE(layout.ok(), (layout.ok() ? "" : layout.error().message));
  return std::move(*layout);
}

const Section* section_of(const Layout& layout, const std::vector<Tensor>& tensors,
                          std::string_view name) {
  for (const Section& section : layout.sections)
    if (tensors[section.tensor].name == name) return &section;
  return nullptr;
}

/// One tensor laid out alone.
Section alone(std::vector<std::uint64_t> shape, std::string_view roles,
              Kind kind = Kind::kParameter, int width = 1280, int height = 720) {
  std::vector<Tensor> tensors;
  add(tensors, "tensor", std::move(shape), roles, 0, kind);
  const Layout layout = laid_out(tensors, width, height);
  REQUIRE(layout.sections.size() == 1);
  CHECK(broken_rule(tensors, layout) == "");
  return layout.sections[0];
}

using Dims = std::vector<int>;

}  // namespace

TEST_CASE("the rules hold for every network on common canvases") {
  std::vector<Network> networks = seven_networks();
  for (Network& network : activations()) networks.push_back(std::move(network));
  networks.push_back(odd_shapes());
  for (const Network& network : networks) {
    for (const auto& [width, height] :
         {std::pair{640, 360}, {1000, 1000}, {1280, 720}, {1920, 1080}}) {
      CAPTURE(network.name);
      CAPTURE(width);
      CHECK(broken_rule(network.tensors, laid_out(network.tensors, width, height)) == "");
    }
  }
}

TEST_CASE("the seven networks cover four fifths of the canvas, nothing left out") {
  for (const Network& network : seven_networks()) {
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
      CAPTURE(network.name);
      const Layout layout = laid_out(network.tensors, width, height);
      CHECK(layout.covered >= 0.8);
      CHECK(layout.covered <= 1);
      CHECK(layout.left_out == 0);
      CHECK(layout.sections.size() == network.tensors.size());
    }
  }
}

TEST_CASE(
    "sections follow the network, from strip to strip, from left to right, from top to bottom") {
  for (const Network& network : seven_networks()) {
    CAPTURE(network.name);
    const Layout layout = laid_out(network.tensors, 1280, 720);
    const Section* before = nullptr;
    for (const Section& section : layout.sections) {
      if (network.tensors[section.tensor].attached_to != 0) continue;
      if (before) {
        const bool right = section.rect.x >= before->rect.x + before->rect.width;
        const bool below = section.rect.y >= before->rect.y + before->rect.height;
        CHECK((right || below));
      }
      before = &section;
    }
  }
}

TEST_CASE("equal arguments give equal layouts") {
  const Network network = seven_networks()[2];
  const Layout first = laid_out(network.tensors, 1280, 720),
               second = laid_out(network.tensors, 1280, 720);
  REQUIRE(first.sections.size() == second.sections.size());
  for (std::size_t s = 0; s < first.sections.size(); ++s)
    CHECK(first.sections[s].rect == second.sections[s].rect);
}

TEST_CASE("gradients stand where their parameters do") {
  Network network = seven_networks()[0];
  const Layout parameters = laid_out(network.tensors, 1280, 720);
  for (Tensor& tensor : network.tensors) tensor.kind = Kind::kGradient;
  const Layout gradients = laid_out(network.tensors, 1280, 720);
  REQUIRE(parameters.sections.size() == gradients.sections.size());
  for (std::size_t s = 0; s < parameters.sections.size(); ++s)
    CHECK(parameters.sections[s].rect == gradients.sections[s].rect);
}

TEST_CASE("equal shapes get equal sizes in a thousand small blocks") {
  const Network network = seven_networks()[5];
  const Layout layout = laid_out(network.tensors, 1280, 720);
  const Rect first = layout.sections[0].rect;
  for (const Section& section : layout.sections) {
    if (network.tensors[section.tensor].attached_to != 0) continue;
    REQUIRE(section.rect.width == first.width);
    REQUIRE(section.rect.height == first.height);
  }
}

TEST_CASE("a bias lies right under its weight, cell under column") {
  const std::vector<Network> networks = seven_networks();
  for (const Network& network :
       {networks[0], networks[1], networks[2], networks[5], odd_shapes()}) {
    CAPTURE(network.name);
    const Layout layout = laid_out(network.tensors, 1920, 1080);
    for (const Section& row : layout.sections) {
      const Tensor& tensor = network.tensors[row.tensor];
      const auto weight = std::ranges::find_if(layout.sections, [&](const Section& section) {
        return network.tensors[section.tensor].id == tensor.attached_to;
      });
      if (tensor.attached_to == 0 || weight == layout.sections.end()) continue;
      const bool turned =
          !row.y.dims.empty();  // lies at the right of a weight whose outputs run down
      const Axis &along = turned ? row.y : row.x, &outputs = turned ? weight->y : weight->x;
      if (along.elements != outputs.sizes.front()) continue;  // a section of its own
      const bool both_whole = along.cells == along.elements && outputs.cells == outputs.elements;
      if (!both_whole) continue;
      const auto unit = static_cast<std::uint32_t>(outputs.elements / along.elements);
      for (std::uint32_t cell = 0; cell < along.cells; ++cell) {
        const auto shown = turned ? pixels_of(row, 0, cell) : pixels_of(row, cell, 0);
        const std::uint32_t first = cell * unit, last = first + unit - 1;
        // A fold across the outputs has the row under its last band.
        const std::uint32_t other = (turned ? weight->x.cells : weight->y.cells) - 1;
        const auto begin =
            turned ? pixels_of(*weight, other, first) : pixels_of(*weight, first, other);
        const auto end = turned ? pixels_of(*weight, other, last) : pixels_of(*weight, last, other);
        REQUIRE(shown.has_value());
        REQUIRE(begin.has_value());
        REQUIRE(end.has_value());
        if (turned) {
          CHECK(shown->y == begin->y);
          CHECK(shown->y + shown->height == end->y + end->height);
          CHECK(shown->x >= begin->x + begin->width);
        } else {
          CHECK(shown->x == begin->x);
          CHECK(shown->x + shown->width == end->x + end->width);
          CHECK(shown->y >= begin->y + begin->height);
        }
      }
    }
  }
}

TEST_CASE("case_11: roles decide how kernels and activations are read, never the numbers") {
  const auto reads = [](const Section& section, Dims x, Dims y) {
    return section.x.dims == x && section.y.dims == y;
  };
  CHECK(reads(alone({64, 3, 3, 3}, "OIHW"), {0, 3}, {1, 2}));
  CHECK(reads(alone({64, 64, 3, 3}, "OIHW"), {0, 3}, {1, 2}));
  CHECK(reads(alone({1024, 1024, 1, 1}, "OIHW"), {0, 3}, {1, 2}));
  CHECK(reads(alone({64, 3, 1, 3}, "OIHW"), {0, 3}, {1, 2}));
  CHECK(reads(alone({32, 1, 3, 3}, "OIHW"), {0, 3}, {1, 2}));
  CHECK(reads(alone({24, 12, 4, 4}, "IOHW"), {1, 3}, {0, 2}));
  CHECK(reads(alone({16, 4, 3, 3, 3}, "OIDHW"), {0, 4}, {1, 2, 3}));
  CHECK(reads(alone({48, 16, 5}, "OIW"), {0, 2}, {1}));
  const Kind activation = Kind::kActivation;
  CHECK(reads(alone({28, 28, 28, 8}, "BHWC", activation), {3, 2}, {0, 1}));
  CHECK(reads(alone({28, 28, 28, 8}, "HWBC", activation), {3, 1}, {2, 0}));
  CHECK(reads(alone({28, 28, 28, 8}, "BCHW", activation), {1, 3}, {0, 2}));
  CHECK(reads(alone({64, 256}, "BC", activation), {1}, {0}));
  CHECK(reads(alone({16, 64, 256}, "BTC", activation), {2}, {0, 1}));
  CHECK(reads(alone({16, 8, 64, 64}, "BATT", activation), {1, 3}, {0, 2}));
}

TEST_CASE("a square matrix has its outputs as columns, a long one may lie down or fold") {
  CHECK(alone({500, 400}, "OI").x.dims == Dims{0});
  CHECK(alone({400, 500}, "IO").x.dims == Dims{1});
  const Section folded = alone({256, 3136}, "OI");
  CHECK(folded.x.dims == Dims{0});
  CHECK(folded.blocks.size() > 1);
}

TEST_CASE("kernels and maps stand apart where there is room") {
  const Section kernels = alone({64, 32, 3, 3}, "OIHW");
  CHECK(kernels.pooling == Pooling::kNone);
  CHECK(kernels.blocks[0].x.gap > 0);
  CHECK(kernels.blocks[0].x.group == 3);
  CHECK(kernels.blocks[0].y.gap > 0);
  const Section maps = alone({64, 32, 28, 28}, "BCHW", Kind::kActivation);
  CHECK(maps.blocks[0].x.gap > 0);
  CHECK(maps.blocks[0].x.group == 28);
}

TEST_CASE("of many examples only as many are shown as fit, and the fraction is said") {
  const Section maps = alone({64, 32, 28, 28}, "BCHW", Kind::kActivation);
  CHECK(maps.y.sizes.front() < 64);
  CHECK(maps.y.sizes.front() >= 8);
  CHECK(maps.pooling == Pooling::kNone);
  CHECK(maps.shown == doctest::Approx(static_cast<double>(maps.y.sizes.front()) / 64));
  CHECK(alone({64, 256}, "BC", Kind::kActivation).shown == 1);
}

TEST_CASE("case_02: a single element is shown") {
  const Section section = alone({1}, "O");
  CHECK(section.x.cells * section.y.cells == 1);
  CHECK(section.pooling == Pooling::kNone);
}

TEST_CASE("case_10: no elements, rank 0, a million in a row, ranks 5 and 6") {
  std::vector<Tensor> tensors;
  add(tensors, "empty", {0}, "O");
  add(tensors, "empty-rows", {0, 3}, "OI");
  add(tensors, "scalar", {}, "");
  const Layout layout = laid_out(tensors, 640, 360);
  CHECK(layout.left_out == 2);
  CHECK(layout.sections.size() == 1);

  const Section vector = alone({1'000'000}, "O", Kind::kParameter, 1920, 1080);
  CHECK(vector.pooling == Pooling::kNone);
  CHECK(vector.blocks.size() > 100);
  const Section pooled = alone({1'000'000}, "O", Kind::kParameter, 640, 360);
  CHECK(pooled.pooling == Pooling::kRms);
  CHECK(pooled.x.cells <= 640u * 360u);
  CHECK(alone({3, 4, 5, 6, 7}, "-----").x.dims == Dims{0, 2, 4});
  CHECK(alone({2, 3, 2, 5, 4, 3}, "------").y.dims == Dims{0, 2, 4});
}

TEST_CASE("case_14: what an embedding needs is bounded by the canvas") {
  std::vector<Tensor> tensors;
  add(tensors, "embedding", {50'000, 4'096}, "IO");
  for (const auto& [width, height] : {std::pair{64, 16}, {1280, 720}, {4096, 4096}}) {
    const Layout layout = laid_out(tensors, width, height);
    REQUIRE(layout.sections.size() == 1);
    const TilePlan plan = plan_of(layout.sections[0], tensors[0]);
    CHECK(plan.pooling == Pooling::kRms);
    CHECK(static_cast<std::uint64_t>(plan.outer_cells) * plan.inner_cells <=
          static_cast<std::uint64_t>(width) * height);
    CHECK(plan.inner_dims == Dims{1});
  }
}

TEST_CASE("a cell is found from each element that it holds") {
  const std::vector<std::pair<Network, int>> tried = {
      {seven_networks()[0], 640}, {odd_shapes(), 1280}, {activations()[2], 1280}};
  for (const auto& [network, width] : tried) {
    const Layout layout = laid_out(network.tensors, width, width * 9 / 16);
    std::minstd_rand random(7);
    for (const Section& section : layout.sections) {
      const Tensor& tensor = network.tensors[section.tensor];
      for (int i = 0; i < 200; ++i) {
        std::vector<std::uint64_t> index;
        for (const std::uint64_t size : tensor.shape) index.push_back(random() % size);
        const auto flat = [&](const Axis& axis) {
          std::optional<std::uint64_t> element = 0;
          for (std::size_t d = 0; d < axis.dims.size(); ++d) {
            const std::uint64_t at = index[static_cast<std::size_t>(axis.dims[d])];
            if (at >= axis.sizes[d]) return std::optional<std::uint64_t>();
            element = *element * axis.sizes[d] + at;
          }
          return element;
        };
        const auto x = flat(section.x), y = flat(section.y);
        const auto cell = cell_of(section, index);
        REQUIRE(cell.has_value() == (x && y));
        if (!cell) continue;
        const auto pixels = pixels_of(section, cell->first, cell->second);
        REQUIRE(pixels.has_value());
        const auto found = hit(layout, pixels->x, pixels->y);
        REQUIRE(found.has_value());
        CHECK((*x >= found->x_begin && *x < found->x_end));
        CHECK((*y >= found->y_begin && *y < found->y_end));
      }
    }
  }
}

TEST_CASE("frames stand at 1:1, centred, on even coordinates") {
  std::vector<Tensor> tensors;
  add(tensors, "frame", {240, 320}, "HW", 0, Kind::kFrame);
  const Section centred = laid_out(tensors, 640, 360).sections.at(0);
  CHECK(centred.rect == Rect{160, 58, 320, 240});
  CHECK(centred.pooling == Pooling::kNone);

  // As high as the canvas: the margin's rows are left out, the rest stays sharp.
  tensors[0].shape = {360, 640};
  const Layout full = laid_out(tensors, 640, 360);
  CHECK(full.sections.at(0).rect == Rect{0, 0, 640, 358});
  CHECK(full.sections.at(0).pooling == Pooling::kNone);
  CHECK(full.sections.at(0).shown == doctest::Approx(358.0 / 360));
  CHECK(broken_rule(tensors, full) == "");

  tensors[0].shape = {2000, 3000};
  const Layout pooled = laid_out(tensors, 640, 360);
  CHECK(pooled.sections.at(0).pooling == Pooling::kRms);
  CHECK(broken_rule(tensors, pooled) == "");
}

TEST_CASE("any canvas within the limits takes any network") {
  std::vector<Network> networks = seven_networks();
  networks.push_back(odd_shapes());
  for (const Network& network : networks) {
    for (const auto& [width, height] :
         {std::pair{64, 16}, {64, 64}, {4096, 16}, {64, 4096}, {258, 130}}) {
      CAPTURE(network.name);
      CAPTURE(width);
      CAPTURE(height);
      const Layout layout = laid_out(network.tensors, width, height);
      CHECK(broken_rule(network.tensors, layout) == "");
      CHECK(layout.sections.size() + layout.left_out == network.tensors.size());
      CHECK(!layout.sections.empty());
    }
  }
  CHECK(laid_out({}, 640, 360).sections.empty());
  const Network network = seven_networks()[0];
  CHECK(broken_rule(network.tensors, laid_out(network.tensors, 4096, 4096)) == "");
}

TEST_CASE("twenty thousand tensors: what has no room is counted") {
  std::vector<Tensor> tensors;
  for (int i = 0; i < 20'000; ++i) add(tensors, "t" + std::to_string(i), {4, 4}, "OI");
  for (const auto& [width, height] : {std::pair{64, 16}, {1280, 720}}) {
    const Layout layout = laid_out(tensors, width, height);
    CHECK(broken_rule(tensors, layout) == "");
    CHECK(layout.sections.size() + layout.left_out == 20'000);
    CHECK(layout.sections.size() > static_cast<std::size_t>(width * height / 200));
  }
}

TEST_CASE("the rules hold for random networks on random canvases") {
  std::minstd_rand random(2);
  const auto up_to = [&](std::uint64_t most) { return 1 + random() % most; };
  constexpr std::string_view kRoles[] = {"",     "O",     "OI",    "IO",  "OIW",  "OIHW",
                                         "IOHW", "OIDHW", "BC",    "BTC", "BCHW", "BHWC",
                                         "BATT", "BATC",  "-----", "HW"};
  for (int round = 0; round < 60; ++round) {
    std::vector<Tensor> tensors;
    const auto count = static_cast<int>(up_to(30));
    for (int i = 0; i < count; ++i) {
      const std::string_view roles = kRoles[random() % std::size(kRoles)];
      std::vector<std::uint64_t> shape;
      for (std::size_t d = 0; d < roles.size(); ++d) {
        const bool side = roles[d] == 'H' || roles[d] == 'W' || roles[d] == 'D' || roles.size() > 3;
        shape.push_back(random() % 50 == 0 ? 0 : up_to(side ? 9 : up_to(700)));
      }
      const bool weight = roles.find('O') != std::string_view::npos;
      const std::uint64_t outputs = weight ? shape[roles.find('O')] : 0;
      const std::uint32_t id = add(tensors, "t" + std::to_string(i), std::move(shape), roles, 0,
                                   roles.starts_with('B') ? Kind::kActivation : Kind::kParameter);
      for (std::uint64_t rows = weight ? random() % 3 : 0; rows > 0; --rows)
        add(tensors, "t" + std::to_string(i) + ".row", {outputs}, "O", id);
    }
    const int width = 64 + 2 * static_cast<int>(random() % 500),
              height = 16 + 2 * static_cast<int>(random() % 400);
    CAPTURE(round);
    CAPTURE(width);
    CAPTURE(height);
    CHECK(broken_rule(tensors, laid_out(tensors, width, height)) == "");
  }
}

TEST_CASE(
    "tensors attached to nothing, to one another or to the wrong size get sections of their own") {
  std::vector<Tensor> tensors;
  add(tensors, "weight", {30, 20}, "OI");
  add(tensors, "other-size", {31}, "O", 1);
  add(tensors, "missing", {30}, "O", 99);
  add(tensors, "circle-a", {30}, "O", 5);
  add(tensors, "circle-b", {30}, "O", 4);
  add(tensors, "itself", {30}, "O", 6);
  add(tensors, "norm", {30}, "O", 1);
  add(tensors, "norm-bias", {30}, "O", 7);  // through the norm to the weight
  const Layout layout = laid_out(tensors, 1280, 720);
  CHECK(broken_rule(tensors, layout) == "");
  CHECK(layout.sections.size() == tensors.size());
  CHECK(tensors[layout.sections[1].tensor].name == "norm");
  CHECK(tensors[layout.sections[2].tensor].name == "norm-bias");
  CHECK(section_of(layout, tensors, "norm")->label.empty());
  CHECK(!section_of(layout, tensors, "missing")->label.empty());
}

TEST_CASE("labels stand above their sections and are cut to their width") {
  const Network network = seven_networks()[0];
  const Layout layout = laid_out(network.tensors, 1280, 720);
  const Section* fc1 = section_of(layout, network.tensors, "fc1.weight");
  REQUIRE(fc1);
  CHECK(fc1->label == "fc1.weight 256×3136");
  CHECK(fc1->label_rect.y + fc1->label_rect.height <= fc1->rect.y);

  std::vector<Tensor> tensors;
  add(tensors, "дуже.довга.назва.шару.що.не.вміститься.ніде.на.полотні", {300, 300}, "OI");
  add(tensors, "big", {3000, 3000}, "OI");
  const std::string cut = laid_out(tensors, 640, 360).sections[0].label;
  CHECK(cut.starts_with("…"));
  CHECK(std::string(tensors[0].name).ends_with(cut.substr(std::string("…").size())));
  CHECK((static_cast<unsigned char>(cut[3]) & 0xC0) != 0x80);  // no torn letter
}

TEST_CASE("canvases that cannot be are refused with their size") {
  const Network network = seven_networks()[0];
  for (const auto& [width, height] : {std::pair{62, 16},
                                      {64, 14},
                                      {641, 360},
                                      {640, 361},
                                      {4098, 720},
                                      {1280, 4098},
                                      {0, 0},
                                      {-2, 720}}) {
    const auto layout = lay_out(network.tensors, {width, height});
    REQUIRE_FALSE(layout.ok());
    CHECK(layout.error().message.find(std::to_string(width) + "×" + std::to_string(height)) !=
          std::string::npos);
  }
  CHECK_FALSE(lay_out(network.tensors, {1280, 720, Pooling::kNone}).ok());
}
