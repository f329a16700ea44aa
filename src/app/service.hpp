// The server as a whole: the one place that wires ingest, channels and stream together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/ingest.hpp"
#include "base/handle.hpp"
#include "base/result.hpp"
#include "wire/socket.hpp"

namespace phosphene::app {

struct ServiceOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6160;
  bool port_asked_for =
      false;  // true: an occupied port is an error; false: the next free one is taken
  std::vector<wire::Address>
      ingest;  // empty: the user's own socket, or one beside it if that is taken
  std::vector<std::string>
      allowed_hosts;                // names a reverse proxy may pass on as Host, besides our own
  std::string token;                // empty: the user's own
  std::string encoder = "libx264";  // as libavcodec calls it
};

/// Owns every thread of the server. run() makes its caller the loop thread.
class Service {
 public:
  static Result<std::unique_ptr<Service>> create(const ServiceOptions& options);
  ~Service();

  /// One line of JSON for programs: {"url", "listen", "token", "ingest"}.
  std::string announcement() const;
  std::string url() const;
  /// The first address that hooks can reach it at.
  wire::Address ingest_address() const;

  /// Reads a hook's messages from a pipe, until its end; see Ingest. Thread-safe.
  void read_messages(UniqueFd in, std::function<void(const Ingest::Ending&)> on_end);

  Result<void> run();  // until stop(); Error: it ended by itself
  void stop();         // thread-safe, async-signal-safe

 private:
  struct State;
  explicit Service(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace phosphene::app
