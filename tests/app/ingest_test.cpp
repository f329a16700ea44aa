#include "app/ingest.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include "../patience.hpp"
#include "base/log.hpp"
#include "hook_messages.hpp"

using namespace phosphene;
using namespace phosphene::app;
using namespace std::chrono_literals;
using test::eventually;

namespace {

// Warnings since the test began.
std::mutex warnings_mutex;
std::vector<std::string> warnings_list;

void collect(LogLevel level, std::string_view line) noexcept {
  if (level < LogLevel::kWarning) return;
  std::lock_guard lock(warnings_mutex);
  warnings_list.emplace_back(line);
}

std::vector<std::string> warnings() {
  std::lock_guard lock(warnings_mutex);
  return warnings_list;
}

// A server's ingest in a directory of its own, listening on a unix socket and on TCP.
struct Server {
  std::filesystem::path directory;
  Runs runs;
  std::unique_ptr<Ingest> ingest;

  explicit Server(std::chrono::milliseconds hello_timeout = 60s,
                  std::size_t max_connections = 128) {
    std::string name = "/tmp/phosphene-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()));
    directory = name;
    {
      std::lock_guard lock(warnings_mutex);
      warnings_list.clear();
    }
    set_log_sink(collect);
    start(hello_timeout, max_connections);
  }
  ~Server() {
    ingest.reset();
    set_log_sink(nullptr);
    std::filesystem::remove_all(directory);
  }
  void start(std::chrono::milliseconds hello_timeout = 60s, std::size_t max_connections = 128) {
    IngestOptions options;
    options.addresses = {*wire::Address::parse("unix:" + (directory / "a.sock").string()),
                         *wire::Address::parse("tcp:127.0.0.1:0?token=a-secret")};
    options.hello_timeout = hello_timeout;
    options.max_connections = max_connections;
    options.max_message_bytes = 1 << 20;
    auto made = Ingest::create(std::move(options), runs);
    REQUIRE(made);
    ingest = *std::move(made);
  }
  bool state_is(const std::string& run, v1::RunState state) {
    return eventually([&] {
      const auto found = runs.find(run);
      return found && found->state() == state;
    });
  }
};

// A hook's end of a connection, written against the specification alone.
struct Hook {
  UniqueFd socket;
  wire::FrameReader reader;

  explicit Hook(const Server& server, std::size_t address = 0) {
    auto connected = wire::connect(server.ingest->addresses()[address], 5000);
    REQUIRE(connected);
    socket = *std::move(connected);
  }
  Hook(const Server& server, v1::Hello hello, std::size_t address = 0) : Hook(server, address) {
    if (hello.token().empty()) hello.set_token(server.ingest->addresses()[address].token);
    send(test::from_hook(hello));
  }

  void send_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd waiting{socket.get(), POLLOUT, 0};
      ::poll(&waiting, 1, test::kPatienceMs);
      const auto sent = wire::send_some(socket.get(), bytes);
      if (!sent) return;  // closed by the server: what it then tells is the test's concern
      bytes.remove_prefix(*sent);
    }
  }
  static std::string delimited(const v1::FromHook& message) {
    std::string bytes;
    wire::append_message(bytes, message.SerializeAsString());
    return bytes;
  }
  void send(const v1::FromHook& message) { send_bytes(delimited(message)); }

  // The next message; MESSAGE_NOT_SET at the end of the stream.
  v1::ToHook receive() {
    v1::ToHook message;
    for (;;) {
      const auto next = reader.next();
      REQUIRE(next);
      if (*next) {
        REQUIRE(message.ParseFromArray((*next)->data(), static_cast<int>((*next)->size())));
        return message;
      }
      pollfd waiting{socket.get(), POLLIN, 0};
      REQUIRE(::poll(&waiting, 1, test::kPatienceMs) == 1);
      const auto got = wire::receive_some(socket.get(), reader.prepare(65'536), 65'536);
      if (!got || (*got && **got == 0)) return message;
      if (*got) reader.commit(**got);
    }
  }
  std::string receive_all() {
    std::string all;
    char buffer[4096];
    for (;;) {
      pollfd waiting{socket.get(), POLLIN, 0};
      REQUIRE(::poll(&waiting, 1, test::kPatienceMs) == 1);
      const auto got = wire::receive_some(socket.get(), buffer, sizeof buffer);
      if (!got || (*got && **got == 0)) return all;
      if (*got) all.append(buffer, **got);
    }
  }
  bool closed_by_server() { return receive().message_case() == v1::ToHook::MESSAGE_NOT_SET; }
};

}  // namespace

