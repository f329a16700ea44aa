// The command line: reads it, names what is wrong with it, and calls the command.

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/logging.hpp"
#include "base/secret.hpp"

namespace phosphene::app {
namespace {

constexpr int kUsage = 2;

/// "HOST:PORT", "[IPv6]:PORT" or "PORT".
std::string parse_listen(const std::string& text, ServiceOptions& options) {
  const auto colon = text.rfind(':');
  std::string host = colon == std::string::npos ? options.host : text.substr(0, colon);
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || port.empty() || error != std::errc() || end != port.data() + port.size() ||
      number > 65535)
    return "'" + text + "' is no address to listen on; give HOST:PORT, for instance 127.0.0.1:6160";
  options.host = host;
  options.port = static_cast<std::uint16_t>(number);
  options.port_asked_for = true;
  return {};
}

std::string parse_ingest(const std::vector<std::string>& texts, ServiceOptions& options) {
  for (const std::string& text : texts) {
    Result<wire::Address> address = wire::Address::parse(text);
    if (!address) return address.error().message;
    options.ingest.push_back(*std::move(address));
  }
  return {};
}

/// "WxH".
std::string parse_size(const std::string& text, PipeOptions& options) {
  const auto cross = text.find('x');
  const auto number = [](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
  };
  if (cross != std::string::npos) {
    options.width = number(std::string_view(text).substr(0, cross));
    options.height = number(std::string_view(text).substr(cross + 1));
  }
  if (options.width < 1 || options.height < 1 || options.width > 4096 || options.height > 4096)
    return "'" + text + "' is no size; give WxH in pixels, at most 4096x4096";
  return {};
}

/// "LO,HI".
std::string parse_range(const std::string& text, PipeOptions& options) {
  double lo = 0, hi = 0;
  const char* const end = text.data() + text.size();
  const auto [comma, first] = std::from_chars(text.data(), end, lo);
  if (first == std::errc() && comma != end && *comma == ',') {
    const auto [stop, second] = std::from_chars(comma + 1, end, hi);
    if (second == std::errc() && stop == end && lo < hi) {
      options.range = {lo, hi};
      return {};
    }
  }
  return "'" + text + "' is no range; give LO,HI with LO < HI, for instance -1,1";
}

void add_service_options(CLI::App& command, ServiceOptions& options, Announce& announce) {
  command
      .add_option_function<std::string>(
          "--listen",
          [&options](const std::string& text) {
            if (const std::string wrong = parse_listen(text, options); !wrong.empty())
              throw CLI::ValidationError("--listen", wrong);
          },
          "Where browsers connect, HOST:PORT; port 0 picks a free one")
      ->default_str("127.0.0.1:6160");
  command
      .add_option_function<std::vector<std::string>>(
          "--ingest",
          [&options](const std::vector<std::string>& texts) {
            if (const std::string wrong = parse_ingest(texts, options); !wrong.empty())
              throw CLI::ValidationError("--ingest", wrong);
          },
          "Where hooks connect, unix:PATH or tcp:HOST:PORT; may be repeated")
      ->default_str(wire::default_address().to_string());
  command.add_option("--encoder", options.encoder, "The H.264 encoder, as libavcodec calls it")
      ->capture_default_str();
  command
      .add_option("--token", options.token,
                  "The secret that browsers, and hooks over TCP, need; kept for you if left out")
      ->check([](const std::string& token) {
        return is_token(token) ? std::string()
                               : std::string("a token is 8 to 128 letters, digits, - or _");
      })
      ->envname("PHOSPHENE_TOKEN");
  command.add_option("--allow-host", options.allowed_hosts,
                     "A name that a reverse proxy passes on as Host; may be repeated");
  command.add_flag("--json", announce.json, "Say where it listens as one line of JSON");
}

int run(int argc, char** argv) {
  CLI::App program("See a neural network while it trains: live greyscale video in any browser.",
                   "phosphene");
  program.set_version_flag("--version", std::string("phosphene ") + PHOSPHENE_VERSION);
  program.require_subcommand(1);
  program.failure_message(CLI::FailureMessage::simple);
  bool verbose = false;
  program.add_flag("-v,--verbose", verbose, "Log more");

  ServiceOptions service;
  Announce announce;
  DemoOptions demo_options;
  PipeOptions pipe_options;

  CLI::App& demo_command = *program.add_subcommand("demo", "Train a real network here and show it");
  add_service_options(demo_command, service, announce);
  demo_command
      .add_option("--data", demo_options.data, "A directory with an IDX set such as MNIST's")
      ->default_str("Fashion-MNIST where installed, else the UCI digits");
  demo_command.add_option("--steps", demo_options.steps,
                          "End training after so many steps; 0: go on");
  demo_command.add_option("--steps-per-second", demo_options.steps_per_second,
                          "Train no faster than this; 0: no limit");
  demo_command.add_option("--seed", demo_options.seed, "Of the weights and the order of images")
      ->capture_default_str();

  CLI::App& serve_command = *program.add_subcommand("serve", "Show what training processes send");
  add_service_options(serve_command, service, announce);

  CLI::App& pipe_command =
      *program.add_subcommand("pipe", "Show frames, or messages, from standard input");
  add_service_options(pipe_command, service, announce);
  pipe_command
      .add_option("--format", pipe_options.format,
                  "levels4: two levels a byte; gray8: level = value / 16; float32: little-endian; "
                  "messages: a hook's")
      ->option_text("FORMAT [gray8]")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, PipeFormat>{{"levels4", PipeFormat::kLevels4},
                                            {"gray8", PipeFormat::kGray8},
                                            {"float32", PipeFormat::kFloat32},
                                            {"messages", PipeFormat::kMessages}},
          CLI::ignore_case))
      ->default_str("gray8");
  pipe_command.add_option_function<std::string>(
      "--size",
      [&](const std::string& text) {
        if (const std::string wrong = parse_size(text, pipe_options); !wrong.empty())
          throw CLI::ValidationError("--size", wrong);
      },
      "WxH of a frame in pixels; every format but messages needs it");
  pipe_command
      .add_option("--fps", pipe_options.fps, "Frames a second to read; input waits for its turn")
      ->check([](const std::string& text) {  // CLI::Range would let NaN through
        double fps = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fps);
        const bool fine =
            error == std::errc() && end == text.data() + text.size() && fps >= 0.1 && fps <= 240;
        return fine ? std::string() : "'" + text + "' is no rate; give frames a second, 0.1 to 240";
      })
      ->capture_default_str();
  pipe_command.add_option("--name", pipe_options.name, "Of the run")->capture_default_str();
  pipe_command.add_option_function<std::string>(
      "--range",
      [&](const std::string& text) {
        if (const std::string wrong = parse_range(text, pipe_options); !wrong.empty())
          throw CLI::ValidationError("--range", wrong);
      },
      "LO,HI for float32; left out: found from the values, steadily");
  pipe_command.add_option_function<std::string>(
      "--to",
      [&](const std::string& text) {
        Result<wire::Address> address = wire::Address::parse(text);
        if (!address) throw CLI::ValidationError("--to", address.error().message);
        pipe_options.to = *std::move(address);
      },
      "Send to a running server, unix:PATH or tcp:HOST:PORT?token=TOKEN, instead of serving here");

  try {
    // CLI11 alone would only say that a command is required.
    const auto is_command = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' &&
        program.get_subcommands([&](CLI::App* command) { return is_command(command); }).empty())
      throw CLI::ValidationError("there is no command '" + std::string(argv[1]) + "'");
    program.parse(argc, argv);
    if (pipe_command.parsed() && pipe_options.format != PipeFormat::kMessages &&
        pipe_options.width == 0)
      throw CLI::RequiredError("--size WxH");
    if (pipe_options.format == PipeFormat::kMessages && pipe_options.to)
      throw CLI::ValidationError("--to",
                                 "messages are for the server itself; have the hook connect to " +
                                     pipe_options.to->to_string() + " instead");
  } catch (const CLI::ParseError& error) {  // CLI11's own way to say it; nothing of ours throws
    return program.exit(error) == 0 ? 0 : kUsage;
  }

  set_up_logging(verbose);
  if (demo_command.parsed()) return demo(service, announce, demo_options);
  if (serve_command.parsed()) return serve(service, announce);
  return pipe(service, announce, pipe_options);
}

}  // namespace
}  // namespace phosphene::app

int main(int argc, char** argv) {
  return phosphene::app::run(argc, argv);
}
