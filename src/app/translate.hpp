// Between the words of the wire and those of the rooms: the only place that knows both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "canvas/composer.hpp"
#include "canvas/layout.hpp"
#include "encode/encoder.hpp"
#include "phosphene.pb.h"
#include "stream/view.hpp"

namespace phosphene::app {

/// The kind of tensor a mode shows. Not for Mode::kOff.
Kind kind_of(stream::View::Mode mode);
/// The mode that shows a kind.
stream::View::Mode mode_of(v1::Kind kind);

canvas::Tensor to_canvas(const v1::Tensor& tensor);
canvas::Pooling to_canvas(stream::View::Pooling pooling);
encode::Quality to_encode(stream::View::Quality quality);

/// What the hook must send for a view that is laid out so.
v1::ViewPlan make_plan(std::uint32_t view_id, const stream::View& view,
                       const canvas::Layout& layout, std::span<const canvas::Tensor> tensors,
                       std::span<const v1::Tensor> declared);

/// The layout as the page gets it.
v1::Layout to_message(std::uint32_t id, const canvas::Layout& layout,
                      std::span<const canvas::Tensor> tensors);

/// The runs of marks of a tile; ascending, as validated on receipt.
std::vector<canvas::MarkRun> marks_of(const v1::Tile& tile);

}  // namespace phosphene::app
