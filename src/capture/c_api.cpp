// The C ABI: checks what comes in, and lets no exception out.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "capture/phosphene.h"
#include "capture/session.hpp"

struct phosphene_session {
  std::unique_ptr<phosphene::capture::Session> session;
};

namespace {

using phosphene::DType;
using phosphene::Error;
using phosphene::Kind;
using phosphene::Result;
using phosphene::Role;
using phosphene::capture::Session;
using phosphene::capture::SessionOptions;
using phosphene::capture::TensorInfo;
using phosphene::capture::TensorView;

// Plain memory: nothing to destroy at the end of a thread or of the process.
thread_local char last_error[512] = "";

phosphene_status fail(phosphene_status status, const char* why) {
  std::snprintf(last_error, sizeof last_error, "%s", why);
  return status;
}
phosphene_status fail(phosphene_status status, const Error& error) {
  return fail(status, error.message.c_str());
}

/// Runs `function` unless there is no session, or it stayed behind in the process that this one was
/// forked from.
template <typename Value, typename Function>
Value with(phosphene_session* handle, Value otherwise, Function&& function) noexcept {
  if (!handle || handle->session->is_disabled()) return otherwise;
  try {
    return function(*handle->session);
  } catch (const std::exception& problem) {
    fail(PHOSPHENE_FAILED, problem.what());
    return otherwise;
  }
}

// Enumerations come from C as any number at all.
template <typename Enum, typename Number>
Result<Enum> to_enum(Number number, Enum last, const char* what) {
  const auto value = static_cast<long>(number);
  if (value < 0 || value > static_cast<long>(last)) {
    return Error{std::string("unknown ") + what + ' ' + std::to_string(value)};
  }
  return static_cast<Enum>(value);
}

Result<TensorInfo> to_info(const phosphene_info& info) {
  const std::string name = info.name ? info.name : "";
  const auto refuse = [&](const Error& why) {
    return Error{"tensor \"" + name + "\": " + why.message};
  };
  if (info.rank < 0 || info.rank > PHOSPHENE_MAX_RANK) {
    return refuse({"rank " + std::to_string(info.rank) + " is not 0 … 8"});
  }
  if (info.rank > 0 && !info.shape) return refuse({"the shape is a null pointer"});
  const std::span<const std::int64_t> shape(info.shape, static_cast<std::size_t>(info.rank));
  if (auto checked = phosphene::capture::check_shape(shape); !checked)
    return refuse(checked.error());
  const auto kind = to_enum(info.kind, Kind::kFrame, "kind");
  if (!kind) return refuse(kind.error());
  const auto dtype = to_enum(info.dtype, DType::kLevels4, "dtype");
  if (!dtype) return refuse(dtype.error());

  TensorInfo result;
  result.name = name;
  result.kind = *kind;
  result.dtype = *dtype;
  result.shape.assign(shape.begin(), shape.end());
  for (std::int32_t d = 0; info.roles && d < info.rank; ++d) {
    const auto role = to_enum(info.roles[d], Role::kHead, "role");
    if (!role) return refuse(role.error());
    result.roles.push_back(*role);
  }
  result.attached_to = info.attached_to;
  result.lo = info.lo;
  result.hi = info.hi;
  return result;
}

SessionOptions to_options(const phosphene_options* options) {
  phosphene_options given{};
  if (options) std::memcpy(&given, options, std::min(options->struct_size, sizeof given));
  SessionOptions result;
  if (given.name) result.name = given.name;
  if (given.run) result.run = given.run;
  if (given.address) result.address = given.address;
  if (given.budget != 0) result.budget = given.budget;
  return result;
}

bool is_switched_off() {
  const char* mode = std::getenv("PHOSPHENE_MODE");
  return mode && std::strcmp(mode, "disabled") == 0;
}

}  // namespace

phosphene_status phosphene_open(const phosphene_options* options, phosphene_session** session) {
  if (!session) return fail(PHOSPHENE_BAD_ARGUMENT, "phosphene_open needs a place for the session");
  *session = nullptr;
  if (is_switched_off()) return fail(PHOSPHENE_DISABLED, "PHOSPHENE_MODE=disabled");
  try {
    auto opened = Session::open(to_options(options));
    if (!opened) return fail(PHOSPHENE_BAD_ARGUMENT, opened.error());
    *session = new phosphene_session{std::move(*opened)};
    return PHOSPHENE_OK;
  } catch (const std::exception& problem) {
    return fail(PHOSPHENE_FAILED, problem.what());
  }
}

