#include "capture/connection.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace phosphene::capture {
namespace {

constexpr std::size_t kReadBytes = 64u << 10;

bool nothing_now(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

Result<void> Connection::write_some() {
  while (!all_written()) {
    const auto count = ::send(fd_.get(), out_.data() + written_, out_.size() - written_,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (nothing_now(errno)) return {};
      return Error{std::string("the connection broke: ") + std::strerror(errno)};
    }
    written_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  written_ = 0;
  return {};
}

Result<bool> Connection::read_some() {
  const auto count = ::recv(fd_.get(), reader_.prepare(kReadBytes), kReadBytes, MSG_DONTWAIT);
  if (count < 0) {
    if (nothing_now(errno)) return true;
    return Error{std::string("the connection broke: ") + std::strerror(errno)};
  }
  reader_.commit(static_cast<std::size_t>(count));
  return count > 0;
}

void Connection::end_writing() {
  ::shutdown(fd_.get(), SHUT_WR);
}

}  // namespace phosphene::capture
