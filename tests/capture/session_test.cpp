// The hook against a server's end over real sockets.
#include "capture/session.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "allocations.hpp"
#include "capture/phosphene.h"
#include "capture/scalar_ring.hpp"
#include "capture/wake_up.hpp"
#include "test_server.hpp"

// Read by ThreadSanitizer alone, which by default ends a forked child that starts a thread, as
// case_31 does.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "die_after_fork=0";
}

using namespace phosphene::test;
using phosphene::monotonic_us;
using phosphene::wire::kProtocolVersion;

// LeakSanitizer asks this at a process's end. A fork copies what other threads hold, not the
// threads: in a child it takes that for lost.
namespace {
bool is_forked = false;
}
extern "C" int __lsan_is_turned_off() {
  return is_forked;
}

namespace {

/// A training loop in miniature.
class Trainer {
 public:
  explicit Trainer(const std::string& address, double budget = 1) {
    const phosphene_options options{.struct_size = sizeof(phosphene_options),
                                    .name = "miniature",
                                    .run = "run-1",
                                    .address = address.c_str(),
                                    .budget = budget};
    REQUIRE(phosphene_open(&options, &session_) == PHOSPHENE_OK);
  }
  ~Trainer() { close(); }
  Trainer(const Trainer&) = delete;

  phosphene_session* get() const { return session_; }
  void close() { phosphene_close(std::exchange(session_, nullptr)); }

  std::uint32_t declare(const char* name, std::vector<std::int64_t> shape,
                        phosphene_kind kind = PHOSPHENE_PARAMETER,
                        phosphene_dtype dtype = PHOSPHENE_FLOAT32) {
    const phosphene_info info{.name = name,
                              .kind = kind,
                              .dtype = dtype,
                              .rank = static_cast<std::int32_t>(shape.size()),
                              .shape = shape.data(),
                              .roles = nullptr,
                              .attached_to = 0,
                              .lo = 0,
                              .hi = 0};
    return phosphene_declare(session_, &info);
  }

  static phosphene_view view(const void* data, const std::vector<std::int64_t>& shape,
                             phosphene_dtype dtype = PHOSPHENE_FLOAT32) {
    return {data, dtype, static_cast<std::int32_t>(shape.size()), shape.data(), nullptr};
  }
  phosphene_status bind(std::uint32_t tensor, const void* data,
                        const std::vector<std::int64_t>& shape,
                        phosphene_dtype dtype = PHOSPHENE_FLOAT32) {
    const phosphene_view bound = view(data, shape, dtype);
    return phosphene_bind(session_, tensor, &bound);
  }
  phosphene_status capture(std::uint32_t tensor, const void* data,
                           const std::vector<std::int64_t>& shape,
                           phosphene_dtype dtype = PHOSPHENE_FLOAT32) {
    const phosphene_view captured = view(data, shape, dtype);
    return phosphene_capture(session_, tensor, &captured);
  }

  void step() { phosphene_step(session_, ++step_); }
  std::uint64_t steps() const { return step_; }
  phosphene_cost cost() const {
    phosphene_cost cost{};
    phosphene_get_cost(session_, &cost);
    return cost;
  }

