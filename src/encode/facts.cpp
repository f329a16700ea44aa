// The facts of a frame, carried in its access unit as SEI of the kind "user data unregistered"
// (H.264, D.1.7).
#include <algorithm>
#include <iterator>
#include <utility>

#include "encode/encoder.hpp"
#include "encode/nal.hpp"

namespace phosphene::encode {

const std::uint8_t kFactsUuid[16] = {0x9e, 0x1d, 0x5c, 0x3a, 0x70, 0x68, 0x4f, 0x73,
                                     0xb0, 0x8e, 0x6e, 0x65, 0x66, 0x61, 0x63, 0x74};

namespace {

constexpr std::size_t kUserDataUnregistered = 5;

/// Appends `bytes` with a 3 after every two zeros that a byte of 0 … 3 follows: no start code
/// inside a NAL unit.
void append_escaped(Bytes& out, ByteView bytes) {
  int zeros = 0;
  for (const std::uint8_t byte : bytes) {
    if (zeros == 2 && byte <= 3) {
      out.push_back(3);
      zeros = 0;
    }
    out.push_back(byte);
    zeros = byte == 0 ? zeros + 1 : 0;
  }
}

Bytes unescaped(ByteView bytes) {
  Bytes out;
  out.reserve(bytes.size());
  int zeros = 0;
  for (const std::uint8_t byte : bytes) {
    if (zeros >= 2 && byte == 3) {
      zeros = 0;
      continue;
    }
    out.push_back(byte);
    zeros = byte == 0 ? zeros + 1 : 0;
  }
  return out;
}

/// Takes a number written as bytes of 255 and a smaller one; nothing if the message ends in it.
std::optional<std::size_t> take_number(ByteView& message) {
  std::size_t number = 0;
  while (!message.empty()) {
    const std::uint8_t byte = message.front();
    message = message.subspan(1);
    number += byte;
    if (byte != 0xff) return number;
  }
  return std::nullopt;
}

/// The facts in an SEI's payload, its header taken off.
std::optional<Bytes> facts_of_sei(ByteView payload) {
  while (payload.size() > 1) {  // the last byte is the stop bit
    const auto type = take_number(payload);
    const auto size = take_number(payload);
    if (!type || !size || *size > payload.size()) return std::nullopt;
    const ByteView message = payload.first(*size);
    payload = payload.subspan(*size);
    if (*type == kUserDataUnregistered && message.size() >= std::size(kFactsUuid) &&
        std::equal(std::begin(kFactsUuid), std::end(kFactsUuid), message.begin())) {
      const ByteView facts = message.subspan(std::size(kFactsUuid));
      return Bytes(facts.begin(), facts.end());
    }
  }
  return std::nullopt;
}

}  // namespace

void append_facts(Bytes& out, ByteView facts) {
  if (facts.empty()) return;
  Bytes message{kUserDataUnregistered};
  std::size_t size = std::size(kFactsUuid) + facts.size();
  message.reserve(size + size / 255 + 3);
  for (; size >= 0xff; size -= 0xff) message.push_back(0xff);
  message.push_back(static_cast<std::uint8_t>(size));
  message.insert(message.end(), std::begin(kFactsUuid), std::end(kFactsUuid));
  message.insert(message.end(), facts.begin(), facts.end());
  message.push_back(0x80);  // the stop bit

  Bytes nal{static_cast<std::uint8_t>(NalType::kSei)};
  nal.reserve(message.size() * 3 / 2 + 1);
  append_escaped(nal, message);
  append_length_prefixed(out, nal);
}

std::optional<std::vector<std::uint8_t>> facts_of(std::span<const std::uint8_t> access_unit) {
  while (const auto nal = take_length_prefixed(access_unit)) {
    if (type_of(*nal) != NalType::kSei) continue;
    if (auto facts = facts_of_sei(unescaped(nal->subspan(1)))) return facts;
  }
  return std::nullopt;
}

}  // namespace phosphene::encode
