// `phosphene pipe --to`, as a process of its own, and a server's end of it.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../patience.hpp"
#include "app/commands.hpp"
#include "app/ingest.hpp"

using namespace phosphene;
using namespace phosphene::app;
using test::eventually;

namespace {

v1::ViewPlan plan_of_frame() {
  v1::ViewPlan plan;
  plan.set_fps(30);
  plan.set_quantity(v1::QUANTITY_VALUE);
  v1::Scaling& scaling = *plan.mutable_scaling();
  scaling.set_range(v1::RANGE_MODE_FIXED);
  scaling.set_shape(v1::SHAPE_LINEAR);
  scaling.set_scope(v1::SCOPE_LAYER);
  scaling.set_hi(256);
  plan.add_tensors()->set_tensor(1);
  return plan;
}

}  // namespace

TEST_CASE("who comes while the input stands still sees its last frame") {
  char directory[] = "/tmp/phosphene-test-XXXXXX";
  REQUIRE(::mkdtemp(directory));
  const auto address = wire::Address::parse(std::string("unix:") + directory + "/ingest.sock");
  REQUIRE(address);
  int input[2];
  REQUIRE(::pipe(input) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::close(input[0]);
    ::close(input[1]);
    PipeOptions options;
    options.width = options.height = 16;
    options.to = *address;
    std::_Exit(pipe({}, {}, options));
  }
  ::close(input[0]);
  Runs runs;
  const auto ingest = Ingest::create({.addresses = {*address}}, runs);
  REQUIRE(ingest);
  std::string frames(256, '\x10');
  frames += std::string(256, '\x90');
  REQUIRE(::write(input[1], frames.data(), frames.size()) == 512);
  std::shared_ptr<Run> run;
  REQUIRE(eventually([&] {
    run = runs.find("");
    return run && !run->tensors()->tensors.empty() && run->info().progress().step() == 1;
  }));

  ViewFeed feed = run->watch();
  feed.set_plan(plan_of_frame());
  FramePtr frame;
  CHECK(eventually([&] {
    if (!frame) frame = feed.wait(std::chrono::milliseconds(5)).frame;
    return frame != nullptr;
  }));
  if (frame) CHECK(frame->tiles(0).levels() == std::string(128, '\x99'));
  if (frame) CHECK(frame->step() == 1);

  ::close(input[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  feed = ViewFeed();
  std::filesystem::remove_all(directory);
}
