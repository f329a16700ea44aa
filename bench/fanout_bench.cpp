// 200 viewers of one channel on loopback: how long until each has a frame whole, and what that
// costs the server.
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "bench.hpp"
#include "stream/server.hpp"

namespace {

using namespace phosphene;

constexpr int kViewers = 200;
constexpr int kFps = 30, kSeconds = 10;
constexpr std::size_t kMinBytes = 20'000, kMaxBytes = 60'000;
constexpr std::string_view kMark = "SENT";  // eight bytes of time follow it in each fragment

class OneChannel : public stream::Site {
 public:
  Result<std::shared_ptr<stream::Broadcast>> subscribe(const stream::View&) override {
    return channel;
  }
  std::string runs_json() override { return "[]"; }
  std::string channels_json() override { return "[]"; }
  std::string metrics() override { return {}; }
  std::uint64_t runs_version() override { return 1; }
  v1::Runs runs() override { return {}; }
  std::string run_of(const stream::View&) override { return {}; }
  std::optional<v1::RunScalars> scalars(const std::string&, std::uint64_t&) override {
    return std::nullopt;
  }

  std::shared_ptr<stream::Broadcast> channel;
};

/// Where the server is, sent to the viewers' process; and what that saw, sent back.
struct Address {
  std::uint16_t port;
  char token[33];
};
struct Outcome {
  double p50_ms, p99_ms, max_ms, frames;
};

/// Reads WebSocket messages without keeping more than their beginning.
class Viewer {
 public:
  explicit Viewer(const Address& server) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request =
        std::string("GET /ws?mode=parameters&token=") + server.token +
        " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    if (connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
    send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL);
    for (std::string answer;
         !answer.ends_with("\r\n\r\n");) {  // nothing of a message may be taken with it
      char byte;
      if (recv(fd_.get(), &byte, 1, 0) != 1) break;
      answer += byte;
    }
  }

  int fd() const { return fd_.get(); }

  /// Takes what there is; adds a latency for each fragment that is complete. False: closed.
  bool read(std::vector<std::int64_t>& latencies_us) {
    while (true) {
      ssize_t got;
      if (begin_.size() < wanted_) {
        char bytes[128];
        got = recv(fd_.get(), bytes, std::min(sizeof bytes, wanted_ - begin_.size()), MSG_DONTWAIT);
        if (got > 0) begin_.append(bytes, static_cast<std::size_t>(got));
      } else {  // the kernel drops the rest without copying it
        got = recv(fd_.get(), nullptr, rest_, MSG_DONTWAIT | MSG_TRUNC);
        if (got > 0) rest_ -= static_cast<std::size_t>(got);
      }
      if (got <= 0) return got < 0 && errno == EAGAIN;
      advance(latencies_us);
    }
  }

 private:
  void advance(std::vector<std::int64_t>& latencies_us) {
    if (begin_.size() < wanted_) return;
    if (!has_size_) {
      const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(begin_[i]); };
      const std::size_t header = byte(1) == 126 ? 4 : byte(1) == 127 ? 10 : 2;
      if (begin_.size() < header) {
        wanted_ = header;
        return;
      }
      std::size_t size = byte(1);
      if (header > 2) size = 0;
      for (std::size_t i = 2; i < header; ++i) size = size << 8 | byte(i);
      has_size_ = true;
      wanted_ = header + std::min<std::size_t>(size, 100);
      rest_ = header + size - wanted_;
    }
    if (begin_.size() < wanted_ || rest_ > 0) return;
    if (const std::size_t mark = begin_.find(kMark); mark != std::string::npos) {
      std::int64_t sent;
      std::memcpy(&sent, begin_.data() + mark + kMark.size(), sizeof sent);
      latencies_us.push_back(monotonic_us() - sent);
    }
    begin_.clear();
    wanted_ = 2;
    has_size_ = false;
  }

  UniqueFd fd_;
  std::string begin_;       // of the message that is coming
  std::size_t wanted_ = 2;  // of its beginning
  std::size_t rest_ = 0;    // of it, beyond the beginning
  bool has_size_ = false;
};

