#include "base/log.hpp"

#include <atomic>
#include <cstdio>

namespace phosphene {
namespace {

void to_stderr(LogLevel level, std::string_view line) noexcept {
  if (level < LogLevel::kWarning) return;
  std::fprintf(stderr, "phosphene: %.*s\n", static_cast<int>(line.size()), line.data());
}

std::atomic<LogSink> sink{to_stderr};

}  // namespace

void set_log_sink(LogSink replacement) {
  sink.store(replacement ? replacement : to_stderr);
}

void log(LogLevel level, std::string_view line) noexcept {
  sink.load()(level, line);
}

}  // namespace phosphene