TEST_CASE("a hook says hello, is welcomed and told what is watched; its frame reaches the view") {
  Server server;
  for (const std::size_t address : {0u, 1u}) {
    CAPTURE(server.ingest->addresses()[address].to_string());
    const std::string id = "r" + std::to_string(address);
    Hook hook(server, test::hello(id), address);
    v1::ToHook message = hook.receive();
    REQUIRE(message.has_welcome());
    CHECK(message.welcome().protocol() == wire::kProtocolVersion);
    CHECK(message.welcome().server().find("phosphene") == 0);
    message = hook.receive();
    REQUIRE(message.has_plans());
    CHECK(message.plans().views_size() == 0);

    hook.send(test::declared({test::tensor(1, "w", {2, 3})}));
    REQUIRE(eventually([&] { return server.runs.find(id)->tensors()->tensors.size() == 1; }));
    ViewFeed feed = server.runs.find(id)->watch();
    feed.set_plan(test::plan({1}));
    message = hook.receive();
    REQUIRE(message.has_plans());
    REQUIRE(message.plans().views_size() == 1);

    hook.send(test::frame(message.plans().views(0).view(), message.plans().version(), 9,
                          {test::tile(1, 6)}));
    FramePtr frame;
    REQUIRE(eventually([&] { return (frame = feed.wait(1s).frame) != nullptr; }));
    CHECK(frame->step() == 9);

    feed = ViewFeed();  // the last viewer goes
    message = hook.receive();
    REQUIRE(message.has_plans());
    CHECK(message.plans().views_size() == 0);
  }
  CHECK(warnings().empty());
}

TEST_CASE("an end with the sentinel is an end, one without it a crash") {
  Server server;
  Hook tidy(server, test::hello("tidy"));
  REQUIRE(tidy.receive().has_welcome());
  tidy.send_bytes(wire::kSentinel);
  CHECK(server.state_is("tidy", v1::RUN_STATE_ENDED));

  {
    Hook sudden(server, test::hello("sudden"));
  }
  CHECK(server.state_is("sudden", v1::RUN_STATE_CRASHED));
}

