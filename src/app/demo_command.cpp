#include <string>

#include "app/commands.hpp"
#include "app/demo/show.hpp"
#include "app/serving.hpp"
#include "base/log.hpp"

namespace phosphene::app {

int demo(const ServiceOptions& service, const Announce& announce, const DemoOptions& options) {
  Result<demo::DataSet> data =
      options.data.empty() ? demo::load_default() : demo::load_idx_folder(options.data);
  if (!data) {
    log(LogLevel::kError, data.error().message);
    return 1;
  }
  return serve_while(service, announce, [&](Service& server) {
    const demo::ShowOptions how{.address = server.ingest_address().with_token(),
                                .seed = options.seed,
                                .steps = static_cast<std::int64_t>(options.steps),
                                .steps_per_second = options.steps_per_second};
    demo::train_and_show(std::move(*data), how, Signals::stopping);
  });
}

}  // namespace phosphene::app
