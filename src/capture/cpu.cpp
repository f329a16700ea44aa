#include "capture/cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace phosphene::capture {
namespace {

Cpu detected() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c"))
    return Cpu::kAvx2;
#endif
  return Cpu::kScalar;
}

Cpu allowed() {
  const char* limit = std::getenv("PHOSPHENE_CPU");
  const bool scalar = limit != nullptr && std::string_view(limit) == "scalar";
  return scalar ? Cpu::kScalar : detected();
}

std::atomic<Cpu>& current() {
  static std::atomic<Cpu> cpu{allowed()};
  return cpu;
}

}  // namespace

Cpu cpu() {
  return current().load(std::memory_order_relaxed);
}

void limit_cpu(Cpu limit) {
  current().store(std::min(limit, detected()), std::memory_order_relaxed);
}

}  // namespace phosphene::capture
