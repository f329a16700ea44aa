#include "wire/framing.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace phosphene;
using namespace std::string_literals;
using wire::FrameReader;

namespace {

// Every message that is whole by now, or the error's sentence in brackets.
std::vector<std::string> drain(FrameReader& reader) {
  std::vector<std::string> messages;
  for (;;) {
    const auto next = reader.next();
    if (!next) {
      messages.push_back("[" + next.error().message + "]");
      return messages;
    }
    if (!*next) return messages;
    messages.emplace_back(**next);
  }
}

std::string delimited(std::initializer_list<std::string> messages) {
  std::string bytes;
  for (const std::string& message : messages) wire::append_message(bytes, message);
  return bytes;
}

bool refused(std::string_view bytes, std::size_t max_message_bytes = 100) {
  FrameReader reader(max_message_bytes);
  reader.feed(bytes);
  return !reader.next();
}

}  // namespace

TEST_CASE("lengths are varints: seven bits a byte, the lowest first") {
  const auto length = [](std::size_t bytes) {
    std::string out;
    wire::append_length(out, bytes);
    return out;
  };
  CHECK(length(1) == "\x01");
  CHECK(length(127) == "\x7f");
  CHECK(length(128) == "\x80\x01");
  CHECK(length(300) == "\xac\x02");
  CHECK(length(wire::kMaxMessageBytes) == "\x80\x80\x80\x10");
}

TEST_CASE("messages come out whole and in order, however the bytes arrive") {
  const std::vector<std::string> expected{"a", std::string(127, 'b'), std::string(128, 'c'),
                                          std::string(70'000, 'd'), "e"};
  std::string bytes;
  for (const std::string& message : expected) wire::append_message(bytes, message);
  bytes += wire::kSentinel;

  std::mt19937 random(7);
  for (const std::size_t largest : {1u, 2u, 5u, 1000u, 100'000u}) {
    CAPTURE(largest);
    FrameReader reader;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t some = std::uniform_int_distribution<std::size_t>(1, largest)(random);
      const std::string_view piece = std::string_view(bytes).substr(at, some);
      reader.feed(piece);
      at += piece.size();
      for (std::string& message : drain(reader)) got.push_back(std::move(message));
    }
    CHECK(got == expected);
    CHECK(reader.closed());
    CHECK(reader.pending_bytes() == 0);
  }
}

TEST_CASE("a stream that ends without the sentinel is not closed") {
  FrameReader reader;
  reader.feed(delimited({"step 1", "step 2"}));
  CHECK(drain(reader) == std::vector<std::string>{"step 1", "step 2"});
  CHECK_FALSE(reader.closed());
}

TEST_CASE("a message cut short stays pending") {
  FrameReader reader;
  reader.feed(
      "\x05"
      "abc");
  CHECK(drain(reader).empty());
  CHECK(reader.pending_bytes() == 4);
  CHECK_FALSE(reader.closed());
}

TEST_CASE("what follows the sentinel is ignored and takes no memory") {
  FrameReader reader;
  reader.feed(delimited({"last"}) + "\0more"s);
  CHECK(drain(reader) == std::vector<std::string>{"last"});
  CHECK(reader.closed());
  for (int i = 0; i < 1000; ++i) reader.feed(std::string(1000, 'x'));
  CHECK(drain(reader).empty());
  CHECK(reader.pending_bytes() == 0);
  CHECK(reader.capacity() < 10'000);
}

TEST_CASE("case_41: a length that is too large or malformed is refused") {
  CHECK_FALSE(refused(delimited({std::string(100, 'x')})));
  CHECK(refused(delimited({std::string(101, 'x')})));
  CHECK(refused("\xff\xff\xff\xff\x7f"));    // 34 billion
  CHECK(refused("\x80\x80\x80\x80\x80"));    // never ends
  CHECK(refused("\x81"s + '\0'));            // 1, padded
  CHECK(refused("\x80"s + '\0'));            // 0, padded: not a sentinel
  CHECK_FALSE(refused("\x80\x80\x80\x80"));  // may still become a length
}

TEST_CASE("case_41: the refusal says what was claimed and what is allowed") {
  FrameReader reader(100);
  reader.feed(delimited({std::string(101, 'x')}));
  const auto next = reader.next();
  REQUIRE_FALSE(next);
  CHECK(next.error().message.find("101") != std::string::npos);
  CHECK(next.error().message.find("100") != std::string::npos);
}

TEST_CASE("case_33: a claimed length allocates nothing until its bytes come") {
  FrameReader reader;
  std::string claim;
  wire::append_length(claim, wire::kMaxMessageBytes);
  reader.feed(claim);
  CHECK(drain(reader).empty());
  reader.prepare(4096);
  CHECK(reader.capacity() < 16'384);
}

TEST_CASE("case_33: memory stays below the largest message plus one read") {
  constexpr std::size_t kMax = 1 << 20, kRead = 65'536;
  FrameReader reader(kMax);
  const std::string bytes = delimited({std::string(kMax, 'a'), "b", std::string(kMax, 'c')});
  std::size_t messages = 0;
  for (int round = 0; round < 4; ++round) {
    for (std::size_t at = 0; at < bytes.size(); at += kRead) {
      const std::string_view piece = std::string_view(bytes).substr(at, kRead);
      std::copy(piece.begin(), piece.end(), reader.prepare(kRead));
      reader.commit(piece.size());
      messages += drain(reader).size();
      CHECK(reader.capacity() <= kMax + wire::kMaxLengthBytes + kRead);
    }
  }
  CHECK(messages == 12);
}

TEST_CASE("trim() gives memory back where nothing is pending, and loses nothing") {
  std::string stream;
  wire::append_message(stream, std::string(1 << 20, 'a'));
  wire::append_message(stream, "b");
  wire::FrameReader reader;
  reader.feed(std::string_view(stream).substr(0, stream.size() - 1));
  REQUIRE(*reader.next());
  reader.trim();  // a length is pending
  CHECK(reader.pending_bytes() == 1);
  CHECK(reader.capacity() > 1 << 20);
  reader.feed(std::string_view(stream).substr(stream.size() - 1));
  CHECK(**reader.next() == "b");
  reader.trim();
  CHECK(reader.capacity() == 0);
  reader.feed(stream);
  CHECK((*reader.next())->size() == 1 << 20);
}