  /// Trains until `done` holds. False: it did not for all patience.
  template <typename Done>
  bool train_until(Done&& done) {
    const std::int64_t deadline = monotonic_us() + 1000 * kPatienceMs;
    while (monotonic_us() < deadline) {
      step();
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    return false;
  }
  bool train_until_wanted(std::uint32_t tensor) {
    return train_until([&] { return phosphene_wants(session_, tensor) != 0; });
  }
  bool train_until_watched(bool watched) {
    return train_until([&] { return cost().watched == (watched ? 1 : 0); });
  }

 private:
  phosphene_session* session_ = nullptr;
  std::uint64_t step_ = 0;
};

/// The next frame under `version` of the plans while the trainer trains.
v1::Frame frame_of(Trainer& trainer, Peer& peer, std::uint64_t version = 1) {
  std::optional<v1::FromHook> found;
  trainer.train_until([&] {
    while (auto message = peer.next(0)) {
      if (message->has_frame() && message->frame().plans() == version) {
        found = message;
        return true;
      }
    }
    return peer.ended();
  });
  REQUIRE(found);
  return found->frame();
}

/// What comes while a session closes, however long that takes here.
struct Ending {
  std::vector<v1::FromHook> messages;
  bool in_order = false;  // with the closing sentinel
};
template <typename Close>
Ending ending_of(std::optional<Peer>& peer, Close close) {
  const int before = phosphene::capture::close_limit_ms.exchange(kPatienceMs);
  std::thread closing(close);
  Ending ending;
  while (auto message = peer->next()) ending.messages.push_back(*std::move(message));
  ending.in_order = peer->ends_in_order();
  peer.reset();  // the hook waits for it
  closing.join();
  phosphene::capture::close_limit_ms = before;
  return ending;
}
Ending ending_of(std::optional<Peer>& peer, Trainer& trainer) {
  return ending_of(peer, [&] { trainer.close(); });
}

std::vector<float> counting(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace

TEST_CASE("a hook says who it is and what there is to see") {
  for (const std::string& address : {Server::fresh_address(), std::string("tcp:127.0.0.1:0")}) {
    Server server(address);
    REQUIRE(server.listens());
    Trainer trainer(server.address());
    CHECK(trainer.declare("fc1.weight", {2, 3}) == 1);
    CHECK(trainer.declare("fc1.weight", {2, 3}, PHOSPHENE_GRADIENT) == 2);
    CHECK(trainer.declare("caf\xE9", {}) == 3);

    auto peer = server.accept();
    REQUIRE(peer);
    const auto hello = peer->next();
    REQUIRE(hello);
    REQUIRE(hello->has_hello());
    CHECK(hello->hello().protocol() == kProtocolVersion);
    CHECK(hello->hello().run() == "run-1");
    CHECK(hello->hello().name() == "miniature");
    CHECK(hello->hello().pid() == static_cast<std::uint64_t>(::getpid()));

    std::vector<v1::Tensor> tensors;
    while (tensors.size() < 3) {
      const auto message = peer->next(v1::FromHook::kTensors);
      REQUIRE(message);
      for (const auto& tensor : message->tensors().tensors()) tensors.push_back(tensor);
    }
    CHECK(tensors[0].name() == "fc1.weight");
    CHECK(tensors[0].kind() == v1::KIND_PARAMETER);
    CHECK(tensors[0].shape(1) == 3);
    CHECK(tensors[1].kind() == v1::KIND_GRADIENT);
    CHECK(tensors[2].name() == "caf?");
    CHECK(tensors[2].shape_size() == 0);

    trainer.step();
    const auto progress = peer->next(v1::FromHook::kProgress);
    REQUIRE(progress);
    CHECK(ending_of(peer, trainer).in_order);
  }
}

TEST_CASE("case_27: while nobody watches nothing is wanted, read or sent") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  CHECK(trainer.bind(weight, nullptr, {4}) != PHOSPHENE_OK);  // no memory: refused at once
  const auto values = counting(4);
  CHECK(trainer.bind(weight, values.data(), {4}) == PHOSPHENE_OK);
  auto peer = server.accept();
  REQUIRE(peer);
  REQUIRE(trainer.train_until([&] { return trainer.cost().connected == 1; }));
  for (int i = 0; i < 1000; ++i) {
    CHECK_FALSE(phosphene_wants(trainer.get(), weight));
    trainer.step();
  }
  CHECK(trainer.cost().frames_captured == 0);
  CHECK(trainer.cost().total_us == 0);
  CHECK(trainer.cost().watched == 0);
  for (const auto& message : ending_of(peer, trainer).messages) CHECK_FALSE(message.has_frame());
}

TEST_CASE("a watched tensor arrives as levels, and its memory is as it was") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {3, 3});
  std::vector<float> values{0, 1, 2.5, 15.99f, 16, 99, -3, NAN, INFINITY};
  const std::vector<float> before = values;
  trainer.bind(weight, values.data(), {3, 3});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}, 7));

  v1::Frame frame;
  do {  // the first one has them, unless a newer one took its place
    frame = frame_of(trainer, *peer, 7);
    REQUIRE(frame.tiles_size() == 1);
  } while (!frame.tiles(0).has_statistics());
  CHECK(frame.view() == 1);
  CHECK(frame.step() > 0);
  CHECK(frame.step() <= trainer.steps());
  CHECK(frame.time_us() > 1'000'000'000'000'000);
  const v1::Tile& tile = frame.tiles(0);
  CHECK(tile.tensor() == weight);
  CHECK(levels_of(tile) == std::vector<int>{0, 1, 2, 15, 15, 15, 0, 3, 15});
  CHECK(std::vector<int>(tile.marks().begin(), tile.marks().end()) ==
        std::vector<int>{7, 4 + 1, 0, 4 + 2});
  CHECK(tile.range().lo() == 0);
  CHECK(tile.range().hi() == 16);
  CHECK(std::memcmp(values.data(), before.data(), values.size() * sizeof(float)) == 0);

  CHECK(tile.statistics().step() == frame.step());
  CHECK(tile.statistics().count() == 9);
  CHECK(tile.statistics().nan() == 1);
  CHECK(tile.statistics().inf() == 1);
  CHECK(tile.statistics().max() == 99);

  peer->send(nothing(8));
  CHECK(trainer.train_until_watched(false));
  CHECK_FALSE(phosphene_wants(trainer.get(), weight));
}

