// Where the program's log lines go.
#pragma once

namespace phosphene::app {

/// Sends log lines to stderr, with time and level; debug lines only where `verbose`.
void set_up_logging(bool verbose);

}  // namespace phosphene::app
