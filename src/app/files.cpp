#include "app/files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "base/log.hpp"

namespace phosphene::app {
namespace {

constexpr std::uint64_t kOwnFiles = 32;  // a server that nobody is connected to has ten open
constexpr std::uint64_t kLeastFiles = 48;
constexpr std::uint64_t kMostFiles = kOwnFiles + 2 * kMostRoom.hooks + kMostRoom.viewers;

}  // namespace

Result<Room> share_files(std::uint64_t limit) {
  if (limit < kLeastFiles)
    return Error{"this process may have only " + std::to_string(limit) +
                 " files open, and a server needs " + std::to_string(kLeastFiles) +
                 ": raise the limit with ulimit -n"};
  const std::uint64_t rest = limit - kOwnFiles;
  const std::uint64_t hooks = std::min<std::uint64_t>(rest / 8, kMostRoom.hooks);
  const std::uint64_t viewers = std::min<std::uint64_t>(rest - 2 * hooks, kMostRoom.viewers);
  return Room{.viewers = static_cast<int>(viewers), .hooks = static_cast<std::size_t>(hooks)};
}

Result<Room> make_room() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kMostRoom;
  if (files.rlim_cur < kMostFiles) {
    files.rlim_cur = std::min<rlim_t>(kMostFiles, files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::getrlimit(RLIMIT_NOFILE, &files);
  }
  const Result<Room> room = share_files(files.rlim_cur);
  if (room && room->viewers < kMostRoom.viewers)
    log(LogLevel::kWarning, "the limit of open files leaves room for " +
                                std::to_string(room->viewers) + " viewers and " +
                                std::to_string(room->hooks) + " training processes");
  return room;
}

}  // namespace phosphene::app
