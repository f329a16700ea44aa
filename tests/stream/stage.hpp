// A real server on a free port, with a small site behind it whose channels the test feeds by hand.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "../patience.hpp"
#include "base/guarded.hpp"
#include "client.hpp"
#include "stream/server.hpp"

namespace phosphene::stream {

class TestSite : public Site {
 public:
  Result<std::shared_ptr<Broadcast>> subscribe(const View& view) override;
  std::string runs_json() override { return "[]"; }
  std::string channels_json() override { return "[{}]"; }
  std::string metrics() override { return "phosphene_test 1\n"; }
  std::uint64_t runs_version() override;
  v1::Runs runs() override;
  std::string run_of(const View& view) override { return view.run.empty() ? "newest" : view.run; }
  std::optional<v1::RunScalars> scalars(const std::string& run, std::uint64_t& cursor) override;

  // Thread-safe, for the test.
  void set_server(Server* server) { server_ = server; }
  void set_runs(const std::string& name);
  void add_scalar(double value);
  /// The channel of a view (its canonical query), made if there is none.
  std::shared_ptr<Broadcast> channel(const std::string& view);

 private:
  struct State {
    std::map<std::string, std::shared_ptr<Broadcast>> channels;
    std::uint64_t version = 1;
    v1::Runs runs;
    std::vector<double> scalars;
  };
  Guarded<State> state_;
  std::atomic<Server*> server_{nullptr};
};

class Stage {
 public:
  explicit Stage(ServerOptions options = {});
  ~Stage();

  std::uint16_t port() const { return server_->port(); }
  Server& server() { return *server_; }
  std::string token() const { return server_->token(); }
  Headers bearer() const { return {"Authorization: Bearer " + token()}; }

  /// A channel that runs: epoch 1, init segment "INIT".
  std::shared_ptr<Broadcast> running(const std::string& view);
  /// The value of one of the server's own metrics.
  double metric(const std::string& name) const;

  TestSite site;

 private:
  std::unique_ptr<Server> server_;
  std::thread loop_;
};

inline constexpr char kDefaultView[] = "mode=parameters&size=1280x720";

v1::ChannelStart make_start(std::uint64_t epoch, const std::string& init = "INIT", double fps = 30);

using test::eventually;

}  // namespace phosphene::stream
