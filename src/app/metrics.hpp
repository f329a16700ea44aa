// Lines of Prometheus' text format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace phosphene::app {

/// Appends one metric with its help and type; "phosphene_" is put before the name. `labels` as in
/// {cause="queue"}, without braces; help and type are written where `help` is not empty, so that
/// one metric may have several lines.
inline void add_metric(std::string& text, std::string_view name, std::string_view type,
                       std::string_view help, std::uint64_t value, std::string_view labels = {}) {
  if (!help.empty()) {
    text.append("# HELP phosphene_").append(name).append(" ").append(help).append("\n");
    text.append("# TYPE phosphene_").append(name).append(" ").append(type).append("\n");
  }
  text.append("phosphene_").append(name);
  if (!labels.empty()) text.append("{").append(labels).append("}");
  text.append(" ").append(std::to_string(value)).append("\n");
}

}  // namespace phosphene::app
