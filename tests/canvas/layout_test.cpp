#include "canvas/layout.hpp"

#include <doctest/doctest.h>

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

}  // namespace

TEST_CASE("the rules hold for the seven networks on common canvases") {
  for (const Network& network : seven_networks()) {
    for (const auto& [width, height] :
         {std::pair{640, 360}, {1000, 1000}, {1280, 720}, {1920, 1080}}) {
      CAPTURE(network.name);
      CAPTURE(width);
      CHECK(broken_rule(network.tensors, laid_out(network.tensors, width, height)) == "");
    }
  }
}
