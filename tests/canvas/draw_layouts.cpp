// Draws the layouts of all networks as PPM pictures, to be looked at: draw_layouts DIRECTORY
// [WIDTHxHEIGHT]... Values are made up: columns and rows of their own brightness, a few dead
// outputs, a NaN here and there.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "canvas/composer.hpp"
#include "canvas/layout.hpp"
#include "networks.hpp"

using namespace phosphene;
using namespace phosphene::canvas;

namespace {

std::uint32_t noise(std::uint64_t seed) {
  seed = (seed ^ (seed >> 31)) * 0x9E3779B97F4A7C15u;
  seed = (seed ^ (seed >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<std::uint32_t>(seed >> 32);
}

int level_of(std::uint64_t tensor, std::uint64_t output, std::uint64_t input, std::uint64_t cell) {
  if (noise(tensor * 7919 + output) % 29 == 0) return 0;  // a dead output
  const double column = noise(tensor * 31 + output) / 4294967296.0;
  const double row = noise(tensor * 37 + input + 1'000'003) / 4294967296.0;
  const double own = noise(tensor * 41 + cell * 2'000'029 + 5) / 4294967296.0;
  return static_cast<int>(1 + 14.9 * (0.25 * column + 0.25 * row + 0.5 * own));
}

/// The picture that a browser would show of luma and Cr, Cb being neutral.
void write_ppm(const std::string& path, const Picture& picture, const Layout& layout) {
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(picture.width) * picture.height * 3);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const double luma = (picture.luma[y * picture.luma_stride + x] - 16) * 255.0 / 219;
      const double cr = (picture.cr[y / 2 * picture.cr_stride + x / 2] - 128) * 255.0 / 224;
      std::uint8_t* pixel = &rgb[(static_cast<std::size_t>(y) * picture.width + x) * 3];
      const auto byte = [](double v) {
        return static_cast<std::uint8_t>(std::lround(std::clamp(v, 0.0, 255.0)));
      };
      pixel[0] = byte(luma + 1.5748 * cr);
      pixel[1] = byte(luma - 0.4681 * cr);
      pixel[2] = byte(luma);
    }
  }
  std::ofstream(path, std::ios::binary)
      << "P6\n"
      << picture.width << ' ' << picture.height << "\n255\n"
      << std::string_view(reinterpret_cast<const char*>(rgb.data()), rgb.size());
  // Labels as a filter script for ffmpeg: drawtext of every section.
  std::ofstream script(path + ".labels");
  const char* separator = "";
  for (const Section& section : layout.sections) {
    if (section.label.empty()) continue;
    std::string text;
    for (const char c : section.label) text += c == ':' || c == '\'' || c == '%' ? '_' : c;
    script << separator << "drawtext=fontsize=11:fontcolor=0xB0B0B0:x=" << section.label_rect.x + 1
           << ":y=" << section.label_rect.y + 2 << ":text='" << text << "'";
    separator = ",\n";
  }
  if (*separator == 0) script << "null";
}

void draw(const Network& network, int width, int height, const std::string& directory) {
  const auto layout = lay_out(network.tensors, {width, height});
  if (!layout) {
    std::fprintf(stderr, "%s: %s\n", network.name.c_str(), layout.error().message.c_str());
    std::exit(1);
  }
  Composer composer(*layout, network.tensors);
  for (std::size_t s = 0; s < layout->sections.size(); ++s) {
    const Section& section = layout->sections[s];
    const TileOrder order = tile_order(section, network.tensors[section.tensor]);
    std::vector<std::uint8_t> levels((order.cells + 1) / 2);
    const bool transposed =
        !section.x.dims.empty() && !section.y.dims.empty() && section.x.cells != 1 &&
        network.tensors[section.tensor].roles[section.y.dims.front()] == Role::kOut;
    const Axis& out = transposed ? section.y : section.x;
    const std::uint64_t outputs = out.sizes.empty() ? 1 : out.sizes.front();
    for (std::uint32_t cy = 0; cy < section.y.cells; ++cy) {
      for (std::uint32_t cx = 0; cx < section.x.cells; ++cx) {
        const std::uint32_t cell = order.x_offsets[cx] + order.y_offsets[cy];
        const std::uint64_t output =
            static_cast<std::uint64_t>(transposed ? cy : cx) * outputs / out.cells;
        const int level = level_of(network.tensors[section.tensor].attached_to
                                       ? network.tensors[section.tensor].attached_to
                                       : network.tensors[section.tensor].id,
                                   output, transposed ? cx : cy, cell);
        levels[cell / 2] |= static_cast<std::uint8_t>(cell % 2 == 0 ? level << 4 : level);
      }
    }
    std::vector<MarkRun> marks;
    if (s % 7 == 2 && order.cells > 40)
      marks = {{7, 1, Mark::kNaN}, {order.cells / 2, 1, Mark::kInf}};
    composer.draw(s, {levels, marks});
  }
  composer.draw_number(0xC0FFEE01);
  const std::string path = directory + "/" + network.name + "-" + std::to_string(width) + "x" +
                           std::to_string(height) + ".ppm";
  write_ppm(path, composer.picture(), *layout);
  std::printf("%-24s %4d×%-4d covered %5.1f %%  sections %zu  left out %u\n", network.name.c_str(),
              width, height, layout->covered * 100, layout->sections.size(), layout->left_out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY [WIDTHxHEIGHT]...\n", argv[0]);
    return 2;
  }
  std::vector<Network> networks = seven_networks();
  for (Network& network : activations()) networks.push_back(std::move(network));
  networks.push_back(odd_shapes());
  std::vector<std::pair<int, int>> sizes;
  for (int i = 2; i < argc; ++i) {
    int width = 0, height = 0;
    if (std::sscanf(argv[i], "%dx%d", &width, &height) != 2) return 2;
    sizes.emplace_back(width, height);
  }
  if (sizes.empty()) sizes = {{640, 360}, {1000, 1000}, {1280, 720}, {1920, 1080}};
  for (const Network& network : networks)
    for (const auto& [width, height] : sizes) draw(network, width, height, argv[1]);
}
