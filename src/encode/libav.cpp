#include "encode/libav.hpp"

#include <cstdarg>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/log.hpp"

namespace phosphene::encode {
namespace {

thread_local std::string line;  // begun, not yet ended by a newline
thread_local std::string last_error;
thread_local int print_prefix = 1;

void on_log(void* source, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_VERBOSE) return;
  char text[1024];
  av_log_format_line2(source, level, format, arguments, text, sizeof text, &print_prefix);
  line += text;
  if (!line.ends_with('\n')) return;
  line.pop_back();
  if (level <= AV_LOG_ERROR) last_error = line;
  log(level <= AV_LOG_WARNING ? LogLevel::kWarning : LogLevel::kDebug, line);
  line.clear();
}

}  // namespace

void route_libav_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(on_log); });
}

std::string take_libav_error() {
  return std::exchange(last_error, {});
}

std::string libav_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE];
  return av_make_error_string(text, sizeof text, code);
}

AVRational frame_rate(double fps) {
  return av_d2q(fps, 1'000'000);
}

}  // namespace phosphene::encode
