#include <array>

#include "app/demo/kernels.hpp"

namespace phosphene::demo {

extern const Kernels kKernels_baseline;
#ifdef PHOSPHENE_DEMO_X86
extern const Kernels kKernels_avx2, kKernels_avx512;
#endif

std::span<const Kernels* const> all_kernels() {
#ifdef PHOSPHENE_DEMO_X86
  static constexpr std::array<const Kernels*, 3> kAll = {&kKernels_baseline, &kKernels_avx2,
                                                         &kKernels_avx512};
  static const std::size_t count = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return avx512 ? 3 : 2;
  }();
  return std::span(kAll).first(count);
#else
  static constexpr std::array<const Kernels*, 1> kAll = {&kKernels_baseline};
  return kAll;
#endif
}

const Kernels& kernels() {
  return *all_kernels().back();
}

}  // namespace phosphene::demo
