// protozero against proto/golden: the bytes that libprotobuf and TypeScript are held to.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>

#include "capture/codec.hpp"
#include "phosphene.pb.h"

namespace v1 = phosphene::v1;
using namespace phosphene::capture;

namespace {

std::string golden(const std::string& name) {
  std::ifstream file(std::string(PHOSPHENE_GOLDEN) + '/' + name + ".hex");
  const std::string hex{std::istreambuf_iterator<char>(file), {}};
  std::string bytes, digits;
  std::copy_if(hex.begin(), hex.end(), std::back_inserter(digits),
               [](unsigned char c) { return std::isxdigit(c); });
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  REQUIRE_MESSAGE(!bytes.empty(), name);
  return bytes;
}

v1::FromHook parsed(const std::string& bytes) {
  v1::FromHook message;
  REQUIRE(message.ParseFromString(bytes));
  return message;
}

template <typename Message>
std::string encoded(const Message& message) {
  std::string bytes;
  encode(message, bytes);
  return bytes;
}

template <typename To, typename From>
std::vector<To> list(const From& from) {
  std::vector<To> result;
  for (const auto value : from) result.push_back(static_cast<To>(value));
  return result;
}

Tile tile_of(const v1::Tile& from) {
  Tile tile;
  tile.tensor = from.tensor();
  tile.cells = from.cells();
  tile.levels.assign(from.levels().begin(), from.levels().end());
  tile.marks = list<std::uint32_t>(from.marks());
  tile.range = {from.range().lo(), from.range().hi(), static_cast<Shape>(from.range().shape())};
  if (from.has_step()) tile.step = from.step();
  if (!from.has_statistics()) return tile;
  const v1::Statistics& s = from.statistics();
  tile.statistics = {.step = s.step(),
                     .count = s.count(),
                     .nan = s.nan(),
                     .inf = s.inf(),
                     .zero = s.zero(),
                     .min = s.min(),
                     .max = s.max(),
                     .mean = s.mean(),
                     .std = s.std(),
                     .l2 = s.l2()};
  return tile;
}

}  // namespace

TEST_CASE("the hook writes the golden bytes") {
  SUBCASE("hello") {
    for (const char* name : {"from_hook.hello", "from_hook.hello_token"}) {
      const std::string bytes = golden(name);
      const v1::Hello m = parsed(bytes).hello();
      CHECK(encoded(Hello{m.run(), m.name(), m.pid(), m.host(), m.library(), m.started_us(),
                          m.token()}) == bytes);
    }
  }
  SUBCASE("tensors") {
    const std::string bytes = golden("from_hook.tensors");
    std::vector<TensorInfo> tensors;
    const v1::FromHook message = parsed(bytes);
    for (const v1::Tensor& m : message.tensors().tensors()) {
      tensors.push_back({.id = m.id(),
                         .name = m.name(),
                         .kind = static_cast<phosphene::Kind>(m.kind()),
                         .dtype = static_cast<phosphene::DType>(m.dtype()),
                         .shape = list<std::uint64_t>(m.shape()),
                         .roles = list<phosphene::Role>(m.roles()),
                         .attached_to = m.attached_to(),
                         .lo = m.lo(),
                         .hi = m.hi()});
    }
    CHECK(encoded(tensors) == bytes);
  }
  SUBCASE("frame") {
    const std::string bytes = golden("from_hook.frame");
    const v1::Frame m = parsed(bytes).frame();
    Frame frame{m.view(), m.plans(), m.step(), m.time_us(), {}};
    for (const v1::Tile& tile : m.tiles()) frame.tiles.push_back(tile_of(tile));
    CHECK(encoded(frame) == bytes);
  }
  SUBCASE("scalars") {
    const std::string bytes = golden("from_hook.scalars");
    std::vector<Series> scalars;
    const v1::FromHook message = parsed(bytes);
    for (const v1::Series& m : message.scalars().series())
      scalars.push_back({m.name(), list<std::uint64_t>(m.steps()), list<double>(m.values())});
    CHECK(encoded(scalars) == bytes);
  }
  SUBCASE("progress") {
    const std::string bytes = golden("from_hook.progress");
    const v1::Progress m = parsed(bytes).progress();
    CHECK(encoded(Progress{m.step(), m.steps_per_second(), m.cost_us_per_step(), m.frames_sent(),
                           m.frames_dropped_queue(), m.frames_dropped_budget(),
                           m.scalars_dropped()}) == bytes);
  }
  SUBCASE("notice") {
    const std::string bytes = golden("from_hook.notice");
    CHECK(encoded(Notice{parsed(bytes).notice().text()}) == bytes);
  }
}

