// Where hooks connect: one thread for all of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/runs.hpp"
#include "base/guarded.hpp"
#include "base/handle.hpp"
#include "base/result.hpp"
#include "wire/framing.hpp"
#include "wire/socket.hpp"

namespace phosphene::app {

struct IngestOptions {
  std::vector<wire::Address> addresses;  // those of TCP with the token that lets hooks in
  std::string server = std::string("phosphene ") + PHOSPHENE_VERSION;  // as hooks are told
  std::size_t max_connections = 128;              // more are refused with a sentence
  std::chrono::milliseconds hello_timeout{5000};  // for a connection to say who it is
  std::size_t max_message_bytes = wire::kMaxMessageBytes;
};

/// Of all connections since the start.
struct IngestCounters {
  std::atomic<std::uint64_t> connections{0};  // open now
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> accept_pauses{0};  // for want of files or memory
  std::atomic<std::uint64_t> refused{0};        // told why in a Refusal
  std::atomic<std::uint64_t> bad{0};            // closed for what they sent, or did not send
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
};

/// Owns the ingest thread, its sockets and its connections. The public functions are thread-safe.
///
/// What a connection holds is bounded: one message being read, one being written. A hook that does
/// not read its plans gets the newest once it does; a connection that breaks the protocol is closed
/// with one warning that names the peer and the reason, and nothing else stops.
class Ingest {
 public:
  /// An Error if one of the addresses cannot be listened on. `runs` must live as long.
  static Result<std::unique_ptr<Ingest>> create(IngestOptions options, Runs& runs);
  /// Closes every connection: hooks notice at once, and look for the next server.
  ~Ingest();

  /// As bound.
  const std::vector<wire::Address>& addresses() const { return addresses_; }

  /// What was read of a stream, and how it ended.
  struct Ending {
    std::uint64_t messages = 0;
    std::uint64_t frames = 0;
    std::string why;  // empty: with the sentinel, as it should
  };
  /// Reads messages from a pipe or a file until its end, and says so on the ingest thread. It hears
  /// no plans.
  void add_stream(UniqueFd in, std::string name, std::function<void(const Ending&)> on_end = {});

  const IngestCounters& counters() const { return counters_; }

 private:
  struct Connection;
  struct Stream {
    UniqueFd fd;
    std::string name;
    std::function<void(const Ending&)> on_end;
  };

  Ingest(IngestOptions options, Runs& runs);
  void wake();
  void run();
  void adopt_streams();
  void accept_all(const wire::Listener& listener);
  void read(Connection& connection);
  Result<void> take_messages(Connection& connection);
  Result<void> greet(Connection& connection, const v1::FromHook& message);
  void send(Connection& connection);
  void refuse(Connection& connection, const std::string& why);
  void fail(Connection& connection, const std::string& why);
  void end(Connection& connection, bool in_order, const std::string& why);
  void expire(Connection& connection);
  int timeout_ms() const;

  const IngestOptions options_;
  Runs& runs_;
  IngestCounters counters_;
  std::vector<wire::Listener> listeners_;
  std::vector<wire::Address> addresses_;
  UniqueFd wake_;  // an eventfd
  std::atomic<bool> stopping_{false};
  Guarded<std::vector<Stream>> new_streams_;

  // Of the ingest thread.
  std::vector<std::unique_ptr<Connection>> connections_;
  std::int64_t accept_again_us_ = 0;
  std::int64_t trimmed_us_ = 0;
  bool closed_since_trim_ = false;
  bool starved_ = false;  // the latest accept failed
  std::thread thread_;
};

}  // namespace phosphene::app