TEST_CASE("all tiles of a frame are of one step, captured and bound ones") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {1});
  const auto activation = trainer.declare("relu", {1}, PHOSPHENE_ACTIVATION);
  const auto never = trainer.declare("skipped", {1}, PHOSPHENE_ACTIVATION);
  float weight_value = 0;
  trainer.bind(weight, &weight_value, {1});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight, activation, never}));
  int frames = 0;
  const bool done = trainer.train_until([&] {
    // The step that comes next: both values are its number, as far as levels go.
    weight_value = static_cast<float>((trainer.steps() + 1) % 16);
    if (phosphene_wants(trainer.get(), activation)) {
      const float first = 9;  // a module used twice: the last one wins
      trainer.capture(activation, &first, {1});
      trainer.capture(activation, &weight_value, {1});
    }
    while (auto message = peer->next(0)) {
      if (!message->has_frame() || message->frame().tiles_size() < 2) continue;
      const v1::Frame& frame = message->frame();
      REQUIRE(frame.tiles_size() == 2);
      CHECK(frame.tiles(0).tensor() == weight);
      CHECK(frame.tiles(1).tensor() == activation);
      const int level = static_cast<int>(frame.step() % 16);
      CHECK(levels_of(frame.tiles(0)) == std::vector<int>{level});
      CHECK(levels_of(frame.tiles(1)) == std::vector<int>{level});
      ++frames;
    }
    return frames >= 20;
  });
  CHECK(done);
}

TEST_CASE("under whole-network scaling all tiles share one range") {
  Server server;
  Trainer trainer(server.address());
  const auto small = trainer.declare("small", {2});
  const auto large = trainer.declare("large", {2}, PHOSPHENE_ACTIVATION);
  const std::vector<float> small_values{-1, 1}, large_values{-100, 3};
  trainer.bind(small, small_values.data(), {2});
  auto peer = server.accept();
  REQUIRE(peer);
  v1::ToHook plan = plan_of({small, large});
  v1::Scaling& scaling = *plan.mutable_plans()->mutable_views(0)->mutable_scaling();
  scaling.set_range(v1::RANGE_MODE_FRAME);
  scaling.set_shape(v1::SHAPE_SYMMETRIC);
  scaling.set_scope(v1::SCOPE_NETWORK);
  peer->send(plan);
  v1::Frame frame;
  REQUIRE(trainer.train_until([&] {
    if (phosphene_wants(trainer.get(), large)) {
      std::vector<float> transient = large_values;
      trainer.capture(large, transient.data(), {2});
      transient = {55, 55};  // gone after the call
    }
    while (auto message = peer->next(0))
      if (message->has_frame()) frame = message->frame();
    return frame.tiles_size() == 2;
  }));
  CHECK(frame.tiles(0).range().lo() == -100);
  CHECK(frame.tiles(0).range().hi() == 100);
  CHECK(frame.tiles(1).range().lo() == -100);
  CHECK(frame.tiles(1).range().hi() == 100);
  CHECK(levels_of(frame.tiles(0)) == std::vector<int>{7, 8});
  CHECK(levels_of(frame.tiles(1)) == std::vector<int>{0, 8});
}

TEST_CASE("case_35: two views of the same tensor, each with its own plan") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  const auto values = counting(4);
  trainer.bind(weight, values.data(), {4});
  auto peer = server.accept();
  REQUIRE(peer);
  v1::ToHook plan = plan_of({weight});
  v1::ViewPlan& second = *plan.mutable_plans()->add_views();
  second = plan.plans().views(0);
  second.set_view(2);
  second.mutable_tensors(0)->add_extents(2);
  peer->send(plan);
  bool seen[3] = {};
  CHECK(trainer.train_until([&] {
    while (auto message = peer->next(0)) {
      if (!message->has_frame()) continue;
      const v1::Frame& frame = message->frame();
      REQUIRE(frame.view() <= 2);
      CHECK(frame.tiles(0).cells() == (frame.view() == 1 ? 4 : 2));
      seen[frame.view()] = true;
    }
    return seen[1] && seen[2];
  }));
}

