#include "app/service.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/channels.hpp"
#include "app/files.hpp"
#include "app/ingest.hpp"
#include "app/metrics.hpp"
#include "app/page.hpp"
#include "app/token.hpp"
#include "app/translate.hpp"
#include "base/log.hpp"
#include "base/tensor.hpp"
#include "encode/encoder.hpp"
#include "stream/security.hpp"
#include "stream/server.hpp"

namespace phosphene::app {
namespace {

constexpr const char* name_of_state(v1::RunState state) {
  switch (state) {
    case v1::RUN_STATE_RUNNING:
      return "running";
    case v1::RUN_STATE_PAUSED:
      return "paused";
    case v1::RUN_STATE_ENDED:
      return "ended";
    default:
      return "crashed";
  }
}

nlohmann::json json_of(const Run& run) {
  const v1::RunInfo info = run.info();
  const v1::Scalars latest = run.latest_scalars();
  nlohmann::json scalars = nlohmann::json::object();
  for (const v1::Series& series : latest.series())
    if (series.values_size() > 0) scalars[series.name()] = series.values(series.values_size() - 1);
  const std::shared_ptr<const TensorTable> table = run.tensors();
  nlohmann::json tensors = nlohmann::json::array();
  for (const v1::Tensor& tensor : table->tensors) {
    tensors.push_back(
        {{"name", tensor.name()},
         {"kind", name_of(static_cast<Kind>(tensor.kind()))},
         {"dtype", name_of(static_cast<DType>(tensor.dtype()))},
         {"shape", std::vector<std::uint64_t>(tensor.shape().begin(), tensor.shape().end())}});
  }
  return {{"id", info.id()},
          {"name", info.name()},
          {"state", name_of_state(info.state())},
          {"step", info.progress().step()},
          {"scalars", std::move(scalars)},
          {"tensors", std::move(tensors)}};
}

/// JSON of text that may come from outside: what is no UTF-8 is replaced, never thrown about.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

wire::Address beside(const wire::Address& taken) {
  wire::Address address = taken;
  const auto slash = address.path.rfind('/');
  address.path =
      address.path.substr(0, slash + 1) + "ingest-" + std::to_string(::getpid()) + ".sock";
  return address;
}

/// A unix socket has its file's mode; over TCP a token lets hooks in.
void add_token(std::vector<wire::Address>& addresses, const std::string& token) {
  for (wire::Address& address : addresses) {
    if (address.transport != wire::Address::Transport::kTcp) continue;
    if (address.token.empty()) address.token = token;
    if (!stream::is_loopback(address.host))
      log(LogLevel::kWarning, "what hooks send to " + address.to_string() +
                                  ", the token too, is not encrypted; an SSH tunnel to a local "
                                  "address is the safe way");
  }
}

void say_where_hooks_connect(const std::vector<wire::Address>& addresses) {
  for (const wire::Address& address : addresses)
    if (address.transport == wire::Address::Transport::kTcp)
      log(LogLevel::kInfo,
          "hooks reach this server at PHOSPHENE_ADDRESS='" + address.with_token() + "'");
}

/// Where nobody asked for an address: the user's own socket, or one beside it where another server
/// has that.
Result<std::unique_ptr<Ingest>> listen_for_hooks(const std::vector<wire::Address>& asked,
                                                 const std::string& token,
                                                 std::size_t max_connections, Runs& runs) {
  IngestOptions options;
  options.addresses = asked;
  options.max_connections = max_connections;
  add_token(options.addresses, token);
  if (!asked.empty()) return Ingest::create(std::move(options), runs);
  const wire::Address usual = wire::default_address();
  options.addresses = {usual};
  Result<std::unique_ptr<Ingest>> ingest = Ingest::create(options, runs);
  if (ingest) return ingest;
  const std::string why = ingest.error().message;
  options.addresses = {beside(usual)};
  ingest = Ingest::create(options, runs);
  if (ingest)
    log(LogLevel::kWarning,
        why + "; hooks reach this server at PHOSPHENE_ADDRESS=" + options.addresses[0].to_string());
  return ingest;
}

std::string token_of_user() {
  Result<std::string> token = user_token();
  if (token) return *std::move(token);
  log(LogLevel::kWarning,
      token.error().message + "; open pages will need the new URL after a restart");
  return stream::random_token();
}

}  // namespace

struct Service::State final : stream::Site {
  Runs runs_;
  std::unique_ptr<Ingest> ingest_;
  std::unique_ptr<stream::Server> server_;
  std::unique_ptr<Channels> channels_;  // ends before the server that it wakes

  ~State() override {
    runs_.on_changed({});
    if (channels_) channels_->close();
  }

