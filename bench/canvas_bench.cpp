// Laying networks out, and composing a million packed levels.
#include <string>
#include <vector>

#include "bench.hpp"
#include "canvas/composer.hpp"
#include "canvas/layout.hpp"
#include "networks.hpp"

using namespace phosphene;
using namespace phosphene::canvas;

namespace {

/// Composing one tensor of 10⁶ levels that the layout shows whole. `scattered`: neither axis lies
/// in memory as drawn.
void compose(bench::Report& report, const std::string& name, std::vector<std::uint64_t> shape,
             std::string_view roles, int width, int height, bool scattered = false) {
  std::vector<Tensor> tensors;
  add(tensors, name, std::move(shape), roles);
  const auto layout = lay_out(tensors, {width, height});
  if (!layout || layout->sections.size() != 1 || layout->sections[0].pooling != Pooling::kNone) {
    report.at_most("compose 10⁶ levels, " + name + ": not shown cell by cell", 1, "", 0);
    return;
  }
  std::vector<std::uint8_t> levels(500'000);
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] = static_cast<std::uint8_t>(i * 2'654'435'761u >> 13);
  Composer composer(*layout, tensors);
  const double pixels = layout->covered * width * height;
  const double ms = bench::median_ms(51, [&] {
    composer.draw(0, {levels, {}});
    bench::keep(composer.picture().luma);
  });
  if (scattered) return report.note("compose 10⁶ levels, " + name, ms, "ms");
  report.at_most("compose 10⁶ levels, " + name, ms, "ms", 0.5 * std::max(1.0, pixels / 1e6));
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  compose(report, "rows as in memory", {1000, 1000}, "IO", 1000, 1016);
  compose(report, "turned over", {1000, 1000}, "OI", 1000, 1016);
  compose(report, "turned over, four pixels a cell", {1000, 1000}, "OI", 2000, 2016);
  compose(report, "kernels", {250, 250, 4, 4}, "OIHW", 1280, 1280, true);
  for (const Network& network : seven_networks()) {
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
      double covered = 0;
      const double ms = bench::median_ms(5, [&] {
        const auto layout = lay_out(network.tensors, {width, height});
        if (layout) covered = layout->covered;
      });
      const std::string what =
          network.name + ", " + std::to_string(width) + "×" + std::to_string(height);
      report.at_most("lay out " + what, ms, "ms", 50);
      report.at_least("covered, " + what, covered * 100, "%", 80);
    }
  }
  return report.finish();
}
