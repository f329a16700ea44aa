// One door for log lines. The library writes warnings to stderr; the program installs its own sink.
#pragma once

#include <string_view>

namespace phosphene {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogSink = void (*)(LogLevel level, std::string_view line) noexcept;

/// Thread-safe. Replaces the sink; nullptr brings the default back (warnings and errors to stderr).
void set_log_sink(LogSink sink);

/// Thread-safe, never throws. One sentence, no newline.
void log(LogLevel level, std::string_view line) noexcept;

}  // namespace phosphene
