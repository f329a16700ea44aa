#include "stream/security.hpp"

#include <doctest/doctest.h>

#include <set>

#include "base/secret.hpp"
#include "stream/query.hpp"

namespace stream = phosphene::stream;
using stream::HostRules;

TEST_CASE("tokens are 128 bits and never the same") {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(stream::random_token());
  CHECK(tokens.size() == 100);
  for (const std::string& token : tokens) CHECK(token.size() == 32);
}

TEST_CASE("the comparison of tokens compares") {
  CHECK(phosphene::equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(phosphene::equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(phosphene::equal_in_constant_time("abc", "ab"));
  CHECK_FALSE(phosphene::equal_in_constant_time("", "a"));
}

TEST_CASE("an authority is a name and perhaps a port") {
  const auto is = [](std::string_view text, std::string_view name, std::uint16_t port) {
    const auto authority = stream::parse_authority(text);
    return authority.name == name && authority.port == port;
  };
  CHECK(is("Example.ORG:8080", "example.org", 8080));
  CHECK(is("localhost", "localhost", 0));
  CHECK(is("localhost.", "localhost", 0));
  CHECK(is("[::1]:6160", "::1", 6160));
  CHECK(is("[::1]", "::1", 0));
  for (const char* malformed :
       {"", ":80", "a:", "a:b", "a:80b", "a:70000", "[::1", "[::1]80", "a:1:2"}) {
    CHECK(stream::parse_authority(malformed).name.empty());
  }
}

TEST_CASE("on loopback only this machine's own names are answered to (case_41, DNS rebinding)") {
  const HostRules rules("127.0.0.1", {"proxy.example"});
  for (const char* good :
       {"127.0.0.1:6160", "localhost:6160", "LOCALHOST", "[::1]:7000", "127.0.0.2:80",
        "localhost:12345", "proxy.example", "proxy.example:8443"}) {
    CHECK(rules.allows_host(good));
  }
  for (const char* bad :
       {"", "evil.example", "evil.example:6160", "localhost.evil.example", "127.0.0.1.evil.example",
        "192.168.1.1:6160", "127.0.0.1:6160@evil", "localhost:port", "0x7f.1"}) {
    CHECK_FALSE(rules.allows_host(bad));
  }
}

TEST_CASE(
    "listening elsewhere, addresses and this machine's names are answered to, foreign names are "
    "not") {
  const HostRules any("0.0.0.0", {});
  CHECK(any.allows_host("192.168.1.1:6160"));
  CHECK(any.allows_host("[fd00::1]:6160"));
  CHECK(any.allows_host("localhost:6160"));
  CHECK_FALSE(any.allows_host("evil.example:6160"));
  const HostRules named("gpu7.lab", {});
  CHECK(named.allows_host("gpu7.lab:6160"));
  CHECK(named.allows_host("GPU7.lab"));
  CHECK_FALSE(named.allows_host("gpu8.lab"));
}

TEST_CASE("an origin is the host itself or a name allowed explicitly") {
  const HostRules rules("127.0.0.1", {"proxy.example"});
  CHECK(rules.allows_origin("http://localhost:6160", "localhost:6160"));
  CHECK(rules.allows_origin("http://[::1]:6160", "[::1]:6160"));
  CHECK(rules.allows_origin("https://proxy.example", "127.0.0.1:6160"));
  CHECK_FALSE(rules.allows_origin("http://localhost:3000", "localhost:6160"));
  CHECK_FALSE(rules.allows_origin("http://evil.example", "localhost:6160"));
  CHECK_FALSE(rules.allows_origin("http://127.0.0.1:6160", "localhost:6160"));
  CHECK_FALSE(rules.allows_origin("null", "localhost:6160"));
  CHECK_FALSE(rules.allows_origin("localhost:6160", "localhost:6160"));
}

TEST_CASE("a cookie is found among others by its whole name") {
  const std::string_view header = "a=1; phosphene_61600=no; phosphene_6160=yes;b=";
  CHECK(stream::cookie_value(header, "phosphene_6160") == "yes");
  CHECK(stream::cookie_value(header, "a") == "1");
  CHECK(stream::cookie_value(header, "b").empty());
  CHECK(stream::cookie_value(header, "phosphene").empty());
  CHECK(stream::cookie_value(";;=; ;", "a").empty());
}

TEST_CASE("queries are encoded so that they come back as they were") {
  CHECK(stream::to_query({{"a b", "1&2"}, {"run", "x=y"}}) == "a%20b=1%262&run=x%3Dy");
  CHECK(stream::to_query({}).empty());
}

TEST_CASE("UTF-8 is told from what is none") {
  for (const char* good : {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x92\xa1"})
    CHECK(stream::is_utf8(good));
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    CHECK_FALSE(stream::is_utf8(bad));
  }
}
