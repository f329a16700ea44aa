#include "stream/view.hpp"

#include <doctest/doctest.h>

#include <limits>

using phosphene::stream::View;

namespace {

using Query = std::map<std::string, std::string>;

View parsed(const Query& query) {
  const auto view = View::parse(query);
  REQUIRE(view.ok());
  return *view;
}

std::string complaint(const std::string& key, const std::string& value) {
  const auto view = View::parse({{key, value}});
  REQUIRE_FALSE(view.ok());
  return view.error().message;
}

}  // namespace

TEST_CASE("a view without keys is the default, and says its mode and size") {
  CHECK(parsed({}) == View{});
  CHECK(View{}.to_string() == "mode=parameters&size=1280x720");
}

TEST_CASE("every key is read") {
  const View view = parsed({{"run", "a run"},
                            {"mode", "gradients"},
                            {"quality", "smooth"},
                            {"size", "640x480"},
                            {"fps", "12.5"},
                            {"scope", "network"},
                            {"range", "-0.5,1e-3"},
                            {"shape", "log"},
                            {"pooling", "extreme"}});
  CHECK(view.run == "a run");
  CHECK(view.mode == View::Mode::kGradients);
  CHECK(view.quality == View::Quality::kSmooth);
  CHECK(view.width == 640);
  CHECK(view.height == 480);
  CHECK(view.fps == 12.5);
  CHECK(view.scope == View::Scope::kNetwork);
  CHECK(view.range == View::Range::kFixed);
  CHECK(view.lo == -0.5);
  CHECK(view.hi == 1e-3);
  CHECK(view.shape == View::Shape::kLog);
  CHECK(view.pooling == View::Pooling::kExtreme);
  CHECK(view.to_string() ==
        "run=a%20run&mode=gradients&quality=smooth&size=640x480&fps=12.5&scope=network&range=-0.5,"
        "0.001"
        "&shape=log&pooling=extreme");
}

TEST_CASE("keys that are none of a view's are ignored") {
  CHECK(parsed({{"token", "x"}, {"utm_source", "y"}}) == View{});
}

TEST_CASE("equal views have equal strings, however they were written") {
  CHECK(parsed({{"range", "-0,1"}}).to_string() == parsed({{"range", "0,1.0"}}).to_string());
  CHECK(parsed({{"fps", "30.0"}}).to_string() == View{}.to_string());
  CHECK(parsed({{"shape", "default"}, {"range", "steady"}}).to_string() == View{}.to_string());
  CHECK(parsed({{"size", "639x479"}}).to_string() == parsed({{"size", "640x480"}}).to_string());
}

TEST_CASE("fit snaps each side down to the ladder") {
  const auto fit = [](const std::string& text) {
    const View view = parsed({{"fit", text}});
    return std::pair(view.width, view.height);
  };
  CHECK(fit("1279x721") == std::pair(1200, 720));
  CHECK(fit("1280x800") == std::pair(1280, 800));
  CHECK(fit("320x320") == std::pair(320, 320));
  CHECK(fit("5x100") == std::pair(320, 320));
  CHECK(fit("9999x4095") == std::pair(4096, 3840));
}

TEST_CASE("size is taken as asked, rounded up to even, and wins over fit (case_46)") {
  const View odd = parsed({{"size", "65x17"}, {"fit", "1280x720"}});
  CHECK(odd.width == 66);
  CHECK(odd.height == 18);
  CHECK(parsed({{"size", "4095x4095"}}).width == 4096);
  CHECK(parsed({{"size", "64x16"}}).height == 16);
}

TEST_CASE("a bad value is an error that names key and value") {
  CHECK(complaint("mode", "weights") ==
        "mode=weights is not a view: mode is off, parameters, gradients, activations or frames.");
  for (const auto& [key, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"quality", "best"},  {"quality", ""},
           {"size", "640"},      {"size", "640x"},
           {"size", "x480"},     {"size", "62x480"},
           {"size", "640x14"},   {"size", "4097x480"},
           {"size", "-640x480"}, {"size", "640x480x3"},
           {"size", "6e2x480"},  {"size", "99999999999x480"},
           {"fit", "0x100"},     {"fit", "wide"},
           {"fps", "0"},         {"fps", "121"},
           {"fps", "nan"},       {"fps", "inf"},
           {"fps", "30fps"},     {"fps", " 30"},
           {"scope", "all"},     {"range", "fixed"},
           {"range", "1,"},      {"range", "1,0"},
           {"range", "1,1"},     {"range", "0,inf"},
           {"range", "nan,1"},   {"range", "1,2,3"},
           {"shape", "cubic"},   {"pooling", "mean"},
           {"run", "\xff"},      {"run", std::string(257, 'a')}}) {
    const std::string message = complaint(key, value);
    CHECK(message.starts_with(key + "="));
    CHECK(message.ends_with("."));
  }
}

TEST_CASE("what a stranger wrote is quoted without control characters") {
  CHECK(complaint("mode", "a\n\x1b[31m") ==
        "mode=a\\x0A\\x1B[31m is not a view: mode is off, parameters, gradients, activations or "
        "frames.");
}