  // stream::Site, on the loop thread
  Result<std::shared_ptr<stream::Broadcast>> subscribe(const stream::View& view) override {
    return channels_->open(view);
  }
  std::string runs_json() override {
    std::string list;  // text run by run: as one tree it would take several times the memory
    for (const std::shared_ptr<Run>& run : runs_.all())
      list += (list.empty() ? "[" : ",") + dump(json_of(*run));
    return list.empty() ? "[]" : list + "]";
  }
  std::string channels_json() override { return channels_->json(); }
  std::uint64_t runs_version() override { return runs_.version(); }
  v1::Runs runs() override { return runs_.message(); }
  std::string run_of(const stream::View& view) override {
    const std::shared_ptr<Run> run = runs_.find(view.run);
    return run ? run->id() : std::string();
  }
  stream::View::Mode usual_mode(const std::string& name) override {
    const std::shared_ptr<Run> run = runs_.find(name);
    const std::shared_ptr<const TensorTable> table = run ? run->tensors() : nullptr;
    return table && !table->kinds.empty() ? mode_of(table->kinds.front())
                                          : stream::View::Mode::kParameters;
  }
  std::optional<v1::RunScalars> scalars(const std::string& id, std::uint64_t& cursor) override {
    const std::shared_ptr<Run> run = runs_.find(id);
    if (!run) return std::nullopt;
    std::optional<v1::RunScalars> news = run->scalars(cursor);
    if (news) news->set_run(id);
    return news;
  }
  std::string metrics() override;
};

std::string Service::State::metrics() {
  std::string text = channels_->metrics();
  const FrameCounters& frames = runs_.frames();
  add_metric(text, "frames_received_total", "counter", "Frames that came from hooks.",
             frames.received);
  add_metric(text, "frames_dropped_total", "counter", "Frames that were not drawn, by cause.",
             frames.dropped_undrawn, R"(cause="superseded")");
  add_metric(text, "frames_dropped_total", "counter", {}, frames.dropped_unknown_view,
             R"(cause="unwatched")");
  add_metric(text, "frames_dropped_total", "counter", {}, frames.dropped_old_plan,
             R"(cause="old_plan")");
  add_metric(text, "frames_dropped_total", "counter", {}, frames.dropped_invalid,
             R"(cause="invalid")");
  std::uint64_t queue = 0, budget = 0;
  for (const std::shared_ptr<Run>& run : runs_.all()) {
    const v1::Progress progress = run->info().progress();
    queue += progress.frames_dropped_queue();
    budget += progress.frames_dropped_budget();
  }
  add_metric(text, "hook_frames_dropped_total", "counter",
             "Frames that hooks let go before sending, by cause.", queue, R"(cause="queue")");
  add_metric(text, "hook_frames_dropped_total", "counter", {}, budget, R"(cause="budget")");
  add_metric(text, "runs", "gauge", "Runs that the server knows.", runs_.all().size());
  add_metric(text, "runs_forgotten_total", "counter", "Runs that made room for others.",
             runs_.forgotten());
  add_metric(text, "runs_bytes", "gauge", "Memory of the runs' tensors and curves.",
             runs_.held_bytes());
  const IngestCounters& hooks = ingest_->counters();
  add_metric(text, "hook_connections", "gauge", "Hooks connected now.", hooks.connections);
  add_metric(text, "hook_accepted_total", "counter", "Connections of hooks accepted.",
             hooks.accepted);
  add_metric(text, "hook_accept_pauses_total", "counter",
             "Times that no hook was accepted for a while: no files or memory left.",
             hooks.accept_pauses);
  add_metric(text, "hook_refused_total", "counter", "Hooks told why they were refused.",
             hooks.refused);
  add_metric(text, "hook_bad_total", "counter", "Connections closed for what they sent.",
             hooks.bad);
  add_metric(text, "hook_messages_total", "counter", "Messages received from hooks.",
             hooks.messages);
  add_metric(text, "hook_bytes_total", "counter", "Bytes received from hooks.", hooks.bytes);
  return text;
}

Result<std::unique_ptr<Service>> Service::create(const ServiceOptions& options) {
  // What cannot encode should say so before a page is open.
  if (const auto encoder = encode::make_encoder({.name = options.encoder}); !encoder)
    return encoder.error();

  const Result<Room> room = make_room();
  if (!room) return room.error();

  auto state = std::make_unique<State>();
  const std::string token = options.token.empty() ? token_of_user() : options.token;
  Result<std::unique_ptr<Ingest>> ingest =
      listen_for_hooks(options.ingest, token, room->hooks, state->runs_);
  if (!ingest) return ingest.error();
  say_where_hooks_connect((*ingest)->addresses());
  state->ingest_ = *std::move(ingest);

  stream::ServerOptions how;
  how.host = options.host;
  how.port = options.port;
  how.port_asked_for = options.port_asked_for;
  how.allowed_hosts = options.allowed_hosts;
  how.max_connections = room->viewers;
  how.token = token;
  how.assets = page();
  Result<std::unique_ptr<stream::Server>> server = stream::Server::create(how, *state);
  if (!server) return server.error();
  state->server_ = *std::move(server);

  const auto wake = [&server = *state->server_] { server.wake(); };
  state->channels_ = std::make_unique<Channels>(state->runs_, options.encoder, wake);
  state->runs_.on_changed(wake);
  if (page().empty())
    log(LogLevel::kWarning,
        "this program was built without the page: only the API and /live.mp4 answer");
  return std::unique_ptr<Service>(new Service(std::move(state)));
}

Service::Service(std::unique_ptr<State> state) : state_(std::move(state)) {}
Service::~Service() = default;

std::string Service::url() const {
  return state_->server_->url();
}

wire::Address Service::ingest_address() const {
  return state_->ingest_->addresses().front();
}

std::string Service::announcement() const {
  nlohmann::json ingest = nlohmann::json::array();
  for (const wire::Address& address : state_->ingest_->addresses())
    ingest.push_back(address.with_token());
  return dump({{"url", url()},
               {"listen", state_->server_->listen()},
               {"token", state_->server_->token()},
               {"ingest", std::move(ingest)}});
}

void Service::read_messages(UniqueFd in, std::function<void(const Ingest::Ending&)> on_end) {
  state_->ingest_->add_stream(std::move(in), "standard input", std::move(on_end));
}

Result<void> Service::run() {
  return state_->server_->run();
}
void Service::stop() {
  state_->server_->stop();
}

}  // namespace phosphene::app
