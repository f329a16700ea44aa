// The libwebsockets context and its events; what they mean is decided elsewhere.
#include "stream/server.hpp"

#include <libwebsockets.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "stream/crowd.hpp"
#include "stream/hall.hpp"
#include "stream/listener.hpp"
#include "stream/router.hpp"

namespace phosphene::stream {
namespace {

constexpr std::int64_t kTick_us = 200'000;
constexpr std::int64_t kMaxStall_us =
    30'000'000;  // a viewer who takes nothing for so long is dropped
constexpr unsigned kMaxHeaderBytes = 16u
                                     << 10;  // cookies of all other servers on localhost come along
constexpr unsigned kRequestTimeout_s = 10;
// Small pieces cost a round of the loop each (see docs/decisions).
constexpr std::size_t kMaxSendBytes = 1u << 20;
constexpr std::size_t kReceiveBytes = 4096;
constexpr int kMaxAccepts = 64;  // at one go: viewers wait meanwhile
constexpr std::int64_t kAcceptPause_us = 250'000;
constexpr char kBusy[] =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    "There are too many connections to this server.\n";

// A page that does not answer a ping is gone, FIN or not.
constexpr lws_retry_bo_t kKeepAlive = {
    .retry_ms_table = nullptr,
    .retry_ms_table_count = 0,
    .conceal_count = 0,
    .secs_since_valid_ping = 10,
    .secs_since_valid_hangup = 40,
    .jitter_percent = 0,
};

void log_line(int level, const char* line) {
  std::string_view text(line);
  while (text.ends_with('\n')) text.remove_suffix(1);
  // Its errors are mostly those of clients, told in its own words; ours name the thing.
  log(level == LLL_ERR ? LogLevel::kInfo : LogLevel::kDebug, text);
}

}  // namespace

struct Server::State {
  State(const ServerOptions& options, Site& site, std::uint16_t bound_port)
      : host(options.host),
        port(bound_port),
        hall{.site = site, .metrics = {}, .runs = {}},
        router(hall,
               Door(HostRules(options.host, options.allowed_hosts),
                    options.token.empty() ? random_token() : options.token, bound_port),
               options.assets),
        crowd(options.max_connections, options.max_connections_per_peer) {}

  static int on_event(lws* handle, lws_callback_reasons reason, void*, void* in, std::size_t size);
  static void on_tick(lws_sorted_usec_list_t* timer);

  void accept_all();
  void pause_accepting(int why);
  bool has_too_many_files() const;
  static void on_accept_again(lws_sorted_usec_list_t* timer);
  int on_http(Socket& socket);
  int on_handshake(Socket& socket);
  int on_room(Socket& socket);
  void want_room(Socket& socket);
  void offer_news();
  void tick();

  std::string host;
  std::uint16_t port;
  Hall hall;
  Router router;
  Crowd crowd;

  struct Timer {
    lws_sorted_usec_list_t entry{};  // first: libwebsockets gives back its address
    State* owner = nullptr;
    bool running = false;
  };
  Timer timer;

  Timer accept_timer;  // while nothing is accepted

