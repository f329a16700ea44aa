#include "capture/mailbox.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>

using phosphene::capture::Mailbox;

TEST_CASE("a mailbox gives the newest post, once") {
  Mailbox<int> mailbox;
  CHECK(mailbox.take() == nullptr);
  mailbox.draft() = 1;
  CHECK(mailbox.post());
  mailbox.draft() = 2;
  CHECK_FALSE(mailbox.post());  // 1 was never taken
  const int* taken = mailbox.take();
  REQUIRE(taken);
  CHECK(*taken == 2);
  CHECK(mailbox.take() == nullptr);
}

TEST_CASE("what was taken stays whole while newer posts come") {
  Mailbox<int> mailbox;
  mailbox.draft() = 1;
  mailbox.post();
  const int* taken = mailbox.take();
  for (int i = 2; i < 9; ++i) {
    mailbox.draft() = i;
    mailbox.post();
    CHECK(*taken == 1);
  }
  CHECK(*mailbox.take() == 8);
}

TEST_CASE("between two threads every post is taken whole or counted as replaced") {
  struct Pair {
    std::uint64_t a = 0, b = 0;
  };
  constexpr std::uint64_t kPosts = 50'000;
  Mailbox<Pair> mailbox;
  std::uint64_t replaced = 0;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= kPosts; ++i) {
      mailbox.draft() = {i, i};
      if (!mailbox.post()) ++replaced;
    }
  });
  std::uint64_t taken = 0, last = 0;
  while (last < kPosts) {
    const Pair* pair = mailbox.take();
    if (!pair) continue;
    CHECK_EQ(pair->a, pair->b);
    CHECK_GT(pair->a, last);
    last = pair->a;
    ++taken;
  }
  writer.join();
  CHECK(taken + replaced == kPosts);
}
