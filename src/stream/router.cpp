#include "stream/router.hpp"

#include <utility>

#include "stream/mp4_viewer.hpp"
#include "stream/page_viewer.hpp"
#include "stream/query.hpp"
#include "stream/reply.hpp"

namespace phosphene::stream {
namespace {

constexpr std::string_view kNoStore = "Cache-Control: no-store\r\n";
constexpr std::string_view kHtml = "text/html; charset=utf-8";

bool ends_at(std::string_view path, std::string_view endpoint) {
  return path.ends_with(endpoint) && path.size() > endpoint.size() &&
         path[path.size() - endpoint.size() - 1] == '/';
}

bool is_page(std::string_view path) {
  return path.ends_with('/') || ends_at(path, "index.html");
}

/// "/sub" may be the page itself, reached without its slash: a folder's name has no dot.
bool may_be_folder(std::string_view path) {
  const std::string_view last = path.substr(path.rfind('/') + 1);
  return last.find('.') == std::string_view::npos && path.find("/api/") == std::string_view::npos &&
         path.find("/assets/") == std::string_view::npos;
}

Response text(int status, std::string sentence) {
  return {.status = status, .headers = std::string(kNoStore), .body = std::move(sentence) + "\n"};
}

Response fresh(std::string_view type, std::string body) {
  return {.type = std::string(type), .headers = std::string(kNoStore), .body = std::move(body)};
}

Response redirect(int status, const std::string& location, std::string headers = {}) {
  headers += "Location: " + location + "\r\n";
  headers += kNoStore;
  return {.status = status, .headers = std::move(headers), .body = {}};
}

std::string html(std::string_view head, std::string_view sentence) {
  std::string page =
      "<!doctype html><html lang=en><meta charset=utf-8><title>phosphene</title>"
      "<meta name=viewport content=\"width=device-width\"><meta name=color-scheme content=dark>";
  page += head;
  page +=
      "<body style=\"font:1.1rem/1.6 system-ui;max-width:34rem;margin:20vh auto;padding:0 1rem\">"
      "<h1 style=\"font-weight:500\">phosphene</h1><p>";
  page += sentence;
  return page += "</p></body></html>\n";
}

}  // namespace

Router::Router(Hall& hall, Door door, std::span<const Asset> assets)
    : hall_(hall), door_(std::move(door)), assets_(assets) {}

std::unique_ptr<Conversation> Router::answer(const Request& request) {
  ++hall_.metrics.http_requests;
  auto routed = route(request);
  if (auto* conversation = std::get_if<std::unique_ptr<Conversation>>(&routed)) {
    return std::move(*conversation);
  }
  const Response& response = std::get<Response>(routed);
  hall_.metrics.bytes_sent += response.body.size();
  return std::make_unique<Reply>(to_wire(response, request.method != "HEAD"));
}

std::variant<std::unique_ptr<Conversation>, Response> Router::upgrade(const Request& request) {
  ++hall_.metrics.http_requests;
  if (auto refusal = door_.check_names(request)) return turn_away(request, std::move(*refusal));
  if (auto refusal = door_.check_token(request)) return turn_away(request, std::move(*refusal));
  if (!ends_at(request.path, "ws")) return text(404, "The WebSocket is at ws.");
  return std::make_unique<PageViewer>(hall_, request.query);
}

std::variant<std::unique_ptr<Conversation>, Response> Router::route(const Request& request) {
  const std::string_view path = request.path;
  if (auto refusal = door_.check_names(request)) return turn_away(request, std::move(*refusal));
  if (request.method.empty()) {
    Response refused = text(405, "This server answers GET and HEAD only.");
    refused.headers += "Allow: GET, HEAD\r\n";
    return refused;
  }
  if (ends_at(path, "healthz")) return fresh("text/plain; charset=utf-8", "ok\n");
  if (auto refusal = door_.check_token(request)) return turn_away(request, std::move(*refusal));

  if (is_page(path)) return page(request);
  if (ends_at(path, "metrics")) {
    return fresh("text/plain; version=0.0.4; charset=utf-8",
                 hall_.metrics.to_text() + hall_.site.metrics());
  }
  if (ends_at(path, "api/runs")) return fresh("application/json", hall_.site.runs_json());
  if (ends_at(path, "api/channels")) return fresh("application/json", hall_.site.channels_json());
  if (ends_at(path, "ws")) return text(426, "This is a WebSocket; /live.mp4 is for players.");
  if (ends_at(path, "live.mp4")) {
    const auto refuse = [&](int status, const std::string& sentence) {
      ++hall_.metrics.refused[static_cast<std::size_t>(Refused::kRequest)];
      return text(status, sentence);
    };
    Result<View> view = View::parse(request.query);
    if (view && !request.query.contains("mode")) view->mode = hall_.site.usual_mode(view->run);
    if (!view) return refuse(400, view.error().message);
    if (view->mode == View::Mode::kOff) return refuse(400, "mode=off has no picture.");
    if (request.method == "HEAD")
      return Response{.type = "video/mp4", .headers = std::string(kNoStore), .body = {}};
    Result<std::shared_ptr<Broadcast>> broadcast = hall_.site.subscribe(*view);
    if (!broadcast) return refuse(503, broadcast.error().message);
    return std::make_unique<Mp4Viewer>(hall_, Subscription(std::move(*broadcast)));
  }
  if (const Asset* asset = find_asset(path)) {
    Response response{
        .type = std::string(asset->mime), .headers = "Cache-Control: no-cache\r\n", .body = {}};
    if (asset->path.starts_with("assets/")) {  // their names hold a hash of what is in them
      response.headers = "Cache-Control: private, max-age=31536000, immutable\r\n";
    }
    response.body.assign(reinterpret_cast<const char*>(asset->bytes.data()), asset->bytes.size());
    return response;
  }
  if (may_be_folder(path)) {
    std::string location(path.substr(path.rfind('/') + 1));
    location = percent_encode(location) + "/";
    if (!request.query.empty()) location += "?" + to_query(request.query);
    return redirect(308, "./" + location);
  }
  ++hall_.metrics.refused[static_cast<std::size_t>(Refused::kRequest)];
  return text(404, "There is nothing at " + printable(path) + ".");
}

Response Router::page(const Request& request) const {
  if (request.query.contains("token")) {  // becomes a cookie, and leaves the address bar
    auto rest = request.query;
    rest.erase("token");
    // "?…" alone keeps the path as the browser knows it.
    return redirect(303, "?" + to_query(rest), door_.set_cookie(request));
  }
  const Asset* index = find_asset("/index.html");
  if (!index) {
    return fresh(kHtml, html({},
                             "This program was built without its page (see the option "
                             "<code>page</code>); the video is at <code>live.mp4</code>."));
  }
  // Relative addresses in a page that was reached without its closing slash point one folder too
  // high.
  const std::string nonce = random_token();
  std::string body(reinterpret_cast<const char*>(index->bytes.data()), index->bytes.size());
  if (const std::size_t head = body.find("<head>"); head != std::string::npos) {
    body.insert(head + 6, "<script nonce=\"" + nonce +
                              "\">location.pathname.endsWith(\"/\")||location.pathname.endsWith"
                              "(\".html\")||location.replace(location.pathname+\"/\"+"
                              "location.search+location.hash)</script>");
  }
  Response response = fresh(kHtml, std::move(body));
  response.headers +=
      "Content-Security-Policy: default-src 'none'; script-src 'self' 'nonce-" + nonce +
      "'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
      "media-src 'self' blob:; worker-src 'self' blob:; manifest-src 'self'; connect-src 'self' "
      "ws://" +
      request.host + " wss://" + request.host +
      "; base-uri 'none'; form-action 'none'; frame-ancestors 'self' http://localhost:* "
      "http://127.0.0.1:*\r\n";
  return response;
}

Response Router::turn_away(const Request& request, Door::Refusal refusal) {
  hall_.metrics.refuse(refusal.cause,
                       "A request for " + printable(request.path) + " was refused: " +
                           refusal.response.body.substr(0, refusal.response.body.size() - 1));
  Response response = std::move(refusal.response);
  if (refusal.cause != Refused::kToken || !is_page(request.path)) return response;
  std::string head;
  if (request.from_another_site && !request.query.contains("again")) {
    // A link on another site led here: the browser keeps a strict cookie back until a page of ours
    // asks.
    auto query = request.query;
    query["again"] = "1";
    head = "<meta http-equiv=refresh content=\"0;url=?" + to_query(query) + "\">";
  }
  response.type = kHtml;
  response.body = html(head, response.body);
  return response;
}

const Asset* Router::find_asset(std::string_view path) const {
  for (const Asset& asset : assets_) {
    if (ends_at(path, asset.path)) return &asset;
  }
  return nullptr;
}

}  // namespace phosphene::stream