TEST_CASE("the hook reads the golden bytes") {
  const auto read = [](const char* name) {
    const auto result = decode_to_hook(golden(name));
    REQUIRE(result.ok());
    return *result;
  };
  v1::ToHook message;
  SUBCASE("welcome and refusal") {
    REQUIRE(message.ParseFromString(golden("to_hook.welcome")));
    CHECK(std::get<Welcome>(read("to_hook.welcome")).protocol == message.welcome().protocol());
    CHECK(std::get<Welcome>(read("to_hook.welcome")).server == message.welcome().server());
    REQUIRE(message.ParseFromString(golden("to_hook.refusal")));
    CHECK(std::get<Refusal>(read("to_hook.refusal")).why == message.refusal().why());
  }
  SUBCASE("no plans") {
    REQUIRE(message.ParseFromString(golden("to_hook.plans_none")));
    const ToHook none = read("to_hook.plans_none");
    CHECK(std::get<Plans>(none).version == message.plans().version());
    CHECK(std::get<Plans>(none).views.empty());
  }
  SUBCASE("plans") {
    REQUIRE(message.ParseFromString(golden("to_hook.plans")));
    const ToHook all = read("to_hook.plans");
    const Plans& plans = std::get<Plans>(all);
    CHECK(plans.problems.empty());
    CHECK(plans.version == message.plans().version());
    REQUIRE(plans.views.size() == static_cast<std::size_t>(message.plans().views_size()));
    for (int v = 0; v < message.plans().views_size(); ++v) {
      const v1::ViewPlan& wanted = message.plans().views(v);
      const ViewPlan& view = plans.views[static_cast<std::size_t>(v)];
      CHECK(view.view == wanted.view());
      CHECK(view.fps == wanted.fps());
      CHECK(static_cast<int>(view.quantity) == wanted.quantity());
      CHECK(static_cast<int>(view.scaling.range) == wanted.scaling().range());
      CHECK(static_cast<int>(view.scaling.shape) == wanted.scaling().shape());
      CHECK(static_cast<int>(view.scaling.scope) == wanted.scaling().scope());
      CHECK(view.scaling.lo == wanted.scaling().lo());
      CHECK(view.scaling.hi == wanted.scaling().hi());
      if (wanted.scaling().decades() != 0)
        CHECK(view.scaling.decades == wanted.scaling().decades());
      REQUIRE(view.tensors.size() == static_cast<std::size_t>(wanted.tensors_size()));
      for (int t = 0; t < wanted.tensors_size(); ++t) {
        const v1::TensorPlan& asked = wanted.tensors(t);
        const TensorPlan& tensor = view.tensors[static_cast<std::size_t>(t)];
        CHECK(tensor.tensor == asked.tensor());
        CHECK(static_cast<int>(tensor.pooling) == asked.pooling());
        CHECK(tensor.extents == list<std::uint64_t>(asked.extents()));
        CHECK(tensor.outer.dims == list<std::uint32_t>(asked.outer().dims()));
        CHECK(tensor.inner.dims == list<std::uint32_t>(asked.inner().dims()));
        if (asked.has_outer()) CHECK(tensor.outer.cells == asked.outer().cells());
        if (asked.has_inner()) CHECK(tensor.inner.cells == asked.inner().cells());
      }
    }
  }
}
