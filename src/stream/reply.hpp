// A finite answer: written piece by piece, then the connection closes.
#pragma once

#include <string>

#include "stream/conversation.hpp"

namespace phosphene::stream {

class Reply : public Conversation {
 public:
  explicit Reply(const std::string& wire);

  Next write(lws* socket) override;

 private:
  std::string bytes_;  // headroom, then what goes out
  std::size_t written_;
};

}  // namespace phosphene::stream
