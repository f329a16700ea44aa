// A view: all that a viewer chose. Written as a query: the same keys in URLs, in messages and on
// the page.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace phosphene::stream {

struct View {
  enum class Mode { kOff, kParameters, kGradients, kActivations, kFrames };
  enum class Quality { kExact, kSmooth };
  enum class Scope { kLayer, kNetwork };
  enum class Range { kSteady, kFrame, kFixed };
  enum class Shape {
    kDefault,
    kLinear,
    kSymmetric,
    kLog
  };  // kDefault: what shows most in this mode
  enum class Pooling { kRms, kExtreme };

  std::string run;  // id or name; empty: the newest
  Mode mode = Mode::kParameters;
  Quality quality = Quality::kExact;
  int width = 1280;  // size=WxH, or fit=WxH: the largest size of the ladder that fits
  int height = 720;
  double fps = 30;  // 0.1 … 120
  Scope scope = Scope::kLayer;
  Range range = Range::kSteady;  // range=steady|frame|LO,HI
  double lo = 0, hi = 0;         // kFixed
  Shape shape = Shape::kDefault;
  Pooling pooling = Pooling::kRms;

  bool operator==(const View&) const = default;

  /// Keys left out take their defaults; unknown keys are ignored; a bad value is an Error naming
  /// key and value.
  static Result<View> parse(const std::map<std::string, std::string>& query);

  /// The query in one fixed order, defaults left out but for mode and size: equal views, equal
  /// strings.
  std::string to_string() const;
};

}  // namespace phosphene::stream
