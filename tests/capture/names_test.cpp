// What trainers include and what the rooms include, in one place.
#include <doctest/doctest.h>

#include <type_traits>

#include "base/tensor.hpp"
#include "capture/messages.hpp"
#include "capture/phosphene.hpp"

using namespace phosphene;

using InnerRole = std::remove_cvref_t<decltype(capture::TensorInfo{}.roles.front())>;

TEST_CASE("the wrapper's roles and the rooms' are types of their own with the same numbers") {
  CHECK_FALSE(std::is_same_v<hook::Role, InnerRole>);
  CHECK(static_cast<int>(hook::Role::kOut) == static_cast<int>(InnerRole::kOut));
  CHECK(static_cast<int>(hook::Role::kHead) == static_cast<int>(InnerRole::kHead));
  CHECK(static_cast<int>(hook::Role::kHead) == PHOSPHENE_ROLE_HEAD);
}
