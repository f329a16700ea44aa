// Ctrl-C and SIGTERM, in order the first time.
#pragma once

#include <atomic>

namespace phosphene::app {

/// While it lives, SIGINT and SIGTERM set stopping() and call `on_stop`, which must be
/// async-signal-safe; a second one ends the process at once. SIGPIPE is ignored. One at a time.
class Signals {
 public:
  using OnStop = void (*)(void* context);

  Signals(OnStop on_stop, void* context);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Thread-safe.
  static bool stopping();
  /// As if a signal had come, but that `on_stop` is not called. Thread-safe.
  static void stop();
};

}  // namespace phosphene::app
