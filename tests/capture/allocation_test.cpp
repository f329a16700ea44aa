// The trainer's thread allocates nothing once it runs: a step must not wait for an allocator's
// lock.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "allocations.hpp"
#include "capture/phosphene.h"
#include "test_server.hpp"

using namespace phosphene::test;

TEST_CASE("once it runs, a watched step allocates nothing on the trainer's thread") {
  Server server;
  const std::string address = server.address();
  const phosphene_options options{.struct_size = sizeof(phosphene_options),
                                  .name = nullptr,
                                  .run = nullptr,
                                  .address = address.c_str(),
                                  .budget = 1};
  phosphene_session* session = nullptr;
  REQUIRE(phosphene_open(&options, &session) == PHOSPHENE_OK);
  const std::vector<float> values(300 * 200, 0.5f);
  const std::int64_t shape[] = {300, 200};
  std::vector<std::uint32_t> ids;
  for (const char* name : {"first", "second", "third"}) {
    const phosphene_info info{.name = name,
                              .kind = PHOSPHENE_PARAMETER,
                              .dtype = PHOSPHENE_FLOAT32,
                              .rank = 2,
                              .shape = shape,
                              .roles = nullptr,
                              .attached_to = 0,
                              .lo = 0,
                              .hi = 0};
    ids.push_back(phosphene_declare(session, &info));
    const phosphene_view view{values.data(), PHOSPHENE_FLOAT32, 2, shape, nullptr};
    phosphene_bind(session, ids.back(), &view);
  }
  auto peer = server.accept();
  REQUIRE(peer);
  v1::ToHook plan = plan_of(ids);
  for (const v1::Scope scope : {v1::SCOPE_LAYER, v1::SCOPE_NETWORK}) {
    v1::ViewPlan& view = *plan.mutable_plans()->add_views();
    view = plan.plans().views(0);
    view.set_view(10 + static_cast<std::uint32_t>(scope));
    view.mutable_scaling()->set_range(v1::RANGE_MODE_STEADY);
    view.mutable_scaling()->set_scope(scope);
    v1::TensorPlan& pooled = *view.mutable_tensors(1);
    pooled.set_pooling(v1::POOLING_RMS);
    pooled.mutable_outer()->add_dims(0);
    pooled.mutable_outer()->set_cells(30);
    pooled.mutable_inner()->add_dims(1);
    pooled.mutable_inner()->set_cells(20);
  }
  peer->send(plan);

  std::uint64_t step = 0;
  const auto captured = [&] {
    phosphene_cost cost{};
    phosphene_get_cost(session, &cost);
    return cost.frames_captured;
  };
  const auto train_until_captured = [&](std::uint64_t frames) {
    const std::int64_t deadline = phosphene::monotonic_us() + 1000 * kPatienceMs;
    while (captured() < frames && phosphene::monotonic_us() < deadline) {
      phosphene_scalar(session, "loss", 1);
      phosphene_step(session, ++step);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    CHECK(captured() >= frames);
  };
  train_until_captured(60);
  const std::size_t before = allocations_of_this_thread();
  train_until_captured(captured() + 200);
  CHECK(allocations_of_this_thread() == before);
  phosphene_close(session);
}
