// What browsers and strangers send, byte by byte: a plain TCP client, HTTP and WebSocket on top of
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.hpp"
#include "phosphene.pb.h"

namespace phosphene::stream {

/// A connection that waits for what it wants, then gives up.
class Client {
 public:
  /// From a loopback address of its own, so that it is another peer. `receive_buffer` in bytes: 0
  /// is the system's.
  explicit Client(std::uint16_t port, const char* from = "127.0.0.1", int receive_buffer = 0);

  bool is_connected() const { return static_cast<bool>(fd_); }
  /// False: the other end has closed.
  bool send(std::string_view bytes);
  /// The next bytes up to and with `end`; what came before the connection closed if `end` never
  /// does.
  std::string read_through(std::string_view end);
  std::string read_exactly(std::size_t size);
  std::string read_to_close();
  bool is_closed_by_peer();  // waits for it

 private:
  bool receive();  // more bytes into `read_`; false: closed, or out of patience

  UniqueFd fd_;
  std::string read_;
};

struct Answer {
  int status = 0;                              // 0: none
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

using Headers = std::vector<std::string>;  // "Name: value"

/// GET with Host: localhost unless a Host is given.
Answer ask(std::uint16_t port, const std::string& path, const Headers& headers = {},
           const std::string& method = "GET");
std::string request_text(const std::string& path, const Headers& headers,
                         const std::string& method = "GET");

class WebSocket {
 public:
  WebSocket(std::uint16_t port, const std::string& path_and_query, const Headers& headers = {},
            const char* from = "127.0.0.1", int receive_buffer = 0);

  int status() const { return answer_.status; }  // 101 if it is open
  const Answer& answer() const { return answer_; }

  /// The next message; nothing if the connection closed. Answers pings.
  std::optional<v1::ToPage> receive();
  /// The next message of that kind, others are passed over.
  std::optional<v1::ToPage> receive(v1::ToPage::MessageCase wanted);

  void send(const v1::FromPage& message);
  void send_frame(int opcode, std::string_view payload, bool final = true);
  void send_raw(std::string_view bytes) { client_.send(bytes); }
  void view(const std::map<std::string, std::string>& query);
  void visible(bool visible);
  void ping(double time_ms, std::uint64_t fragments);

  bool is_closed_by_peer();  // waits for it, reading what still comes
  std::uint16_t close_code() const {
    return close_code_;
  }  // of the peer's close frame; 0: none came

 private:
  Client client_;
  Answer answer_;
  std::uint16_t close_code_ = 0;
};

}  // namespace phosphene::stream
