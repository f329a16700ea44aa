// facts_of: any access unit is read within its bounds, and facts that were written come back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "encode/encoder.hpp"
#include "encode/nal.hpp"

using namespace phosphene::encode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  if (const auto found = facts_of(bytes); found && found->size() > size) std::abort();

  if (size == 0) return 0;
  std::vector<std::uint8_t> sample;
  append_facts(sample, bytes);
  const auto facts = facts_of(sample);
  if (!facts || !std::equal(facts->begin(), facts->end(), bytes.begin(), bytes.end())) std::abort();
  return 0;
}
