#include "app/ingest.hpp"

#include <google/protobuf/stubs/logging.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "app/check.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/secret.hpp"

namespace phosphene::app {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kKeptBytes = 1u << 20;  // of memory to read into, from tick to tick
constexpr std::int64_t kTick_us = 250'000;
constexpr std::int64_t kTrimPause_us = 10'000'000;   // where a hook has gone
constexpr std::int64_t kTrimPeriod_us = 60'000'000;  // and where viewers may have
constexpr std::int64_t kFarewell_us = 1'000'000;     // for a refused peer to read why
constexpr std::int64_t kAcceptPause_us =
    1'000'000;  // when the process has no file descriptors left

bool looks_like_http(std::string_view bytes) {
  constexpr std::array<std::string_view, 6> kMethods{"GET ", "POST ",    "HEAD ",
                                                     "PUT ", "OPTIONS ", "CONNECT "};
  return std::any_of(kMethods.begin(), kMethods.end(), [&](std::string_view method) {
    return bytes.substr(0, method.size()) == method;
  });
}

template <typename Message>
void append(std::string& out, const Message& message) {
  wire::append_message(out, message.SerializeAsString());
}

}  // namespace

struct Ingest::Connection {
  enum class Phase {
    kGreeting,  // has not said hello
    kOpen,
    kFarewell,  // refused: what is left to send is sent, what comes is thrown away
    kClosed,
  };
  UniqueFd fd;
  std::string name;   // of the peer, for a person
  std::string token;  // that it must show; empty: none
  bool hears = true;  // what is sent to it; a pipe does not
  Phase phase = Phase::kGreeting;
  std::int64_t deadline_us = 0;  // kGreeting, kFarewell
  wire::FrameReader reader;
  bool first_bytes = true;
  std::string out;  // being sent: one message of ours, at most
  std::size_t sent = 0;
  std::shared_ptr<Run> run;
  std::uint64_t number = 0;      // of this connection, to its run
  std::uint64_t plans_sent = 0;  // version
  Ending ending;
  std::function<void(const Ending&)> on_end;

  Connection(UniqueFd descriptor, std::string peer, std::size_t max_message_bytes)
      : fd(std::move(descriptor)), name(std::move(peer)), reader(max_message_bytes) {}
  bool has_output() const { return sent < out.size(); }
  void tell_end(const std::string& why) {
    ending.why = why;
    if (const auto tell = std::exchange(on_end, nullptr)) tell(ending);
  }
};

Result<std::unique_ptr<Ingest>> Ingest::create(IngestOptions options, Runs& runs) {
  // What libprotobuf has to say of bytes from outside is said by our one warning.
  google::protobuf::SetLogHandler(nullptr);
  std::unique_ptr<Ingest> ingest(new Ingest(std::move(options), runs));
  ingest->wake_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!ingest->wake_) return Error{"cannot make an eventfd: no file descriptors are left"};
  for (const wire::Address& address : ingest->options_.addresses) {
    if (address.transport == wire::Address::Transport::kTcp && address.token.empty())
      return Error{"refusing to listen on " + address.to_string() +
                   " without a token: anybody could send runs there"};
    auto listener = wire::listen(address);
    if (!listener) return listener.error();
    ingest->addresses_.push_back(listener->address);
    ingest->listeners_.push_back(*std::move(listener));
  }
  runs.on_planned([self = ingest.get()] { self->wake(); });
  ingest->thread_ = std::thread([self = ingest.get()] { self->run(); });
  return ingest;
}

Ingest::Ingest(IngestOptions options, Runs& runs) : options_(std::move(options)), runs_(runs) {}

Ingest::~Ingest() {
  if (thread_.joinable()) {
    runs_.on_planned(nullptr);
    stopping_ = true;
    wake();
    thread_.join();
  }
  for (const wire::Listener& listener : listeners_) {
    if (listener.address.transport == wire::Address::Transport::kUnix)
      ::unlink(listener.address.path.c_str());
  }
}

