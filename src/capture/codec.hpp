// Messages ⇄ bytes, with protozero: the process may hold a libprotobuf of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "capture/messages.hpp"

namespace phosphene::capture {

/// Each appends one FromHook message, without its length, to `out`. Text that is no UTF-8 is
/// mended, as receivers refuse it. Tiles that were not filled are left out. Thread-safe.
void encode(const Hello& hello, std::string& out);
void encode(const std::vector<TensorInfo>& tensors, std::string& out);
void encode(const Frame& frame, std::string& out);
void encode(const std::vector<Series>& scalars, std::string& out);
void encode(const Progress& progress, std::string& out);
void encode(const Notice& notice, std::string& out);

/// Reads a ToHook message. Fields it does not know are skipped. A view or a tensor whose plan has a
/// value outside its bounds is left out, and Plans::problems says so; whether a plan fits its
/// tensor is not known here. An Error: these bytes are no ToHook. Throws nothing but for want of
/// memory. Thread-safe.
Result<ToHook> decode_to_hook(std::string_view bytes);

/// `text` with each byte that is no part of a UTF-8 character replaced by '?'.
std::string to_utf8(std::string_view text);

}  // namespace phosphene::capture
