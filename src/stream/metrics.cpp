#include "stream/metrics.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"

namespace phosphene::stream {
namespace {

constexpr std::string_view kCauses[kRefusedCauses] = {"token",   "host",        "origin", "request",
                                                      "message", "connections", "stalled"};
constexpr std::int64_t kLogInterval_us = 1'000'000;

void describe(std::string& text, std::string_view name, std::string_view type,
              std::string_view help) {
  ((text += "# HELP phosphene_") += name) += ' ';
  ((text += help) += "\n# TYPE phosphene_") += name;
  ((text += ' ') += type) += '\n';
}

template <typename Number>
void add(std::string& text, std::string_view name, std::string_view type, std::string_view help,
         Number value) {
  describe(text, name, type, help);
  ((text += "phosphene_") += name) += ' ';
  (text += std::to_string(value)) += '\n';
}

}  // namespace

void Metrics::refuse(Refused cause, std::string_view line) {
  const auto index = static_cast<std::size_t>(cause);
  ++refused[index];
  Line& state = lines_[index];
  const std::int64_t now = monotonic_us();
  if (state.last_us != 0 && now - state.last_us < kLogInterval_us) {
    ++state.kept_back;
    return;
  }
  std::string text(line);
  if (state.kept_back > 0) text += " (and " + std::to_string(state.kept_back) + " more like it)";
  log(LogLevel::kWarning, text);
  state = {.last_us = now, .kept_back = 0};
}

std::string Metrics::to_text() const {
  std::string text;
  add(text, "viewers", "gauge",
      "Viewers of a channel: pages that show a picture, and endless mp4s.", viewers);
  add(text, "pages", "gauge", "Open WebSockets.", pages);
  add(text, "connections", "gauge", "Open connections.", open_connections);
  add(text, "connections_total", "counter", "Connections accepted.", connections);
  add(text, "accept_pauses_total", "counter",
      "Times that nothing was accepted for a while: no files or memory left.", accept_pauses);
  add(text, "http_requests_total", "counter",
      "Requests over HTTP, WebSocket handshakes among them.", http_requests);
  add(text, "fragments_total", "counter", "Fragments handed to viewers.", fragments);
  add(text, "fragments_skipped_total", "counter", "Fragments that a slow viewer did not get.",
      fragments_skipped);
  add(text, "bytes_sent_total", "counter", "Bytes handed to the sockets.", bytes_sent);
  describe(text, "refused_total", "counter", "Connections, requests and messages turned away.");
  for (std::size_t i = 0; i < kRefusedCauses; ++i) {
    ((text += "phosphene_refused_total{cause=\"") += kCauses[i]) += "\"} ";
    (text += std::to_string(refused[i])) += '\n';
  }
  return text;
}

}  // namespace phosphene::stream
