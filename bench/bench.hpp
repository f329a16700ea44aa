// What every benchmark program does: time, compare with a limit, print.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phosphene::bench {

/// Keeps the compiler from leaving out work whose result nobody reads.
inline void keep(const void* result) {
  asm volatile("" : : "r"(result) : "memory");
}

/// The median of what `work` takes, in milliseconds, over `repeats` runs after one to warm up.
template <typename Work>
double median_ms(int repeats, Work&& work) {
  std::vector<double> times;
  for (int i = -1; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (i >= 0) times.push_back(taken.count());
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

/// The medians of two works done in turn, so that what else the machine does meets both: {first,
/// second}.
template <typename First, typename Second>
std::pair<double, double> median_ms_in_turn(int repeats, First&& first, Second&& second) {
  std::vector<double> firsts, seconds;
  for (int i = 0; i < repeats; ++i) {
    firsts.push_back(median_ms(1, first));
    seconds.push_back(median_ms(1, second));
  }
  const auto median = [](std::vector<double>& times) {
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
  };
  return {median(firsts), median(seconds)};
}

/// Collects figures and prints them: a line each, or with --json one array of
/// {"name","value","unit","limit","holds"}.
class Report {
 public:
  Report(int argc, char** argv) { json_ = argc > 1 && std::string_view(argv[1]) == "--json"; }

  /// A figure that must not be above its limit.
  void at_most(std::string name, double value, std::string unit, double limit) {
    add({std::move(name), std::move(unit), value, limit, value <= limit, "≤"});
  }
  /// A figure that must not be below its limit.
  void at_least(std::string name, double value, std::string unit, double limit) {
    add({std::move(name), std::move(unit), value, limit, value >= limit, "≥"});
  }
  /// A figure to know, without a limit.
  void note(std::string name, double value, std::string unit) {
    add({std::move(name), std::move(unit), value, std::nullopt, true, ""});
  }

  /// Prints the array where JSON was asked for. The program's exit status: 0 if every limit holds,
  /// else 1.
  int finish() const {
    if (json_) {
      std::printf("[");
      for (std::size_t i = 0; i < figures_.size(); ++i) {
        const Figure& figure = figures_[i];
        std::printf("%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"limit\": ",
                    i > 0 ? "," : "", figure.name.c_str(), figure.value, figure.unit.c_str());
        figure.limit ? std::printf("%.6g", *figure.limit) : std::printf("null");
        std::printf(", \"holds\": %s}", figure.holds ? "true" : "false");
      }
      std::printf("\n]\n");
    }
    return std::ranges::all_of(figures_, &Figure::holds) ? 0 : 1;
  }

 private:
  struct Figure {
    std::string name, unit;
    double value;
    std::optional<double> limit;
    bool holds;
    const char* sign;
  };

  void add(Figure figure) {
    if (!json_) {
      std::printf("%-52s %10.4g %-8s", figure.name.c_str(), figure.value, figure.unit.c_str());
      if (figure.limit)
        std::printf(" %s %-6.4g %s", figure.sign, *figure.limit, figure.holds ? "holds" : "FAILS");
      std::printf("\n");
      std::fflush(stdout);
    }
    figures_.push_back(std::move(figure));
  }

  bool json_ = false;
  std::vector<Figure> figures_;
};

}  // namespace phosphene::bench
