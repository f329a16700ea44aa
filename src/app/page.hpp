// The page, as it was built into the program.
#pragma once

#include <span>

#include "stream/server.hpp"

namespace phosphene::app {

/// The files of the page; empty in a program built without it.
std::span<const stream::Asset> page();

}  // namespace phosphene::app
