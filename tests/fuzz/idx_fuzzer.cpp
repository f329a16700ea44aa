// IDX files, plain and within gzip: any bytes give an error, or an array of the size its shape
// says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "app/demo/idx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const std::size_t rank : {1, 3}) {
    const auto array = phosphene::demo::parse_idx({data, size}, rank);
    if (!array) continue;
    std::size_t count = 1;
    for (const std::uint32_t side : array->shape) count *= side;
    if (array->shape.size() != rank || array->values.size() != count) std::abort();
  }
  return 0;
}
