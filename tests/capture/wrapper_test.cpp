// phosphene.hpp, against the shared library and a server's end.
#include <doctest/doctest.h>

#include "phosphene.hpp"
#include "test_server.hpp"

using namespace phosphene::test;
using phosphene::Role;

TEST_CASE("a network declared in C++ arrives with its names, roles and values") {
  Server server;
  phosphene::Session cast({.name = "wrapped", .address = server.address(), .budget = 1});
  REQUIRE(cast);
  const std::vector<float> weights{0, 1, 2, 3, 4, 5};
  const std::vector<double> biases{6, 7};
  float transient[2] = {8, 9};
  const auto weight = cast.parameter("fc.weight", weights, {2, 3}, {Role::kOut, Role::kIn});
  const auto bias =
      cast.parameter("fc.bias", biases.data(), {2}, {Role::kOut}, {.attached_to = weight});
  // Column-major, as Eigen has it.
  const auto turned =
      cast.gradient("fc.weight", weights, {2, 3}, {Role::kOut, Role::kIn}, {.strides = {1, 2}});
  const auto activation =
      cast.declare(PHOSPHENE_ACTIVATION, "fc", PHOSPHENE_FLOAT32, {1, 2}, {Role::kBatch});
  CHECK(cast.declare(PHOSPHENE_ACTIVATION, "deep", PHOSPHENE_FLOAT32, phosphene::Sizes(9, 1)).id ==
        0);
  CHECK(phosphene::Session::error().find("deep") != std::string::npos);

  // Strides are read one a dimension, wherever they end.
  for (const phosphene::Sizes& strides : {phosphene::Sizes{1}, phosphene::Sizes{3, 1, 1}})
    CHECK_FALSE(cast.bind({.id = turned.id, .shape = {2, 3}, .strides = strides}, weights));
  CHECK(phosphene::Session::error().find("rank") != std::string::npos);

  auto peer = server.accept();
  REQUIRE(peer);
  std::vector<v1::Tensor> tensors;
  while (tensors.size() < 4) {
    const auto message = peer->next(v1::FromHook::kTensors);
    REQUIRE(message);
    for (const auto& tensor : message->tensors().tensors()) tensors.push_back(tensor);
  }
  CHECK(tensors[0].roles(0) == v1::ROLE_OUT);
  CHECK(tensors[0].roles(1) == v1::ROLE_IN);
  CHECK(tensors[1].dtype() == v1::DTYPE_FLOAT64);
  CHECK(tensors[1].attached_to() == weight.id);
  CHECK(tensors[3].roles(0) == v1::ROLE_BATCH);
  CHECK(tensors[3].roles(1) == v1::ROLE_OTHER);

  peer->send(plan_of({weight.id, bias.id, turned.id, activation.id}));
  std::optional<v1::Frame> frame;
  const std::int64_t deadline = phosphene::monotonic_us() + 1000 * kPatienceMs;
  for (std::uint64_t step = 1; !frame && phosphene::monotonic_us() < deadline; ++step) {
    if (cast.wants(activation)) cast.capture(activation, transient);
    cast.scalar("loss", 0.5);
    cast.step(step);
    while (auto message = peer->next(1)) {
      if (message->has_frame() && message->frame().tiles_size() == 4) frame = message->frame();
    }
  }
  REQUIRE(frame);
  CHECK(levels_of(frame->tiles(0)) == std::vector<int>{0, 1, 2, 3, 4, 5});
  CHECK(levels_of(frame->tiles(1)) == std::vector<int>{6, 7});
  CHECK(levels_of(frame->tiles(2)) == std::vector<int>{0, 2, 4, 1, 3, 5});
  CHECK(levels_of(frame->tiles(3)) == std::vector<int>{8, 9});
  CHECK(cast.cost().watched == 1);
}

TEST_CASE("a container too short for its tensor is refused, not read beyond") {
  phosphene::Session cast({.address = "unix:/tmp/phosphene-nobody.sock"});
  const std::vector<float> six(6);
  const auto is_bound = [&](const phosphene::Sizes& shape, const phosphene::Sizes& strides = {}) {
    const auto tensor = cast.declare(PHOSPHENE_PARAMETER, "weight", PHOSPHENE_FLOAT32, shape, {},
                                     {.strides = strides});
    return cast.bind(tensor, six);
  };
  CHECK(is_bound({2, 3}));
  CHECK(is_bound({2, 3}, {1, 2}));
  CHECK(is_bound({0, 100}));
  CHECK(is_bound({}));
  CHECK_FALSE(is_bound({2, 4}));
  CHECK(phosphene::Session::error().find("memory that holds them all") != std::string::npos);
  CHECK_FALSE(is_bound({2, 3}, {4, 1}));
  CHECK_FALSE(is_bound({2, 3}, {-3, 1}));
  CHECK_FALSE(is_bound({1 << 30, 1 << 30}));
}

TEST_CASE("a session that could not be opened takes every call") {
  phosphene::Session cast({.address = "nowhere at all"});
  CHECK_FALSE(cast);
  CHECK(phosphene::Session::error().find("nowhere at all") != std::string::npos);
  const float value = 1;
  const auto tensor = cast.parameter("weight", &value, {1});
  CHECK(tensor.id == 0);
  CHECK_FALSE(cast.wants(tensor));
  cast.capture(tensor, &value);
  cast.unbind(tensor);
  cast.scalar("loss", 1);
  cast.step(1);
  CHECK(cast.cost().steps == 0);
}