uint32_t phosphene_declare(phosphene_session* session, const phosphene_info* info) {
  return with(session, uint32_t{0}, [&](Session& run) -> uint32_t {
    if (!info) {
      fail(PHOSPHENE_BAD_ARGUMENT, "phosphene_declare needs an info");
      return 0;
    }
    Result<TensorInfo> checked = to_info(*info);
    const Result<uint32_t> id =
        checked ? run.declare(std::move(*checked)) : Result<uint32_t>(checked.error());
    if (id) return *id;
    fail(PHOSPHENE_UNSUPPORTED, id.error());
    run.notice("Not shown: " + id.error().message + ".");
    return 0;
  });
}

phosphene_status phosphene_bind(phosphene_session* session, uint32_t tensor,
                                const phosphene_view* view) {
  return with(session, PHOSPHENE_OK, [&](Session& run) {
    std::optional<TensorView> bound;
    if (view) {
      const Result<TensorView> checked = TensorView::from(*view);
      if (!checked) return fail(PHOSPHENE_UNSUPPORTED, checked.error());
      bound = *checked;
    }
    const Result<void> done = run.bind(tensor, bound);
    return done ? PHOSPHENE_OK : fail(PHOSPHENE_BAD_ARGUMENT, done.error());
  });
}

int phosphene_wants(phosphene_session* session, uint32_t tensor) {
  return with(session, 0, [&](Session& run) { return run.wants(tensor) ? 1 : 0; });
}

phosphene_status phosphene_capture(phosphene_session* session, uint32_t tensor,
                                   const phosphene_view* view) {
  return with(session, PHOSPHENE_OK, [&](Session& run) {
    if (!view) return fail(PHOSPHENE_BAD_ARGUMENT, "phosphene_capture needs a view");
    const Result<TensorView> checked = TensorView::from(*view);
    if (!checked) return fail(PHOSPHENE_UNSUPPORTED, checked.error());
    const Result<void> done = run.capture(tensor, *checked);
    return done ? PHOSPHENE_OK : fail(PHOSPHENE_BAD_ARGUMENT, done.error());
  });
}

phosphene_status phosphene_bind_many(phosphene_session* session, size_t count,
                                     const uint32_t* tensors, const phosphene_view* views) {
  phosphene_status status = PHOSPHENE_OK;
  for (size_t i = 0; i < count; ++i) {
    const phosphene_status one = phosphene_bind(session, tensors[i], views ? &views[i] : nullptr);
    if (status == PHOSPHENE_OK) status = one;
  }
  return status;
}

phosphene_status phosphene_capture_many(phosphene_session* session, size_t count,
                                        const uint32_t* tensors, const phosphene_view* views) {
  phosphene_status status = PHOSPHENE_OK;
  for (size_t i = 0; i < count; ++i) {
    if (!phosphene_wants(session, tensors[i])) continue;
    const phosphene_status one =
        phosphene_capture(session, tensors[i], views ? &views[i] : nullptr);
    if (status == PHOSPHENE_OK) status = one;
  }
  return status;
}

void phosphene_scalar(phosphene_session* session, const char* name, double value) {
  with(session, 0, [&](Session& run) {
    const Result<void> done = run.scalar(name ? name : "", value);
    if (!done) fail(PHOSPHENE_BAD_ARGUMENT, done.error());
    return 0;
  });
}

void phosphene_step(phosphene_session* session, uint64_t step) {
  with(session, 0, [&](Session& run) {
    run.step(step);
    return 0;
  });
}

void phosphene_get_cost(phosphene_session* session, phosphene_cost* cost) {
  if (!cost) return;
  *cost = {};
  with(session, 0, [&](Session& run) {
    const auto now = run.cost();
    cost->steps = now.steps;
    cost->frames_captured = now.frames_captured;
    cost->frames_sent = now.frames_sent;
    cost->frames_dropped_queue = now.frames_dropped_queue;
    cost->frames_dropped_budget = now.frames_dropped_budget;
    cost->total_us = now.total_us;
    cost->last_capture_us = now.last_capture_us;
    cost->connected = now.connected;
    cost->watched = now.watched;
    return 0;
  });
}

// In a forked child the session is left as it is: locks in it may be held by threads that are not
// there.
void phosphene_close(phosphene_session* session) {
  if (session && !session->session->is_disabled()) delete session;
}

const char* phosphene_last_error(void) {
  return last_error;
}

const char* phosphene_version(void) {
  return PHOSPHENE_VERSION;
}
