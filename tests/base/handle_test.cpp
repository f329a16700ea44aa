#include "base/handle.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

using phosphene::UniqueFd;

namespace {
bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}
UniqueFd open_null() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}
}  // namespace

TEST_CASE("a descriptor closes with its owner, once") {
  int raw = -1;
  {
    UniqueFd fd = open_null();
    raw = fd.get();
    CHECK(is_open(raw));
    UniqueFd moved = std::move(fd);
    CHECK_FALSE(fd);
    CHECK(moved.get() == raw);
  }
  CHECK_FALSE(is_open(raw));
}

TEST_CASE("assigning closes what was held, and assigning to itself keeps it") {
  UniqueFd first = open_null();
  UniqueFd second = open_null();
  const int old = first.get();
  first = std::move(second);
  CHECK_FALSE(is_open(old));
  UniqueFd& same = first;
  first = std::move(same);
  CHECK(is_open(first.get()));
  const int raw = first.release();
  CHECK_FALSE(first);
  CHECK(is_open(raw));
  ::close(raw);
}
