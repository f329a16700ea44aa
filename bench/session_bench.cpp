// What the hook costs the training thread, and the wire.
#include <poll.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench.hpp"
#include "capture/phosphene.h"
#include "phosphene.pb.h"
#include "wire/framing.hpp"
#include "wire/socket.hpp"

namespace {

namespace v1 = phosphene::v1;
using namespace phosphene;
using Clock = std::chrono::steady_clock;

/// A server that welcomes one hook, gives it one plan, and counts bytes.
class Server {
 public:
  explicit Server(const v1::ToHook& plan) {
    char directory[] = "/tmp/phosphene-bench-XXXXXX";
    directory_ = ::mkdtemp(directory);
    listener_ = *wire::listen(*wire::Address::parse("unix:" + directory_ + "/ingest.sock"));
    v1::ToHook welcome;
    welcome.mutable_welcome()->set_protocol(wire::kProtocolVersion);
    wire::append_message(greeting_, welcome.SerializeAsString());
    wire::append_message(greeting_, plan.SerializeAsString());
  }
  ~Server() {
    stop_ = true;
    thread_.join();
    std::filesystem::remove_all(directory_);
  }

  /// When the hook has declared all that the plan names.
  void start() {
    thread_ = std::thread([this] { run(); });
  }

  std::string address() const { return listener_.address.to_string(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void run() {
    UniqueFd hook;
    std::vector<char> buffer(1 << 20);
    while (!stop_) {
      pollfd waiting{hook ? hook.get() : listener_.fd.get(), POLLIN, 0};
      ::poll(&waiting, 1, 20);
      if (!hook) {
        auto accepted = wire::accept(listener_);
        if (!accepted || !*accepted) continue;
        hook = std::move(**accepted);
        (void)*wire::send_some(hook.get(), greeting_);
        continue;
      }
      const auto count = wire::receive_some(hook.get(), buffer.data(), buffer.size());
      if (!count || (*count && **count == 0)) return;
      if (*count) bytes_ += **count;
    }
  }

  std::string directory_;
  wire::Listener listener_;
  std::string greeting_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// An MLP 64-1000-900-10: 974,910 parameters, a cell each.
class Network {
 public:
  explicit Network(const std::string& address) {
    const phosphene_options options{.struct_size = sizeof(phosphene_options),
                                    .name = "bench",
                                    .run = nullptr,
                                    .address = address.c_str(),
                                    .budget = 1};
    if (phosphene_open(&options, &session_) != PHOSPHENE_OK) std::abort();
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.05f);
    for (const auto& shape : shapes()) {
      std::int64_t count = 1;
      for (const std::int64_t extent : shape) count *= extent;
      auto& values = values_.emplace_back(static_cast<std::size_t>(count));
      std::generate(values.begin(), values.end(), [&] { return normal(random); });
      const std::string name = "t" + std::to_string(values_.size());
      const phosphene_info info{.name = name.c_str(),
                                .kind = PHOSPHENE_PARAMETER,
                                .dtype = PHOSPHENE_FLOAT32,
                                .rank = static_cast<std::int32_t>(shape.size()),
                                .shape = shape.data(),
                                .roles = nullptr,
                                .attached_to = 0,
                                .lo = 0,
                                .hi = 0};
      const phosphene_view view{values.data(), PHOSPHENE_FLOAT32, info.rank, shape.data(), nullptr};
      phosphene_bind(session_, phosphene_declare(session_, &info), &view);
    }
  }
  ~Network() { phosphene_close(session_); }
  Network(const Network&) = delete;

  static const std::vector<std::vector<std::int64_t>>& shapes() {
    static const std::vector<std::vector<std::int64_t>> all{{1000, 64}, {1000},    {900, 1000},
                                                            {900},      {10, 900}, {10}};
    return all;
  }
  phosphene_session* get() const { return session_; }
  phosphene_cost cost() const {
    phosphene_cost cost{};
    phosphene_get_cost(session_, &cost);
    return cost;
  }
  /// As an optimiser does.
  void move() {
    for (auto& values : values_)
      for (float& value : values) value *= 0.9999f;
  }

 private:
  phosphene_session* session_ = nullptr;
  std::vector<std::vector<float>> values_;
};

v1::ToHook plan(double fps) {
  v1::ToHook message;
  message.mutable_plans()->set_version(1);
  v1::ViewPlan& view = *message.mutable_plans()->add_views();
  view.set_view(1);
  view.set_fps(fps);
  view.set_quantity(v1::QUANTITY_VALUE);
  view.mutable_scaling()->set_range(v1::RANGE_MODE_STEADY);
  view.mutable_scaling()->set_shape(v1::SHAPE_SYMMETRIC);
  view.mutable_scaling()->set_scope(v1::SCOPE_LAYER);
  for (std::uint32_t id = 1; id <= Network::shapes().size(); ++id)
    view.add_tensors()->set_tensor(id);
  return message;
}

v1::ToHook nothing() {
  v1::ToHook message;
  message.mutable_plans()->set_version(1);
  return message;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

double unwatched_step_ns() {
  Server server(nothing());
  Network network(server.address());
  server.start();
  constexpr int kSteps = 4000;
  std::uint64_t step = 0;
  std::vector<double> batches;
  while (network.cost().connected == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int batch = 0; batch < 25; ++batch) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // the sender empties the ring
    const auto begin = Clock::now();
    for (int i = 0; i < kSteps; ++i) {
      phosphene_scalar(network.get(), "loss", 0.5);
      phosphene_step(network.get(), ++step);
    }
    batches.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                      kSteps);
  }
  return median(batches);
}

double watched_step_ms() {
  Server server(plan(1000));
  Network network(server.address());
  server.start();
  std::vector<double> times;
  std::uint64_t step = 0;
  while (times.size() < 200) {
    network.move();
    const std::uint64_t before = network.cost().frames_captured;
    const auto begin = Clock::now();
    phosphene_step(network.get(), ++step);
    const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
    if (network.cost().frames_captured > before) times.push_back(taken.count());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return median(times);
}

double wire_mb_per_second(double& frames_per_second) {
  Server server(plan(30));
  Network network(server.address());
  server.start();
  std::uint64_t step = 0;
  const auto train_for = [&](std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
      network.move();
      phosphene_step(network.get(), ++step);
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
  };
  train_for(std::chrono::milliseconds(500));
  const std::uint64_t bytes = server.bytes(), frames = network.cost().frames_sent;
  const auto begin = Clock::now();
  train_for(std::chrono::seconds(4));
  const std::chrono::duration<double> taken = Clock::now() - begin;
  frames_per_second = static_cast<double>(network.cost().frames_sent - frames) / taken.count();
  return static_cast<double>(server.bytes() - bytes) / 1e6 / taken.count();
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  report.at_most("a step nobody watches, with one scalar", unwatched_step_ns(), "ns", 100);
  report.at_most("a watched step of 974,910 parameters, training thread", watched_step_ms(), "ms",
                 0.6);
  double frames_per_second = 0;
  const double rate = wire_mb_per_second(frames_per_second);
  report.at_most("wire, 974,910 parameters at 30 frames/s", rate, "MB/s", 15);
  report.note("  frames a second sent", frames_per_second, "1/s");
  return report.finish();
}
