#include "app/demo/show.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "app/demo/trainer.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "capture/phosphene.hpp"

namespace phosphene::demo {
namespace {

constexpr double kBudget = 0.2;        // the demo is there to be watched
constexpr int kStepsPerJudgement = 4;  // a look at held-out images costs a third of a step
constexpr int kStepsPerLine = 1'000;
constexpr int kNiceness = 5;
constexpr std::int64_t kPatience = 100'000;  // microseconds

void declare(Session& cast, std::span<const TensorView> tensors) {
  std::map<std::string, Tensor> weights;
  for (const TensorView& view : tensors) {
    Details details;
    if (!view.attached_to.empty()) details.attached_to = weights[view.attached_to];
    Tensor tensor =
        cast.declare(view.kind, view.name, PHOSPHENE_FLOAT32, view.shape, view.roles, details);
    cast.bind(tensor, view.values);
    weights[view.name] = std::move(tensor);
  }
}

/// The training of a demo is there to be watched: on few cores it waits for the picture.
void make_way() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
}

void wait_until(std::int64_t time_us, const std::function<bool()>& stopping) {
  for (std::int64_t now = monotonic_us(); now < time_us && !stopping(); now = monotonic_us()) {
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(time_us - now, kPatience)));
  }
}

void say(std::int64_t step, double loss, double accuracy) {
  char line[120];
  std::snprintf(line, sizeof line,
                "step %lld: loss %.3f, %.1f %% of the held-out images recognised",
                static_cast<long long>(step), loss, 100 * accuracy);
  log(LogLevel::kInfo, line);
}

}  // namespace

void train_and_show(DataSet data, const ShowOptions& options,
                    const std::function<bool()>& stopping) {
  Session cast({.name = data.name, .address = options.address, .budget = kBudget});
  make_way();  // after the session has its own thread
  TrainerOptions how;
  how.seed = options.seed;
  Trainer trainer(std::move(data), how);
  declare(cast, trainer.network().parameters());
  declare(cast, trainer.network().gradients());
  declare(cast, trainer.network().activations());

  const double period_us = options.steps_per_second > 0 ? 1e6 / options.steps_per_second : 0;
  double due_us = double(monotonic_us()), accuracy = 0;
  bool judged = false;
  while (!stopping() && (options.steps == 0 || trainer.steps() < options.steps)) {
    const Trainer::Step step = trainer.step();
    cast.scalar("loss", step.loss);
    if (judged) cast.scalar("accuracy", accuracy);
    cast.step(std::uint64_t(trainer.steps()));
    judged = trainer.steps() % kStepsPerJudgement ==
             0;  // after the step was shown: it replaces the activations
    if (judged) accuracy = trainer.evaluate();
    if (trainer.steps() % kStepsPerLine == 0) say(trainer.steps(), step.loss, accuracy);
    due_us = std::max(due_us + period_us,
                      double(monotonic_us()) - kPatience);  // late: no more than this is caught up
    wait_until(std::int64_t(due_us), stopping);
  }
}

}  // namespace phosphene::demo
