#include "canvas/strips.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>

namespace phosphene::canvas {
namespace {

constexpr std::size_t kMostStacked = 4;  // sections one above the other in a strip
constexpr std::size_t kSearched = 64;  // sections: networks up to it get a local search over breaks
constexpr int kLabelledRun = 400;      // pixels over which low strips share a label, about
constexpr int kLeastColumn = 16;       // pixels that the smallest section gets, where there is room
constexpr double kLeastShare = 0.5, kMostShare = 3;  // of an area's target
constexpr double kHoleCost = 0.5;    // of a column's unused end, as a part of its area
constexpr double kStackCost = 0.02;  // of sections in stacks

constexpr int even(int pixels) {
  return pixels & ~1;
}
constexpr int even_up(int pixels) {
  return (pixels + 1) & ~1;
}

/// A part that shares a side with others.
struct Part {
  double weight = 1;
  std::uint64_t alike = 0;  // equal parts get equal sizes
  int least = 0;            // size
  int size = 0;             // offered
  int used = 0;             // of it
};

/// Divides `total` pixels by weight; what rigid parts leave goes to those that can use it, to equal
/// parts equally. used(i, size) says how many of `size` pixels part i fills.
template <typename Used>
void share(int total, std::vector<Part>& parts, double weights, Used used) {
  // Parts whose share would be less than the least they need get that; the others share the rest.
  double free_weights = weights, free_total = total;
  for (bool found = true; found;) {
    found = false;
    for (Part& part : parts) {
      if (part.size > 0 || free_total * part.weight / free_weights >= part.least) continue;
      part.size = part.least;
      free_total -= part.least;
      free_weights -= part.weight;
      found = true;
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size == 0)
      parts[i].size = even(static_cast<int>(free_total * parts[i].weight / free_weights));
    parts[i].used = used(i, parts[i].size);
  }
  const auto slack = [&] {
    return std::accumulate(parts.begin(), parts.end(), total,
                           [](int left, const Part& part) { return left - even_up(part.used); });
  };
  const auto limit = [&](const Part& part) {
    return std::max<double>(part.least, kMostShare * total * part.weight / weights);
  };
  for (int round = 0; round < 3; ++round) {
    const int left = slack();
    double growing = 0;
    const auto grows = [&](const Part& part) { return part.used + 1 >= part.size; };
    for (const Part& part : parts)
      if (grows(part)) growing += part.weight;
    if (left < 2 || growing == 0) break;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Part& part = parts[i];
      const int more =
          grows(part) ? even(static_cast<int>(left * part.weight / std::max(growing, weights / 3)))
                      : 0;
      if (more == 0 || part.size + more > limit(part)) continue;
      part.size += more;
      part.used = used(i, part.size);
    }
  }
  std::map<std::uint64_t, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < parts.size(); ++i) classes[parts[i].alike].push_back(i);
  for (const auto& [alike, members] : classes) {
    const int more = even(slack() / static_cast<int>(members.size()));
    if (more < 2) continue;
    for (const std::size_t i : members) {
      Part& part = parts[i];
      const int size = even_up(part.used) + more;
      if (size <= part.size || size > limit(part)) continue;
      const int found = used(i, size);
      if (found <= part.used) continue;
      part.size = size;
      part.used = found;
    }
  }
}

/// Gives the last pixels, too few for all equal parts, to whoever comes first.
template <typename Used>
void share_rest(int total, std::vector<Part>& parts, Used used) {
  int left = total;
  for (const Part& part : parts) left -= even_up(part.used);
  for (std::size_t i = 0; i < parts.size() && left >= 2; ++i) {
    Part& part = parts[i];
    const int size = even_up(part.used) + 2;
    if (size <= part.size || used(i, size) <= part.used) continue;
    part.size = size;
    left -= 2;
  }
}

struct Column {
  std::size_t begin = 0, end = 0;  // items, counted from the strip's first
  int width = 0;                   // offered
};

struct ColumnFit {
  int width = 0, height = 0;  // used
  double value = 0;
  std::vector<Part> stacked;  // where there is more than one item: their heights
};

struct StripFit {
  int height = 0;  // used
  double value = 0;
  std::vector<Column> columns;
};

/// Strips of equal sections are filled alike, and a search meets the same strips again and again.
struct FittedStrip {
  std::size_t begin = 0, end = 0;
  int height = 0;
  double weights = 0;
  StripFit fit;
};

