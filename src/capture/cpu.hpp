// Which instructions the kernels may use.
#pragma once

#include <cstdint>

namespace phosphene::capture {

enum class Cpu : std::uint8_t {
  kScalar = 0,
  kAvx2 = 1,  // AVX2, FMA and F16C
};

/// The best this machine has, held down by the environment variable PHOSPHENE_CPU (scalar, avx2).
/// Thread-safe.
Cpu cpu();
/// Holds the kernels down to `limit` from now on; never above what the machine has. For tests and
/// benchmarks.
void limit_cpu(Cpu limit);

}  // namespace phosphene::capture
