#include <cmath>
#include <protozero/pbf_reader.hpp>

#include "capture/codec.hpp"

namespace phosphene::capture {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::size_t kMaxViews = 64;
constexpr std::size_t kMaxTensorsPerView = 1u << 16;
constexpr double kMaxFps = 1000;
constexpr double kMaxDecades = 100;

constexpr auto varint(std::uint32_t tag) {
  return tag_and_type(tag, pbf_wire_type::varint);
}
constexpr auto bytes(std::uint32_t tag) {
  return tag_and_type(tag, pbf_wire_type::length_delimited);
}
constexpr auto fixed64(std::uint32_t tag) {
  return tag_and_type(tag, pbf_wire_type::fixed64);
}

// Ends the decoding of a message; does not leave this file.
struct OutOfBounds {
  const char* what;
};

constexpr std::size_t kMaxProblems = 64;  // that are told: a message may hold millions

void report(std::vector<std::string>& problems, const char* what, const OutOfBounds& problem) {
  if (problems.size() < kMaxProblems) problems.push_back(what + std::string(problem.what) + ".");
}

void require(bool holds, const char* what) {
  if (!holds) throw OutOfBounds{what};
}

double finite(double value, const char* what) {
  require(std::isfinite(value), what);
  return value;
}

// 0 is what an absent field holds: the default stays.
template <typename Enum>
void read_enum(pbf_reader& from, Enum& value, Enum last, const char* what) {
  const std::int32_t number = from.get_enum();
  require(number >= 0 && number <= static_cast<std::int32_t>(last), what);
  if (number) value = static_cast<Enum>(number);
}

template <typename T>
void append(std::vector<T>& to, T value, const char* what) {
  require(to.size() < static_cast<std::size_t>(kMaxRank), what);
  to.push_back(value);
}

PlanAxis read_axis(pbf_reader from) {
  PlanAxis axis{.dims = {}, .cells = 0};
  while (from.next()) {
    switch (from.tag_and_type()) {
      case bytes(1):
        for (const std::uint32_t dim : from.get_packed_uint32())
          append(axis.dims, dim, "dims of an axis");
        break;
      case varint(1):
        append(axis.dims, from.get_uint32(), "dims of an axis");
        break;
      case varint(2):
        axis.cells = from.get_uint32();
        break;
      default:
        from.skip();
    }
  }
  for (const std::uint32_t dim : axis.dims) require(dim < kMaxRank, "dims of an axis");
  require(axis.cells >= 1 && axis.cells <= kMaxCells, "cells of an axis");
  return axis;
}

TensorPlan read_tensor(pbf_reader from) {
  TensorPlan plan;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case varint(1):
        plan.tensor = from.get_uint32();
        break;
      case varint(2):
        read_enum(from, plan.pooling, Pooling::kExtreme, "pooling");
        break;
      case bytes(3):
        for (const std::uint64_t extent : from.get_packed_uint64())
          append(plan.extents, extent, "extents");
        break;
      case varint(3):
        append(plan.extents, from.get_uint64(), "extents");
        break;
      case bytes(4):
        plan.outer = read_axis(from.get_message());
        break;
      case bytes(5):
        plan.inner = read_axis(from.get_message());
        break;
      default:
        from.skip();
    }
  }
  require(plan.tensor != 0, "a tensor's id");
  return plan;
}

Scaling read_scaling(pbf_reader from) {
  Scaling scaling;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case varint(1):
        read_enum(from, scaling.range, RangeMode::kFixed, "range mode");
        break;
      case varint(2):
        read_enum(from, scaling.shape, Shape::kAuto, "shape");
        break;
      case varint(3):
        read_enum(from, scaling.scope, Scope::kNetwork, "scope");
        break;
      case fixed64(4):
        scaling.lo = finite(from.get_double(), "lo");
        break;
      case fixed64(5):
        scaling.hi = finite(from.get_double(), "hi");
        break;
      case fixed64(6):
        scaling.decades = finite(from.get_double(), "decades");
        break;
      case fixed64(7):
        scaling.magnitude_decades = finite(from.get_double(), "magnitude_decades");
        break;
      default:
        from.skip();
    }
  }
  require(scaling.range != RangeMode::kFixed || scaling.lo <= scaling.hi, "lo and hi");
  require(scaling.decades >= 0 && scaling.decades <= kMaxDecades, "decades");
  require(scaling.magnitude_decades >= 0 && scaling.magnitude_decades <= kMaxDecades,
          "magnitude_decades");
  if (scaling.decades == 0) scaling.decades = Scaling().decades;
  return scaling;
}

// What is out of bounds costs the tensor or the view that needs it, as the protocol has it.
ViewPlan read_view(pbf_reader from, std::vector<std::string>& problems) {
  ViewPlan view;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case varint(1):
        view.view = from.get_uint32();
        break;
      case fixed64(2):
        view.fps = from.get_double();
        break;
      case varint(3):
        read_enum(from, view.quantity, Quantity::kMagnitude, "quantity");
        break;
      case bytes(4):
        view.scaling = read_scaling(from.get_message());
        break;
      case bytes(5):
        require(view.tensors.size() < kMaxTensorsPerView, "number of tensors");
        try {
          view.tensors.push_back(read_tensor(from.get_message()));
        } catch (const OutOfBounds& problem) {
          report(problems, "A tensor is not shown: its plan is out of bounds: ", problem);
        }
        break;
      default:
        from.skip();
    }
  }
  require(view.fps > 0 && view.fps <= kMaxFps, "fps");
  return view;
}

Plans read_plans(pbf_reader from) {
  Plans plans;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case varint(1):
        plans.version = from.get_uint64();
        break;
      case bytes(2):
        require(plans.views.size() < kMaxViews, "number of views");
        try {
          plans.views.push_back(read_view(from.get_message(), plans.problems));
        } catch (const OutOfBounds& problem) {
          report(plans.problems, "A view is not shown: its plan is out of bounds: ", problem);
        }
        break;
      default:
        from.skip();
    }
  }
  return plans;
}

Welcome read_welcome(pbf_reader from) {
  Welcome welcome;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case varint(1):
        welcome.protocol = from.get_uint32();
        break;
      case bytes(2):
        welcome.server = to_utf8(from.get_string());
        break;
      default:
        from.skip();
    }
  }
  return welcome;
}

Refusal read_refusal(pbf_reader from) {
  Refusal refusal;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case bytes(1):
        refusal.why = to_utf8(from.get_string());
        break;
      default:
        from.skip();
    }
  }
  return refusal;
}

}  // namespace

Result<ToHook> decode_to_hook(std::string_view message) {
  try {
    ToHook result;
    pbf_reader from(message.data(), message.size());
    while (from.next()) {
      switch (from.tag_and_type()) {
        case bytes(1):
          result = read_welcome(from.get_message());
          break;
        case bytes(2):
          result = read_refusal(from.get_message());
          break;
        case bytes(3):
          result = read_plans(from.get_message());
          break;
        default:
          from.skip();
      }
    }
    return result;
  } catch (const OutOfBounds& problem) {
    return Error{std::string("the plans are out of bounds: ") + problem.what};
  } catch (const protozero::exception& problem) {
    return Error{std::string("a message is malformed: ") + problem.what()};
  }
}

}  // namespace phosphene::capture
