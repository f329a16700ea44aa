// The commands of the program. Each returns the exit code: 0, or 1 when it failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "app/service.hpp"

namespace phosphene::app {

/// How a command that serves says where.
struct Announce {
  bool json = false;
};

int serve(const ServiceOptions& service, const Announce& announce);

struct DemoOptions {
  std::string
      data;  // directory of an IDX set; empty: Fashion-MNIST where installed, else the digits
  std::uint64_t steps = 0;      // stop after so many; 0: go on
  double steps_per_second = 0;  // at most; 0: as fast as it goes
  std::uint64_t seed = 1;
};
int demo(const ServiceOptions& service, const Announce& announce, const DemoOptions& options);

enum class PipeFormat { kLevels4, kGray8, kFloat32, kMessages };

struct PipeOptions {
  PipeFormat format = PipeFormat::kGray8;
  int width = 0;   // pixels
  int height = 0;  // pixels
  double fps = 30;
  std::string name = "pipe";
  std::optional<std::pair<double, double>> range;  // float32; none: steady
  std::optional<wire::Address> to;                 // none: serves itself
};
int pipe(const ServiceOptions& service, const Announce& announce, const PipeOptions& options);

}  // namespace phosphene::app
