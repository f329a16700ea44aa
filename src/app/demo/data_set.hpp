// What the demo learns: labelled grey images, some of them held out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace phosphene::demo {

inline constexpr int kMinImageSide = 8, kMaxImageSide = 64;

struct Images {
  std::vector<std::uint8_t> pixels;  // count × height × width
  std::vector<std::uint8_t> labels;  // count
  int count() const { return static_cast<int>(labels.size()); }
};

struct DataSet {
  std::string name;  // for a person: "Fashion-MNIST"
  int height = 0, width = 0;
  int classes = 0;      // labels are 0 … classes − 1
  int brightest = 255;  // the largest pixel value
  Images train, held_out;
};

/// The IDX files of a folder, named as MNIST's are: train-images-idx3-ubyte,
/// train-labels-idx1-ubyte, and t10k- or test- for what is held out, each with or without .gz.
/// Errors name the file and what is wrong with it.
Result<DataSet> load_idx_folder(const std::filesystem::path& folder);

/// The UCI digits, which are within the program.
DataSet load_digits();

/// Fashion-MNIST where Debian's dataset-fashion-mnist is installed, else the digits.
Result<DataSet> load_default();

}  // namespace phosphene::demo
