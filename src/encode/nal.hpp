// H.264 NAL units as byte streams (ITU-T H.264, Annex B), as MP4 keeps them (ISO/IEC 14496-15), and
// the SEI message that carries a frame's facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace phosphene::encode {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

enum class NalType : std::uint8_t {
  kIdrSlice = 5,
  kSei = 6,
  kSps = 7,
  kPps = 8,
  kDelimiter = 9,
};

inline NalType type_of(ByteView nal) {
  return static_cast<NalType>(nal[0] & 0x1f);
}

/// Takes the next NAL unit, never empty, off an Annex B stream; nothing when no start code is left.
std::optional<ByteView> take_from_annex_b(ByteView& stream);

/// Takes the next NAL unit, never empty, off a stream with lengths of four bytes; nothing at its
/// end and where a length does not fit.
std::optional<ByteView> take_length_prefixed(ByteView& stream);

/// Appends a NAL unit behind its length, four bytes.
void append_length_prefixed(Bytes& out, ByteView nal);

/// The avcC of 4:2:0 video of eight bits, from one sequence and one picture parameter set. An SPS
/// has ≥ 4 bytes.
Bytes make_avcc(ByteView sps, ByteView pps);

/// Appends the length-prefixed SEI NAL unit that carries `facts`; nothing when there are none.
void append_facts(Bytes& out, ByteView facts);

}  // namespace phosphene::encode
