// Everything a hook may send after its hello, into a run that a view watches: whatever comes out
// can be drawn.
#include <google/protobuf/stubs/logging.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "app/check.hpp"
#include "app/runs.hpp"
#include "wire/framing.hpp"

using namespace phosphene;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// A plan for all elements of all tensors, as far as a canvas holds them.
v1::ViewPlan plan_of_all(const app::TensorTable& table) {
  v1::ViewPlan plan;
  for (const v1::Tensor& tensor : table.tensors) plan.add_tensors()->set_tensor(tensor.id());
  return plan;
}

void check(const app::TensorTable& table) {
  require(table.tensors.size() <= app::Run::kMaxTensors);
  for (v1::Tensor tensor : table.tensors) {
    require(bool(app::check_tensor(tensor)));
    require(app::elements_of(tensor.shape()) <= app::kMaxElements);
  }
}

void check(const v1::Frame& frame) {
  for (const v1::Tile& tile : frame.tiles()) {
    require(bool(app::check_tile(tile)));
    require(tile.levels().size() * 2 >= tile.cells());
    require(std::isfinite(tile.range().lo()) && std::isfinite(tile.range().hi()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  app::Runs runs;
  v1::Hello hello;
  hello.set_run("fuzz");
  const app::Runs::Opened opened = *runs.open(hello, 0);
  app::ViewFeed feed = opened.run->watch();
  std::uint64_t plans = 0;
  std::uint64_t cursor = 0;

  wire::FrameReader reader;
  reader.feed({reinterpret_cast<const char*>(data), size});
  for (std::int64_t now_us = 0;; now_us += 1'000'000) {
    const auto next = reader.next();
    if (!next || !*next) break;
    v1::FromHook message;
    if (!message.ParseFromArray((*next)->data(), static_cast<int>((*next)->size()))) break;
    // A fuzzer cannot guess which plans there are: half of the frames answer them.
    if (message.has_frame() && message.frame().plans() % 2 == 0 && message.frame().view() != 0) {
      message.mutable_frame()->set_view(feed.view());
      message.mutable_frame()->set_plans(plans);
    }
    const bool declares = message.has_tensors();
    const bool open = bool(opened.run->handle(std::move(message), now_us));
    opened.run->tick(now_us);
    if (declares) {
      const auto table = opened.run->tensors();
      check(*table);
      feed.set_plan(plan_of_all(*table));
      opened.run->plans_after(plans);
    }
    if (const auto news = feed.wait(std::chrono::microseconds(0)); news.frame) check(*news.frame);
    if (!open) break;
  }
  opened.run->scalars(cursor);
  opened.run->disconnect(opened.connection, reader.closed(), "", 0);
  require(runs.message().runs_size() == 1);
  return 0;
}
