// How the limit of open files is shared out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace phosphene::app {

/// How many connections of each kind there is room for.
struct Room {
  int viewers = 0;
  std::size_t hooks = 0;  // as many again may be told that there is no room
};
inline constexpr Room kMostRoom{.viewers = 4096, .hooks = 128};

/// What fits under a limit of so many open files. Error: too few to serve anybody.
Result<Room> share_files(std::uint64_t limit);

/// Raises this process's limit as far as it needs and may, and says in the log if that is less than
/// kMostRoom takes.
Result<Room> make_room();

}  // namespace phosphene::app
