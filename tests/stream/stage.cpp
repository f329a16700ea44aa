#include "stage.hpp"

#include <doctest/doctest.h>

namespace phosphene::stream {

Result<std::shared_ptr<Broadcast>> TestSite::subscribe(const View& view) {
  if (view.run == "nobody") return Error{"There is no run \"nobody\"."};
  return channel(view.to_string());
}

std::shared_ptr<Broadcast> TestSite::channel(const std::string& view) {
  return state_.with([&](State& state) {
    auto& broadcast = state.channels[view];
    if (!broadcast) {
      broadcast = std::make_shared<Broadcast>([this] {
        if (Server* server = server_) server->wake();
      });
    }
    return broadcast;
  });
}

std::uint64_t TestSite::runs_version() {
  return state_.with([](const State& state) { return state.version; });
}

v1::Runs TestSite::runs() {
  return state_.with([](const State& state) { return state.runs; });
}

void TestSite::set_runs(const std::string& name) {
  state_.with([&](State& state) {
    state.runs.clear_runs();
    state.runs.add_runs()->set_name(name);
    ++state.version;
  });
}

void TestSite::add_scalar(double value) {
  state_.with([&](State& state) { state.scalars.push_back(value); });
}

std::optional<v1::RunScalars> TestSite::scalars(const std::string& run, std::uint64_t& cursor) {
  return state_.with([&](const State& state) -> std::optional<v1::RunScalars> {
    if (cursor == state.scalars.size()) return std::nullopt;
    v1::RunScalars scalars;
    scalars.set_run(run);
    v1::Series& series = *scalars.mutable_scalars()->add_series();
    series.set_name("loss");
    for (; cursor < state.scalars.size(); ++cursor) {
      series.add_steps(cursor);
      series.add_values(state.scalars[cursor]);
    }
    return scalars;
  });
}

Stage::Stage(ServerOptions options) {
  options.port = 0;
  auto server = Server::create(options, site);
  REQUIRE(server.ok());
  server_ = std::move(*server);
  site.set_server(server_.get());
  loop_ = std::thread([this] { CHECK(server_->run().ok()); });
}

Stage::~Stage() {
  server_->stop();
  loop_.join();
  site.set_server(nullptr);
}

std::shared_ptr<Broadcast> Stage::running(const std::string& view) {
  auto channel = site.channel(view);
  channel->start(make_start(1));
  return channel;
}

double Stage::metric(const std::string& name) const {
  const std::string body = ask(port(), "/metrics", bearer()).body;
  const std::size_t at = body.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(body.substr(at + name.size() + 2));
}

v1::ChannelStart make_start(std::uint64_t epoch, const std::string& init, double fps) {
  v1::ChannelStart start;
  start.set_epoch(epoch);
  start.set_init(init);
  start.set_fps(fps);
  return start;
}

}  // namespace phosphene::stream