class Arranger {
 public:
  Arranger(std::span<const Item> items, int width, int height)
      : items_(items), width_(width), height_(height), labels_(width >= 160 && height >= 120) {
    std::map<Form, std::uint32_t> classes;
    sums_.push_back(0);
    hashes_.push_back(0);
    for (const Item& item : items) {
      alike_.push_back(
          classes.try_emplace(item.form, static_cast<std::uint32_t>(classes.size())).first->second);
      sums_.push_back(sums_.back() + item.weight);
      hashes_.push_back(hashes_.back() * kBase + alike_.back() + 1);
    }
    classes_ = classes.size();
  }

  Arrangement run() {
    using Breaks = std::vector<std::size_t>;
    std::vector<std::pair<double, Breaks>> tried;
    const double n = static_cast<double>(items_.size());
    const double square = std::sqrt(n * height_ / width_);  // strips, if all sections were square
    // Few kinds of sections are tried quickly, and profit from the right number in a strip.
    const bool repeats = items_.size() > kSearched && classes_ * 8 < items_.size();
    const double most = std::min(n, std::max(2.0, square * 2));
    for (double strips = std::clamp(std::floor(square / 2), 1.0, n); strips <= most;
         strips += repeats ? strips / 50 : 1 + std::floor(strips / 16)) {
      Breaks breaks = greedy(strips);
      if (!tried.empty() && tried.back().second == breaks) continue;
      const double value = evaluate(breaks);
      tried.emplace_back(value, std::move(breaks));
    }
    std::ranges::sort(tried, std::greater<>{});
    std::size_t starts = items_.size() <= kSearched ? 3 : 1;
    tried.resize(std::min(tried.size(), starts));
    for (auto& [value, breaks] : tried)
      if (items_.size() <= kSearched) search(breaks, value);
    const auto best = std::ranges::max_element(tried, {}, [](const auto& t) { return t.first; });
    Arrangement arrangement;
    arrangement.places.resize(items_.size());
    evaluate(best->second, &arrangement);
    return arrangement;
  }

 private:
  static constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15u;

  static std::uint64_t power(std::size_t exponent) {
    std::uint64_t result = 1;
    for (std::uint64_t base = kBase; exponent > 0; exponent >>= 1, base *= base)
      if (exponent & 1) result *= base;
    return result;
  }

  double weight(std::size_t begin, std::size_t end) const { return sums_[end] - sums_[begin]; }

  const Fit& fit_of(std::size_t item, int width, int height) {
    if (width <= 0 || height <= 0) return nowhere_;
    const std::uint64_t key = (static_cast<std::uint64_t>(alike_[item]) << 26) |
                              (static_cast<std::uint64_t>(width) << 13) |
                              static_cast<std::uint64_t>(height);
    const auto [found, added] = fits_.try_emplace(key);
    if (added) found->second = fit(items_[item].form, width, height);
    return found->second;
  }

  double value_of(std::size_t item, const Fit& fit) const {
    const double target = items_[item].weight / sums_.back() * width_ * height_;
    const double missing = std::max(0.0, kLeastShare * target - fit.covered);
    return std::min(fit.value, kMostShare * target) - missing;
  }

  /// Begins of strips whose targets are about equal.
  std::vector<std::size_t> greedy(double strips) const {
    const double target = sums_.back() / strips;
    std::vector<std::size_t> breaks{0};
    for (std::size_t i = 1; i < items_.size(); ++i)
      if (weight(breaks.back(), i) + items_[i].weight / 2 > target * (1 + 1e-9))
        breaks.push_back(i);
    return breaks;
  }

  ColumnFit fit_column(std::size_t begin, std::size_t end, int width, int height) {
    if (end - begin == 1) {
      const Fit& found = fit_of(begin, width, height);
      return {found.width, found.height, value_of(begin, found), {}};
    }
    const int total = height - static_cast<int>(end - begin - 1) * kLabelHeight;
    if (total < static_cast<int>(end - begin) * kLowStrip) return {0, 0, -1e18, {}};
    ColumnFit column;
    column.height = -kLabelHeight;
    for (std::size_t i = begin; i < end; ++i)
      column.stacked.push_back({items_[i].weight, alike_[i], kLowStrip});
    share(total, column.stacked, weight(begin, end),
          [&](std::size_t i, int size) { return fit_of(begin + i, width, size).height; });
    for (std::size_t i = begin; i < end; ++i) {
      const Part& part = column.stacked[i - begin];
      const Fit& found = fit_of(i, width, part.size);
      column.width = std::max(column.width, found.width);
      column.height += even_up(found.height) + kLabelHeight;
      column.value += value_of(i, found) * (1 - kStackCost);
    }
    return column;
  }

