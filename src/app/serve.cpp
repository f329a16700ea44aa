#include <cstdio>

#include "app/commands.hpp"
#include "app/serving.hpp"
#include "base/log.hpp"

namespace phosphene::app {

int serve(const ServiceOptions& options, const Announce& announce) {
  return serve_while(options, announce, [](Service&) {});
}

int serve_while(const ServiceOptions& options, const Announce& announce,
                const std::function<void(Service&)>& beside) {
  Result<std::unique_ptr<Service>> created = Service::create(options);
  if (!created) {
    log(LogLevel::kError, created.error().message);
    return 1;
  }
  Service& service = **created;
  const Signals signals([](void* context) { static_cast<Service*>(context)->stop(); }, &service);
  std::printf("%s\n", announce.json ? service.announcement().c_str() : service.url().c_str());
  std::fflush(stdout);

  std::thread companion(beside, std::ref(service));
  const Result<void> served = service.run();
  if (!served) {
    log(LogLevel::kError, served.error().message);
    Signals::stop();
  }
  companion.join();
  return served ? 0 : 1;
}

}  // namespace phosphene::app
