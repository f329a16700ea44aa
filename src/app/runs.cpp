#include "app/runs.hpp"

#include <algorithm>

#include "app/check.hpp"

namespace phosphene::app {

std::vector<std::shared_ptr<Run>> Runs::all() const {
  std::lock_guard lock(mutex_);
  return runs_;
}

std::shared_ptr<Run> Runs::find(std::string_view id_or_name) const {
  const auto runs = all();
  if (id_or_name.empty()) return runs.empty() ? nullptr : runs.front();
  for (const auto& run : runs)
    if (run->id() == id_or_name) return run;
  for (const auto& run : runs)
    if (run->name() == id_or_name) return run;
  return nullptr;
}

v1::Runs Runs::message() const {
  v1::Runs message;
  for (const auto& run : all()) *message.add_runs() = run->info();
  return message;
}

Result<Runs::Opened> Runs::open(const v1::Hello& hello, std::int64_t now_us) {
  if (hello.run().empty() || cleaned(hello.run(), kMaxIdBytes) != hello.run())
    return Error{"a run's id must be one line of 1 to " + std::to_string(kMaxIdBytes) + " bytes"};
  std::lock_guard lock(mutex_);
  std::shared_ptr<Run> run = run_for(hello);
  if (!run) {
    if (const auto room = make_room(); !room) return room.error();
    std::string id = hello.run();
    const auto taken = [&](const auto& other) { return other->id() == id; };
    for (int number = 2; std::any_of(runs_.begin(), runs_.end(), taken); ++number)
      id = hello.run() + "-" + std::to_string(number);
    run = std::make_shared<Run>(std::move(id), hello, signals_);
  }
  const std::uint64_t connection = run->connect(hello, now_us);
  // Also one that was known finds its place: another process may have taken up an old id.
  std::erase(runs_, run);
  const auto older = [&](const auto& other) { return other->started_us() <= run->started_us(); };
  runs_.insert(std::find_if(runs_.begin(), runs_.end(), older), run);
  return Opened{std::move(run), connection};
}

std::shared_ptr<Run> Runs::run_for(const v1::Hello& hello) const {
  for (const auto& run : runs_)
    if (run->is_of(hello)) return run;
  for (const auto& run : runs_)
    if (run->id() == hello.run() && !run->connected()) return run;
  return nullptr;
}

Result<void> Runs::make_room() {
  if (runs_.size() < kMaxRuns || forget_oldest_ended()) return {};
  return Error{"this server already shows " + std::to_string(kMaxRuns) + " runs"};
}

bool Runs::forget_oldest_ended() {
  const auto ended =
      std::find_if(runs_.rbegin(), runs_.rend(), [](const auto& run) { return !run->connected(); });
  if (ended == runs_.rend()) return false;
  runs_.erase(std::next(ended).base());
  ++forgotten_;
  return true;
}

void Runs::tick(std::int64_t now_us) {
  if (held_bytes() > Run::kMaxHeldBytes / 2) {
    bool forgot = false;
    {
      // A run that is still shown lives on until nobody looks: one a tick.
      std::lock_guard lock(mutex_);
      forgot = runs_.size() > 1 && forget_oldest_ended();
    }
    if (forgot) signals_->changed();
  }
  for (const auto& run : all()) run->tick(now_us);
}

}  // namespace phosphene::app
