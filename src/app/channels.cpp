#include "app/channels.hpp"

#include <nlohmann/json.hpp>

#include "app/metrics.hpp"

namespace phosphene::app {

void Channels::forget_finished() {
  std::erase_if(channels_, [](const auto& entry) { return entry.second->finished(); });
}

Result<std::shared_ptr<stream::Broadcast>> Channels::open(const stream::View& view) {
  forget_finished();
  const std::string key = view.to_string();
  const auto found = channels_.find(key);
  if (found != channels_.end() && found->second->expect_viewer()) return found->second->broadcast();
  if (channels_.size() >= kMaxChannels)
    return Error{std::to_string(kMaxChannels) +
                 " different views are shown already; close one, or choose one that others watch"};
  auto channel = std::make_unique<Channel>(view, runs_, encoder_, counters_, wake_);
  return channels_.insert_or_assign(key, std::move(channel)).first->second->broadcast();
}

void Channels::close() {
  for (const auto& [query, channel] : channels_) channel->stop();
  channels_.clear();
}

std::string Channels::json() {
  forget_finished();
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [query, channel] : channels_) {
    const stream::View& view = channel->view();
    list.push_back({{"view", query},
                    {"size", std::to_string(view.width) + "x" + std::to_string(view.height)},
                    {"fps", view.fps},
                    {"viewers", channel->broadcast()->viewers()}});
  }
  return list.dump();
}

std::string Channels::metrics() {
  forget_finished();
  std::string text;
  add_metric(text, "channels", "gauge", "Views being encoded.", channels_.size());
  add_metric(text, "frames_drawn_total", "counter", "Frames composed into a picture.",
             counters_.frames_drawn);
  add_metric(text, "frames_encoded_total", "counter", "Pictures encoded, repeats included.",
             counters_.frames_encoded);
  add_metric(text, "encoded_bytes_total", "counter", "Bytes of fragments made.",
             counters_.bytes_encoded);
  add_metric(text, "ticks_missed_total", "counter",
             "Pictures not made: encoding took longer than the rate allows.",
             counters_.ticks_missed);
  add_metric(text, "tiles_refused_total", "counter", "Tiles that did not fit their section.",
             counters_.tiles_refused);
  add_metric(text, "encoder_failures_total", "counter", "Encoders that failed while running.",
             counters_.failures);
  return text;
}

}  // namespace phosphene::app
