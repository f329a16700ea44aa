// What a server sends a hook: any bytes give plans within bounds or an error, and any plans can be
// armed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/codec.hpp"
#include "capture/watch.hpp"

using namespace phosphene::capture;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<Declared> some_tensors() {
  std::vector<Declared> declared;
  for (const auto& shape : std::vector<std::vector<std::uint64_t>>{
           {}, {7}, {5, 3}, {4, 3, 2, 2}, {0, 3}, {1, 2, 1, 2, 1, 2, 1, 2}}) {
    TensorInfo info;
    info.id = static_cast<std::uint32_t>(declared.size() + 1);
    info.name = "t";
    info.shape = shape;
    declared.push_back({info, info.id});
  }
  return declared;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto decoded = decode_to_hook({reinterpret_cast<const char*>(data), size});
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  const auto* plans = std::get_if<Plans>(&*decoded);
  if (!plans) return 0;
  static const std::vector<Declared> declared = some_tensors();
  std::vector<std::string> problems;
  const auto watch = Watch::create(*plans, declared, problems);
  if (!watch) return 0;
  for (const auto& view : watch->views) {
    view->arm();
    require(view->is_armed());
    require(view->finish(1, 0) == WatchedView::Outcome::kNothingCaptured);
  }
  return 0;
}
