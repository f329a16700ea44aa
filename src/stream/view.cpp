#include "stream/view.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "stream/query.hpp"

namespace phosphene::stream {
namespace {

// Fine enough that little of a window stays empty, coarse enough that viewers share channels.
constexpr int kSizes[] = {320,  400,  480,  560,  640,  720,  800,  880,  960,  1040,
                          1120, 1200, 1280, 1360, 1440, 1520, 1600, 1760, 1920, 2080,
                          2240, 2400, 2560, 2816, 3072, 3328, 3584, 3840, 4096};
constexpr int kMinWidth = 64, kMinHeight = 16, kMaxSide = 4096;
constexpr double kMinFps = 0.1, kMaxFps = 120;
constexpr std::size_t kMaxRunBytes = 256;

template <typename Enum>
struct Named {
  std::string_view name;
  Enum value;
};

constexpr Named<View::Mode> kModes[] = {
    {"off", View::Mode::kOff},
    {"parameters", View::Mode::kParameters},
    {"gradients", View::Mode::kGradients},
    {"activations", View::Mode::kActivations},
    {"frames", View::Mode::kFrames},
};
constexpr Named<View::Quality> kQualities[] = {
    {"exact", View::Quality::kExact},
    {"smooth", View::Quality::kSmooth},
};
constexpr Named<View::Scope> kScopes[] = {
    {"layer", View::Scope::kLayer},
    {"network", View::Scope::kNetwork},
};
constexpr Named<View::Range> kRanges[] = {
    {"steady", View::Range::kSteady},
    {"frame", View::Range::kFrame},
};
constexpr Named<View::Shape> kShapes[] = {
    {"default", View::Shape::kDefault},
    {"linear", View::Shape::kLinear},
    {"symmetric", View::Shape::kSymmetric},
    {"log", View::Shape::kLog},
};
constexpr Named<View::Pooling> kPoolings[] = {
    {"rms", View::Pooling::kRms},
    {"extreme", View::Pooling::kExtreme},
};

template <typename Enum, std::size_t kCount>
std::optional<Enum> value_of(const Named<Enum> (&names)[kCount], std::string_view text) {
  const auto found = std::ranges::find(names, text, &Named<Enum>::name);
  return found == std::end(names) ? std::nullopt : std::optional(found->value);
}

template <typename Enum, std::size_t kCount>
std::string_view name_of(const Named<Enum> (&names)[kCount], Enum value) {
  return std::ranges::find(names, value, &Named<Enum>::value)->name;
}

/// The whole of `text` as a number. Finite; −0 is 0, since equal views have equal strings.
template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(static_cast<double>(value))) {
    return std::nullopt;
  }
  return value + Number{0};
}

std::string to_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

struct Size {
  int width, height;
};

std::optional<Size> parse_size(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto width = number<int>(text.substr(0, x)), height = number<int>(text.substr(x + 1));
  if (!width || !height || *width <= 0 || *height <= 0) return std::nullopt;
  return Size{*width, *height};
}

/// The largest step of the ladder that fits: viewers with nearly equal windows share a channel.
int snap(int side) {
  const auto above = std::ranges::upper_bound(kSizes, side);
  return above == std::begin(kSizes) ? *above : *std::prev(above);
}

Error bad(std::string_view key, std::string_view value, std::string_view wanted) {
  return Error{std::string(key) + "=" + printable(value) + " is not a view: " + std::string(key) +
               " is " + std::string(wanted) + "."};
}

template <typename Enum, std::size_t kCount>
Result<void> choose(Enum& field, const Named<Enum> (&names)[kCount], std::string_view key,
                    std::string_view value) {
  const auto chosen = value_of(names, value);
  if (chosen) {
    field = *chosen;
    return {};
  }
  std::string list;
  for (const Named<Enum>& named : names) {
    if (!list.empty()) list += &named == std::end(names) - 1 ? " or " : ", ";
    list += named.name;
  }
  return bad(key, value, list);
}

/// Sets one key of a view; an Error if the value is none.
Result<void> set(View& view, const std::string& key, const std::string& value) {
  if (key == "mode") return choose(view.mode, kModes, key, value);
  if (key == "quality") return choose(view.quality, kQualities, key, value);
  if (key == "scope") return choose(view.scope, kScopes, key, value);
  if (key == "shape") return choose(view.shape, kShapes, key, value);
  if (key == "pooling") return choose(view.pooling, kPoolings, key, value);
  if (key == "run") {
    if (value.size() > kMaxRunBytes || !is_utf8(value)) {
      return bad(key, value, "an id or a name of at most 256 bytes of UTF-8");
    }
    view.run = value;
  } else if (key == "fps") {
    const auto fps = number<double>(value);
    if (!fps || *fps < kMinFps || *fps > kMaxFps) {
      return bad(key, value, "a number from 0.1 to 120");
    }
    view.fps = *fps;
  } else if (key == "range") {
    const std::size_t comma = value.find(',');
    if (comma == std::string::npos) {
      const auto range = value_of(kRanges, value);
      if (!range) return bad(key, value, "steady, frame or LO,HI");
      view.range = *range;
      return {};
    }
    const auto lo = number<double>(std::string_view(value).substr(0, comma));
    const auto hi = number<double>(std::string_view(value).substr(comma + 1));
    if (!lo || !hi || !(*lo < *hi)) return bad(key, value, "steady, frame or LO,HI with LO < HI");
    view.range = View::Range::kFixed;
    view.lo = *lo;
    view.hi = *hi;
  } else if (key == "fit") {
    const auto size = parse_size(value);
    if (!size) return bad(key, value, "WxH in pixels");
    view.width = snap(size->width);
    view.height = snap(size->height);
  } else if (key == "size") {
    const auto size = parse_size(value);
    if (!size || size->width < kMinWidth || size->height < kMinHeight || size->width > kMaxSide ||
        size->height > kMaxSide) {
      return bad(key, value, "WxH, 64 to 4096 wide and 16 to 4096 high");
    }
    view.width = size->width + size->width % 2;
    view.height = size->height + size->height % 2;
  }
  return {};
}

}  // namespace

Result<View> View::parse(const std::map<std::string, std::string>& query) {
  View view;
  for (const auto& [key, value] :
       query) {  // "fit" comes before "size": a size that is asked for wins
    if (auto done = set(view, key, value); !done) return done.error();
  }
  return view;
}

std::string View::to_string() const {
  static const View kDefault;
  std::string text;
  const auto add = [&text](std::string_view key, std::string_view value) {
    if (!text.empty()) text += '&';
    text += key;
    text += '=';
    text += value;
  };
  if (!run.empty()) add("run", percent_encode(run));
  add("mode", name_of(kModes, mode));
  if (quality != kDefault.quality) add("quality", name_of(kQualities, quality));
  add("size", std::to_string(width) + "x" + std::to_string(height));
  if (fps != kDefault.fps) add("fps", to_text(fps));
  if (scope != kDefault.scope) add("scope", name_of(kScopes, scope));
  if (range == Range::kFixed) {
    add("range", to_text(lo) + "," + to_text(hi));
  } else if (range != kDefault.range) {
    add("range", name_of(kRanges, range));
  }
  if (shape != kDefault.shape) add("shape", name_of(kShapes, shape));
  if (pooling != kDefault.pooling) add("pooling", name_of(kPoolings, pooling));
  return text;
}

}  // namespace phosphene::stream
