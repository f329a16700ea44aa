#include "capture/level_writer.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/luma.hpp"
#include "capture/kernels.hpp"
#include "capture/marks.hpp"

namespace phosphene::capture {
namespace {

constexpr std::size_t kChunk =
    8192;  // values; even. One that is not finite sends its chunk the slow way.

struct Slow {
  const Scale& scale;
  bool magnitude;
  AbsentCells::Walk absent;
  MarkWriter marks;
  Bounds bounds;

  int level(std::uint32_t cell, double x) {
    if (std::isfinite(x)) {
      const double y = magnitude ? std::abs(x) : x;
      bounds.add({y, y});
      return scale.level(y);
    }
    if (absent.is_absent(cell)) return marks.add(cell, Mark::kAbsent), 0;
    if (std::isnan(x)) return marks.add(cell, Mark::kNaN), kLevelNaN;
    return marks.add(cell, Mark::kInf), kLevelInf;
  }

  template <typename T>
  void write(std::span<const T> values, std::size_t begin, std::size_t end, std::uint8_t* levels) {
    for (std::size_t i = begin; i < end; i += 2) {
      const int high = level(static_cast<std::uint32_t>(i), double{values[i]});
      const int low =
          i + 1 < end ? level(static_cast<std::uint32_t>(i + 1), double{values[i + 1]}) : 0;
      levels[i / 2] = static_cast<std::uint8_t>(high << 4 | low);
    }
  }
};

template <typename T>
void add_finite(std::span<const T> values, bool magnitude, Bounds& bounds) {
  for (const T value : values) {
    if (!std::isfinite(value)) continue;
    const double y = magnitude ? std::abs(double{value}) : double{value};
    bounds.add({y, y});
  }
}

}  // namespace

void LevelWriter::prepare(bool magnitude, const Range& range) {
  if (scale_ && magnitude_ == magnitude && scale_->range() == range) return;
  scale_.emplace(range);
  magnitude_ = magnitude;
  table_ = make_level_table(*scale_, magnitude);
}

template <typename T>
void LevelWriter::write_values(std::span<const T> values, bool magnitude, const Range& range,
                               const AbsentCells& absent, Tile& tile) {
  prepare(magnitude, range);
  tile.range = range;
  tile.cells = static_cast<std::uint32_t>(values.size());
  tile.levels.resize((values.size() + 1) / 2);
  const bool log = range.shape == Shape::kLog;
  const auto quickly = [&](std::size_t begin, std::size_t end) {
    std::uint8_t* const out = tile.levels.data() + begin / 2;
    if constexpr (std::is_same_v<T, float>) {
      if (!table_.usable) return Seen{0, 0, false};
      return kernels().quantise(values.data() + begin, end - begin, table_, out);
    } else {
      return kernels().quantise_wide(values.data() + begin, end - begin, scale_->terms(), log,
                                     magnitude, out);
    }
  };
  Slow slow = {*scale_, magnitude || log, AbsentCells::Walk(absent), MarkWriter(tile.marks), {}};
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, values.size());
    const auto seen = quickly(begin, end);
    if (seen.finite) {
      slow.bounds.add({double{seen.min}, double{seen.max}});
    } else {
      slow.write(values, begin, end, tile.levels.data());
    }
  }
  tile.bounds = slow.bounds;
}

void LevelWriter::write(std::span<const float> values, bool magnitude, const Range& range,
                        const AbsentCells& absent, Tile& tile) {
  write_values(values, magnitude, range, absent, tile);
}

void LevelWriter::write(std::span<const double> values, bool magnitude, const Range& range,
                        const AbsentCells& absent, Tile& tile) {
  write_values(values, magnitude, range, absent, tile);
}

Bounds bounds_of(std::span<const float> values, bool magnitude) {
  Bounds bounds;
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const auto chunk = values.subspan(begin, std::min(kChunk, values.size() - begin));
    const Seen seen = kernels().bounds(chunk.data(), chunk.size(), magnitude);
    if (seen.finite) {
      bounds.add({double{seen.min}, double{seen.max}});
    } else {
      add_finite(chunk, magnitude, bounds);
    }
  }
  return bounds;
}

Bounds bounds_of(std::span<const double> values, bool magnitude) {
  Bounds bounds;
  add_finite(values, magnitude, bounds);
  return bounds;
}

}  // namespace phosphene::capture
