#include "app/translate.hpp"

#include <algorithm>
#include <cassert>

namespace phosphene::app {
namespace {

using stream::View;

// Of weights that are pooled. A few that grew large leave the others on the lowest levels of a
// linear scale; four decades, as for gradients, make all of them the same light grey.
constexpr double kMagnitudeDecades = 1.5;

v1::Shape default_shape(View::Mode mode) {
  switch (mode) {
    case View::Mode::kParameters:
      return v1::SHAPE_SYMMETRIC;
    case View::Mode::kGradients:
      return v1::SHAPE_LOG;
    case View::Mode::kActivations:
      return v1::SHAPE_AUTO;
    case View::Mode::kFrames:
    case View::Mode::kOff:
      break;
  }
  return v1::SHAPE_LINEAR;
}

v1::Shape shape_of(const View& view) {
  switch (view.shape) {
    case View::Shape::kDefault:
      break;
    case View::Shape::kLinear:
      return v1::SHAPE_LINEAR;
    case View::Shape::kSymmetric:
      return v1::SHAPE_SYMMETRIC;
    case View::Shape::kLog:
      return v1::SHAPE_LOG;
  }
  return default_shape(view.mode);
}

v1::RangeMode range_of(View::Range range) {
  switch (range) {
    case View::Range::kSteady:
      return v1::RANGE_MODE_STEADY;
    case View::Range::kFrame:
      return v1::RANGE_MODE_FRAME;
    case View::Range::kFixed:
      return v1::RANGE_MODE_FIXED;
  }
  return v1::RANGE_MODE_STEADY;
}

void fix_range(v1::Scaling& scaling, double lo, double hi) {
  scaling.set_range(v1::RANGE_MODE_FIXED);
  scaling.set_lo(lo);
  scaling.set_hi(hi);
}

void fill(v1::Rect& to, const canvas::Rect& from) {
  to.set_x(static_cast<std::uint32_t>(from.x));
  to.set_y(static_cast<std::uint32_t>(from.y));
  to.set_width(static_cast<std::uint32_t>(from.width));
  to.set_height(static_cast<std::uint32_t>(from.height));
}

void fill(v1::Span& to, const canvas::Span& from) {
  to.set_begin(from.begin);
  to.set_end(from.end);
  to.set_group(from.group);
  to.set_gap(from.gap);
}

void fill(v1::SectionAxis& to, const canvas::Axis& from) {
  for (const int dim : from.dims) to.add_dims(static_cast<std::uint32_t>(dim));
  for (const std::uint64_t size : from.sizes) to.add_sizes(size);
  to.set_elements(from.elements);
  to.set_cells(from.cells);
}

void fill(v1::PlanAxis& to, const std::vector<int>& dims, std::uint32_t cells) {
  for (const int dim : dims) to.add_dims(static_cast<std::uint32_t>(dim));
  to.set_cells(cells);
}

}  // namespace

Kind kind_of(View::Mode mode) {
  switch (mode) {
    case View::Mode::kParameters:
      return Kind::kParameter;
    case View::Mode::kGradients:
      return Kind::kGradient;
    case View::Mode::kActivations:
      return Kind::kActivation;
    case View::Mode::kFrames:
      return Kind::kFrame;
    case View::Mode::kOff:
      break;
  }
  assert(false && "a view that is off shows no kind");
  return Kind::kParameter;
}

View::Mode mode_of(v1::Kind kind) {
  switch (kind) {
    case v1::KIND_GRADIENT:
      return View::Mode::kGradients;
    case v1::KIND_ACTIVATION:
      return View::Mode::kActivations;
    case v1::KIND_FRAME:
      return View::Mode::kFrames;
    default:
      return View::Mode::kParameters;
  }
}

canvas::Tensor to_canvas(const v1::Tensor& tensor) {
  canvas::Tensor result;
  result.id = tensor.id();
  result.name = tensor.name();
  result.kind = static_cast<Kind>(tensor.kind());
  result.dtype = static_cast<DType>(tensor.dtype());
  result.shape.assign(tensor.shape().begin(), tensor.shape().end());
  for (const int role : tensor.roles()) result.roles.push_back(static_cast<Role>(role));
  result.roles.resize(result.shape.size(), Role::kOther);
  result.attached_to = tensor.attached_to();
  return result;
}

canvas::Pooling to_canvas(View::Pooling pooling) {
  return pooling == View::Pooling::kExtreme ? canvas::Pooling::kExtreme : canvas::Pooling::kRms;
}

encode::Quality to_encode(View::Quality quality) {
  return quality == View::Quality::kSmooth ? encode::Quality::kSmooth : encode::Quality::kExact;
}

v1::ViewPlan make_plan(std::uint32_t view_id, const View& view, const canvas::Layout& layout,
                       std::span<const canvas::Tensor> tensors,
                       std::span<const v1::Tensor> declared) {
  v1::ViewPlan plan;
  plan.set_view(view_id);
  plan.set_fps(view.fps);
  plan.set_quantity(view.mode == View::Mode::kGradients ? v1::QUANTITY_MAGNITUDE
                                                        : v1::QUANTITY_VALUE);
  v1::Scaling& scaling = *plan.mutable_scaling();
  scaling.set_range(range_of(view.range));
  scaling.set_shape(shape_of(view));
  if (view.mode == View::Mode::kParameters && view.shape == View::Shape::kDefault)
    scaling.set_magnitude_decades(kMagnitudeDecades);
  scaling.set_scope(view.scope == View::Scope::kNetwork ? v1::SCOPE_NETWORK : v1::SCOPE_LAYER);
  if (view.range == View::Range::kFixed) {
    fix_range(scaling, view.lo, view.hi);
  } else if (view.mode == View::Mode::kFrames && view.range == View::Range::kSteady) {
    // A plan has one range for all: theirs, if they agree.
    const auto differs = [&](const v1::Tensor& frame) {
      return frame.lo() != declared[0].lo() || frame.hi() != declared[0].hi();
    };
    if (!declared.empty() && declared[0].lo() < declared[0].hi() &&
        std::none_of(declared.begin(), declared.end(), differs))
      fix_range(scaling, declared[0].lo(), declared[0].hi());
  }

  for (const canvas::Section& section : layout.sections) {
    const canvas::Tensor& tensor = tensors[section.tensor];
    const canvas::TilePlan tile = canvas::plan_of(section, tensor);
    v1::TensorPlan& to = *plan.add_tensors();
    to.set_tensor(tensor.id);
    to.set_pooling(static_cast<v1::Pooling>(tile.pooling));
    for (const std::uint64_t extent : tile.extents) to.add_extents(extent);
    if (tile.pooling == canvas::Pooling::kNone) continue;
    fill(*to.mutable_outer(), tile.outer_dims, tile.outer_cells);
    fill(*to.mutable_inner(), tile.inner_dims, tile.inner_cells);
  }
  return plan;
}

v1::Layout to_message(std::uint32_t id, const canvas::Layout& layout,
                      std::span<const canvas::Tensor> tensors) {
  v1::Layout message;
  message.set_id(id);
  message.set_width(static_cast<std::uint32_t>(layout.width));
  message.set_height(static_cast<std::uint32_t>(layout.height));
  message.set_covered(layout.covered);
  message.set_left_out(layout.left_out);
  for (const canvas::Section& section : layout.sections) {
    const canvas::Tensor& tensor = tensors[section.tensor];
    v1::Section& to = *message.add_sections();
    to.set_tensor(tensor.id);
    to.set_name(tensor.name);
    to.set_kind(static_cast<v1::Kind>(tensor.kind));
    to.set_dtype(static_cast<v1::DType>(tensor.dtype));
    for (const std::uint64_t size : tensor.shape) to.add_shape(size);
    to.set_attached_to(tensor.attached_to);
    fill(*to.mutable_rect(), section.rect);
    fill(*to.mutable_x(), section.x);
    fill(*to.mutable_y(), section.y);
    for (const canvas::Block& block : section.blocks) {
      v1::Block& drawn = *to.add_blocks();
      fill(*drawn.mutable_rect(), block.rect);
      fill(*drawn.mutable_x(), block.x);
      fill(*drawn.mutable_y(), block.y);
    }
    to.set_pooling(static_cast<v1::Pooling>(section.pooling));
    to.set_shown(section.shown);
    to.set_label(section.label);
    if (!section.label.empty()) fill(*to.mutable_label_rect(), section.label_rect);
  }
  return message;
}

std::vector<canvas::MarkRun> marks_of(const v1::Tile& tile) {
  std::vector<canvas::MarkRun> runs;
  runs.reserve(static_cast<std::size_t>(tile.marks_size()) / 2);
  std::uint32_t end = 0;
  for (int i = 0; i + 1 < tile.marks_size(); i += 2) {
    const std::uint32_t begin = end + tile.marks(i);
    const std::uint32_t length = tile.marks(i + 1) / 4;
    runs.push_back({begin, length, static_cast<Mark>(tile.marks(i + 1) % 4)});
    end = begin + length;
  }
  return runs;
}

}  // namespace phosphene::app
