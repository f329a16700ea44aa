// Shapes of networks that layouts are tried on.
#pragma once

#include <string>
#include <vector>

#include "canvas/layout.hpp"

namespace phosphene::canvas {

struct Network {
  std::string name;
  std::vector<Tensor> tensors;
};

/// The seven that every layout must cover: from a small CNN to a thousand blocks and a single long
/// vector.
std::vector<Network> seven_networks();

/// What the small CNN's layers put out for 64 examples, a transformer's, and shapes whose numbers
/// mislead.
std::vector<Network> activations();

/// Ranks 0 to 6, empty tensors, kernels of every kind.
Network odd_shapes();

/// Adds a tensor with the next id; roles are letters: O, I, D, H, W as in OIHW, B batch, C channel,
/// T token, A attention head, - other.
std::uint32_t add(std::vector<Tensor>& tensors, std::string name, std::vector<std::uint64_t> shape,
                  std::string_view roles, std::uint32_t attached_to = 0,
                  Kind kind = Kind::kParameter);

}  // namespace phosphene::canvas
