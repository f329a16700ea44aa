// What holds for every layout, whatever the network and the size.
#pragma once

#include <span>
#include <string>

#include "canvas/layout.hpp"

namespace phosphene::canvas {

/// The first broken rule, in words; empty if all hold: sections on even coordinates, within the
/// canvas and above the margin, no two blocks on one pixel, every cell on pixels of its own, hit()
/// and pixels_of() each other's inverse on every pixel, plans and orders that name every cell once,
/// network order with attached tensors behind their weight.
std::string broken_rule(std::span<const Tensor> tensors, const Layout& layout);

}  // namespace phosphene::canvas
