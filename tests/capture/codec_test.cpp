// The hook's codec against libprotobuf: the same bytes out, the same values in.
#include "capture/codec.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "phosphene.pb.h"

namespace v1 = phosphene::v1;
using namespace phosphene::capture;
using phosphene::DType;
using phosphene::Kind;
using phosphene::Role;

namespace {

template <typename Message>
std::string encoded(const Message& message) {
  std::string bytes;
  encode(message, bytes);
  return bytes;
}

std::string reserialised(const std::string& bytes, v1::FromHook& message) {
  REQUIRE(message.ParseFromString(bytes));
  return message.SerializeAsString();
}

ToHook decoded(const v1::ToHook& message) {
  auto result = decode_to_hook(message.SerializeAsString());
  REQUIRE(result.ok());
  return *result;
}

/// What was left out, and why.
std::string complaint(const v1::ToHook& message) {
  const auto result = decode_to_hook(message.SerializeAsString());
  if (!result) return result.error().message;
  std::string all;
  for (const std::string& problem : std::get<Plans>(*result).problems) all += problem;
  return all;
}

v1::ToHook whole_plan() {
  v1::ToHook message;
  v1::Plans& plans = *message.mutable_plans();
  plans.set_version(1ull << 40);
  v1::ViewPlan& view = *plans.add_views();
  view.set_view(3);
  view.set_fps(29.97);
  view.set_quantity(v1::QUANTITY_MAGNITUDE);
  view.mutable_scaling()->set_range(v1::RANGE_MODE_FIXED);
  view.mutable_scaling()->set_shape(v1::SHAPE_LOG);
  view.mutable_scaling()->set_scope(v1::SCOPE_NETWORK);
  view.mutable_scaling()->set_lo(0.25);
  view.mutable_scaling()->set_hi(8);
  view.mutable_scaling()->set_decades(3);
  view.mutable_scaling()->set_magnitude_decades(2);
  v1::TensorPlan& tensor = *view.add_tensors();
  tensor.set_tensor(9);
  tensor.set_pooling(v1::POOLING_RMS);
  tensor.add_extents(64);
  tensor.add_extents(1ull << 33);
  tensor.mutable_outer()->add_dims(1);
  tensor.mutable_outer()->set_cells(700);
  tensor.mutable_inner()->add_dims(0);
  tensor.mutable_inner()->add_dims(2);
  tensor.mutable_inner()->set_cells(300);
  view.add_tensors()->set_tensor(10);
  return message;
}

}  // namespace

TEST_CASE("messages of the hook are the bytes that libprotobuf writes") {
  v1::FromHook read;
  SUBCASE("hello") {
    const std::string bytes =
        encoded(Hello{"run", "näme", 1ull << 33, "host", "libphosphene 1", -7, "s3cret-token"});
    CHECK(reserialised(bytes, read) == bytes);
    CHECK(read.hello().protocol() == 1);
    CHECK(read.hello().name() == "näme");
    CHECK(read.hello().pid() == 1ull << 33);
    CHECK(read.hello().started_us() == -7);
    CHECK(read.hello().token() == "s3cret-token");
  }
  SUBCASE("tensors") {
    TensorInfo weight;
    weight.id = 300;
    weight.name = "fc1.weight";
    weight.kind = Kind::kGradient;
    weight.dtype = DType::kBFloat16;
    weight.shape = {0, 1ull << 40, 3};
    weight.roles = {Role::kOut, Role::kOther, Role::kHead};
    weight.attached_to = 2;
    weight.lo = -0.0;
    weight.hi = 256;
    TensorInfo scalar;
    scalar.id = 1;
    scalar.name = "rank 0";
    const std::string bytes = encoded(std::vector<TensorInfo>{weight, scalar});
    CHECK(reserialised(bytes, read) == bytes);
    REQUIRE(read.tensors().tensors_size() == 2);
    CHECK(read.tensors().tensors(0).shape(1) == 1ull << 40);
    CHECK(read.tensors().tensors(0).roles(2) == v1::ROLE_HEAD);
    CHECK(std::signbit(read.tensors().tensors(0).lo()));
    CHECK(read.tensors().tensors(1).shape_size() == 0);
  }
  SUBCASE("a frame") {
    Frame frame;
    frame.view = 1;
    frame.plans = 5;
    frame.step = 1ull << 50;
    frame.time_us = 1'700'000'000'000'000;
    frame.tiles.resize(3);
    frame.tiles[0].tensor = 4;
    frame.tiles[0].cells = 5;
    frame.tiles[0].levels = {0x01, 0xFF, 0x80};
    frame.tiles[0].marks = {0, 5, 300, 6};
    frame.tiles[0].range = {-1, 1, Shape::kSymmetric};
    frame.tiles[2].tensor = 6;  // the second was not filled
    frame.tiles[2].range = {0, 0, Shape::kLinear};
    frame.tiles[2].statistics = Statistics{.step = 1,
                                           .count = 2,
                                           .nan = 3,
                                           .inf = 4,
                                           .zero = 5,
                                           .min = -1e300,
                                           .max = 1e-300,
                                           .mean = 0.5,
                                           .std = 2,
                                           .l2 = 9};
    const std::string bytes = encoded(frame);
    CHECK(reserialised(bytes, read) == bytes);
    REQUIRE(read.frame().tiles_size() == 2);
    CHECK(read.frame().tiles(0).levels() == std::string("\x01\xFF\x80"));
    CHECK(read.frame().tiles(0).marks(2) == 300);
    CHECK(read.frame().tiles(0).range().shape() == v1::SHAPE_SYMMETRIC);
    CHECK_FALSE(read.frame().tiles(0).has_statistics());
    CHECK(read.frame().tiles(1).statistics().min() == -1e300);
    CHECK(read.frame().tiles(1).statistics().l2() == 9);
  }
  SUBCASE("scalars") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::string bytes =
        encoded(std::vector<Series>{{"loss", {1, 1ull << 60}, {0.0, nan}}, {"empty", {}, {}}});
    CHECK(reserialised(bytes, read) == bytes);
    CHECK(read.scalars().series(0).steps(1) == 1ull << 60);
    CHECK(std::isnan(read.scalars().series(0).values(1)));
  }
  SUBCASE("progress") {
    const std::string bytes = encoded(Progress{1, 2.5, 3.5, 4, 5, 6, 7});
    CHECK(reserialised(bytes, read) == bytes);
    CHECK(read.progress().frames_dropped_budget() == 6);
    CHECK(read.progress().scalars_dropped() == 7);
  }
  SUBCASE("a notice") {
    const std::string bytes = encoded(Notice{"what a person reads"});
    CHECK(reserialised(bytes, read) == bytes);
    CHECK(read.notice().text() == "what a person reads");
  }
}