TEST_CASE("a tensor declared anew is not shown under plans for its old shape") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  auto values = counting(6);
  trainer.bind(weight, values.data(), {4});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}, 1));
  CHECK(frame_of(trainer, *peer, 1).tiles(0).cells() == 4);

  CHECK(trainer.declare("weight", {6}) == weight);
  trainer.bind(weight, values.data(), {6});
  for (int i = 0; i < 50; ++i) {
    CHECK_FALSE(phosphene_wants(trainer.get(), weight));
    trainer.step();
  }
  peer->send(plan_of({weight}, 2));
  CHECK(frame_of(trainer, *peer, 2).tiles(0).cells() == 6);
}

TEST_CASE("a plan that does not fit is said, and the others are shown") {
  Server server;
  Trainer trainer(server.address());
  const auto bad = trainer.declare("bad", {4});
  const auto good = trainer.declare("good", {4});
  const auto values = counting(4);
  trainer.bind(good, values.data(), {4});
  trainer.bind(bad, values.data(), {4});
  auto peer = server.accept();
  REQUIRE(peer);
  v1::ToHook plan = plan_of({bad, good, 99});
  v1::TensorPlan& impossible = *plan.mutable_plans()->mutable_views(0)->mutable_tensors(0);
  impossible.set_pooling(v1::POOLING_RMS);
  impossible.mutable_outer()->add_dims(5);
  impossible.mutable_outer()->set_cells(1);
  impossible.mutable_inner()->set_cells(1);
  peer->send(plan);
  std::string notices;
  int tiles = 0;
  CHECK(trainer.train_until([&] {
    while (auto message = peer->next(0)) {
      if (message->has_notice()) notices += message->notice().text() + "\n";
      if (message->has_frame()) {
        tiles = message->frame().tiles_size();
        CHECK(message->frame().tiles(0).tensor() == good);
      }
    }
    return tiles == 1 && notices.find("bad") != std::string::npos &&
           notices.find("99") != std::string::npos;
  }));
}

TEST_CASE("case_41: what is no message of a server ends the connection, never the training") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  const auto values = counting(4);
  trainer.bind(weight, values.data(), {4});
  std::uint64_t version = 0;
  for (const std::string& garbage : {std::string("\x04\x1A\x7F\x01\x01"), std::string(16, '\xFF'),
                                     "GET / HTTP/1.1\r\n" + std::string(100, 'x')}) {
    auto peer = server.accept();
    REQUIRE(peer);
    peer->send(plan_of({weight}, ++version));
    CHECK(frame_of(trainer, *peer, version).tiles(0).cells() == 4);
    peer->send_bytes(garbage);
    CHECK_FALSE(peer->ends_in_order());
  }
  CHECK(server.accept());
}

TEST_CASE("case_16: a tensor declared once more as it was is shown on under the plans there are") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  const auto values = counting(4);
  trainer.bind(weight, values.data(), {4});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}));
  CHECK(levels_of(frame_of(trainer, *peer).tiles(0)) == std::vector<int>{0, 1, 2, 3});

  // A server sees nothing new in it and sends no other plans.
  const std::vector<float> elsewhere{9, 8, 7, 6};
  CHECK(trainer.declare("weight", {4}) == weight);
  trainer.bind(weight, elsewhere.data(), {4});
  const std::uint64_t before = trainer.steps();
  v1::Frame frame;
  do {
    frame = frame_of(trainer, *peer);
  } while (frame.step() <= before);
  CHECK(levels_of(frame.tiles(0)) == std::vector<int>{9, 8, 7, 6});
}

TEST_CASE("case_36: numbers and progress get through a link that frames alone would fill") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {1000, 1000});
  const auto values = counting(1'000'000);
  trainer.bind(weight, values.data(), {1000, 1000});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}));
  // Each step reads a little: frames are made faster than they are taken.
  int frames = 0;
  bool numbers = false;
  CHECK(trainer.train_until([&] {
    phosphene_scalar(trainer.get(), "loss", 1);
    if (const auto message = peer->next(0)) {
      frames += message->has_frame();
      numbers |= frames > 3 && message->has_scalars();
    }
    return numbers || frames > 40;
  }));
  CHECK(numbers);
}

