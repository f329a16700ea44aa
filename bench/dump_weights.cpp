// Trains the demo's network and writes what an encoder gets to see of it, for encode_bench
// --frames.
//
// Usage: dump_weights FILE [--frames N] [--from STEP] [--gradients] [--digits]
// FILE: N frames of 1000×1000 raw bytes, each a level 0 … 15, of N successive steps after STEP. All
// parameters one after the other, symmetric and linear in a range that only widens; with
// --gradients their magnitudes, log over four decades. What the parameters do not fill is level 0.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "app/demo/trainer.hpp"

using namespace phosphene::demo;

namespace {

constexpr std::size_t kPixels = 1'000 * 1'000;
constexpr double kDecades = 4;

struct Dump {
  const char* file = nullptr;
  long frames = 60, from = 500;
  bool gradients = false, digits = false;
};

std::uint8_t level(double share) {
  return std::uint8_t(std::clamp(std::floor(16 * share), 0.0, 15.0));
}

/// Appends a tensor's levels. `top` is the largest magnitude so far.
void draw(const TensorView& tensor, bool gradients, double& top,
          std::vector<std::uint8_t>& picture) {
  for (const float value : tensor.values) top = std::max(top, std::abs(double(value)));
  for (const float value : tensor.values) {
    if (gradients) {
      picture.push_back(
          value == 0 || top == 0 ? 0 : level(1 + std::log10(std::abs(value) / top) / kDecades));
    } else {
      picture.push_back(top == 0 ? 8 : level((value + top) / (2 * top)));
    }
  }
}

int usage() {
  std::fprintf(stderr,
               "usage: dump_weights FILE [--frames N] [--from STEP] [--gradients] [--digits]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Dump dump;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--frames" && i + 1 < argc) {
      dump.frames = std::atol(argv[++i]);
    } else if (word == "--from" && i + 1 < argc) {
      dump.from = std::atol(argv[++i]);
    } else if (word == "--gradients") {
      dump.gradients = true;
    } else if (word == "--digits") {
      dump.digits = true;
    } else if (!dump.file && word.substr(0, 2) != "--") {
      dump.file = argv[i];
    } else {
      return usage();
    }
  }
  if (!dump.file || dump.frames < 1 || dump.from < 0) return usage();

  auto data = dump.digits ? phosphene::Result<DataSet>(load_digits()) : load_default();
  std::ofstream out(dump.file, std::ios::binary);
  if (!data || !out) {
    std::fprintf(stderr, "%s\n",
                 data ? (std::string(dump.file) + ": cannot be written").c_str()
                      : data.error().message.c_str());
    return 1;
  }
  Trainer trainer(std::move(*data), {});
  while (trainer.steps() < dump.from) trainer.step();
  std::vector<double> tops(trainer.network().parameters().size());
  for (long frame = 0; frame < dump.frames; ++frame) {
    trainer.step();
    std::vector<std::uint8_t> picture;
    const auto tensors =
        dump.gradients ? trainer.network().gradients() : trainer.network().parameters();
    for (std::size_t t = 0; t < tensors.size(); ++t)
      draw(tensors[t], dump.gradients, tops[t], picture);
    picture.resize(kPixels);
    out.write(reinterpret_cast<const char*>(picture.data()), std::streamsize(picture.size()));
  }
  return out.flush() ? 0 : 1;
}