TEST_CASE("a message without a value is still that message, and not an empty one") {
  v1::FromHook read;
  const std::string bytes = encoded(Progress{});
  CHECK_FALSE(bytes.empty());
  CHECK(reserialised(bytes, read) == bytes);
  CHECK(read.has_progress());
  CHECK(reserialised(encoded(std::vector<Series>{}), read).size() == 2);
  CHECK(read.has_scalars());
}

TEST_CASE("text that is no UTF-8 is mended, since receivers refuse it") {
  CHECK(to_utf8("plain, ü, 漢, 🎈") == "plain, ü, 漢, 🎈");
  CHECK(to_utf8("\xFF") == "?");
  CHECK(to_utf8("cut \xE6\xBC") == "cut ??");
  CHECK(to_utf8("overlong \xC0\x80") == "overlong ??");
  CHECK(to_utf8("surrogate \xED\xA0\x80") == "surrogate ???");
  CHECK(to_utf8("beyond \xF4\x90\x80\x80") == "beyond ????");
  v1::FromHook read;
  CHECK(read.ParseFromString(encoded(Notice{"caf\xE9"})));
  CHECK(read.notice().text() == "caf?");
}

TEST_CASE("messages of the server are read as libprotobuf wrote them") {
  const ToHook read = decoded(whole_plan());
  const auto* plans = std::get_if<Plans>(&read);
  REQUIRE(plans);
  CHECK(plans->version == 1ull << 40);
  REQUIRE(plans->views.size() == 1);
  const ViewPlan& view = plans->views[0];
  CHECK(view.view == 3);
  CHECK(view.fps == 29.97);
  CHECK(view.quantity == Quantity::kMagnitude);
  CHECK(view.scaling.range == RangeMode::kFixed);
  CHECK(view.scaling.shape == Shape::kLog);
  CHECK(view.scaling.scope == Scope::kNetwork);
  CHECK(view.scaling.lo == 0.25);
  CHECK(view.scaling.hi == 8);
  CHECK(view.scaling.decades == 3);
  CHECK(view.scaling.magnitude_decades == 2);
  REQUIRE(view.tensors.size() == 2);
  CHECK(view.tensors[0].tensor == 9);
  CHECK(view.tensors[0].pooling == Pooling::kRms);
  CHECK(view.tensors[0].extents == std::vector<std::uint64_t>{64, 1ull << 33});
  CHECK(view.tensors[0].outer.dims == std::vector<std::uint32_t>{1});
  CHECK(view.tensors[0].outer.cells == 700);
  CHECK(view.tensors[0].inner.dims == std::vector<std::uint32_t>{0, 2});
  CHECK(view.tensors[0].inner.cells == 300);
  CHECK(view.tensors[1].pooling == Pooling::kNone);

  v1::ToHook message;
  message.mutable_welcome()->set_protocol(1);
  message.mutable_welcome()->set_server("phosphene 0.1.0");
  const ToHook welcome = decoded(message);
  CHECK(std::get<Welcome>(welcome).protocol == 1);
  CHECK(std::get<Welcome>(welcome).server == "phosphene 0.1.0");
  message.mutable_refusal()->set_why("too many runs");
  CHECK(std::get<Refusal>(decoded(message)).why == "too many runs");
  CHECK(std::holds_alternative<std::monostate>(*decode_to_hook("")));
}

