// The secret that browsers need.
#pragma once

#include <string>

#include "base/result.hpp"

namespace phosphene::app {

/// This user's token: 32 hex digits, made at random once and kept in a file that only its user may
/// read, beside the ingest socket. A page that was open before a restart of the server is let in
/// after it. Error: no such file can be kept; a random token for this life of the server alone is
/// then the way out.
Result<std::string> user_token();

}  // namespace phosphene::app
