#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t allocations = 0;
thread_local bool is_spared = false;
std::atomic<bool> others_fail = false;

}  // namespace

// A file of its own: where the compiler sees both ends it takes malloc and delete for a mismatch.
void* operator new(std::size_t bytes) {
  ++allocations;
  if (others_fail && !is_spared) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

std::size_t phosphene::test::allocations_of_this_thread() {
  return allocations;
}

phosphene::test::NoMemoryElsewhere::NoMemoryElsewhere() {
  is_spared = true;
  others_fail = true;
}
phosphene::test::NoMemoryElsewhere::~NoMemoryElsewhere() {
  others_fail = false;
  is_spared = false;
}
