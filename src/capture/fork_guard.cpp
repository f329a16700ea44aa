#include "capture/fork_guard.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>

namespace phosphene::capture {
namespace {

// Neither has a destructor that does anything: threads may outlive main().
std::mutex mutex;
ForkGuard* first = nullptr;

}  // namespace

// The lock is held over the fork, so that the child finds a whole list and a lock it can release.
void ForkGuard::before_fork() {
  mutex.lock();
}
void ForkGuard::after_in_parent() {
  mutex.unlock();
}
void ForkGuard::after_in_child() {
  for (ForkGuard* guard = first; guard; guard = guard->next_) {
    guard->forked_.store(true, std::memory_order_relaxed);
    if (const int fd = guard->fd_.exchange(-1); fd >= 0) ::close(fd);
  }
  mutex.unlock();
}

ForkGuard::ForkGuard() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(before_fork, after_in_parent, after_in_child);
  std::lock_guard lock(mutex);
  next_ = first;
  if (first) first->previous_ = this;
  first = this;
}

ForkGuard::~ForkGuard() {
  std::lock_guard lock(mutex);
  (previous_ ? previous_->next_ : first) = next_;
  if (next_) next_->previous_ = previous_;
}

}  // namespace phosphene::capture
