#include "app/scalar_history.hpp"

#include <algorithm>

#include "app/check.hpp"

namespace phosphene::app {

bool ScalarHistory::add(const v1::Scalars& scalars) {
  bool all = true;
  for (const v1::Series& series : scalars.series()) {
    Series* mine = series.steps_size() == series.values_size()
                       ? find_or_make(cleaned(series.name(), kMaxNameBytes))
                       : nullptr;
    all = all && mine;
    if (!mine) continue;
    for (int i = 0; i < series.steps_size(); ++i) add(*mine, series.steps(i), series.values(i));
  }
  return all;
}

ScalarHistory::Series* ScalarHistory::find_or_make(const std::string& name) {
  const auto same = [&](const Series& series) { return series.name == name; };
  const auto found = std::find_if(series_.begin(), series_.end(), same);
  if (found != series_.end()) return &*found;
  if (name.empty() || series_.size() == kMaxSeries) return nullptr;
  series_.emplace_back().name = name;
  return &series_.back();
}

void ScalarHistory::add(Series& series, std::uint64_t step, double value) {
  series.last_step = step;
  series.last_value = value;
  if (series.came++ % series.stride != 0) return;
  if (series.points.size() == kMaxPoints) {
    for (std::size_t i = 0; i < kMaxPoints / 2; ++i) series.points[i] = series.points[2 * i];
    series.points.resize(kMaxPoints / 2);
    series.stride *= 2;
    thinned_ = ++next_;
  }
  series.points.push_back({next_++, step, value});
}

std::optional<v1::RunScalars> ScalarHistory::since(std::uint64_t& cursor) const {
  if (cursor == next_) return std::nullopt;
  v1::RunScalars news;
  news.set_reset(cursor < thinned_ || cursor > next_);
  const std::uint64_t from = news.reset() ? 0 : cursor;
  for (const Series& series : series_) {
    auto point =
        std::lower_bound(series.points.begin(), series.points.end(), from,
                         [](const Point& p, std::uint64_t number) { return p.number < number; });
    if (point == series.points.end()) continue;
    v1::Series& to = *news.mutable_scalars()->add_series();
    to.set_name(series.name);
    for (; point != series.points.end(); ++point) {
      to.add_steps(point->step);
      to.add_values(point->value);
    }
  }
  cursor = next_;
  return news;
}

std::size_t ScalarHistory::bytes() const {
  std::size_t bytes = series_.capacity() * sizeof(Series);
  for (const Series& series : series_) bytes += series.points.capacity() * sizeof(Point);
  return bytes;
}

v1::Scalars ScalarHistory::latest() const {
  v1::Scalars latest;
  for (const Series& series : series_) {
    if (series.came == 0) continue;
    v1::Series& to = *latest.add_series();
    to.set_name(series.name);
    to.add_steps(series.last_step);
    to.add_values(series.last_value);
  }
  return latest;
}

}  // namespace phosphene::app
