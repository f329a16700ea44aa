// `phosphene pipe`: frames from standard input become a run of their own, through the same hook as
// everybody's.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "app/commands.hpp"
#include "app/serving.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "capture/phosphene.h"

namespace phosphene::app {
namespace {

constexpr int kPollMs = 100;                 // how late a signal may be noticed
constexpr std::int64_t kRepeatUs = 200'000;  // after the end of input

struct Encoding {
  phosphene_dtype dtype;
  std::size_t row_bytes;
};

Encoding encoding_of(const PipeOptions& options) {
  const auto width = static_cast<std::size_t>(options.width);
  switch (options.format) {
    case PipeFormat::kLevels4:
      return {PHOSPHENE_LEVELS4, (width + 1) / 2};
    case PipeFormat::kFloat32:
      return {PHOSPHENE_FLOAT32, width * sizeof(float)};
    case PipeFormat::kGray8:
    case PipeFormat::kMessages:
      break;
  }
  return {PHOSPHENE_UINT8, width};
}

/// Reads until the buffer is full, and calls `idle` now and then while nothing comes. Less: the
/// input ended, or a signal came.
template <typename Idle>
std::size_t read_frame(std::vector<char>& buffer, Idle idle) {
  std::size_t got = 0;
  while (got < buffer.size() && !Signals::stopping()) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&input, 1, kPollMs);
    if (ready == 0) idle();
    if (ready <= 0) continue;
    const ssize_t bytes = ::read(STDIN_FILENO, buffer.data() + got, buffer.size() - got);
    if (bytes == 0 || (bytes < 0 && errno != EINTR && errno != EAGAIN)) break;
    if (bytes > 0) got += static_cast<std::size_t>(bytes);
  }
  return got;
}

void sleep_until(std::int64_t time_us) {
  while (!Signals::stopping()) {
    const std::int64_t left = time_us - monotonic_us();
    if (left <= 0) return;
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min<std::int64_t>(left, kPollMs * 1000)));
  }
}

/// Owns a session; the hook's own word for it is in phosphene.h.
class Cast {
 public:
  Cast(const PipeOptions& options, const std::string& address) {
    const phosphene_options how{.struct_size = sizeof(phosphene_options),
                                .name = options.name.c_str(),
                                .run = nullptr,
                                .address = address.c_str(),
                                .budget = 1};
    phosphene_open(&how, &session_);  // what fails is said when it is used
  }
  ~Cast() { phosphene_close(session_); }
  Cast(const Cast&) = delete;
  Cast& operator=(const Cast&) = delete;

  phosphene_session* get() const { return session_; }

 private:
  phosphene_session* session_ = nullptr;
};

/// Shows frames as they come, at most `fps` a second: the writer waits at the other end of the
/// pipe. `stay`: after the end of input the last frame is still shown to whoever comes. False:
/// input ended within a frame.
bool run_pipe(const PipeOptions& options, const std::string& address, bool stay) {
  const Cast cast(options, address);
  const Encoding encoding = encoding_of(options);
  const std::array<std::int64_t, 2> shape{options.height, options.width};
  constexpr std::array<phosphene_role, 2> kRoles{PHOSPHENE_ROLE_HEIGHT, PHOSPHENE_ROLE_WIDTH};
  const auto [lo, hi] = options.range.value_or(std::pair{0.0, 0.0});
  const phosphene_info info{.name = options.name.c_str(),
                            .kind = PHOSPHENE_FRAME,
                            .dtype = encoding.dtype,
                            .rank = 2,
                            .shape = shape.data(),
                            .roles = kRoles.data(),
                            .attached_to = 0,
                            .lo = lo,
                            .hi = hi};
  const std::uint32_t tensor = phosphene_declare(cast.get(), &info);
  if (tensor == 0) {
    log(LogLevel::kError, std::string("the pipe cannot start: ") + phosphene_last_error());
    return false;
  }

  std::vector<char> shown(encoding.row_bytes * static_cast<std::size_t>(options.height));
  std::vector<char> incoming(shown.size());
  const auto step = [&](std::uint64_t number) {
    const phosphene_view view{.data = shown.data(),
                              .dtype = encoding.dtype,
                              .rank = 2,
                              .shape = shape.data(),
                              .strides = nullptr};
    phosphene_bind(cast.get(), tensor, &view);
    phosphene_step(cast.get(), number);
  };

  std::uint64_t frames = 0;
  // For viewers who come while the input stands still.
  const auto repeat = [&] {
    if (frames > 0) step(frames - 1);
  };
  std::size_t cut = 0;  // bytes of a last frame that is not whole
  const auto period_us = static_cast<std::int64_t>(1e6 / options.fps);
  for (std::int64_t due = monotonic_us(); !Signals::stopping();
       due = std::max(due + period_us, monotonic_us() - period_us)) {
    const std::size_t got = read_frame(incoming, repeat);
    if (got < incoming.size()) {
      cut = got;
      break;
    }
    sleep_until(due);
    shown.swap(incoming);
    step(frames++);
  }
  if (Signals::stopping()) return true;

  if (cut > 0)
    log(LogLevel::kWarning, "the input ended within frame " + std::to_string(frames) + ": " +
                                std::to_string(cut) + " of " + std::to_string(incoming.size()) +
                                " bytes; is --size right?");
  else
    log(LogLevel::kInfo, "the input ended after " + std::to_string(frames) + " frames" +
                             (stay ? "; the last one is still shown, Ctrl-C ends" : ""));
  while (stay && frames > 0 && !Signals::stopping()) {
    sleep_until(monotonic_us() + kRepeatUs);
    repeat();
  }
  return cut == 0;
}

/// Says what was read. False: the input broke off.
bool say_end(const Ingest::Ending& ending) {
  const std::string read = std::to_string(ending.messages) + " messages, " +
                           std::to_string(ending.frames) + " of them frames";
  if (ending.why.empty())
    log(LogLevel::kInfo,
        "the input ended in order after " + read + "; the run is still shown, Ctrl-C ends");
  else
    log(LogLevel::kWarning, "the input broke off after " + read + ": " + ending.why);
  return ending.why.empty();
}

/// Hooks that look for a server should not find this one: it shows its own input.
wire::Address own_address() {
  wire::Address address = wire::default_address();
  address.path.resize(address.path.rfind('/') + 1);
  address.path += "pipe-" + std::to_string(::getpid()) + ".sock";
  return address;
}

}  // namespace

int pipe(const ServiceOptions& service, const Announce& announce, const PipeOptions& options) {
  if (options.to) {
    const Signals signals([](void*) {}, nullptr);
    return run_pipe(options, options.to->with_token(), false) ? 0 : 1;
  }
  ServiceOptions own = service;
  if (own.ingest.empty()) own.ingest = {own_address()};
  std::atomic<bool> whole = true;
  const int code = serve_while(own, announce, [&](Service& running) {
    if (options.format == PipeFormat::kMessages)
      running.read_messages(UniqueFd(::dup(STDIN_FILENO)),
                            [&](const Ingest::Ending& ending) { whole = say_end(ending); });
    else
      whole = run_pipe(options, running.ingest_address().with_token(), true);
  });
  return whole ? code : 1;
}

}  // namespace phosphene::app
