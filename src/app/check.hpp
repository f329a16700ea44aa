// What a hook may claim. Whatever passes here can be laid out, drawn and shown without another
// look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "phosphene.pb.h"

namespace phosphene::app {

inline constexpr std::size_t kMaxNameBytes = 512;  // of a tensor
inline constexpr std::uint64_t kMaxElements = std::uint64_t{1}
                                              << 48;  // of a tensor: products stay exact

/// A name that can be shown; a kind and a dtype this server knows; rank 0 … 8 with a role for each
/// dimension (roles it does not know become OTHER); frames of rank 2. The Error is a sentence that
/// names the tensor.
Result<void> check_tensor(v1::Tensor& tensor);

/// Two levels a byte for each cell, a finite range with a shape, marks in ascending runs within the
/// cells.
Result<void> check_tile(const v1::Tile& tile);

/// The number of elements of a shape; kMaxElements + 1 if there are more than kMaxElements.
std::uint64_t elements_of(const google::protobuf::RepeatedField<std::uint64_t>& shape);

/// How many cells a plan's tile has, for a tensor of this shape; 0 for a plan that makes no sense.
std::uint32_t cells_of(const v1::TensorPlan& plan, const v1::Tensor& tensor);

/// Text from outside, made fit for a page and a log: one line, at most `max_bytes`, cut between
/// characters.
std::string cleaned(std::string_view utf8, std::size_t max_bytes);

}  // namespace phosphene::app
