#include "base/result.hpp"

#include <doctest/doctest.h>

#include <memory>

using phosphene::Error;
using phosphene::Result;

TEST_CASE("a result holds a value or an error") {
  const Result<int> seven = 7;
  CHECK(seven.ok());
  CHECK(*seven == 7);

  const Result<int> failed = Error{"the disk is full"};
  CHECK_FALSE(failed.ok());
  CHECK(failed.error().message == "the disk is full");
}

TEST_CASE("a move-only value can be taken out") {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = *std::move(made);
  CHECK(*taken == 3);
}

TEST_CASE("a result of a string tells a value from an error") {
  const Result<std::string> text = std::string("fine");
  CHECK(text.ok());
  const Result<void> nothing;
  CHECK(nothing.ok());
  const Result<void> failed = Error{"no"};
  CHECK_FALSE(failed.ok());
}
