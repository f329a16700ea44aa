// phosphene.hpp: show a network while it trains. C++20 over phosphene.h, header only.
//
//   phosphene::Session cast({.name = "my network"});
//   auto weight = cast.parameter("fc1.weight", w.data(), {256, 784}, {Role::kOut, Role::kIn});
//   cast.parameter("fc1.bias", b.data(), {256}, {Role::kOut}, {.attached_to = weight});
//   for (std::uint64_t step = 0; training; ++step) {
//     cast.scalar("loss", train_step());
//     cast.step(step);
//   }
//
// Nothing here throws (but for want of memory), blocks or ends the process. Without a server, or
// with PHOSPHENE_MODE=disabled, every call is allowed and costs next to nothing; error() says what
// was refused.
//
// Thread word: a session belongs to one thread, the trainer's.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

#include "phosphene.h"

namespace phosphene {
// Write phosphene::Session. The inner name keeps these types apart from those of the library's own
// rooms, whatever either becomes.
inline namespace hook {

/// What a dimension means. Declared, never guessed from sizes.
enum class Role : std::uint8_t {
  kOther = 0,
  kOut = 1,      // output units or channels of a weight
  kIn = 2,       // input units or channels of a weight
  kDepth = 3,    // kernel or map depth
  kHeight = 4,   // kernel or map height
  kWidth = 5,    // kernel or map width
  kBatch = 6,    // examples
  kChannel = 7,  // channels or features of an activation
  kToken = 8,    // positions of a sequence
  kHead = 9,     // attention heads
};

template <typename T>
concept Number =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int8_t> ||
    std::same_as<T, std::uint8_t> || std::same_as<T, bool> || std::same_as<T, std::int64_t>;

template <Number T>
inline constexpr phosphene_dtype kDTypeOf = std::same_as<T, float>          ? PHOSPHENE_FLOAT32
                                            : std::same_as<T, double>       ? PHOSPHENE_FLOAT64
                                            : std::same_as<T, std::int8_t>  ? PHOSPHENE_INT8
                                            : std::same_as<T, std::uint8_t> ? PHOSPHENE_UINT8
                                            : std::same_as<T, bool>         ? PHOSPHENE_BOOL
                                                                            : PHOSPHENE_INT64;

/// Where values lie and of what type they are: a pointer, anything contiguous, or memory with a
/// dtype that C++ has no type for. Not owned. A container too short for its tensor is refused.
struct Values {
  template <Number T>
  Values(const T* first) : data(first), dtype(kDTypeOf<T>) {}
  template <std::ranges::contiguous_range Range>
    requires Number<std::ranges::range_value_t<Range>>
  Values(const Range& range) : Values(std::ranges::data(range)) {
    count = std::ranges::size(range);
  }
  Values(const void* memory, phosphene_dtype type) : data(memory), dtype(type) {}

  const void* data;
  phosphene_dtype dtype;
  std::size_t count = SIZE_MAX;  // elements there; of a pointer nobody knows
};

using Sizes = std::vector<std::int64_t>;

/// A tensor that was declared. Id 0: it could not be, and nothing is shown of it.
struct Tensor {
  std::uint32_t id = 0;
  Sizes shape;
  Sizes strides;
};

struct Details {
  Tensor attached_to = {};  // the weight whose outputs these values belong to: biases, norms
  Sizes strides = {};     // in elements, one a dimension; empty: C order. Column-major, as Eigen's
                          // default: {1, rows}
  double lo = 0, hi = 0;  // frames: the range they are drawn in
};

class Session {
 public:
  struct Options {
    std::string name = {};     // of the run; default: the program's name
    std::string run = {};      // id, the same after a restart of the trainer; default: random
    std::string address = {};  // default: PHOSPHENE_ADDRESS, else the user's own socket
    double budget = 0.02;      // share of the step time that capturing may take; 1: no limit
  };

  Session() : Session(Options{}) {}
  explicit Session(const Options& options) {
    const phosphene_options given{.struct_size = sizeof(phosphene_options),
                                  .name = or_null(options.name),
                                  .run = or_null(options.run),
                                  .address = or_null(options.address),
                                  .budget = options.budget};
    phosphene_session* session = nullptr;
    phosphene_open(&given, &session);
    session_.reset(session);
  }

  /// Each declares a tensor whose values are read at every step that somebody watches. They must
  /// stay where they are until bind() names another place, or the session ends.
  Tensor parameter(const std::string& name, Values values, const Sizes& shape,
                   const std::vector<Role>& roles = {}, const Details& details = {}) {
    return watch(PHOSPHENE_PARAMETER, name, values, shape, roles, details);
  }
  Tensor gradient(const std::string& name, Values values, const Sizes& shape,
                  const std::vector<Role>& roles = {}, const Details& details = {}) {
    return watch(PHOSPHENE_GRADIENT, name, values, shape, roles, details);
  }
  Tensor activation(const std::string& name, Values values, const Sizes& shape,
                    const std::vector<Role>& roles = {}, const Details& details = {}) {
    return watch(PHOSPHENE_ACTIVATION, name, values, shape, roles, details);
  }
  /// A picture of your own, shown at 1:1.
  Tensor frame(const std::string& name, Values values, std::int64_t height, std::int64_t width,
               const Details& details = {}) {
    return watch(PHOSPHENE_FRAME, name, values, {height, width}, {Role::kHeight, Role::kWidth},
                 details);
  }

  /// Declares a tensor that is handed in by capture(), for values that do not last until the step.
  Tensor declare(phosphene_kind kind, const std::string& name, phosphene_dtype dtype,
                 const Sizes& shape, const std::vector<Role>& roles = {},
                 const Details& details = {}) {
    std::vector<phosphene_role> given(shape.size(), PHOSPHENE_ROLE_OTHER);
    for (std::size_t i = 0; i < roles.size() && i < given.size(); ++i) {
      given[i] = static_cast<phosphene_role>(roles[i]);
    }
    const phosphene_info info{.name = name.c_str(),
                              .kind = kind,
                              .dtype = dtype,
                              .rank = static_cast<std::int32_t>(shape.size()),
                              .shape = shape.data(),
                              .roles = given.data(),
                              .attached_to = details.attached_to.id,
                              .lo = details.lo,
                              .hi = details.hi};
    return {phosphene_declare(session_.get(), &info), shape, details.strides};
  }

  /// Has a declared tensor read from here at each step.
  bool bind(const Tensor& tensor, Values values) {
    const phosphene_view view = view_of(tensor, values);
    return phosphene_bind(session_.get(), tensor.id, &view) == PHOSPHENE_OK;
  }
  void unbind(const Tensor& tensor) { phosphene_bind(session_.get(), tensor.id, nullptr); }

  /// Whether this step shows the tensor: ask before computing what is only to be shown.
  bool wants(const Tensor& tensor) { return phosphene_wants(session_.get(), tensor.id) != 0; }
  /// Reads the values now, if this step shows them.
  bool capture(const Tensor& tensor, Values values) {
    const phosphene_view view = view_of(tensor, values);
    return phosphene_capture(session_.get(), tensor.id, &view) == PHOSPHENE_OK;
  }

  /// A number of this step, drawn as a curve.
  void scalar(const char* name, double value) { phosphene_scalar(session_.get(), name, value); }

  /// Ends a step.
  void step(std::uint64_t number) { phosphene_step(session_.get(), number); }

  phosphene_cost cost() const {
    phosphene_cost cost{};
    phosphene_get_cost(session_.get(), &cost);
    return cost;
  }

  /// False where nothing will ever be shown: the address is wrong, or PHOSPHENE_MODE=disabled.
  explicit operator bool() const { return session_ != nullptr; }
  /// The latest error on this thread, one sentence; empty if there was none.
  static std::string error() { return phosphene_last_error(); }

 private:
  struct Close {
    void operator()(phosphene_session* session) const { phosphene_close(session); }
  };

  static const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  }

  static bool reaches_beyond(const Tensor& tensor, std::size_t count) {
    if (count == SIZE_MAX) return false;
    std::int64_t first = 0, last = 0, dense = 1;
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
      const std::int64_t size = tensor.shape[i];
      if (size <= 0) return false;  // nothing is read
      const std::int64_t stride = tensor.strides.empty() ? dense : tensor.strides[i];
      if (__builtin_mul_overflow(dense, size, &dense)) return true;
      std::int64_t reach = 0;
      if (__builtin_mul_overflow(size - 1, stride, &reach)) return true;
      if (__builtin_add_overflow(reach < 0 ? first : last, reach, reach < 0 ? &first : &last))
        return true;
    }
    return first < 0 || static_cast<std::uint64_t>(last) >= count;
  }

  // The library reads a stride for each dimension: a view with fewer or more has no rank it takes.
  static phosphene_view view_of(const Tensor& tensor, Values values) {
    const bool fits = tensor.strides.empty() || tensor.strides.size() == tensor.shape.size();
    return {.data = fits && !reaches_beyond(tensor, values.count) ? values.data : nullptr,
            .dtype = values.dtype,
            .rank = fits ? static_cast<std::int32_t>(tensor.shape.size()) : -1,
            .shape = tensor.shape.data(),
            .strides = tensor.strides.empty() ? nullptr : tensor.strides.data()};
  }

  Tensor watch(phosphene_kind kind, const std::string& name, Values values, const Sizes& shape,
               const std::vector<Role>& roles, const Details& details) {
    Tensor tensor = declare(kind, name, values.dtype, shape, roles, details);
    if (tensor.id) bind(tensor, values);
    return tensor;
  }

  std::unique_ptr<phosphene_session, Close> session_;
};

}  // namespace hook
}  // namespace phosphene
