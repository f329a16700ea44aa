// IDX, the format of MNIST's files (http://yann.lecun.com/exdb/mnist/): two zero bytes, a type, a
// rank, sizes as big-endian 32-bit numbers, values in C order. Plain or within gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace phosphene::demo {

inline constexpr std::size_t kMaxIdxBytes = std::size_t{1} << 30;

/// An array of unsigned bytes.
struct IdxArray {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint8_t> values;  // C order, as many as the shape says
};

/// Errors say what is wrong, without a file's name: no IDX, another type than unsigned bytes, a
/// rank other than `rank`, more than kMaxIdxBytes, fewer or more bytes than the header says, broken
/// gzip. Thread-safe.
Result<IdxArray> parse_idx(std::span<const std::uint8_t> bytes, std::size_t rank);

/// The same from a file; errors begin with its path.
Result<IdxArray> read_idx(const std::filesystem::path& path, std::size_t rank);

}  // namespace phosphene::demo
