#include "client.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>

#include "../patience.hpp"

namespace phosphene::stream {
namespace {

using Clock = std::chrono::steady_clock;

int remaining_ms(Clock::time_point deadline) {
  return std::max<int>(
      0,
      static_cast<int>(
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count()));
}

Answer parse_head(const std::string& head) {
  Answer answer;
  if (!head.starts_with("HTTP/1.")) return answer;
  answer.status = std::stoi(head.substr(9, 3));
  for (std::size_t line = head.find("\r\n") + 2; line < head.size() - 2;) {
    const std::size_t end = head.find("\r\n", line), colon = head.find(": ", line);
    std::string name = head.substr(line, colon - line);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    answer.headers[name] = head.substr(colon + 2, end - colon - 2);
    line = end + 2;
  }
  return answer;
}

}  // namespace

Client::Client(std::uint16_t port, const char* from, int receive_buffer) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_buffer > 0)
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, from, &address.sin_addr);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  address.sin_port = htons(port);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
    fd_ = std::move(fd);
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::receive() {
  const auto deadline = Clock::now() + test::kPatience;
  pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  if (poll(&wait, 1, remaining_ms(deadline)) <= 0) return false;
  char bytes[65536];
  const ssize_t got = recv(fd_.get(), bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  read_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

std::string Client::read_through(std::string_view end) {
  while (read_.find(end) == std::string::npos) {
    if (!receive()) return std::exchange(read_, {});
  }
  return read_exactly(read_.find(end) + end.size());
}

std::string Client::read_exactly(std::size_t size) {
  while (read_.size() < size && receive()) {
  }
  std::string bytes = read_.substr(0, size);
  read_.erase(0, bytes.size());
  return bytes;
}

std::string Client::read_to_close() {
  while (receive()) {
  }
  return std::exchange(read_, {});
}

bool Client::is_closed_by_peer() {
  while (receive()) {
  }
  char byte;
  const ssize_t got = recv(fd_.get(), &byte, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

std::string request_text(const std::string& path, const Headers& headers,
                         const std::string& method) {
  std::string text = method + " " + path + " HTTP/1.1\r\n";
  if (std::ranges::none_of(headers,
                           [](const std::string& line) { return line.starts_with("Host:"); })) {
    text += "Host: localhost\r\n";
  }
  for (const std::string& line : headers) text += line + "\r\n";
  return text + "\r\n";
}

Answer ask(std::uint16_t port, const std::string& path, const Headers& headers,
           const std::string& method) {
  Client client(port);
  if (!client.is_connected() || !client.send(request_text(path, headers, method))) return {};
  const std::string head = client.read_through("\r\n\r\n");
  if (!head.ends_with("\r\n\r\n")) return {};
  Answer answer = parse_head(head);
  answer.body = client.read_to_close();
  return answer;
}

WebSocket::WebSocket(std::uint16_t port, const std::string& path_and_query, const Headers& headers,
                     const char* from, int receive_buffer)
    : client_(port, from, receive_buffer) {
  Headers all = headers;
  all.insert(all.end(), {"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="});
  if (!client_.is_connected() || !client_.send(request_text(path_and_query, all))) return;
  const std::string head = client_.read_through("\r\n\r\n");
  if (!head.ends_with("\r\n\r\n")) return;
  answer_ = parse_head(head);
  if (answer_.status != 101) answer_.body = client_.read_to_close();
}

std::optional<v1::ToPage> WebSocket::receive() {
  while (true) {
    const std::string head = client_.read_exactly(2);
    if (head.size() < 2) return std::nullopt;
    std::uint64_t size = static_cast<std::uint8_t>(head[1]) & 127;
    if (size >= 126) {
      const std::string bytes = client_.read_exactly(size == 126 ? 2 : 8);
      size = 0;
      for (const char byte : bytes) size = size << 8 | static_cast<std::uint8_t>(byte);
    }
    const std::string payload = client_.read_exactly(size);
    const int opcode = head[0] & 15;
    if (opcode == 8) {
      if (payload.size() >= 2) {
        close_code_ = static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload[0]) << 8 |
                                                 static_cast<std::uint8_t>(payload[1]));
      }
      send_frame(8, payload);
      return std::nullopt;
    }
    if (opcode == 9) send_frame(10, payload);
    if (opcode != 2) continue;
    v1::ToPage message;
    if (payload.size() < size || !message.ParseFromString(payload)) return std::nullopt;
    return message;
  }
}

std::optional<v1::ToPage> WebSocket::receive(v1::ToPage::MessageCase wanted) {
  while (auto message = receive()) {
    if (message->message_case() == wanted) return message;
  }
  return std::nullopt;
}

void WebSocket::send_frame(int opcode, std::string_view payload, bool final) {
  std::string frame;
  frame += static_cast<char>((final ? 0x80 : 0) | opcode);
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else {
    frame += static_cast<char>(0x80 | 126);
    frame += static_cast<char>(payload.size() >> 8);
    frame += static_cast<char>(payload.size());
  }
  const char mask[] = {1, 2, 3, 4};
  frame.append(mask, 4);
  for (std::size_t i = 0; i < payload.size(); ++i)
    frame += static_cast<char>(payload[i] ^ mask[i % 4]);
  client_.send(frame);
}

void WebSocket::send(const v1::FromPage& message) {
  send_frame(2, message.SerializeAsString());
}

void WebSocket::view(const std::map<std::string, std::string>& query) {
  v1::FromPage message;
  for (const auto& [key, value] : query) (*message.mutable_view()->mutable_query())[key] = value;
  if (query.empty()) message.mutable_view();
  send(message);
}

void WebSocket::visible(bool visible) {
  v1::FromPage message;
  message.mutable_visibility()->set_visible(visible);
  send(message);
}

void WebSocket::ping(double time_ms, std::uint64_t fragments) {
  v1::FromPage message;
  message.mutable_ping()->set_time_ms(time_ms);
  message.mutable_ping()->set_fragments(fragments);
  send(message);
}

bool WebSocket::is_closed_by_peer() {
  while (receive()) {
  }
  return client_.is_closed_by_peer();
}

}  // namespace phosphene::stream