TEST_CASE(
    "case_31: a trainer killed in the middle of a message is a crash, and the message says so") {
  Server server;
  const pid_t child = ::fork();
  if (child == 0) {
    Hook hook(server, test::hello("killed"));
    const std::string message = Hook::delimited(test::scalar(std::string(100, 'x'), 1, 1));
    hook.send_bytes(message.substr(0, message.size() / 2));
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  REQUIRE(server.state_is("killed", v1::RUN_STATE_CRASHED));
  const v1::RunInfo info = server.runs.find("killed")->info();
  REQUIRE(info.notices_size() == 1);
  CHECK(info.notices(0).find("in the middle of a message") != std::string::npos);
}

TEST_CASE("messages arrive whole however small the pieces they come in") {
  Server server;
  Hook hook(server);
  std::string bytes = Hook::delimited(test::from_hook(test::hello("slow")));
  bytes +=
      Hook::delimited(test::declared({test::tensor(1, "w", {2, 3}), test::tensor(2, "b", {3})}));
  bytes += Hook::delimited(test::scalar("loss", 1, 2.5));
  for (const char& byte : bytes) hook.send_bytes({&byte, 1});
  REQUIRE(eventually([&] {
    const auto run = server.runs.find("slow");
    return run && run->latest_scalars().series_size() == 1;
  }));
  CHECK(server.runs.find("slow")->tensors()->tensors.size() == 2);
}

TEST_CASE("case_28: a server killed and started again gets the same run back, with its plans") {
  Server server;
  {
    Hook hook(server, test::hello("r"));
    REQUIRE(hook.receive().has_welcome());
    REQUIRE(hook.receive().has_plans());
    hook.send(test::declared({test::tensor(1, "w", {6})}));
    REQUIRE(eventually([&] { return server.runs.find("r")->tensors()->tensors.size() == 1; }));
    server.ingest.reset();
    CHECK(hook.closed_by_server());
  }
  ViewFeed feed = server.runs.find("r")->watch();
  feed.set_plan(test::plan({1}));  // asked for while nobody is connected
  server.start();
  Hook again(server, test::hello("r"));
  REQUIRE(again.receive().has_welcome());
  const v1::ToHook message = again.receive();
  REQUIRE(message.has_plans());
  CHECK(message.plans().views_size() == 1);
  CHECK(server.state_is("r", v1::RUN_STATE_RUNNING));
  CHECK(server.runs.all().size() == 1);
}

TEST_CASE("case_29: a reconnect of the same process replaces its old connection") {
  Server server;
  Hook before(server, test::hello("r"));
  REQUIRE(before.receive().has_welcome());
  REQUIRE(before.receive().has_plans());
  Hook after(server, test::hello("r"));
  REQUIRE(after.receive().has_welcome());
  CHECK(before.closed_by_server());
  CHECK(server.runs.find("r")->state() == v1::RUN_STATE_RUNNING);
  CHECK(server.runs.all().size() == 1);
}

TEST_CASE("case_32: two processes of one id both train and are both seen") {
  Server server;
  Hook first(server, test::hello("r", 1)), second(server, test::hello("r", 2));
  REQUIRE(first.receive().has_welcome());
  REQUIRE(second.receive().has_welcome());
  CHECK(server.runs.find("r"));
  CHECK(server.runs.find("r-2"));
  first.send_bytes(wire::kSentinel);
  CHECK(eventually(
      [&] { return server.runs.find("r")->state() != server.runs.find("r-2")->state(); }));
}

TEST_CASE(
    "case_41: garbage, oversized and foreign bytes close their own connection with one warning") {
  Server server;
  Hook good(server, test::hello("good"));
  REQUIRE(good.receive().has_welcome());
  REQUIRE(good.receive().has_plans());

  struct Attack {
    const char* what;
    std::string bytes;
    const char* said;
  };
  std::string oversized;
  wire::append_length(oversized, 2 << 20);
  std::string invalid_utf8 = Hook::delimited(test::from_hook(test::hello("xx")));
  invalid_utf8.replace(invalid_utf8.find("xx"), 2, "\xff\xfe");
  v1::Hello twice = test::hello("twice");
  twice.set_token("a-secret");
  const std::vector<Attack> attacks{
      {"no varint", std::string(64, '\xff'), "length"},
      {"a message of random bytes", "\x08garbage!", "protocol"},
      {"a claim beyond the limit", oversized, "2097152"},
      {"something else than hello", Hook::delimited(test::progress(1, 1)), "hello"},
      {"a name that is no UTF-8", invalid_utf8, "protocol"},
      {"HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP"},
      {"TLS",
       std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + std::string(600, 'z'),
       "protocol"},
      {"a second hello",
       Hook::delimited(test::from_hook(twice)) + Hook::delimited(test::from_hook(twice)),
       "second hello"},
  };
  for (const Attack& attack : attacks) {
    for (const std::size_t address : {0u, 1u}) {
      CAPTURE(attack.what);
      CAPTURE(address);
      const std::size_t before = warnings().size();
      const std::uint64_t bad = server.ingest->counters().bad;
      Hook hook(server, address);
      hook.send_bytes(attack.bytes);
      hook.receive_all();  // until the server closes
      REQUIRE(warnings().size() == before + 1);
      const std::string warning = warnings().back();
      CHECK(warning.find(attack.said) != std::string::npos);
      CHECK(warning.find(address == 0 ? std::to_string(::getpid()) : "127.0.0.1:") !=
            std::string::npos);
      CHECK(server.ingest->counters().bad == bad + 1);
    }
  }
  good.send(test::scalar("loss", 1, 1));
  CHECK(eventually([&] { return server.runs.find("good")->latest_scalars().series_size() == 1; }));
  good.send(test::progress(1, 1));
  CHECK(server.state_is("good", v1::RUN_STATE_RUNNING));
}

TEST_CASE("case_41: a browser on the ingest port reads where it is") {
  Server server;
  Hook browser(server, 1);
  browser.send_bytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string answer = browser.receive_all();
  CHECK(answer.find("HTTP/1.0 400") == 0);
  CHECK(answer.find("another port") != std::string::npos);
}

TEST_CASE("another protocol version is refused with a sentence that names both") {
  Server server;
  v1::Hello hello = test::hello("r");
  hello.set_protocol(wire::kProtocolVersion + 1);
  Hook hook(server, hello);
  const v1::ToHook message = hook.receive();
  REQUIRE(message.has_refusal());
  CHECK(message.refusal().why().find("protocol 2") != std::string::npos);
  CHECK(message.refusal().why().find("protocol 1") != std::string::npos);
  CHECK(hook.closed_by_server());
  CHECK(server.ingest->counters().refused == 1);
  CHECK(server.runs.all().empty());
}

TEST_CASE("case_41: a connection that says nothing is closed in time") {
  Server server(50ms);
  Hook silent(server);
  CHECK(silent.closed_by_server());
  REQUIRE(warnings().size() == 1);
  CHECK(warnings()[0].find("hello") != std::string::npos);
  Hook trickle(server);  // a whole hello must come, not a byte now and then
  trickle.send_bytes("\x50\x0a");
  CHECK(trickle.closed_by_server());
  CHECK(warnings().size() == 2);
}

TEST_CASE("case_41: one that is checked on in silence is no reason to warn") {
  Server server;
  {
    Hook health_check(server);
  }
  CHECK(eventually([&] {
    const auto& counters = server.ingest->counters();
    return counters.accepted == 1 && counters.connections == 0;
  }));
  CHECK(warnings().empty());
}

TEST_CASE("case_36: more connections than there is room for are told so, and the others go on") {
  Server server(60s, 3);
  std::vector<std::unique_ptr<Hook>> hooks;
  for (int i = 0; i < 3; ++i) {
    hooks.push_back(std::make_unique<Hook>(server, test::hello(std::to_string(i))));
    REQUIRE(hooks.back()->receive().has_welcome());
  }
  Hook one_more(server, test::hello("one more"));
  const v1::ToHook message = one_more.receive();
  REQUIRE(message.has_refusal());
  CHECK(message.refusal().why().find("3 connections") != std::string::npos);
  hooks.pop_back();
  CHECK(eventually([&] { return Hook(server, test::hello("now")).receive().has_welcome(); }));
}

TEST_CASE(
    "case_36: a hook that does not read its plans holds nobody up, and gets the newest once it "
    "reads") {
  Server server;
  Hook deaf(server, test::hello("deaf"));
  v1::FromHook many;
  std::vector<std::uint32_t> all;
  for (std::uint32_t id = 1; id <= 5000; ++id) {
    *many.mutable_tensors()->add_tensors() = test::tensor(id, "t" + std::to_string(id), {6});
    all.push_back(id);
  }
  deaf.send(many);
  REQUIRE(eventually([&] {
    const auto run = server.runs.find("deaf");
    return run && run->tensors()->tensors.size() == 5000;
  }));
  ViewFeed feed = server.runs.find("deaf")->watch();
  Hook other(server, test::hello("other"));
  for (std::uint64_t i = 1; i <= 300; ++i) {
    feed.set_plan(test::plan(all));
    other.send(test::scalar("loss", i, 1));
  }
  feed.set_plan(test::plan({7}));
  CHECK(eventually([&] {
    const auto run = server.runs.find("other");
    return run && run->latest_scalars().series_size() == 1 &&
           run->latest_scalars().series(0).steps(0) == 300;
  }));
  CHECK(deaf.receive().has_welcome());
  int received = 0;
  for (;;) {
    const v1::ToHook message = deaf.receive();
    REQUIRE(message.has_plans());
    ++received;
    if (message.plans().views_size() == 1 && message.plans().views(0).tensors_size() == 1) break;
  }
  CHECK(received < 300);
}

TEST_CASE("messages can come from a pipe, and from a file") {
  Server server;
  std::string bytes = Hook::delimited(test::from_hook(test::hello("piped")));
  bytes += Hook::delimited(test::declared({test::tensor(1, "picture", {2, 3}, v1::KIND_FRAME)}));

  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  server.ingest->add_stream(UniqueFd(ends[0]), "standard input");
  UniqueFd into(ends[1]);
  REQUIRE(::write(into.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  REQUIRE(eventually([&] {
    const auto run = server.runs.find("piped");
    return run && run->tensors()->tensors.size() == 1;
  }));
  ViewFeed feed = server.runs.find("piped")->watch();
  feed.set_plan(test::plan({1}));
  const std::string frame = Hook::delimited(test::frame(0, 0, 3, {test::tile(1, 6)}));
  REQUIRE(::write(into.get(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size()));
  CHECK(eventually([&] { return feed.wait(1s).frame != nullptr; }));
  into.reset();
  CHECK(server.state_is("piped", v1::RUN_STATE_CRASHED));

  bytes = Hook::delimited(test::from_hook(test::hello("recorded"))) + std::string(wire::kSentinel);
  const std::string path = server.directory / "messages";
  std::ofstream(path, std::ios::binary) << bytes;
  server.ingest->add_stream(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  CHECK(server.state_is("recorded", v1::RUN_STATE_ENDED));
  CHECK(warnings().empty());
}

TEST_CASE("what came and what is open is counted") {
  Server server;
  {
    Hook hook(server, test::hello("r"));
    REQUIRE(hook.receive().has_welcome());
    CHECK(eventually([&] { return server.ingest->counters().connections == 1; }));
    CHECK(server.ingest->counters().messages == 1);
    CHECK(server.ingest->counters().bytes ==
          Hook::delimited(test::from_hook(test::hello("r"))).size());
  }
  CHECK(eventually([&] { return server.ingest->counters().connections == 0; }));
  CHECK(server.ingest->counters().accepted == 1);
  CHECK(server.ingest->counters().bad == 0);
}

TEST_CASE(
    "case_28: an address in use is an error that names it, and leaves the server there alone") {
  Server server;
  Runs others;
  IngestOptions options;
  options.addresses = {server.ingest->addresses()[0]};
  const auto second = Ingest::create(options, others);
  REQUIRE_FALSE(second);
  CHECK(second.error().message.find(options.addresses[0].to_string()) != std::string::npos);
  Hook hook(server, test::hello("r"));
  CHECK(hook.receive().has_welcome());
}

TEST_CASE("over TCP the token lets a hook in, over a unix socket none is needed") {
  Server server;
  for (const char* token : {"", "a-secre", "a-secreT", "a-secret-", "another-secret"}) {
    CAPTURE(token);
    Hook stranger(server, 1);
    v1::Hello hello = test::hello("stranger");
    hello.set_token(token);
    stranger.send(test::from_hook(hello));
    const v1::ToHook answer = stranger.receive();
    REQUIRE(answer.has_refusal());
    CHECK(answer.refusal().why().find("token") != std::string::npos);
    CHECK(answer.refusal().why().find("a-secret") == std::string::npos);
  }
  CHECK(server.runs.all().empty());
  Hook friendly(server, test::hello("friend"), 1);
  CHECK(friendly.receive().has_welcome());
  Hook local(server, 0);
  local.send(test::from_hook(test::hello("local")));
  CHECK(local.receive().has_welcome());
}

TEST_CASE("TCP without a token is not listened on") {
  Runs runs;
  IngestOptions options;
  options.addresses = {*wire::Address::parse("tcp:127.0.0.1:0")};
  const auto made = Ingest::create(std::move(options), runs);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("token") != std::string::npos);
}
