#include "capture/sender.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "capture/codec.hpp"

namespace phosphene::capture {
namespace {

constexpr int kConnectTimeoutMs = 1000;
constexpr int kFirstPauseMs = 200;  // between attempts, doubled up to the longest
constexpr int kLongestPauseMs = 2000;
constexpr std::int64_t kLastingUs =
    2'000'000;                   // a shorter connection ends no trouble: one warning for all
constexpr int kPatienceMs = 50;  // so often the ring of scalars is emptied
constexpr std::int64_t kScalarsPeriodUs = 50'000;
constexpr std::int64_t kProgressPeriodUs = 1'000'000;
constexpr std::size_t kMarks = 6;                   // rates are of the last five seconds
constexpr std::size_t kMaxScalarPoints = 1u << 17;  // kept while there is no server
constexpr std::size_t kTensorsPerMessage = 4096;

/// While it lives, threads started here begin with all signals blocked: a trainer's handlers run on
/// its own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Sender::Sender(std::shared_ptr<Bridge> bridge, wire::Address address, Hello hello)
    : bridge_(std::move(bridge)), address_(std::move(address)), hello_(std::move(hello)) {}

Result<void> Sender::start(std::shared_ptr<Bridge> bridge, wire::Address address, Hello hello) {
  std::unique_ptr<Sender> sender(
      new Sender(std::move(bridge), std::move(address), std::move(hello)));
  const BlockedSignals blocked;
  try {
    std::thread([sender = std::move(sender)] { sender->run(); }).detach();
  } catch (const std::system_error& problem) {
    return Error{std::string("the sender's thread cannot be started: ") + problem.what()};
  }
  return {};
}

void Sender::run() {
  pthread_setname_np(pthread_self(), "phosphene");
  int pause_ms = kFirstPauseMs;
  do {
    try {
      attempt();
    } catch (...) {  // no memory; nothing may end the trainer's process from here
      bridge_->fork_guard.hold(-1);
      warn_once("out of memory for frames; training goes on, and the hook connects again");
    }
    bridge_->connected.set(false);
    if (lasted_) pause_ms = kFirstPauseMs;
    try {
      watch_nothing();
      sleep_ms(pause_ms);
    } catch (...) {  // still none
      ::poll(nullptr, 0, pause_ms);
    }
    pause_ms = std::min(2 * pause_ms, kLongestPauseMs);
  } while (!is_closing());
  bridge_->finished.signal();
}

void Sender::attempt() {
  welcomed_us_ = 0;
  lasted_ = false;
  Result<UniqueFd> socket = wire::connect(address_, kConnectTimeoutMs);
  if (!socket) {
    warn_once(socket.error().message + "; training goes on, and the hook looks for a server");
    return;
  }
  Connection connection(std::move(*socket));
  bridge_->fork_guard.hold(connection.fd());
  const Result<void> served = serve(connection);
  bridge_->fork_guard.hold(-1);
  lasted_ = welcomed_us_ != 0 && monotonic_us() - welcomed_us_ >= kLastingUs;
  if (lasted_) warned_ = false;
  if (!served)
    warn_once(served.error().message + "; training goes on, and the hook connects again");
}

Result<void> Sender::serve(Connection& connection) {
  tensors_sent_ = 0;
  tensors_.clear();
  notices_sent_ = 0;
  marks_.clear();
  progress_due_us_ = 0;
  push(connection, hello_);
  while (!is_too_late()) {
    const bool closing = is_closing();  // before anything is collected: then nothing is left behind
    collect_scalars();
    if (auto exchanged = exchange(connection); !exchanged) {
      // A server that refused this run and closed has said why.
      if (auto received = receive(connection); !received) return received;
      return exchanged;
    }
    if (closing && connection.all_written()) return end_in_order(connection);

    pollfd waiting[] = {{connection.fd(), POLLIN, 0}, {bridge_->to_sender.fd(), POLLIN, 0}};
    if (!connection.all_written()) waiting[0].events |= POLLOUT;
    ::poll(waiting, 2, kPatienceMs);
    bridge_->to_sender.clear();
    if (waiting[0].revents & (POLLIN | POLLHUP | POLLERR)) {
      if (auto received = receive(connection); !received) return received;
    }
  }
  return {};
}

// A message is made only when the one before is with the kernel: what is newest then is what is
// sent.
Result<void> Sender::exchange(Connection& connection) {
  do {
    if (auto written = connection.write_some(); !written) return written;
  } while (connection.all_written() && push_next(connection));
  return {};
}

Result<void> Sender::end_in_order(Connection& connection) {
  progress_due_us_ = 0;
  push_progress(connection);
  connection.push_sentinel();
  bool open = true;
  bool writing = true;
  // Closing with bytes unread would take back, on TCP, what was written last: wait for the server's
  // end.
  while (open && !is_too_late()) {
    if (auto written = connection.write_some(); !written) return written;
    if (writing && connection.all_written()) {
      connection.end_writing();
      writing = false;
    }
    pollfd waiting{connection.fd(), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0};
    ::poll(&waiting, 1, kPatienceMs);
    if (!(waiting.revents & (POLLIN | POLLHUP | POLLERR))) continue;
    const Result<bool> more = connection.read_some();
    if (!more) return more.error();
    open = *more;
    for (auto message = connection.next(); message && *message;) message = connection.next();
  }
  return {};
}

template <typename Message>
bool Sender::push(Connection& connection, const Message& message) {
  message_.clear();
  encode(message, message_);
  if (message_.size() > wire::kMaxMessageBytes) {
    bridge_->catalogue.notice("A message of " + std::to_string(message_.size()) +
                              " bytes is too large to be sent.");
    return false;
  }
  connection.push(message_);
  return true;
}

// Frames come last: where the link is slow there is always a newer one, and nothing else would be
// sent.
bool Sender::push_next(Connection& connection) {
  return push_tensors(connection) || push_notice(connection) || push_progress(connection) ||
         push_scalars(connection) || push_frame(connection);
}

bool Sender::push_tensors(Connection& connection) {
  if (tensors_.empty()) tensors_ = bridge_->catalogue.declared_since(tensors_sent_);
  if (tensors_.empty()) return false;
  const auto end =
      tensors_.begin() + static_cast<std::ptrdiff_t>(std::min(tensors_.size(), kTensorsPerMessage));
  push(connection, std::vector<TensorInfo>(tensors_.begin(), end));
  tensors_.erase(tensors_.begin(), end);
  return true;
}

bool Sender::push_notice(Connection& connection) {
  const std::vector<std::string> notices = bridge_->catalogue.notices_from(notices_sent_);
  if (notices.empty()) return false;
  push(connection, Notice{notices.front()});
  ++notices_sent_;
  return true;
}

bool Sender::push_frame(Connection& connection) {
  if (!watch_) return false;
  const std::size_t views = watch_->views.size();
  for (std::size_t tried = 0; tried < views; ++tried) {
    WatchedView& view = *watch_->views[next_view_++ % views];
    if (const Frame* frame = view.take_frame()) {
      if (push(connection, *frame)) bridge_->frames_sent.add(1);
      return true;
    }
  }
  return false;
}

bool Sender::push_scalars(Connection& connection) {
  const std::int64_t now = monotonic_us();
  if (scalar_points_ == 0 || (now < scalars_due_us_ && !is_closing())) return false;
  std::erase_if(scalars_, [](const Series& series) { return series.steps.empty(); });
  push(connection, scalars_);
  scalars_.clear();
  scalar_points_ = 0;
  scalars_due_us_ = now + kScalarsPeriodUs;
  return true;
}

bool Sender::push_progress(Connection& connection) {
  const std::int64_t now = monotonic_us();
  if (now < progress_due_us_) return false;
  progress_due_us_ = now + kProgressPeriodUs;

  const Mark mark{now, bridge_->steps.get(), bridge_->cost_us.get()};
  const Mark before = marks_.empty() ? mark : marks_.front();
  if (marks_.size() == kMarks) marks_.erase(marks_.begin());
  marks_.push_back(mark);
  const double steps = static_cast<double>(mark.steps - before.steps);
  const double seconds = static_cast<double>(mark.at_us - before.at_us) / 1e6;

  Progress progress;
  progress.step = bridge_->step.get();
  if (seconds > 0) progress.steps_per_second = steps / seconds;
  if (steps > 0) progress.cost_us_per_step = (mark.cost_us - before.cost_us) / steps;
  progress.frames_sent = bridge_->frames_sent.get();
  progress.frames_dropped_queue = bridge_->frames_dropped_queue.get();
  progress.frames_dropped_budget = bridge_->frames_dropped_budget.get();
  progress.scalars_dropped = bridge_->scalars.dropped() + bridge_->scalars_dropped.get();
  push(connection, progress);
  return true;
}

Result<void> Sender::receive(Connection& connection) {
  const Result<bool> more = connection.read_some();
  if (!more) return more.error();
  while (true) {
    const Result<std::optional<std::string_view>> message = connection.next();
    if (!message) return message.error();
    if (!*message) break;
    if (auto handled = handle(**message); !handled) return handled;
  }
  if (!*more) return Error{"the server at " + address_.to_string() + " has gone"};
  return {};
}

Result<void> Sender::handle(std::string_view message) {
  const Result<ToHook> decoded = decode_to_hook(message);
  if (!decoded) {
    return Error{"the hook does not understand the server at " + address_.to_string() + ": " +
                 decoded.error().message};
  } else if (const auto* refusal = std::get_if<Refusal>(&*decoded)) {
    return Error{"the server at " + address_.to_string() + " refused this run: " + refusal->why};
  } else if (const auto* welcome = std::get_if<Welcome>(&*decoded)) {
    if (welcome->protocol != wire::kProtocolVersion) {
      return Error{"the server at " + address_.to_string() + " speaks protocol " +
                   std::to_string(welcome->protocol) + ", this hook " +
                   std::to_string(wire::kProtocolVersion)};
    }
    welcomed_us_ = monotonic_us();
    bridge_->connected.set(true);
  } else if (const auto* plans = std::get_if<Plans>(&*decoded)) {
    watch(*plans);
  }
  return {};
}

void Sender::watch(const Plans& plans) {
  std::vector<std::string> problems = plans.problems;
  auto watch = Watch::create(plans, bridge_->catalogue.tensors(), problems);
  for (std::string& problem : problems) bridge_->catalogue.notice(std::move(problem));
  std::erase_if(retired_, [](const auto& old) { return old.use_count() == 1; });
  if (watch_) retired_.push_back(std::move(watch_));
  watch_ = std::move(watch);
  bridge_->watch.publish(watch_);
}

void Sender::watch_nothing() {
  if (watch_) watch({});
}

void Sender::collect_scalars() {
  bridge_->scalars.drain([&](const ScalarPoint& point, const std::string& name) {
    const auto same = [&](const Series& series) { return series.name == name; };
    auto series = std::find_if(scalars_.begin(), scalars_.end(), same);
    if (series == scalars_.end()) {
      scalars_.push_back({name, {}, {}});
      series = scalars_.end() - 1;
    }
    series->steps.push_back(point.step);
    series->values.push_back(point.value);
    ++scalar_points_;
  });
  if (scalar_points_ <= kMaxScalarPoints) return;
  // The newer half of each is kept.
  for (Series& series : scalars_) {
    const auto half = static_cast<std::ptrdiff_t>(series.steps.size() / 2);
    series.steps.erase(series.steps.begin(), series.steps.begin() + half);
    series.values.erase(series.values.begin(), series.values.begin() + half);
    scalar_points_ -= static_cast<std::size_t>(half);
    bridge_->scalars_dropped.add(static_cast<std::uint64_t>(half));
  }
}

void Sender::sleep_ms(int ms) {
  const std::int64_t until_us = monotonic_us() + 1000 * ms;
  while (!is_closing() && monotonic_us() < until_us) {
    collect_scalars();
    bridge_->to_sender.wait_ms(kPatienceMs);
    bridge_->to_sender.clear();
  }
}

void Sender::warn_once(std::string_view sentence) {
  if (!warned_ && !is_closing()) log(LogLevel::kWarning, sentence);
  warned_ = true;
}

bool Sender::is_too_late() const {
  return is_closing() && monotonic_us() >= bridge_->close_by_us.get();
}

}  // namespace phosphene::capture
