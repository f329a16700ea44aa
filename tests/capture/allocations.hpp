// How often a thread asked for memory. Counted in the whole program that links allocations.cpp.
#pragma once

#include <cstddef>

namespace phosphene::test {

std::size_t allocations_of_this_thread();

}  // namespace phosphene::test