TEST_CASE("case_28: a server that stops reading loses frames, never a step") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {1000, 1000});
  const auto values = counting(1'000'000);
  trainer.bind(weight, values.data(), {1000, 1000});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}));
  CHECK(trainer.train_until([&] { return trainer.cost().frames_dropped_queue >= 5; }));
  const phosphene_cost cost = trainer.cost();
  CHECK(cost.frames_captured > cost.frames_dropped_queue);
  CHECK(cost.connected == 1);

  // It reads again: what comes then is new.
  const std::uint64_t resumed = trainer.steps();
  v1::Frame frame;
  do {
    frame = frame_of(trainer, *peer);
  } while (frame.step() <= resumed);
  CHECK(frame.tiles(0).cells() == 1'000'000);

  // It stops again, and the trainer closes over a full queue.
  CHECK(trainer.train_until(
      [&] { return trainer.cost().frames_dropped_queue >= cost.frames_dropped_queue + 5; }));
  trainer.close();
  CHECK_FALSE(peer->ends_in_order());
}

TEST_CASE("case_28: the server comes late, dies and comes back; training knows nothing of it") {
  const std::string address = Server::fresh_address();
  Trainer trainer(address);
  const auto weight = trainer.declare("weight", {4});
  const auto values = counting(4);
  trainer.bind(weight, values.data(), {4});
  for (int i = 0; i < 100; ++i) trainer.step();
  CHECK(trainer.cost().connected == 0);

  for (std::uint64_t life = 1; life <= 2; ++life) {
    Server server(address);
    REQUIRE(server.listens());
    std::optional<Peer> peer = server.accept();
    REQUIRE(peer);
    const auto hello = peer->next();
    REQUIRE(hello);
    CHECK(hello->hello().run() == "run-1");
    REQUIRE(peer->next(v1::FromHook::kTensors));
    peer->send(plan_of({weight}, life));
    CHECK(frame_of(trainer, *peer, life).tiles(0).cells() == 4);
    peer.reset();  // killed
    server.stop();
    CHECK(trainer.train_until_watched(false));
    CHECK(trainer.cost().connected == 0);
  }
}

TEST_CASE("a hook's thread without memory ends neither itself nor the training") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  const auto values = counting(4);
  trainer.bind(weight, values.data(), {4});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}, 1));
  frame_of(trainer, *peer, 1);
  {
    const NoMemoryElsewhere none;
    peer->send(plan_of({weight}, 2));
    int steps = 0;
    CHECK(trainer.train_until([&] {
      phosphene_scalar(trainer.get(), "loss", 1);
      return trainer.cost().connected == 0 && ++steps == 500;
    }));
  }
  do {
    peer = server.accept();  // those of its attempts that came to nothing, too
    REQUIRE(peer);
  } while (!peer->next(v1::FromHook::kTensors));
  peer->send(plan_of({weight}, 3));
  CHECK(frame_of(trainer, *peer, 3).tiles(0).cells() == 4);
}

TEST_CASE("a refused hook tries again") {
  Server server;
  Trainer trainer(server.address());
  auto peer = server.accept();
  REQUIRE(peer);
  v1::ToHook refusal;
  refusal.mutable_refusal()->set_why("there are too many runs");
  peer->send(refusal);
  CHECK_FALSE(peer->ends_in_order());
  CHECK(server.accept());
}

TEST_CASE("numbers of a step arrive with it") {
  Server server;
  Trainer trainer(server.address());
  auto peer = server.accept();
  REQUIRE(peer);
  phosphene_scalar(trainer.get(), "loss", 2.5);
  trainer.step();
  phosphene_scalar(trainer.get(), "loss", 1.25);
  phosphene_scalar(trainer.get(), "accuracy", 0.5);
  trainer.step();
  phosphene_scalar(trainer.get(), "final", 0.875);  // after the last step
  std::string got;
  for (const auto& message : ending_of(peer, trainer).messages) {
    for (const auto& series : message.scalars().series()) {
      for (int i = 0; i < series.steps_size(); ++i) {
        got += series.name() + '@' + std::to_string(series.steps(i)) + '=' +
               std::to_string(series.values(i)) + ' ';
      }
    }
  }
  CHECK(got.find("loss@1=2.5") != std::string::npos);
  CHECK(got.find("loss@2=1.25") != std::string::npos);
  CHECK(got.find("accuracy@2=0.5") != std::string::npos);
  CHECK(got.find("final@2=0.875") != std::string::npos);
}

TEST_CASE("numbers beyond the queue are counted as dropped") {
  Server server;
  Trainer trainer(server.address());
  auto peer = server.accept();
  REQUIRE(peer);
  const std::size_t pushed = phosphene::capture::ScalarRing::kCapacity + 10;
  for (std::size_t i = 0; i < pushed; ++i) phosphene_scalar(trainer.get(), "loss", 1);
  CHECK(std::string(phosphene_last_error()).find("loss") != std::string::npos);
  trainer.step();
  std::size_t got = 0;
  std::uint64_t dropped = 0;
  for (const auto& message : ending_of(peer, trainer).messages) {
    for (const auto& series : message.scalars().series()) {
      got += static_cast<std::size_t>(series.steps_size());
    }
    if (message.has_progress()) dropped = message.progress().scalars_dropped();
  }
  CHECK(got == phosphene::capture::ScalarRing::kCapacity);
  CHECK(dropped == 10);
}