  int listener = -1;         // libwebsockets owns it
  lws* listening = nullptr;  // its handle
  bool starved = false;      // the latest accept failed: no files, no memory
  lws_vhost* vhost = nullptr;
  std::atomic<bool> woken{false};
  std::atomic<bool> stopping{false};
  // Last: closing the connections, on the way out, needs all of the above.
  std::unique_ptr<lws_context, Deleter<lws_context_destroy>> context;
};

int Server::State::on_event(lws* handle, lws_callback_reasons reason, void*, void* in,
                            std::size_t size) {
  auto& state = *static_cast<State*>(lws_context_user(lws_get_context(handle)));
  switch (reason) {
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
      state.offer_news();
      return 0;
    case LWS_CALLBACK_RAW_RX_FILE:
      state.accept_all();
      return 0;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: {
      const int fd = lws_get_socket_fd(handle);
      tune_for_viewers(fd);
      lws_set_opaque_user_data(handle, state.crowd.add(handle, peer_of(fd)));
      ++state.hall.metrics.connections;
      ++state.hall.metrics.open_connections;
      return 0;
    }
    case LWS_CALLBACK_RAW_ADOPT:
    case LWS_CALLBACK_RAW_RX:
      return -1;  // CONNECT
    default:
      break;
  }

  // The streams of HTTP/2 have no socket of their own: not spoken here, though libwebsockets offers
  // it.
  auto* socket = static_cast<Socket*>(lws_get_opaque_user_data(handle));
  switch (reason) {
    case LWS_CALLBACK_WSI_DESTROY:
      if (!socket) return 0;
      lws_set_opaque_user_data(handle, nullptr);
      state.crowd.remove(socket);
      --state.hall.metrics.open_connections;
      return 0;
    case LWS_CALLBACK_HTTP:
      return socket ? state.on_http(*socket) : -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
      return socket ? state.on_handshake(*socket) : -1;
    case LWS_CALLBACK_ESTABLISHED:
      socket->established = true;
      state.want_room(*socket);
      return 0;
    case LWS_CALLBACK_HTTP_WRITEABLE:
    case LWS_CALLBACK_SERVER_WRITEABLE:
      return socket ? state.on_room(*socket) : -1;
    case LWS_CALLBACK_RECEIVE: {
      const bool last = lws_is_final_fragment(handle) && lws_remaining_packet_payload(handle) == 0;
      if (!socket->conversation->receive(handle, {static_cast<const char*>(in), size}, last)) {
        return -1;
      }
      if (socket->conversation->has_news()) state.want_room(*socket);
      return 0;
    }
    default:
      return 0;
  }
}

void Server::State::accept_all() {
  for (int i = 0; i < kMaxAccepts; ++i) {
    UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN) pause_accepting(errno);
      return;
    }
    starved = false;
    Socket* leaving = nullptr;
    if (!crowd.admits(peer_of(fd.get()), &leaving)) {
      hall.metrics.refuse(Refused::kConnections,
                          "A connection was refused: there are too many, in all or of one peer.");
      send(fd.get(), kBusy, sizeof kBusy - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
      continue;
    }
    if (leaving)
      lws_set_timeout(leaving->handle, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
    lws_sock_file_fd_type descriptor;
    descriptor.sockfd = fd.release();
    lws_adopt_descriptor_vhost(vhost,
                               static_cast<lws_adoption_type>(LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP),
                               descriptor, nullptr, nullptr);
    if (!timer.running) {
      timer.running = true;
      lws_sul_schedule(context.get(), 0, &timer.entry, on_tick, kTick_us);
    }
  }
}

// What waits to be accepted would wake the loop again at once, for as long as there is no room.
void Server::State::pause_accepting(int why) {
  ++hall.metrics.accept_pauses;
  if (!std::exchange(starved, true))
    log(LogLevel::kWarning, "New connections wait, since none can be accepted: " +
                                std::string(std::strerror(why)) + ".");
  lws_rx_flow_control(listening, 0);
  lws_sul_schedule(context.get(), 0, &accept_timer.entry, on_accept_again, kAcceptPause_us);
}

void Server::State::on_accept_again(lws_sorted_usec_list_t* timer) {
  lws_rx_flow_control(reinterpret_cast<Timer*>(timer)->owner->listening, 1);
}

bool Server::State::has_too_many_files() const {
  rlimit files{};
  return getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < crowd.sockets().size() + 2;
}

int Server::State::on_http(Socket& socket) {
  if (socket.conversation) return -1;  // one answer for each connection
  const Request request = read_request(socket.handle);
  socket.conversation = router.answer(request);
  socket.established = socket.is_http = true;
  if (request.method.empty()) {  // a body may follow that nobody waits for
    socket.conversation->write(socket.handle);
    return -1;
  }
  lws_set_timeout(socket.handle, NO_PENDING_TIMEOUT, 0);
  want_room(socket);
  return 0;
}

int Server::State::on_handshake(Socket& socket) {
  auto outcome = router.upgrade(read_request(socket.handle));
  if (auto* conversation = std::get_if<std::unique_ptr<Conversation>>(&outcome)) {
    socket.conversation = std::move(*conversation);
    return 0;
  }
  std::string wire = std::string(LWS_PRE, '\0') + to_wire(std::get<Response>(outcome), true);
  lws_write(socket.handle, reinterpret_cast<unsigned char*>(wire.data()) + LWS_PRE,
            wire.size() - LWS_PRE, LWS_WRITE_HTTP);
  return -1;
}

int Server::State::on_room(Socket& socket) {
  socket.waiting_since_us = 0;
  if (!socket.conversation) return 0;
  switch (socket.conversation->write(socket.handle)) {
    case Conversation::Next::kWait:
      return 0;
    case Conversation::Next::kMore:
      want_room(socket);
      return 0;
    case Conversation::Next::kClose:
      return -1;
  }
  return -1;
}

void Server::State::want_room(Socket& socket) {
  if (socket.waiting_since_us != 0 || !socket.established) return;
  socket.waiting_since_us = monotonic_us();
  lws_callback_on_writable(socket.handle);
}

void Server::State::offer_news() {
  woken = false;
  for (const auto& [key, socket] : crowd.sockets()) {
    if (socket->conversation && socket->conversation->has_news()) want_room(*socket);
  }
}

void Server::State::on_tick(lws_sorted_usec_list_t* timer) {
  reinterpret_cast<Timer*>(timer)->owner->tick();
}

void Server::State::tick() {
  timer.running = !crowd.sockets().empty();
  if (!timer.running) return;
  lws_sul_schedule(context.get(), 0, &timer.entry, on_tick, kTick_us);
  if (hall.metrics.pages > 0) hall.runs.refresh(hall.site);
  const std::int64_t now = monotonic_us();
  for (const auto& [key, socket] : crowd.sockets()) {
    if (!socket->conversation) continue;
    socket->conversation->tick();
    if (socket->conversation->has_news()) want_room(*socket);
    // libwebsockets does not read from an HTTP client while it is being answered, and so would
    // neither see it go nor stop waking up for what it sends.
    const bool is_idle = socket->waiting_since_us == 0;
    if (is_idle && socket->is_http && !discard_input(lws_get_socket_fd(socket->handle))) {
      lws_set_timeout(socket->handle, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    } else if (!is_idle && now - socket->waiting_since_us > kMaxStall_us) {
      hall.metrics.refuse(Refused::kStalled, "A viewer was dropped: it took nothing for 30 s.");
      socket->waiting_since_us = now;
      lws_set_timeout(socket->handle, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    }
  }
}

Result<std::unique_ptr<Server>> Server::create(const ServerOptions& options, Site& site) {
  static std::once_flag once;
  std::call_once(once, [] { lws_set_log_level(LLL_ERR | LLL_WARN, log_line); });

  Result<Listener> listener = listen_on(options.host, options.port, options.port_asked_for);
  if (!listener) return listener.error();
  auto state = std::make_unique<State>(options, site, listener->port);
  state->timer.owner = state->accept_timer.owner = state.get();

  static const lws_protocols kProtocols[] = {
      {.name = "phosphene",
       .callback = State::on_event,
       .per_session_data_size = 0,
       .rx_buffer_size = kReceiveBytes,
       .id = 0,
       .user = nullptr,
       .tx_packet_size = kMaxSendBytes},
      {.name = nullptr,
       .callback = nullptr,
       .per_session_data_size = 0,
       .rx_buffer_size = 0,
       .id = 0,
       .user = nullptr,
       .tx_packet_size = 0},
  };
  lws_context_creation_info info{};
  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  info.protocols = kProtocols;
  info.user = state.get();
  info.gid = info.uid = -1;
  info.timeout_secs = kRequestTimeout_s;
  info.max_http_header_data = kMaxHeaderBytes;
  info.max_http_header_pool = static_cast<unsigned short>(std::min(options.max_connections, 65535));
  info.fd_limit_per_thread = static_cast<unsigned>(options.max_connections) + 16;
  info.retry_and_idle_policy = &kKeepAlive;
  info.options = LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS | LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
  state->context.reset(lws_create_context(&info));
  if (!state->context) return Error{"libwebsockets did not start: out of memory or files."};
  state->vhost = lws_create_vhost(state->context.get(), &info);
  if (!state->vhost) return Error{"libwebsockets did not start: out of memory."};

  state->listener = listener->fd.get();
  lws_sock_file_fd_type descriptor;
  descriptor.filefd = listener->fd.release();
  state->listening = lws_adopt_descriptor_vhost(state->vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor,
                                                "phosphene", nullptr);
  if (!state->listening) {
    return Error{"libwebsockets did not take the listening socket."};
  }
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

std::uint16_t Server::port() const {
  return state_->port;
}
std::string Server::listen() const {
  return join(state_->host, state_->port);
}
const std::string& Server::token() const {
  return state_->router.door().token();
}

std::string Server::url() const {
  const bool anywhere = state_->host == "0.0.0.0" || state_->host == "::";
  return "http://" + join(anywhere ? "127.0.0.1" : state_->host, state_->port) +
         "/?token=" + token();
}

Result<void> Server::run() {
  while (!state_->stopping) {
    errno = 0;
    if (lws_service(state_->context.get(), 0) < 0 && !state_->stopping)
      return Error{"The server ended by itself: libwebsockets gave up."};
    // libwebsockets overlooks that poll() failed, and would call it again at once, for ever.
    if (errno == EINVAL && state_->has_too_many_files())
      return Error{
          "The server ended by itself: the limit of open files was lowered below what is "
          "open."};
  }
  return {};
}

void Server::stop() {
  state_->stopping = true;
  lws_cancel_service(state_->context.get());
}

void Server::wake() {
  if (!state_->woken.exchange(true)) lws_cancel_service(state_->context.get());
}

}  // namespace phosphene::stream