  /// Fills a strip as wide as the canvas. `weights` is the sum that its widths refer to.
  const StripFit& fit_strip(std::size_t begin, std::size_t end, int height, double weights) {
    const std::uint64_t key =
        ((hashes_[end] - hashes_[begin] * power(end - begin)) * 31 + end - begin) * 8191 +
        static_cast<std::uint64_t>(height);
    FittedStrip& known = strips_[key];
    const bool equal = known.end - known.begin == end - begin && known.height == height &&
                       known.weights == weights && begins_like(begin, end, known.begin, known.end);
    if (!equal) known = {begin, end, height, weights, fill_strip(begin, end, height, weights)};
    return known.fit;
  }

  StripFit fill_strip(std::size_t begin, std::size_t end, int height, double weights) {
    const int gap = height < kLowStrip ? 2 : kSectionGap;
    const bool stacks =
        labels_ && height >= 2 * kLowStrip + kLabelHeight && end - begin <= kSearched;
    const int least = std::min(kLeastColumn, even(width_ / 2 / static_cast<int>(end - begin)));
    const auto offered = [&](std::size_t b, std::size_t e) {
      return std::max(least, even(static_cast<int>((width_ + gap) * weight(b, e) / weights)) - gap);
    };
    const auto value_in = [&](const ColumnFit& column) {
      return column.value - kHoleCost * column.width * (height - column.height);
    };
    // The best columns for all items before i, each column as wide as its target.
    std::vector<double> best(end - begin + 1, -1e18);
    std::vector<std::size_t> last(end - begin + 1, 0);
    best[0] = 0;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = i + 1; j <= std::min(end, i + (stacks ? kMostStacked : 1)); ++j) {
        const double value = best[i - begin] + value_in(fit_column(i, j, offered(i, j), height));
        if (value <= best[j - begin]) continue;
        best[j - begin] = value;
        last[j - begin] = i;
      }
    }
    StripFit strip;
    for (std::size_t j = end; j > begin; j = last[j - begin])
      strip.columns.push_back({last[j - begin] - begin, j - begin});
    std::ranges::reverse(strip.columns);

    std::vector<Part> parts;
    for (const Column& column : strip.columns) {
      std::uint64_t alike = 0;
      for (std::size_t i = column.begin; i < column.end; ++i)
        alike = alike * 1'000'003 + alike_[begin + i] + 1;
      parts.push_back({weight(begin + column.begin, begin + column.end), alike, least + gap});
    }
    // Each part with the gap behind it. A strip that ends ragged is not stretched.
    const double own = weight(begin, end);
    share(static_cast<int>((width_ + gap) * std::min(1.0, own / weights)), parts, own,
          [&](std::size_t i, int size) {
            const Column& column = strip.columns[i];
            const int used =
                fit_column(begin + column.begin, begin + column.end, size - gap, height).width;
            return used > 0 ? used + gap : 0;
          });
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Column& column = strip.columns[i];
      column.width = parts[i].size - gap;
      const ColumnFit found =
          fit_column(begin + column.begin, begin + column.end, column.width, height);
      strip.value += value_in(found);
      strip.height = std::max(strip.height, found.height);
    }
    return strip;
  }

  bool begins_like(std::size_t begin, std::size_t end, std::size_t other,
                   std::size_t other_end) const {
    if (end - begin > other_end - other) return false;
    return std::equal(alike_.begin() + begin, alike_.begin() + end, alike_.begin() + other);
  }

  /// The value of a way of breaking the network into strips; writes it down too if asked to.
  double evaluate(const std::vector<std::size_t>& breaks, Arrangement* arrangement = nullptr) {
    const std::size_t n = breaks.size();
    std::vector<Strip> strips(n);
    std::vector<double> weights(n);
    double sum = 0;
    for (std::size_t s = 0; s < n; ++s) {
      strips[s] = {breaks[s], s + 1 < n ? breaks[s + 1] : items_.size()};
      // A strip that begins like the one before it takes its measures, and may end ragged.
      const bool again = s > 0 && begins_like(strips[s].begin, strips[s].end, strips[s - 1].begin,
                                              strips[s - 1].end);
      weights[s] = again ? weights[s - 1] : weight(strips[s].begin, strips[s].end);
      strips[s].label_height = labels_ && s == 0 ? kLabelHeight : 0;
      sum += weights[s];
    }
    const auto gap_above = [&](std::size_t s) {
      return s == 0 ? 0 : strips[s].height < kLowStrip ? 2 : kSectionGap;
    };
    const auto above = [&](std::size_t s) {
      return strips[s].label_height > 0 ? kLabelHeight : gap_above(s);
    };
    int room = 0;
    for (int round = 0; round < 3; ++round) {  // heights decide labels, which decide heights
      room = height_;
      for (std::size_t s = 0; s < n; ++s) room -= above(s);
      room = std::max(room, 0);
      int run = kLabelledRun;
      for (std::size_t s = 0; s < n; ++s) {
        strips[s].height = even(static_cast<int>(room * weights[s] / sum));
        const bool low = strips[s].height < kLowStrip;
        const bool shares = low && run < kLabelledRun;
        run = (shares ? run : 0) + strips[s].height + 2;
        if (!low) run = kLabelledRun;
        strips[s].label_height = labels_ && !shares ? kLabelHeight : 0;
      }
    }
    room = height_;
    for (std::size_t s = 0; s < n; ++s) room -= above(s);
    if (room < 2 * static_cast<int>(n)) return -1e18;

    std::vector<Part> parts;
    const int least = even(std::min(room / 2 / static_cast<int>(n), kLowStrip));
    for (std::size_t s = 0; s < n; ++s) {
      const bool again = s > 0 && weights[s] == weights[s - 1];
      parts.push_back({weights[s], again ? parts.back().alike : s, least});
    }
    const auto used = [&](std::size_t s, int size) {
      return size > 0 ? fit_strip(strips[s].begin, strips[s].end, size, weights[s]).height : 0;
    };
    share(room, parts, sum, used);
    share_rest(room, parts, used);
    double value = 0;
    int y = 0;
    for (std::size_t s = 0; s < n; ++s) {
      if (parts[s].size <= 0) continue;
      const StripFit& found = fit_strip(strips[s].begin, strips[s].end, parts[s].size, weights[s]);
      value += found.value;
      y += above(s);
      strips[s].y = y;
      strips[s].height = found.height;
      if (arrangement) write(strips[s], parts[s].size, found, *arrangement);
      y += even_up(found.height);
    }
    return value;
  }

  void write(const Strip& strip, int height, const StripFit& found, Arrangement& arrangement) {
    const int gap = height < kLowStrip ? 2 : kSectionGap;
    arrangement.strips.push_back(strip);
    int x = 0;
    for (const Column& column : found.columns) {
      const std::size_t begin = strip.begin + column.begin, end = strip.begin + column.end;
      const ColumnFit in = fit_column(begin, end, column.width, height);
      int y = strip.y;
      for (std::size_t i = begin; i < end; ++i) {
        const Fit& placed =
            fit_of(i, column.width, in.stacked.empty() ? height : in.stacked[i - begin].size);
        arrangement.places[i] = {placed, x, y};
        y += even_up(placed.height) + kLabelHeight;
      }
      if (in.width > 0) x += even_up(in.width) + gap;
    }
  }

  /// Moves breaks by one or two, merges and halves strips as long as that helps.
  void search(std::vector<std::size_t>& breaks, double& value) {
    const auto better = [&](std::vector<std::size_t> candidate) {
      const double found = evaluate(candidate);
      if (found <= value * 1.0005) return false;
      value = found;
      breaks = std::move(candidate);
      return true;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 1; s < breaks.size(); ++s) {
        for (const int step : {-1, 1, -2, 2}) {
          auto candidate = breaks;
          const auto to = static_cast<std::ptrdiff_t>(candidate[s]) + step;
          const std::size_t next = s + 1 < breaks.size() ? breaks[s + 1] : items_.size();
          if (to <= static_cast<std::ptrdiff_t>(breaks[s - 1]) ||
              to >= static_cast<std::ptrdiff_t>(next))
            continue;
          candidate[s] = static_cast<std::size_t>(to);
          if (better(std::move(candidate))) {
            moved = true;
            break;
          }
        }
      }
    }
  }

  std::span<const Item> items_;
  int width_, height_;
  bool labels_;
  std::size_t classes_ = 0;  // of equal forms
  std::vector<std::uint32_t> alike_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> hashes_;  // of alike_, up to each item
  std::unordered_map<std::uint64_t, Fit> fits_;
  std::unordered_map<std::uint64_t, FittedStrip> strips_;
  Fit nowhere_;
};

}  // namespace

Arrangement arrange(std::span<const Item> items, int width, int height) {
  if (items.empty()) return {};
  return Arranger(items, width, height).run();
}

}  // namespace phosphene::canvas