/// The viewers' process: until the server closes.
[[noreturn]] void watch(int from_server, int to_server) {
  Address server;
  if (read(from_server, &server, sizeof server) != sizeof server) _exit(1);
  std::vector<Viewer> viewers;
  viewers.reserve(kViewers);
  const UniqueFd events(epoll_create1(0));
  for (int i = 0; i < kViewers; ++i) {
    viewers.emplace_back(server);
    epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(i)}};
    epoll_ctl(events.get(), EPOLL_CTL_ADD, viewers.back().fd(), &event);
  }
  std::vector<std::int64_t> latencies_us;
  latencies_us.reserve(kViewers * kFps * kSeconds);
  std::array<epoll_event, kViewers> ready;
  for (int open = kViewers; open > 0;) {
    const int count = epoll_wait(events.get(), ready.data(), kViewers, -1);
    for (int i = 0; i < count; ++i) {
      Viewer& viewer = viewers[ready[static_cast<std::size_t>(i)].data.u32];
      if (viewer.read(latencies_us)) continue;
      epoll_ctl(events.get(), EPOLL_CTL_DEL, viewer.fd(), nullptr);
      --open;
    }
  }
  std::ranges::sort(latencies_us);
  Outcome outcome{};
  if (const std::size_t count = latencies_us.size(); count > 0) {
    const auto at = [&](double part) {
      return static_cast<double>(
                 latencies_us[static_cast<std::size_t>(part * static_cast<double>(count - 1))]) /
             1000;
    };
    outcome = {at(0.5), at(0.99), at(1), static_cast<double>(count)};
  }
  _exit(write(to_server, &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
}

std::vector<std::uint8_t> make_fragment(int number) {
  std::vector<std::uint8_t> fragment(
      kMinBytes + static_cast<std::size_t>(number) * 7919 % (kMaxBytes - kMinBytes), 0x5A);
  std::memcpy(fragment.data(), kMark.data(), kMark.size());
  const std::int64_t now = monotonic_us();
  std::memcpy(fragment.data() + kMark.size(), &now, sizeof now);
  return fragment;
}

double resident_mb() {
  std::size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double cpu_s(std::thread& thread) {
  clockid_t clock;
  timespec time{};
  if (pthread_getcpuclockid(thread.native_handle(), &clock) == 0) clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) return 2;
  const pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) watch(down[0], up[1]);
  close(down[0]);
  close(up[1]);

  OneChannel site;
  stream::ServerOptions options;
  options.port = 0;
  auto server = stream::Server::create(options, site);
  if (!server) {
    log(LogLevel::kError, server.error().message);
    return 2;
  }
  site.channel = std::make_shared<stream::Broadcast>([&] { (*server)->wake(); });
  v1::ChannelStart start;
  start.set_epoch(1);
  start.set_fps(kFps);
  site.channel->start(start);
  std::thread loop([&] {
    if (!(*server)->run()) std::abort();
  });

  Address address{.port = (*server)->port(), .token = {}};
  (*server)->token().copy(address.token, sizeof address.token - 1);
  if (write(down[1], &address, sizeof address) != sizeof address) return 2;
  while (site.channel->viewers() < kViewers)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));

  const double cpu_before = cpu_s(loop), memory_before = resident_mb();
  auto due = std::chrono::steady_clock::now();
  for (int i = 0; i < kFps * kSeconds; ++i) {
    site.channel->push(make_fragment(i), i == 0 || site.channel->take_keyframe_request());
    std::this_thread::sleep_until(due += std::chrono::microseconds(1'000'000 / kFps));
  }
  const double cpu = (cpu_s(loop) - cpu_before) / kSeconds;
  const double memory = resident_mb();
  const auto skipped = static_cast<double>(site.channel->counters().skipped);
  (*server)->stop();
  loop.join();
  server->reset();  // closes the viewers' connections

  Outcome outcome{};
  if (read(up[0], &outcome, sizeof outcome) != sizeof outcome) return 2;
  waitpid(child, nullptr, 0);
  report.note("fan-out to 200 viewers, 20-60 kB at 30/s, p50", outcome.p50_ms, "ms");
  report.at_most("fan-out to 200 viewers, 20-60 kB at 30/s, p99", outcome.p99_ms, "ms", 50);
  report.note("fan-out to 200 viewers, slowest", outcome.max_ms, "ms");
  report.at_least("fan-out: frames that arrived",
                  outcome.frames / (kViewers * kFps * kSeconds) * 100, "%", 99);
  report.note("fan-out: frames skipped", skipped, "frames");
  report.at_most("fan-out: loop thread", cpu * 100, "% core", 30);
  report.at_most("fan-out: server memory", memory, "MB", 200);
  report.note("fan-out: memory gained while streaming", memory - memory_before, "MB");
  return report.finish();
}
