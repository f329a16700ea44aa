// Messages as a hook sends them, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phosphene.pb.h"
#include "wire/framing.hpp"

namespace phosphene::test {

inline v1::Hello hello(const std::string& run, std::uint64_t pid = 1) {
  v1::Hello hello;
  hello.set_protocol(wire::kProtocolVersion);
  hello.set_run(run);
  hello.set_name("a run called " + run);
  hello.set_pid(pid);
  hello.set_host("here");
  hello.set_library("test 1.0");
  return hello;
}

inline v1::FromHook from_hook(const v1::Hello& hello) {
  v1::FromHook message;
  *message.mutable_hello() = hello;
  return message;
}

inline v1::Tensor tensor(std::uint32_t id, const std::string& name,
                         std::vector<std::uint64_t> shape, v1::Kind kind = v1::KIND_PARAMETER) {
  v1::Tensor tensor;
  tensor.set_id(id);
  tensor.set_name(name);
  tensor.set_kind(kind);
  tensor.set_dtype(v1::DTYPE_FLOAT32);
  for (const std::uint64_t size : shape) {
    tensor.add_shape(size);
    tensor.add_roles(v1::ROLE_OTHER);
  }
  return tensor;
}

inline v1::FromHook declared(std::vector<v1::Tensor> tensors) {
  v1::FromHook message;
  for (v1::Tensor& tensor : tensors) *message.mutable_tensors()->add_tensors() = std::move(tensor);
  return message;
}

/// Asks for every element of these tensors.
inline v1::ViewPlan plan(std::vector<std::uint32_t> tensors) {
  v1::ViewPlan plan;
  plan.set_fps(30);
  for (const std::uint32_t tensor : tensors) plan.add_tensors()->set_tensor(tensor);
  return plan;
}

inline v1::Tile tile(std::uint32_t tensor, std::uint32_t cells, char levels = '\x55') {
  v1::Tile tile;
  tile.set_tensor(tensor);
  tile.set_cells(cells);
  tile.set_levels(std::string((cells + 1) / 2, levels));
  tile.mutable_range()->set_lo(-1);
  tile.mutable_range()->set_hi(1);
  tile.mutable_range()->set_shape(v1::SHAPE_LINEAR);
  return tile;
}

inline v1::FromHook frame(std::uint32_t view, std::uint64_t plans, std::uint64_t step,
                          std::vector<v1::Tile> tiles) {
  v1::FromHook message;
  v1::Frame& frame = *message.mutable_frame();
  frame.set_view(view);
  frame.set_plans(plans);
  frame.set_step(step);
  for (v1::Tile& tile : tiles) *frame.add_tiles() = std::move(tile);
  return message;
}

inline v1::FromHook progress(std::uint64_t step, double steps_per_second) {
  v1::FromHook message;
  message.mutable_progress()->set_step(step);
  message.mutable_progress()->set_steps_per_second(steps_per_second);
  return message;
}

inline v1::FromHook scalar(const std::string& name, std::uint64_t step, double value) {
  v1::FromHook message;
  v1::Series& series = *message.mutable_scalars()->add_series();
  series.set_name(name);
  series.add_steps(step);
  series.add_values(value);
  return message;
}

}  // namespace phosphene::test
