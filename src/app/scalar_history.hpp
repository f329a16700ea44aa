// The curves of a run, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phosphene.pb.h"

namespace phosphene::app {

/// At most kMaxSeries series of kMaxPoints points. A series that is full loses every second point
/// and from then on keeps half as many of those that come: a curve of any length, ever coarser,
/// from its first step to now. Not thread-safe.
class ScalarHistory {
 public:
  static constexpr std::size_t kMaxSeries = 64;
  static constexpr std::size_t kMaxPoints = 4096;
  static constexpr std::size_t kMaxNameBytes = 128;

  /// False if some series had no name, unequal numbers of steps and values, or no room: those are
  /// left out.
  bool add(const v1::Scalars& scalars);

  /// What came after `cursor` (0: all there is), and moves the cursor; nothing if nothing came.
  /// With `reset` it replaces what the reader has: at the start, and after points were thrown out.
  /// The run's id is left empty.
  std::optional<v1::RunScalars> since(std::uint64_t& cursor) const;

  /// Of memory, about.
  std::size_t bytes() const;

  /// The last value that came, of each series.
  v1::Scalars latest() const;

 private:
  struct Point {
    std::uint64_t number;  // of all points of this history, ascending
    std::uint64_t step;
    double value;
  };
  struct Series {
    std::string name;
    std::vector<Point> points;
    std::uint64_t came = 0;
    std::uint64_t stride = 1;  // of those that came, each stride-th is kept
    std::uint64_t last_step = 0;
    double last_value = 0;
  };
  Series* find_or_make(const std::string& name);
  void add(Series& series, std::uint64_t step, double value);

  std::vector<Series> series_;
  std::uint64_t next_ = 1;
  std::uint64_t thinned_ = 1;  // readers who are not as far must start over
};

}  // namespace phosphene::app
