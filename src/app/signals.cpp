#include "app/signals.hpp"

#include <unistd.h>

#include <cassert>
#include <csignal>

namespace phosphene::app {
namespace {

constexpr int kInterrupted = 130;

std::atomic<bool> stop_asked{false};
Signals::OnStop on_stop_function = nullptr;
void* on_stop_context = nullptr;

void handle(int) {
  if (stop_asked.exchange(true)) ::_exit(kInterrupted);
  if (on_stop_function) on_stop_function(on_stop_context);
}

}  // namespace

Signals::Signals(OnStop on_stop, void* context) {
  assert(!on_stop_function);
  on_stop_function = on_stop;
  on_stop_context = context;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

Signals::~Signals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  on_stop_function = nullptr;
}

void Signals::stop() {
  stop_asked = true;
}

bool Signals::stopping() {
  return stop_asked.load();
}

}  // namespace phosphene::app
