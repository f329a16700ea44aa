// One port: the page, JSON, the WebSocket, the endless mp4.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "stream/broadcast.hpp"
#include "stream/view.hpp"

namespace phosphene::stream {

/// A file of the page, compiled into the program.
struct Asset {
  std::string_view path;  // "index.html", "assets/index-1a2b.js"
  std::string_view mime;
  std::span<const std::uint8_t> bytes;
};

/// What the server shows. Implemented by the application; every call comes on the loop thread and
/// must not block.
class Site {
 public:
  virtual ~Site() = default;

  /// The channel of a view, started if nobody watches it yet. The server counts viewers on it.
  virtual Result<std::shared_ptr<Broadcast>> subscribe(const View& view) = 0;

  virtual std::string runs_json() = 0;      // GET /api/runs
  virtual std::string channels_json() = 0;  // GET /api/channels
  virtual std::string metrics() = 0;        // GET /metrics, without what the server itself counts

  /// The state that every page gets; `version` grows when it changes.
  virtual std::uint64_t runs_version() = 0;
  virtual v1::Runs runs() = 0;

  /// The run a view shows now (its id), resolving "the newest"; empty if there is none.
  virtual std::string run_of(const View& view) = 0;
  /// What a viewer sees who names no mode: the parameters, or the first that the run has.
  virtual View::Mode usual_mode(const std::string& /*run*/) { return View::Mode::kParameters; }
  /// Scalars of a run that came after `cursor` (0: all); nothing new: nothing. Moves the cursor.
  virtual std::optional<v1::RunScalars> scalars(const std::string& run, std::uint64_t& cursor) = 0;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6160;
  bool port_asked_for =
      false;          // true: an occupied port is an error; false: the next free one is taken
  std::string token;  // empty: made at random
  std::span<const Asset> assets;
  std::vector<std::string> allowed_hosts;  // more names to be called by: those of a reverse proxy
  int max_connections = 4096;              // the limit of open files must leave room for them
  int max_connections_per_peer = 512;      // of one IPv4 address or one IPv6 /64
};

/// Owns the libwebsockets context. run() makes its caller the loop thread; wake() and stop() are
/// thread-safe.
class Server {
 public:
  static Result<std::unique_ptr<Server>> create(const ServerOptions& options, Site& site);
  ~Server();

  std::uint16_t port() const;
  std::string listen() const;  // "127.0.0.1:6160"
  const std::string& token() const;
  /// What a person opens: http://HOST:PORT/?token=…
  std::string url() const;

  /// Serves until stop(). Error: libwebsockets gave up by itself.
  Result<void> run();
  void stop();  // thread-safe, async-signal-safe
  void wake();  // thread-safe: some broadcast or the site's state changed

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace phosphene::stream
