#include "wire/socket.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace phosphene;
using wire::Address;

namespace {

struct TemporaryDirectory {
  std::filesystem::path path;
  TemporaryDirectory() {
    std::string name = "/tmp/phosphene-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  Address socket(const std::string& name = "a/ingest.sock") const {
    Address address;
    address.path = path / name;
    return address;
  }
};

Address parsed(std::string_view text) {
  auto address = Address::parse(text);
  REQUIRE(address);
  return *address;
}

bool waits_for(int fd, short events) {
  pollfd waiting{fd, events, 0};
  return ::poll(&waiting, 1, 5000) == 1;
}

UniqueFd accepted(const wire::Listener& listener) {
  REQUIRE(waits_for(listener.fd.get(), POLLIN));
  auto socket = wire::accept(listener);
  REQUIRE(socket);
  REQUIRE(*socket);
  return std::move(**socket);
}

int option(int socket, int level, int name) {
  int value = -1;
  socklen_t bytes = sizeof value;
  ::getsockopt(socket, level, name, &value, &bytes);
  return value;
}

// One byte through a fresh connection, in both directions.
void check_that_it_answers(const wire::Listener& listener) {
  const auto client = wire::connect(listener.address, 5000);
  REQUIRE(client);
  const UniqueFd server = accepted(listener);
  for (const auto& [from, to] :
       {std::pair(client->get(), server.get()), std::pair(server.get(), client->get())}) {
    CHECK(*wire::send_some(from, "x") == 1);
    REQUIRE(waits_for(to, POLLIN));
    char byte = 0;
    CHECK(*wire::receive_some(to, &byte, 1) == std::size_t{1});
    CHECK(byte == 'x');
    CHECK_FALSE(*wire::receive_some(to, &byte, 1));  // nothing there: does not wait
    CHECK((::fcntl(from, F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(from, F_GETFD) & FD_CLOEXEC) != 0);
  }
}

}  // namespace

TEST_CASE("addresses are read and written in one form") {
  for (const char* text : {"unix:/run/user/1000/phosphene/ingest.sock", "unix:ingest.sock",
                           "tcp:127.0.0.1:6161", "tcp:train-7.example:0", "tcp:[::1]:65535"}) {
    CAPTURE(text);
    CHECK(parsed(text).to_string() == text);
  }
  CHECK(parsed("tcp:[::1]:80").host == "::1");
}

TEST_CASE("an address over TCP may carry a token, which logs do not show") {
  const Address address = parsed("tcp:train-7:6161?token=abc-DEF_0123");
  CHECK(address.host == "train-7");
  CHECK(address.port == 6161);
  CHECK(address.token == "abc-DEF_0123");
  CHECK(address.to_string() == "tcp:train-7:6161");
  CHECK(address.with_token() == "tcp:train-7:6161?token=abc-DEF_0123");
  CHECK(parsed("tcp:train-7:6161").with_token() == "tcp:train-7:6161");
  CHECK(parsed("unix:odd?token=name").path == "odd?token=name");
  for (const std::string query : {"?", "?token", "?token=", "?token=short", "?key=abcdefgh",
                                  "?token=abc defgh", "?token=abcdefgh&more=1"}) {
    CAPTURE(query);
    const auto refused = Address::parse("tcp:train-7:6161" + query);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("abc") == std::string::npos);
  }
}

TEST_CASE("case_41: what is no address is refused with a sentence that names it") {
  for (const std::string text :
       {"", "unix:", "tcp:", "tcp:host", "tcp::80", "tcp:host:", "tcp:host:80x", "tcp:host:65536",
        "tcp:host:-1", "tcp:::1:80", "tcp:[]:80", "tcp:[::1:80", "http://host:80", "/run/x.sock"}) {
    CAPTURE(text);
    const auto address = Address::parse(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().message.find("\"" + text + "\"") != std::string::npos);
  }
  CHECK(Address::parse("unix:" + std::string(107, 'p')));
  CHECK_FALSE(Address::parse("unix:" + std::string(108, 'p')));
}

