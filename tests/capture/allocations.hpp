// How often a thread asked for memory, and what happens when there is none. Counted in the whole
// program that links allocations.cpp.
#pragma once

#include <cstddef>

namespace phosphene::test {

std::size_t allocations_of_this_thread();

/// While it lives, every thread but the one that made it asks for memory in vain. One at a time.
struct NoMemoryElsewhere {
  NoMemoryElsewhere();
  ~NoMemoryElsewhere();
};

}  // namespace phosphene::test
