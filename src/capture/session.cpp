#include "capture/session.hpp"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/clock.hpp"
#include "capture/sender.hpp"
#include "capture/stopwatch.hpp"
#include "wire/socket.hpp"

namespace phosphene::capture {
namespace {

// The protocol's limits.
constexpr std::size_t kMaxRunBytes = 128;
constexpr std::size_t kMaxNameBytes = 512;
constexpr std::size_t kMaxTensors = 20'000;
constexpr double kMaxElements = 0x1p48;

std::string random_id() {
  std::array<unsigned char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) < 0) {
    const auto now = static_cast<std::uint64_t>(monotonic_us());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(now >> (8 * i));
  }
  std::string id;
  for (const unsigned char byte : bytes) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", byte);
    id += hex;
  }
  return id;
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<wire::Address> address_of(const SessionOptions& options) {
  if (!options.address.empty()) return wire::Address::parse(options.address);
  const char* environment = std::getenv("PHOSPHENE_ADDRESS");
  if (environment && *environment) return wire::Address::parse(environment);
  return wire::default_address();
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
}

Result<void> check(const TensorInfo& info) {
  const auto refuse = [&](const std::string& why) {
    return Error{"tensor \"" + info.name + "\" " + why};
  };
  if (info.name.empty()) return Error{"a tensor has no name"};
  if (info.name.size() > kMaxNameBytes) {
    return Error{"a tensor's name is longer than " + std::to_string(kMaxNameBytes) + " bytes"};
  }
  if (!is_one_line(info.name)) return refuse("has a name of more than one line");
  double elements = 1;
  for (const std::uint64_t size : info.shape) elements *= size ? static_cast<double>(size) : 1;
  if (elements > kMaxElements) return refuse("has more than 2^48 elements");
  if (name_of(info.kind) == "unknown") return refuse("is of an unknown kind");
  if (name_of(info.dtype) == "unknown") {
    return refuse("has the unknown dtype " + std::to_string(static_cast<int>(info.dtype)));
  }
  for (const Role role : info.roles) {
    if (role > Role::kHead) return refuse("has a dimension of an unknown role");
  }
  const bool is_frame = info.kind == Kind::kFrame;
  if (!is_frame && info.dtype == DType::kLevels4)
    return refuse("is levels4, which frames alone can be");
  if (is_frame && info.shape.size() != 2) {
    return refuse("is a frame of rank " + std::to_string(info.shape.size()) + ", not 2");
  }
  if (is_frame && info.dtype != DType::kLevels4 && info.dtype != DType::kUInt8 &&
      info.dtype != DType::kFloat32) {
    return refuse("is a frame of " + std::string(name_of(info.dtype)) +
                  ", not levels4, uint8 or float32");
  }
  if (!std::isfinite(info.lo) || !std::isfinite(info.hi) || info.lo > info.hi) {
    return refuse("has no range from lo to hi");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options) {
  if (!(options.budget > 0 && options.budget <= 1)) {
    return Error{"the budget is a share of the step time: above 0, at most 1"};
  }
  if (options.run.size() > kMaxRunBytes || !is_one_line(options.run))
    return Error{"the run's id is one line of at most 128 bytes"};
  Result<wire::Address> address = address_of(options);
  if (!address) return address.error();

  Hello hello;
  hello.run = options.run.empty() ? random_id() : options.run;
  hello.name = options.name.empty() ? program_invocation_short_name : options.name;
  hello.pid = static_cast<std::uint64_t>(::getpid());
  hello.host = host_name();
  hello.library = "libphosphene " PHOSPHENE_VERSION;
  hello.started_us = unix_us();
  hello.token = address->token;

  auto bridge = std::make_shared<Bridge>();
  std::unique_ptr<Session> session(new Session(bridge, options.budget));
  auto started = Sender::start(std::move(bridge), std::move(*address), std::move(hello));
  if (!started) return started.error();
  return session;
}

Session::Session(std::shared_ptr<Bridge> bridge, double budget)
    : bridge_(std::move(bridge)), budget_(budget) {}

Session::~Session() {
  if (is_disabled()) return;
  bridge_->scalars.publish(bridge_->step.get());
  const int limit_ms = close_limit_ms;
  bridge_->close_by_us.set(monotonic_us() + 1000 * limit_ms);
  bridge_->to_sender.signal();
  bridge_->finished.wait_ms(limit_ms);
}

Result<std::uint32_t> Session::declare(TensorInfo info) {
  info.roles.resize(info.shape.size(), Role::kOther);
  if (auto checked = capture::check(info); !checked) return checked.error();
  if (auto checked = check_attachment(info); !checked) return checked.error();
  if (info.kind == Kind::kFrame && info.lo == info.hi) {
    info.lo = 0;
    info.hi = info.dtype == DType::kUInt8 ? 256 : info.dtype == DType::kLevels4 ? 16 : 0;
  }

  const std::string key = std::string(name_of(info.kind)) + ' ' + info.name;
  const auto known = ids_.find(key);
  if (known == ids_.end() && tensors_.size() == kMaxTensors) {
    return Error{"a run has at most " + std::to_string(kMaxTensors) + " tensors"};
  }
  info.id = known != ids_.end() ? known->second : static_cast<std::uint32_t>(tensors_.size() + 1);
  if (known == ids_.end()) {
    ids_.emplace(key, info.id);
    tensors_.emplace_back();
  }
  Tensor& tensor = tensors_[info.id - 1];
  tensor.bound.reset();
  // A server has no reason to plan anew for what is as it was: the plans there are stay good.
  if (tensor.declared.info == info) return info.id;
  tensor.declared = {std::move(info), ++revision_};
  bridge_->catalogue.declare(tensor.declared);
  return tensor.declared.info.id;
}

Result<void> Session::check_attachment(const TensorInfo& info) const {
  if (info.attached_to == 0) return {};
  const auto refuse = [&](const char* why) {
    return Error{"tensor \"" + info.name + "\" is attached to tensor " +
                 std::to_string(info.attached_to) + ", which " + why};
  };
  if (info.attached_to > tensors_.size()) return refuse("is not declared");
  const TensorInfo& weight = tensors_[info.attached_to - 1].declared.info;
  if (weight.kind != info.kind) return refuse("is of another kind");
  if (weight.attached_to != 0 || weight.name == info.name) return refuse("is attached itself");
  return {};
}

Result<void> Session::check(std::uint32_t tensor, const TensorView* view) const {
  if (tensor == 0 || tensor > tensors_.size()) {
    return Error{"tensor " + std::to_string(tensor) + " is not declared"};
  }
  if (!view) return {};
  const TensorInfo& info = tensors_[tensor - 1].declared.info;
  const auto refuse = [&](const std::string& declared, const std::string& found) {
    return Error{"tensor \"" + info.name + "\" is declared with " + declared +
                 " but its values have " + found + "; declare it again"};
  };
  if (view->dtype != info.dtype) {
    return refuse("dtype " + std::string(name_of(info.dtype)), std::string(name_of(view->dtype)));
  }
  if (static_cast<std::size_t>(view->rank) != info.shape.size()) {
    return refuse("rank " + std::to_string(info.shape.size()), std::to_string(view->rank));
  }
  return {};
}

Result<void> Session::bind(std::uint32_t tensor, const std::optional<TensorView>& view) {
  if (auto checked = check(tensor, view ? &*view : nullptr); !checked) return checked;
  tensors_[tensor - 1].bound = view;
  return {};
}

bool Session::wants(std::uint32_t tensor) const {
  if (!armed_ || tensor == 0 || tensor > tensors_.size()) return false;
  const std::uint64_t revision = tensors_[tensor - 1].declared.revision;
  for (const auto& [view, index] : watch_->places_of(tensor)) {
    if (view->is_armed() && view->revision(index) == revision) return true;
  }
  return false;
}

Result<void> Session::capture(std::uint32_t tensor, const TensorView& view) {
  if (auto checked = check(tensor, &view); !checked) return checked;
  if (!armed_) return {};
  const Stopwatch watch;
  const std::uint64_t revision = tensors_[tensor - 1].declared.revision;
  for (const auto& [shown, index] : watch_->places_of(tensor))
    shown->capture(index, view, revision);
  capture_us_ += watch.elapsed_us();
  return {};
}

Result<void> Session::scalar(std::string_view name, double value) {
  if (bridge_->scalars.push(name, value)) return {};
  return Error{"the scalar \"" + std::string(name.substr(0, 64)) +
               "\" was dropped: its name is empty or too long, there are too many names, or the "
               "queue is full"};
}

void Session::step(std::uint64_t number) {
  bridge_->scalars.publish(number);
  bridge_->step.set(number);
  bridge_->steps.add(1);
  if (!watch_ && bridge_->watch.version() == watch_version_) return;
  watched_step(number);
}

void Session::watched_step(std::uint64_t number) {
  const double now_us = precise_us();
  if (last_step_us_ > 0) budget_.earn(now_us - last_step_us_);
  last_step_us_ = now_us;

  if (armed_) {
    capture_bound();
    finish_frames(number);
    capture_us_ += precise_us() - now_us;
    budget_.spend(capture_us_);
    bridge_->cost_us.add(capture_us_);
    last_capture_us_ = capture_us_;
  }
  capture_us_ = 0;
  armed_ = false;
  renew_watch();
  if (watch_) arm(precise_us());
}

void Session::capture_bound() {
  for (const std::uint32_t id : watch_->tensors()) {
    const Tensor& tensor = tensors_[id - 1];
    if (!tensor.bound) continue;
    for (const auto& [view, index] : watch_->places_of(id)) {
      view->capture(index, *tensor.bound, tensor.declared.revision);
    }
  }
}

void Session::finish_frames(std::uint64_t number) {
  for (const auto& view : watch_->views) {
    if (!view->is_armed()) continue;
    switch (view->finish(number, precise_us())) {
      case WatchedView::Outcome::kNothingCaptured:
        continue;
      case WatchedView::Outcome::kReplacedOlder:
        bridge_->frames_dropped_queue.add(1);
        break;
      case WatchedView::Outcome::kPosted:
        break;
    }
    bridge_->frames_captured.add(1);
  }
  bridge_->to_sender.signal();
}

void Session::renew_watch() {
  const std::uint64_t version = bridge_->watch.version();
  if (version == watch_version_) return;
  watch_version_ = version;
  const std::shared_ptr<Watch> before = std::exchange(watch_, bridge_->watch.get());
  if (!watch_) last_step_us_ = 0;
  if (!watch_ || !before) return;
  for (const auto& view : watch_->views) {
    for (const auto& old : before->views) {
      if (old->id() == view->id()) view->continue_from(*old);
    }
  }
}

// Views that are due are asked in turn, so that a small budget goes round.
void Session::arm(double now_us) {
  double planned_us = 0;
  const std::size_t views = watch_->views.size();
  const std::size_t first = first_view_;
  for (std::size_t i = 0; i < views; ++i) {
    const std::size_t index = (first + i) % views;
    WatchedView& view = *watch_->views[index];
    if (!budget_.allows(planned_us)) {
      if (view.put_off(now_us)) bridge_->frames_dropped_budget.add(1);
      continue;
    }
    if (!view.is_due(now_us)) continue;
    view.arm();
    armed_ = true;
    planned_us += view.cost_us();
    first_view_ = index + 1;
  }
}

Cost Session::cost() const {
  Cost cost;
  cost.steps = bridge_->steps.get();
  cost.frames_captured = bridge_->frames_captured.get();
  cost.frames_sent = bridge_->frames_sent.get();
  cost.frames_dropped_queue = bridge_->frames_dropped_queue.get();
  cost.frames_dropped_budget = bridge_->frames_dropped_budget.get();
  cost.total_us = bridge_->cost_us.get();
  cost.last_capture_us = last_capture_us_;
  cost.connected = bridge_->connected.get();
  cost.watched = watch_ != nullptr;
  return cost;
}

}  // namespace phosphene::capture
