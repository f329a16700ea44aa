#include "app/commands.hpp"
#include "app/serving.hpp"
#include "base/log.hpp"

namespace phosphene::app {

int demo(const ServiceOptions& service, const Announce& announce, const DemoOptions& options) {
  return serve_while(service, announce, [&](Service&) { (void)options; });
}

}  // namespace phosphene::app
