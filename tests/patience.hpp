// How tests wait for what another thread or process does: until it is there, however loaded the
// machine, and never for a fixed time.
#pragma once

#include <chrono>
#include <thread>

namespace phosphene::test {

/// What a loaded machine may need under a sanitizer. Only a failing test waits so long.
inline constexpr std::chrono::seconds kPatience{60};
inline constexpr int kPatienceMs = std::chrono::milliseconds(kPatience).count();

/// What `probe` finds: the first thing that converts to true, or the last answer when patience
/// ends.
template <typename Probe>
auto eventually(Probe probe) -> decltype(probe()) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    auto found = probe();
    if (found || std::chrono::steady_clock::now() >= deadline) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace phosphene::test
