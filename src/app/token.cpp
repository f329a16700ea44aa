#include "app/token.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/handle.hpp"
#include "stream/security.hpp"
#include "wire/socket.hpp"

namespace phosphene::app {
namespace {

constexpr std::size_t kTokenDigits = 32;

Error because(const std::string& what) {
  return Error{what + ": " + std::strerror(errno)};
}

bool is_hex(char digit) {
  return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
}

/// The token of an open file; empty if it holds none that only its user could have put there.
std::string read_token(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 077) != 0)
    return {};
  std::array<char, kTokenDigits> digits{};
  if (::pread(fd, digits.data(), digits.size(), 0) != static_cast<ssize_t>(digits.size()))
    return {};
  if (!std::all_of(digits.begin(), digits.end(), is_hex)) return {};
  return std::string(digits.data(), digits.size());
}

/// Puts a new token into place whole: of two servers that do so at once, the first one's stays.
Result<void> write_token(int directory) {
  const std::string name = "token." + std::to_string(::getpid());
  ::unlinkat(directory, name.c_str(), 0);  // left by a process of the same number
  const UniqueFd file(::openat(directory, name.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return because("cannot make a file for the token");
  const std::string token = stream::random_token();
  const bool written =
      ::write(file.get(), token.data(), token.size()) == static_cast<ssize_t>(token.size());
  const bool placed =
      written && (::linkat(directory, name.c_str(), directory, "token", 0) == 0 || errno == EEXIST);
  const int error = errno;
  ::unlinkat(directory, name.c_str(), 0);
  errno = error;
  if (!placed) return because("cannot write the file for the token");
  return {};
}

}  // namespace

Result<std::string> user_token() {
  const std::string socket = wire::default_address().path;
  const std::string path = socket.substr(0, socket.rfind('/'));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return because("cannot make " + path);
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!directory || ::fstat(directory.get(), &status) != 0) return because("cannot open " + path);
  if (status.st_uid != ::geteuid() || (status.st_mode & 022) != 0)
    return Error{"other users may change " + path};

  for (int attempt = 0; attempt < 2; ++attempt) {
    const UniqueFd file(::openat(directory.get(), "token", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    const bool is_there = file || errno != ENOENT;
    if (file)
      if (std::string token = read_token(file.get()); !token.empty()) return token;
    if (is_there) ::unlinkat(directory.get(), "token", 0);  // not to be trusted
    if (Result<void> written = write_token(directory.get()); !written) return written.error();
  }
  return Error{"cannot keep a token in " + path};
}

}  // namespace phosphene::app