TEST_CASE(
    "the default address is in the user's runtime directory, else in /tmp under the user's "
    "number") {
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  const std::string restore = before ? before : "";
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  CHECK(wire::default_address().path == "/run/user/7/phosphene/ingest.sock");
  const std::string in_tmp = "/tmp/phosphene-" + std::to_string(::geteuid()) + "/ingest.sock";
  for (const std::string& useless :
       {std::string(), std::string("relative"), "/" + std::string(100, 'l')}) {
    ::setenv("XDG_RUNTIME_DIR", useless.c_str(), 1);
    CHECK(wire::default_address().path == in_tmp);
  }
  before ? ::setenv("XDG_RUNTIME_DIR", restore.c_str(), 1) : ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("a unix socket is its user's alone, in a directory made for it") {
  const TemporaryDirectory directory;
  const auto listener = wire::listen(directory.socket());
  REQUIRE(listener);
  struct stat status{};
  REQUIRE(::stat(listener->address.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(::stat((directory.path / "a").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  check_that_it_answers(*listener);
}

TEST_CASE("a directory that others may write is refused, unless it is sticky like /tmp") {
  const TemporaryDirectory directory;
  const Address address = directory.socket("a.sock");
  ::chmod(directory.path.c_str(), 0777);
  const auto refused = wire::listen(address);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(directory.path) != std::string::npos);
  ::chmod(directory.path.c_str(), 01777);
  CHECK(wire::listen(address));
}

TEST_CASE("case_28: a socket whose server was killed is replaced") {
  const TemporaryDirectory directory;
  {
    REQUIRE(wire::listen(directory.socket()));
  }
  REQUIRE(std::filesystem::exists(directory.socket().path));
  const auto listener = wire::listen(directory.socket());
  REQUIRE(listener);
  check_that_it_answers(*listener);
}

TEST_CASE("case_28: a socket that a server answers on is left alone, and the refusal names it") {
  const TemporaryDirectory directory;
  const auto first = wire::listen(directory.socket());
  REQUIRE(first);
  const auto second = wire::listen(directory.socket());
  REQUIRE_FALSE(second);
  CHECK(second.error().message.find(directory.socket().to_string()) != std::string::npos);
  const UniqueFd probe = accepted(*first);
  check_that_it_answers(*first);
}

TEST_CASE("a file in the socket's place is never removed") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path / "a");
  std::ofstream(directory.socket().path) << "precious";
  CHECK_FALSE(wire::listen(directory.socket()));
  CHECK(std::filesystem::file_size(directory.socket().path) == 8);
}

TEST_CASE("TCP: the kernel chooses a port and the listener says which") {
  for (const char* text : {"tcp:127.0.0.1:0", "tcp:localhost:0", "tcp:[::1]:0"}) {
    CAPTURE(text);
    const auto listener = wire::listen(parsed(text));
    if (!listener && parsed(text).host == "::1") {
      MESSAGE("no IPv6 here: " << listener.error().message);
      continue;
    }
    REQUIRE(listener);
    CHECK(listener->address.port != 0);
    check_that_it_answers(*listener);
  }
}

TEST_CASE("case_29: both ends of a TCP connection notice a pulled cable within 30 s") {
  const auto listener = wire::listen(parsed("tcp:127.0.0.1:0"));
  REQUIRE(listener);
  const auto client = wire::connect(listener->address, 5000);
  REQUIRE(client);
  const UniqueFd server = accepted(*listener);
  for (const int socket : {client->get(), server.get()}) {
    CHECK(option(socket, SOL_SOCKET, SO_KEEPALIVE) == 1);
    const int idle = option(socket, IPPROTO_TCP, TCP_KEEPIDLE);
    const int interval = option(socket, IPPROTO_TCP, TCP_KEEPINTVL);
    const int probes = option(socket, IPPROTO_TCP, TCP_KEEPCNT);
    CHECK(idle + interval * probes <= 30);
    const int unacknowledged_ms = option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT);
    CHECK(unacknowledged_ms > 0);
    CHECK(unacknowledged_ms <= 30'000);
  }
}

TEST_CASE("case_28: an absent server is an error that names the address") {
  const TemporaryDirectory directory;
  const auto nobody = wire::connect(directory.socket(), 100);
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().message.find(directory.socket().to_string()) != std::string::npos);

  const UniqueFd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in bound{};
  bound.sin_family = AF_INET;
  bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof bound;
  REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&bound), size) == 0);
  REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0);
  Address closed = parsed("tcp:127.0.0.1:0");
  closed.port = ntohs(bound.sin_port);  // taken, and nobody listens
  const auto refused = wire::connect(closed, 5000);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(closed.to_string()) != std::string::npos);
}