TEST_CASE("fields of a later version are skipped, lists may be packed or not") {
  std::string bytes = whole_plan().SerializeAsString();
  bytes += std::string("\xA2\x06\x03new", 6);  // field 100, bytes
  bytes += std::string("\xA8\x06\x2A", 3);     // field 101, varint
  const auto result = decode_to_hook(bytes);
  REQUIRE(result.ok());
  CHECK(std::get<Plans>(*result).views.size() == 1);

  // plans { views { fps: 1 tensors { tensor: 1 extents: 5 extents: 6 } } }, unpacked
  const std::string tensor("\x08\x01\x18\x05\x18\x06", 6);
  std::string view("\x11", 1);
  const double one = 1;
  view.append(reinterpret_cast<const char*>(&one), sizeof one);
  view += std::string("\x2A\x06", 2) + tensor;
  const std::string plans = std::string("\x12") + static_cast<char>(view.size()) + view;
  const auto unpacked =
      decode_to_hook(std::string("\x1A") + static_cast<char>(plans.size()) + plans);
  REQUIRE(unpacked.ok());
  CHECK(std::get<Plans>(*unpacked).views.at(0).tensors.at(0).extents ==
        std::vector<std::uint64_t>{5, 6});
}

TEST_CASE("a plan out of bounds is left out, and the field is named") {
  v1::ToHook message = whole_plan();
  v1::ViewPlan& view = *message.mutable_plans()->mutable_views(0);
  v1::TensorPlan& tensor = *view.mutable_tensors(0);
  CHECK(complaint(message) == "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SUBCASE("fps") {
    for (const double fps : {0.0, -1.0, 1e9, nan}) {
      view.set_fps(fps);
      CHECK(complaint(message).find("fps") != std::string::npos);
    }
  }
  SUBCASE("lo and hi") {
    view.mutable_scaling()->set_lo(9);
    CHECK(complaint(message).find("lo and hi") != std::string::npos);
    view.mutable_scaling()->set_lo(nan);
    CHECK(complaint(message).find("lo") != std::string::npos);
  }
  SUBCASE("decades") {
    view.mutable_scaling()->set_decades(-1);
    CHECK(complaint(message).find("decades") != std::string::npos);
    view.mutable_scaling()->set_decades(0);
    view.mutable_scaling()->set_magnitude_decades(nan);
    CHECK(complaint(message).find("magnitude_decades") != std::string::npos);
  }
  SUBCASE("an enumeration") {
    view.set_quantity(static_cast<v1::Quantity>(77));
    CHECK(complaint(message).find("quantity") != std::string::npos);
  }
  SUBCASE("cells") {
    tensor.mutable_outer()->set_cells(0);
    CHECK(complaint(message).find("cells") != std::string::npos);
    tensor.mutable_outer()->set_cells(1u << 30);
    CHECK(complaint(message).find("cells") != std::string::npos);
  }
  SUBCASE("dims") {
    tensor.mutable_inner()->set_dims(0, 8);
    CHECK(complaint(message).find("dims") != std::string::npos);
  }
  SUBCASE("rank") {
    for (int i = 0; i < 9; ++i) tensor.add_extents(1);
    CHECK(complaint(message).find("extents") != std::string::npos);
  }
  SUBCASE("no tensor") {
    tensor.set_tensor(0);
    CHECK(complaint(message).find("id") != std::string::npos);
  }
  SUBCASE("too many views") {
    for (int i = 0; i < 64; ++i) message.mutable_plans()->add_views()->set_fps(1);
    CHECK(complaint(message).find("views") != std::string::npos);
  }
}

TEST_CASE("what is out of bounds costs only the tensor or the view that needs it") {
  v1::ToHook message = whole_plan();
  message.mutable_plans()->mutable_views(0)->mutable_tensors(0)->set_pooling(
      static_cast<v1::Pooling>(9));
  *message.mutable_plans()->add_views() = message.plans().views(0);
  message.mutable_plans()->mutable_views(1)->set_fps(0);
  const ToHook read = decoded(message);
  const Plans& plans = std::get<Plans>(read);
  REQUIRE(plans.views.size() == 1);
  REQUIRE(plans.views[0].tensors.size() == 1);
  CHECK(plans.views[0].tensors[0].tensor == 10);
  CHECK(plans.problems.size() == 3);  // the tensor once in each view, and the second view
}

TEST_CASE("bytes that are no message are an error, cut anywhere") {
  const std::string whole = whole_plan().SerializeAsString();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    CHECK_FALSE(decode_to_hook(std::string_view(whole).substr(0, size)).ok());
  }
  CHECK_FALSE(decode_to_hook("GET / HTTP/1.1\r\n").ok());
  CHECK_FALSE(decode_to_hook(std::string(100, '\xFF')).ok());
}
