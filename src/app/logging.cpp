#include "app/logging.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "base/log.hpp"

namespace phosphene::app {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

void to_spdlog(LogLevel level, std::string_view line) noexcept {
  spdlog::default_logger_raw()->log(level_of(level),
                                    spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

void set_up_logging(bool verbose) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("phosphene"));
  spdlog::set_pattern("%H:%M:%S %^%l%$ %v");
  spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::info);
  set_log_sink(to_spdlog);
}

}  // namespace phosphene::app