TEST_CASE("case_28: a taken TCP port is an error that names it") {
  const auto first = wire::listen(parsed("tcp:127.0.0.1:0"));
  REQUIRE(first);
  const auto second = wire::listen(first->address);
  REQUIRE_FALSE(second);
  CHECK(second.error().message.find(first->address.to_string()) != std::string::npos);
}

TEST_CASE("case_28: connecting to a server that does not answer ends at the timeout") {
  // A listener whose backlog is full does not answer: the kernel leaves the connection half made.
  const auto listener = wire::listen(parsed("tcp:127.0.0.1:0"));
  REQUIRE(listener);
  REQUIRE(::listen(listener->fd.get(), 0) == 0);
  std::vector<UniqueFd> filling;
  bool timed_out = false;
  for (int i = 0; i < 8 && !timed_out; ++i) {
    auto socket = wire::connect(listener->address, 50);
    timed_out = !socket;
    if (socket) filling.push_back(*std::move(socket));
  }
  CHECK(timed_out);
}

TEST_CASE("writing to a peer that went away is an error, never a signal") {
  const auto listener = wire::listen(parsed("tcp:127.0.0.1:0"));
  REQUIRE(listener);
  const auto client = wire::connect(listener->address, 5000);
  REQUIRE(client);
  accepted(*listener).reset();
  bool gone = false;
  for (int i = 0; i < 1000 && !gone; ++i) {
    gone = !wire::send_some(client->get(), std::string(1000, 'x'));
    if (!gone) ::poll(nullptr, 0, 1);
  }
  CHECK(gone);
}

TEST_CASE("a full socket takes nothing and does not wait") {
  const TemporaryDirectory directory;
  const auto listener = wire::listen(directory.socket());
  REQUIRE(listener);
  const auto client = wire::connect(listener->address, 5000);
  REQUIRE(client);
  const std::string piece(65'536, 'x');
  std::size_t total = 0;
  for (;;) {
    const auto sent = wire::send_some(client->get(), piece);
    REQUIRE(sent);
    if (*sent == 0) break;
    total += *sent;
    REQUIRE(total < (std::size_t{1} << 30));
  }
  CHECK(total > 0);
}

TEST_CASE("the end of a stream reads as 0 bytes") {
  const TemporaryDirectory directory;
  const auto listener = wire::listen(directory.socket());
  REQUIRE(listener);
  {
    const auto client = wire::connect(listener->address, 5000);
  }
  const UniqueFd server = accepted(*listener);
  REQUIRE(waits_for(server.get(), POLLIN));
  char byte = 0;
  CHECK(*wire::receive_some(server.get(), &byte, 1) == std::size_t{0});
}

TEST_CASE("a peer is named by its process, or by its address") {
  const TemporaryDirectory directory;
  const auto local = wire::listen(directory.socket());
  const auto client = wire::connect(local->address, 5000);
  CHECK(wire::peer_of(accepted(*local).get()).find(std::to_string(::getpid())) !=
        std::string::npos);
  const auto tcp = wire::listen(parsed("tcp:127.0.0.1:0"));
  const auto remote = wire::connect(tcp->address, 5000);
  CHECK(wire::peer_of(accepted(*tcp).get()).find("127.0.0.1:") == 0);
}

TEST_CASE("a unix socket that another user listens on is refused") {
  if (::geteuid() != 0) {
    MESSAGE("needs root to become another user: skipped");
    return;
  }
  TemporaryDirectory directory;
  ::chmod(directory.path.c_str(), 01777);
  const Address address = directory.socket("b.sock");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const bool became = ::setresuid(65'534, 65'534, 65'534) == 0;
    const auto listener = wire::listen(address);
    const char byte = became && listener ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  const auto refused = wire::connect(address, 1000);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("65534") != std::string::npos);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}
