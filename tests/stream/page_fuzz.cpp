// What a page, a browser and a channel may send: none of it may crash, and a view that is accepted
// is canonical.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "phosphene.pb.h"
#include "stream/media_time.hpp"
#include "stream/query.hpp"
#include "stream/security.hpp"
#include "stream/view.hpp"

namespace {

using namespace phosphene::stream;
using Query = std::map<std::string, std::string>;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      decoded += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

Query split(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    const std::size_t equals = pair.find('=');
    require(equals != std::string_view::npos);
    query[std::string(pair.substr(0, equals))] = decode(pair.substr(equals + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return query;
}

void try_view(const Query& query) {
  const auto view = View::parse(query);
  if (!view) {
    require(is_utf8(view.error().message));
    return;
  }
  const auto again = View::parse(split(view->to_string()));
  require(again.ok() && *again == *view && again->to_string() == view->to_string());
  require(view->width % 2 == 0 && view->height % 2 == 0 && view->width <= 4096 &&
          view->height <= 4096);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  phosphene::v1::FromPage message;
  if (message.ParseFromString(text) && message.has_view()) {
    try_view({message.view().query().begin(), message.view().query().end()});
  }
  for (const char* key :
       {"run", "mode", "quality", "size", "fit", "fps", "scope", "range", "shape", "pooling"}) {
    try_view({{key, text}});
  }

  static const HostRules kRules("127.0.0.1", {"proxy.example"});
  kRules.allows_host(text);
  kRules.allows_origin(text, "localhost");
  cookie_value(text, "phosphene_6160");

  std::vector<std::uint8_t> fragment(data, data + size);
  MediaTime time;
  time.place(fragment, true);
  time.place(fragment, true);
  return 0;
}
