// Pictures with known levels and marks, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/luma.hpp"
#include "base/picture.hpp"

namespace phosphene::encode {

/// A picture that owns its planes. Rows are padded, as the composer may pad them.
class Scene {
 public:
  Scene(int width, int height)
      : levels(static_cast<std::size_t>(width) * height),
        cr(static_cast<std::size_t>(width / 2) * (height / 2), kChromaNeutral),
        width_(width),
        height_(height) {}

  std::vector<std::uint8_t> levels;  // 0 … 15, one a pixel
  std::vector<std::uint8_t> cr;

  int width() const { return width_; }
  int height() const { return height_; }

  /// Valid until the next call.
  Picture picture() {
    const int stride = width_ + 7;
    luma_.assign(static_cast<std::size_t>(stride) * height_, 0);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) luma_[y * stride + x] = kLumaOfLevel[levels[y * width_ + x]];
    return {width_, height_, luma_.data(), stride, cr.data(), width_ / 2};
  }

  void randomise(std::mt19937& random) {
    for (auto& level : levels) level = random() % kLevels;
  }

  /// Moves a share of the levels by one, as training moves weights.
  void drift(std::mt19937& random, double share) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(share * levels.size()); ++i) {
      auto& level = levels[random() % levels.size()];
      level = level == 0 ? 1 : level == kLevels - 1 || random() % 2 ? level - 1 : level + 1;
    }
  }

  /// Marks the cell of `size`×`size` pixels at (x, y), both multiples of 2 when size is.
  void mark(int x, int y, int size, Mark mark) {
    for (int j = y; j < y + size; ++j)
      for (int i = x; i < x + size; ++i) {
        levels[j * width_ + i] = mark == Mark::kNaN ? kLevelNaN : kLevelInf;
        cr[(j / 2) * (width_ / 2) + i / 2] = mark == Mark::kNaN ? kCrNaN : kCrInf;
      }
  }

 private:
  int width_, height_;
  std::vector<std::uint8_t> luma_;
};

}  // namespace phosphene::encode
