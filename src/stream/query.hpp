// The text of URLs and of what strangers send: encoding it, and quoting it safely.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace phosphene::stream {

/// As the value of a query: everything but letters, digits and "-._~,:/" becomes %XX.
std::string percent_encode(std::string_view text);

/// "a=1&b=2"; empty for an empty map.
std::string to_query(const std::map<std::string, std::string>& query);

/// At most 64 bytes of printable ASCII, for messages and log lines: what else there is becomes
/// \xNN.
std::string printable(std::string_view text);

/// Well-formed UTF-8 without overlong forms and surrogates (RFC 3629): what a protobuf string may
/// hold.
bool is_utf8(std::string_view text);

}  // namespace phosphene::stream
