// Serving, with something else going on beside it in the same process.
#pragma once

#include <functional>
#include <thread>

#include "app/commands.hpp"
#include "app/signals.hpp"

namespace phosphene::app {

/// Creates the service, says where it is, and serves until a signal comes. `beside` runs on a
/// thread of its own meanwhile, and ends when Signals::stopping(). Returns the exit code.
int serve_while(const ServiceOptions& options, const Announce& announce,
                const std::function<void(Service&)>& beside);

}  // namespace phosphene::app
