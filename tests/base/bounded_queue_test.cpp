#include "base/bounded_queue.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>

using namespace phosphene;
using namespace std::chrono_literals;

TEST_CASE("a full queue drops the oldest and counts it") {
  BoundedQueue<int, WhenFull::kDropOldest> queue(2);
  CHECK(queue.try_push(1));
  CHECK(queue.try_push(2));
  CHECK(queue.try_push(3));
  CHECK(queue.dropped() == 1);
  CHECK(queue.try_pop() == 2);
  CHECK(queue.try_pop() == 3);
  CHECK_FALSE(queue.try_pop());
}

TEST_CASE("a full queue refuses and counts it") {
  BoundedQueue<int, WhenFull::kRefuse> queue(1);
  CHECK(queue.try_push(1));
  CHECK_FALSE(queue.try_push(2));
  CHECK(queue.dropped() == 1);
  CHECK(queue.try_pop() == 1);
}

TEST_CASE("closing wakes a waiter, refuses what comes and keeps what is there") {
  BoundedQueue<std::unique_ptr<int>, WhenFull::kDropOldest> queue(4);
  std::thread closer([&] { queue.close(); });
  CHECK_FALSE(queue.pop_for(10s));
  closer.join();
  CHECK_FALSE(queue.try_push(std::make_unique<int>(1)));
}

TEST_CASE("what is pushed on one thread comes out on another, in order") {
  BoundedQueue<int, WhenFull::kRefuse> queue(8);
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i)
      while (!queue.try_push(i)) std::this_thread::yield();
    queue.close();
  });
  int expected = 0;
  while (expected < 1000) {
    if (const auto got = queue.pop_for(10s)) CHECK(*got == expected++);
  }
  writer.join();
}
