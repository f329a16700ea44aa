// The hook's own thread: it alone touches the network.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "capture/bridge.hpp"
#include "capture/connection.hpp"
#include "capture/messages.hpp"
#include "wire/socket.hpp"

namespace phosphene::capture {

/// Connects, and connects again, for as long as the session is open; takes frames, numbers and
/// tensors from the bridge and brings plans back. Lives on a detached thread that nobody ever waits
/// for: a process may end under it.
class Sender {
 public:
  /// Starts the thread, all signals blocked in it.
  static Result<void> start(std::shared_ptr<Bridge> bridge, wire::Address address, Hello hello);

 private:
  Sender(std::shared_ptr<Bridge> bridge, wire::Address address, Hello hello);

  void run();
  void attempt();
  Result<void> serve(Connection& connection);
  Result<void> exchange(Connection& connection);
  Result<void> end_in_order(Connection& connection);

  /// Queues the next message there is. False: there is none.
  bool push_next(Connection& connection);
  bool push_tensors(Connection& connection);
  bool push_notice(Connection& connection);
  bool push_frame(Connection& connection);
  bool push_scalars(Connection& connection);
  bool push_progress(Connection& connection);
  template <typename Message>
  bool push(Connection& connection, const Message& message);

  Result<void> receive(Connection& connection);
  Result<void> handle(std::string_view message);
  void watch(const Plans& plans);
  void watch_nothing();

  void collect_scalars();
  void sleep_ms(int ms);
  void warn_once(std::string_view sentence);
  bool is_closing() const { return bridge_->close_by_us.get() != 0; }
  bool is_too_late() const;

  std::shared_ptr<Bridge> bridge_;
  wire::Address address_;
  Hello hello_;
  std::string message_;           // reused
  std::int64_t welcomed_us_ = 0;  // in this attempt; 0: not yet
  bool lasted_ = false;           // the last attempt
  bool warned_ = false;           // of this loss

  std::shared_ptr<Watch> watch_;
  std::vector<std::shared_ptr<Watch>> retired_;  // freed here, not on the trainer's thread
  std::size_t next_view_ = 0;

  std::uint64_t tensors_sent_ = 0;   // revision
  std::vector<TensorInfo> tensors_;  // to be sent
  std::size_t notices_sent_ = 0;

  std::vector<Series> scalars_;  // to be sent, by the ring's number
  std::size_t scalar_points_ = 0;
  std::int64_t scalars_due_us_ = 0;

  struct Mark {
    std::int64_t at_us;
    std::uint64_t steps;
    double cost_us;
  };
  std::vector<Mark> marks_;  // of the last seconds: rates are taken over them
  std::int64_t progress_due_us_ = 0;
};

}  // namespace phosphene::capture
