// The messages between hook and server as plain values. proto/README.md says what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/tensor.hpp"
#include "capture/plan.hpp"
#include "capture/quantiser.hpp"

namespace phosphene::capture {

// ---------------------------------------------------------------- hook → server

struct Hello {
  std::string run;
  std::string name;
  std::uint64_t pid = 0;
  std::string host;
  std::string library;
  std::int64_t started_us = 0;
  std::string token;
};

struct TensorInfo {
  std::uint32_t id = 0;
  std::string name;
  Kind kind = Kind::kParameter;
  DType dtype = DType::kFloat32;
  std::vector<std::uint64_t> shape;
  std::vector<Role> roles;        // one a dimension
  std::uint32_t attached_to = 0;  // 0: none
  double lo = 0;  // frames: the range they are drawn in; lo = hi: found from the values
  double hi = 0;
  bool operator==(const TensorInfo&) const = default;
};

struct Frame {
  std::uint32_t view = 0;
  std::uint64_t plans = 0;  // version of the plans it answers
  std::uint64_t step = 0;
  std::int64_t time_us = 0;
  std::vector<Tile> tiles;  // those of tensor 0 were not filled
};

struct Series {
  std::string name;
  std::vector<std::uint64_t> steps;
  std::vector<double> values;
};

struct Progress {
  std::uint64_t step = 0;
  double steps_per_second = 0;
  double cost_us_per_step = 0;
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_dropped_queue = 0;
  std::uint64_t frames_dropped_budget = 0;
  std::uint64_t scalars_dropped = 0;
};

struct Notice {
  std::string text;
};

// ---------------------------------------------------------------- server → hook

struct Welcome {
  std::uint32_t protocol = 0;
  std::string server;
};

struct Refusal {
  std::string why;
};

struct ViewPlan {
  std::uint32_t view = 0;
  double fps = 0;
  Quantity quantity = Quantity::kValue;
  Scaling scaling;
  std::vector<TensorPlan> tensors;
};

struct Plans {
  std::uint64_t version = 0;
  std::vector<ViewPlan> views;
  std::vector<std::string> problems;  // what was left out while reading: a sentence each
};

/// monostate: a message that this version does not know.
using ToHook = std::variant<std::monostate, Welcome, Refusal, Plans>;

}  // namespace phosphene::capture