void Ingest::add_stream(UniqueFd in, std::string name, std::function<void(const Ending&)> on_end) {
  new_streams_.with([&](auto& streams) {
    streams.push_back({std::move(in), std::move(name), std::move(on_end)});
  });
  wake();
}

void Ingest::wake() {
  const std::uint64_t one = 1;
  // A counter that is full wakes the thread just as well.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void Ingest::run() {
  std::vector<pollfd> polled;
  std::int64_t next_tick_us = 0;
  while (!stopping_) {
    const bool accepting = monotonic_us() >= accept_again_us_;
    polled.assign(1, {wake_.get(), POLLIN, 0});
    for (const wire::Listener& listener : listeners_)
      polled.push_back({accepting ? listener.fd.get() : -1, POLLIN, 0});
    for (const auto& connection : connections_) {
      const short events = connection->has_output() ? POLLIN | POLLOUT : POLLIN;
      polled.push_back({connection->fd.get(), events, 0});
    }
    if (::poll(polled.data(), polled.size(), timeout_ms()) < 0 && errno != EINTR) {
      // No memory, or a limit of open files that was lowered below what is open.
      std::this_thread::sleep_for(std::chrono::microseconds(kTick_us));
      continue;
    }

    if (polled[0].revents) {
      std::uint64_t count;
      [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
    }
    const std::size_t first = 1 + listeners_.size();
    for (std::size_t i = first; i < polled.size(); ++i) {
      Connection& connection = *connections_[i - first];
      if (polled[i].revents & (POLLIN | POLLHUP | POLLERR)) read(connection);
    }
    for (std::size_t i = 0; i < listeners_.size(); ++i)
      if (polled[1 + i].revents) accept_all(listeners_[i]);
    adopt_streams();
    for (const auto& connection : connections_) {
      expire(*connection);
      send(*connection);
    }
    closed_since_trim_ |= std::erase_if(connections_, [](const auto& connection) {
                            return connection->phase == Connection::Phase::kClosed;
                          }) > 0;
    counters_.connections = connections_.size();

    if (const std::int64_t now_us = monotonic_us(); now_us >= next_tick_us) {
      runs_.tick(now_us);
      for (const auto& connection : connections_)
        if (connection->reader.capacity() > kKeptBytes) connection->reader.trim();
      next_tick_us = now_us + kTick_us;
      // Otherwise malloc keeps what runs and channels of thousands of tensors held: 668 MB where
      // 141 are in use.
      if (now_us - trimmed_us_ >= (closed_since_trim_ ? kTrimPause_us : kTrimPeriod_us)) {
        ::malloc_trim(0);
        closed_since_trim_ = false;
        trimmed_us_ = now_us;
      }
    }
  }
  connections_.clear();
}

int Ingest::timeout_ms() const {
  std::int64_t until_us = monotonic_us() + kTick_us;
  for (const auto& connection : connections_)
    if (connection->deadline_us) until_us = std::min(until_us, connection->deadline_us);
  return static_cast<int>(std::max<std::int64_t>(until_us - monotonic_us(), 0) / 1000 + 1);
}

void Ingest::adopt_streams() {
  auto streams = new_streams_.with([](auto& waiting) { return std::exchange(waiting, {}); });
  for (Stream& stream : streams) {
    auto connection = std::make_unique<Connection>(std::move(stream.fd), std::move(stream.name),
                                                   options_.max_message_bytes);
    connection->hears = false;  // and it may say hello whenever it likes
    connection->on_end = std::move(stream.on_end);
    connections_.push_back(std::move(connection));
  }
}

void Ingest::accept_all(const wire::Listener& listener) {
  // As many as there may be, lest one that connects in a loop keeps the others waiting.
  for (std::size_t i = 0; i <= options_.max_connections; ++i) {
    auto accepted = wire::accept(listener);
    if (!accepted) {
      if (!std::exchange(starved_, true)) log(LogLevel::kWarning, accepted.error().message);
      ++counters_.accept_pauses;
      accept_again_us_ = monotonic_us() + kAcceptPause_us;
      return;
    }
    if (!*accepted) return;
    ++counters_.accepted;
    starved_ = false;
    std::string peer = wire::peer_of((*accepted)->get());
    auto connection = std::make_unique<Connection>(std::move(**accepted), std::move(peer),
                                                   options_.max_message_bytes);
    connection->token = listener.address.token;
    connection->deadline_us =
        monotonic_us() + std::chrono::microseconds(options_.hello_timeout).count();
    const bool full = connections_.size() >= options_.max_connections;
    if (connections_.size() >= 2 * options_.max_connections)
      continue;  // no room even for a farewell
    if (full)
      refuse(*connection, "this server already has " + std::to_string(options_.max_connections) +
                              " connections");
    connections_.push_back(std::move(connection));
  }
}

void Ingest::read(Connection& connection) {
  if (connection.phase == Connection::Phase::kClosed) return;
  char* const into = connection.reader.prepare(kReadBytes);
  const auto got = wire::receive_some(connection.fd.get(), into, kReadBytes);
  if (got && !*got) return;
  const bool over = !got || **got == 0;
  if (over) {
    const bool cut = connection.reader.pending_bytes() > 0;
    return end(connection, false,
               cut   ? "the connection ended in the middle of a message"
               : got ? "the connection ended without the closing sentinel"
                     : got.error().message);
  }
  if (connection.phase == Connection::Phase::kFarewell) return;
  counters_.bytes += **got;
  if (std::exchange(connection.first_bytes, false) && looks_like_http({into, **got})) {
    connection.out =
        "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n"
        "Training processes connect here; the page is at another port of this server.\n";
    return fail(connection,
                "it speaks HTTP, but training processes connect here; the page is at another port");
  }
  connection.reader.commit(**got);
  if (const auto fine = take_messages(connection); !fine)
    return fail(connection, fine.error().message);
  if (connection.phase != Connection::Phase::kFarewell && connection.reader.closed())
    end(connection, true, "");
}

Result<void> Ingest::take_messages(Connection& connection) {
  for (;;) {
    const auto next = connection.reader.next();
    if (!next) return next.error();
    if (!*next) return {};
    ++counters_.messages;
    v1::FromHook message;
    if (!message.ParseFromArray((*next)->data(), static_cast<int>((*next)->size())))
      return Error{"a message of " + std::to_string((*next)->size()) +
                   " bytes is none of phosphene's protocol"};
    ++connection.ending.messages;
    connection.ending.frames += message.has_frame();
    Result<void> fine = connection.phase == Connection::Phase::kGreeting
                            ? greet(connection, message)
                            : connection.run->handle(std::move(message), monotonic_us());
    if (!fine) return fine;
    if (connection.phase != Connection::Phase::kOpen) return {};
  }
}

Result<void> Ingest::greet(Connection& connection, const v1::FromHook& message) {
  if (!message.has_hello()) return Error{"its first message is not a hello"};
  const v1::Hello& hello = message.hello();
  if (hello.protocol() != wire::kProtocolVersion) {
    refuse(connection, "the hook (" + cleaned(hello.library(), 100) + ") speaks protocol " +
                           std::to_string(hello.protocol()) + ", this server (" + options_.server +
                           ") protocol " + std::to_string(wire::kProtocolVersion) +
                           ": install versions that match");
    return {};
  }
  if (!connection.token.empty() && !equal_in_constant_time(hello.token(), connection.token)) {
    refuse(connection, std::string("its token is ") +
                           (hello.token().empty() ? "missing" : "wrong") +
                           ": set PHOSPHENE_ADDRESS to what this server says when it starts");
    return {};
  }
  auto opened = runs_.open(hello, monotonic_us());
  if (!opened) {
    refuse(connection, opened.error().message);
    return {};
  }
  for (const auto& other : connections_)  // the one it replaces, if its end was not noticed yet
    if (other->run == opened->run) end(*other, false, "its process connected anew");
  connection.run = std::move(opened->run);
  connection.number = opened->connection;
  connection.phase = Connection::Phase::kOpen;
  connection.deadline_us = 0;
  connection.name = "run " + connection.run->id() + " (" + connection.name + ")";
  log(LogLevel::kInfo, connection.name + " connected");
  if (connection.hears) {
    v1::ToHook welcome;
    welcome.mutable_welcome()->set_protocol(wire::kProtocolVersion);
    welcome.mutable_welcome()->set_server(options_.server);
    append(connection.out, welcome);
  }
  return {};
}

void Ingest::send(Connection& connection) {
  if (connection.phase == Connection::Phase::kClosed || !connection.hears) return;
  for (;;) {
    if (!connection.has_output()) {
      connection.out.clear();
      connection.sent = 0;
      if (connection.phase == Connection::Phase::kFarewell)
        ::shutdown(connection.fd.get(), SHUT_WR);
      if (connection.phase != Connection::Phase::kOpen) return;
      // Asked for only now: however many plans came meanwhile, the newest one is sent.
      auto plans = connection.run->plans_after(connection.plans_sent);
      if (!plans) return;
      v1::ToHook message;
      *message.mutable_plans() = *std::move(plans);
      append(connection.out, message);
    }
    const auto sent = wire::send_some(connection.fd.get(),
                                      std::string_view(connection.out).substr(connection.sent));
    if (!sent) {  // it is gone, but what it said before may still wait to be read
      connection.hears = false;
      connection.out.clear();
      connection.sent = 0;
      return;
    }
    if (*sent == 0) return;
    connection.sent += *sent;
  }
}

void Ingest::refuse(Connection& connection, const std::string& why) {
  ++counters_.refused;
  log(LogLevel::kWarning, "refused " + connection.name + ": " + why);
  v1::ToHook message;
  message.mutable_refusal()->set_why(why);
  append(connection.out, message);
  connection.phase = Connection::Phase::kFarewell;
  connection.deadline_us = monotonic_us() + kFarewell_us;
  connection.tell_end(why);
}

void Ingest::fail(Connection& connection, const std::string& why) {
  ++counters_.bad;
  log(LogLevel::kWarning, "closed " + connection.name + ": " + why);
  if (connection.run) connection.run->disconnect(connection.number, false, why, monotonic_us());
  // Closing at once would lose what is still to be read at the other end.
  connection.phase = Connection::Phase::kFarewell;
  connection.deadline_us = monotonic_us() + kFarewell_us;
  connection.tell_end(why);
}

void Ingest::end(Connection& connection, bool in_order, const std::string& why) {
  if (connection.phase == Connection::Phase::kOpen) {
    connection.run->disconnect(connection.number, in_order, why, monotonic_us());
    log(LogLevel::kInfo, connection.name + (in_order ? " ended" : " is gone: " + why));
  } else if (connection.phase == Connection::Phase::kGreeting &&
             connection.reader.pending_bytes() > 0) {
    ++counters_.bad;
    log(LogLevel::kWarning, "closed " + connection.name + ": " + why + " before it said hello");
  }
  connection.phase = Connection::Phase::kClosed;
  connection.fd.reset();
  connection.tell_end(why);
}

void Ingest::expire(Connection& connection) {
  if (!connection.deadline_us || monotonic_us() < connection.deadline_us) return;
  if (connection.phase == Connection::Phase::kFarewell) return end(connection, false, "");
  if (connection.phase == Connection::Phase::kGreeting)
    fail(connection,
         "it did not say hello within " + std::to_string(options_.hello_timeout.count()) + " ms");
}

}  // namespace phosphene::app
