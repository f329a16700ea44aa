#include "capture/watch.hpp"

namespace phosphene::capture {
namespace {

// Three frames of half a byte a cell: at most 100 MiB.
constexpr std::uint64_t kMaxCellsOfAllViews = 4 * kMaxCells;

}  // namespace

std::shared_ptr<Watch> Watch::create(const Plans& plans, const std::vector<Declared>& declared,
                                     std::vector<std::string>& problems) {
  auto watch = std::make_shared<Watch>();
  std::uint64_t cells_left = kMaxCellsOfAllViews;
  std::vector<std::vector<Place>> by_tensor(declared.size() + 1);
  for (const ViewPlan& plan : plans.views) {
    auto view = WatchedView::create(plan, plans.version, declared, cells_left, problems);
    if (view->tensors() == 0) continue;
    for (std::size_t i = 0; i < view->tensors(); ++i) {
      by_tensor[view->tensor_id(i)].push_back({view.get(), i});
    }
    watch->views.push_back(std::move(view));
  }
  if (watch->views.empty()) return nullptr;

  for (std::uint32_t id = 0; id < by_tensor.size(); ++id) {
    watch->begins_.push_back(watch->places_.size());
    watch->places_.insert(watch->places_.end(), by_tensor[id].begin(), by_tensor[id].end());
    if (!by_tensor[id].empty()) watch->tensors_.push_back(id);
  }
  watch->begins_.push_back(watch->places_.size());
  return watch;
}

std::span<const Watch::Place> Watch::places_of(std::uint32_t tensor) const {
  if (tensor + std::size_t{1} >= begins_.size()) return {};
  return {places_.data() + begins_[tensor], begins_[tensor + 1] - begins_[tensor]};
}

}  // namespace phosphene::capture