TEST_CASE("what cannot be shown is named on this thread and on the page; nothing else stops") {
  Server server;
  Trainer trainer(server.address());
  const auto refused = [&](const char* name, std::vector<std::int64_t> shape, phosphene_kind kind,
                           phosphene_dtype dtype, const char* why) {
    CHECK(trainer.declare(name, std::move(shape), kind, dtype) == 0);
    const std::string error = phosphene_last_error();
    CHECK_MESSAGE(error.find(name) != std::string::npos, error);
    CHECK_MESSAGE(error.find(why) != std::string::npos, error);
  };
  refused("spectrum", {4}, PHOSPHENE_PARAMETER, static_cast<phosphene_dtype>(64), "dtype 64");
  refused("deep", {1, 1, 1, 1, 1, 1, 1, 1, 1}, PHOSPHENE_PARAMETER, PHOSPHENE_FLOAT32, "rank 9");
  refused("negative", {-4}, PHOSPHENE_PARAMETER, PHOSPHENE_FLOAT32, "-4");
  refused("kindless", {4}, static_cast<phosphene_kind>(0), PHOSPHENE_FLOAT32, "kind");
  refused("two\nlines", {4}, PHOSPHENE_PARAMETER, PHOSPHENE_FLOAT32, "line");
  refused("endless", {1ll << 25, 1ll << 25}, PHOSPHENE_PARAMETER, PHOSPHENE_FLOAT32, "2^48");
  refused("packed", {4}, PHOSPHENE_PARAMETER, PHOSPHENE_LEVELS4, "levels4");
  refused("cube", {4, 4, 4}, PHOSPHENE_FRAME, PHOSPHENE_UINT8, "rank 3");
  refused("deep frame", {4, 4}, PHOSPHENE_FRAME, PHOSPHENE_FLOAT64, "float64");
  CHECK(phosphene_declare(trainer.get(), nullptr) == 0);

  const auto weight = trainer.declare("weight", {2, 2});
  CHECK(weight == 1);
  const std::vector<double> values(4);
  CHECK(trainer.bind(weight, values.data(), {2, 2}, PHOSPHENE_FLOAT64) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(std::string(phosphene_last_error()).find("float64") != std::string::npos);
  CHECK(trainer.bind(weight, values.data(), {4}) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(trainer.bind(77, values.data(), {4}) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(trainer.capture(77, values.data(), {4}) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(phosphene_bind(trainer.get(), 77, nullptr) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(phosphene_bind(trainer.get(), weight, nullptr) == PHOSPHENE_OK);
  CHECK(phosphene_capture(trainer.get(), weight, nullptr) == PHOSPHENE_BAD_ARGUMENT);

  auto peer = server.accept();
  REQUIRE(peer);
  std::string notices;
  for (int i = 0; i < 9; ++i) {
    const auto notice = peer->next(v1::FromHook::kNotice);
    REQUIRE(notice);
    notices += notice->notice().text();
  }
  CHECK(notices.find("spectrum") != std::string::npos);
  CHECK(notices.find("deep frame") != std::string::npos);
}

TEST_CASE("frames of levels pass as they are, the padding of odd rows left out") {
  Server server;
  Trainer trainer(server.address());
  const auto frame_id = trainer.declare("screen", {2, 3}, PHOSPHENE_FRAME, PHOSPHENE_LEVELS4);
  REQUIRE(frame_id);
  const std::uint8_t rows[] = {0x12, 0x30, 0xFE, 0xD0};
  trainer.bind(frame_id, rows, {2, 3}, PHOSPHENE_LEVELS4);
  auto peer = server.accept();
  REQUIRE(peer);
  const auto tensors = peer->next(v1::FromHook::kTensors);
  REQUIRE(tensors);
  CHECK(tensors->tensors().tensors(0).lo() == 0);
  CHECK(tensors->tensors().tensors(0).hi() == 16);
  peer->send(plan_of({frame_id}));
  const v1::Frame frame = frame_of(trainer, *peer);
  CHECK(levels_of(frame.tiles(0)) == std::vector<int>{1, 2, 3, 15, 14, 13});
  CHECK(frame.tiles(0).range().lo() == 0);
  CHECK(frame.tiles(0).range().hi() == 16);
}

TEST_CASE("grey frames are declared with the range of their bytes") {
  Server server;
  Trainer trainer(server.address());
  const auto frame_id = trainer.declare("grey", {1, 2}, PHOSPHENE_FRAME, PHOSPHENE_UINT8);
  auto peer = server.accept();
  REQUIRE(peer);
  const auto tensors = peer->next(v1::FromHook::kTensors);
  REQUIRE(tensors);
  CHECK(tensors->tensors().tensors(0).hi() == 256);
  const std::uint8_t pixels[] = {0x1F, 0xF0};
  trainer.bind(frame_id, pixels, {1, 2}, PHOSPHENE_UINT8);
  v1::ToHook plan = plan_of({frame_id});
  plan.mutable_plans()->mutable_views(0)->mutable_scaling()->set_hi(256);
  peer->send(plan);
  CHECK(levels_of(frame_of(trainer, *peer).tiles(0)) == std::vector<int>{1, 15});
}

TEST_CASE("beyond its budget the hook captures less often, counts it and says so") {
  Server server;
  Trainer trainer(server.address(), 1e-6);
  const auto weight = trainer.declare("weight", {1000});
  const auto values = counting(1000);
  trainer.bind(weight, values.data(), {1000});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}));
  CHECK(trainer.train_until([&] { return trainer.cost().frames_dropped_budget >= 50; }));
  CHECK(trainer.cost().frames_captured >= 1);
  CHECK(trainer.cost().frames_captured < trainer.cost().frames_dropped_budget);
  const std::uint64_t at_least = trainer.cost().frames_dropped_budget;
  std::uint64_t said = 0;
  for (const auto& message : ending_of(peer, trainer).messages) {
    if (message.has_progress()) said = message.progress().frames_dropped_budget();
  }
  CHECK(said >= at_least);
}

TEST_CASE("many tensors in one call, wanted or not") {
  Server server;
  Trainer trainer(server.address());
  constexpr std::size_t kMany = 5000;
  std::vector<std::uint32_t> ids;
  std::vector<phosphene_view> views;
  const std::vector<std::int64_t> shape{2};
  const float values[] = {1, 2};
  for (std::size_t i = 0; i < kMany; ++i) {
    ids.push_back(trainer.declare(("t" + std::to_string(i)).c_str(), shape));
    views.push_back(Trainer::view(values, shape));
  }
  CHECK(phosphene_bind_many(trainer.get(), kMany, ids.data(), views.data()) == PHOSPHENE_OK);
  CHECK(phosphene_capture_many(trainer.get(), kMany, ids.data(), views.data()) == PHOSPHENE_OK);
  auto peer = server.accept();
  REQUIRE(peer);
  std::size_t declared = 0;
  while (declared < kMany) {
    const auto tensors = peer->next(v1::FromHook::kTensors);
    REQUIRE(tensors);
    declared += static_cast<std::size_t>(tensors->tensors().tensors_size());
  }
  peer->send(plan_of(ids));
  CHECK(frame_of(trainer, *peer).tiles_size() == kMany);
  ids[7] = 999'999;
  CHECK(phosphene_bind_many(trainer.get(), kMany, ids.data(), views.data()) ==
        PHOSPHENE_BAD_ARGUMENT);
}

TEST_CASE("case_12: a last batch that is shorter leaves cells absent") {
  Server server;
  Trainer trainer(server.address());
  const auto relu = trainer.declare("relu", {2, 2}, PHOSPHENE_ACTIVATION);
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({relu}));
  REQUIRE(trainer.train_until_wanted(relu));
  const float values[] = {4, 5};
  CHECK(trainer.capture(relu, values, {1, 2}) == PHOSPHENE_OK);
  const v1::Tile tile = frame_of(trainer, *peer).tiles(0);
  CHECK(levels_of(tile) == std::vector<int>{4, 5, 0, 0});
  CHECK(std::vector<int>(tile.marks().begin(), tile.marks().end()) ==
        std::vector<int>{2, 2 * 4 + 3});
}

TEST_CASE(
    "case_31: a process that ends without closing ends at once, and is seen to have crashed") {
  Server server;
  const std::string address = server.address();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    const phosphene_options options{.struct_size = sizeof(phosphene_options),
                                    .name = nullptr,
                                    .run = nullptr,
                                    .address = address.c_str(),
                                    .budget = 0};
    is_forked = true;
    phosphene_session* session = nullptr;
    phosphene_open(&options, &session);
    for (int i = 0; i < 100'000; ++i) {
      phosphene_scalar(session, "loss", 1);
      phosphene_step(session, static_cast<std::uint64_t>(i));
    }
    phosphene_cost cost{};
    while (!cost.connected && ::getppid() == parent) phosphene_get_cost(session, &cost);
    std::exit(7);
  }
  auto peer = server.accept();
  REQUIRE(peer);
  CHECK_FALSE(peer->ends_in_order());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("case_34: in a forked child the session does nothing, and does not hold the connection") {
  Server server;
  Trainer trainer(server.address());
  const auto weight = trainer.declare("weight", {4});
  const auto values = counting(4);
  trainer.bind(weight, values.data(), {4});
  auto peer = server.accept();
  REQUIRE(peer);
  peer->send(plan_of({weight}));
  frame_of(trainer, *peer);

  int gate[2];
  REQUIRE(::pipe(gate) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(gate[1]);
    peer.reset();  // the server is another process
    for (int i = 0; i < 1000; ++i) trainer.step();
    const bool idle = trainer.cost().steps == 0 && !phosphene_wants(trainer.get(), weight) &&
                      trainer.declare("of the child", {1}) == 0;
    trainer.close();
    char byte = 0;
    [[maybe_unused]] const auto end = ::read(gate[0], &byte, 1);  // until the parent lets go
    std::_Exit(idle ? 0 : 1);
  }
  ::close(gate[0]);
  frame_of(trainer, *peer);                  // the parent's goes on
  CHECK(ending_of(peer, trainer).in_order);  // though the child still lives
  ::close(gate[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("signals of the process never reach the hook's thread") {
  Server server;
  Trainer trainer(server.address());
  auto peer = server.accept();
  REQUIRE(peer);
  REQUIRE(peer->next());  // the thread runs
  sigset_t mine, before;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  ::kill(::getpid(), SIGUSR1);  // would end the process in a thread that took it
  ::usleep(20'000);
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGUSR1) == 1);
  int taken = 0;
  sigwait(&mine, &taken);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Closing waits so for what is queued, and the end of a data loader's children is a signal too.
TEST_CASE("who waits to be woken goes on waiting when a signal comes") {
  static std::atomic<int> handled;
  handled = 0;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { ++handled; };
  REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
  phosphene::capture::WakeUp wake_up;
  std::atomic<bool> woken = false;
  const pthread_t waiting = ::pthread_self();
  std::thread other([&] {
    while (handled < 3) {
      ::pthread_kill(waiting, SIGUSR1);
      ::usleep(5'000);
    }
    woken = true;
    wake_up.signal();
  });
  wake_up.wait_ms(kPatienceMs);
  CHECK(woken);
  other.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("PHOSPHENE_MODE=disabled makes every call a no-op") {
  ::setenv("PHOSPHENE_MODE", "disabled", 1);
  phosphene_session* session = nullptr;
  CHECK(phosphene_open(nullptr, &session) == PHOSPHENE_DISABLED);
  ::unsetenv("PHOSPHENE_MODE");
  CHECK(session == nullptr);
  CHECK(phosphene_declare(session, nullptr) == 0);
  CHECK(phosphene_bind(session, 1, nullptr) == PHOSPHENE_OK);
  CHECK(phosphene_wants(session, 1) == 0);
  phosphene_scalar(session, "loss", 1);
  phosphene_step(session, 1);
  phosphene_cost cost;
  phosphene_get_cost(session, &cost);
  CHECK(cost.steps == 0);
  phosphene_close(session);
}

TEST_CASE("an address comes from the options, else from the environment; a wrong one is said") {
  phosphene_session* session = nullptr;
  phosphene_options options{};
  options.struct_size = sizeof options;
  options.address = "carrier pigeon";
  CHECK(phosphene_open(&options, &session) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(session == nullptr);
  CHECK(std::string(phosphene_last_error()).find("carrier pigeon") != std::string::npos);
  options.address = nullptr;
  options.budget = 3;
  CHECK(phosphene_open(&options, &session) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(phosphene_open(nullptr, nullptr) == PHOSPHENE_BAD_ARGUMENT);

  Server server;
  ::setenv("PHOSPHENE_ADDRESS", server.address().c_str(), 1);
  CHECK(phosphene_open(nullptr, &session) == PHOSPHENE_OK);
  ::unsetenv("PHOSPHENE_ADDRESS");
  auto peer = server.accept();
  REQUIRE(peer);
  const auto hello = peer->next();
  REQUIRE(hello);
  CHECK_FALSE(hello->hello().run().empty());
  CHECK_FALSE(hello->hello().name().empty());
  CHECK(ending_of(peer, [&] { phosphene_close(session); }).in_order);
}
