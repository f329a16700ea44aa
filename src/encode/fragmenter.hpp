// From packets to fragmented MP4: one moof + mdat a frame, out in the same call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "encode/encoder.hpp"

namespace phosphene::encode {

/// Bound to the thread that made it.
class Fragmenter {
 public:
  static Result<Fragmenter> create(const StreamInfo& info);
  ~Fragmenter();
  Fragmenter(Fragmenter&&) noexcept;
  Fragmenter& operator=(Fragmenter&&) noexcept;

  /// ftyp + moov, without a duration.
  const std::vector<std::uint8_t>& init_segment() const;
  /// `video/mp4; codecs="avc1.PPCCLL"`, from the avcC.
  const std::string& mime() const;

  Result<std::vector<std::uint8_t>> write(const Packet& packet);

 private:
  struct State;
  explicit Fragmenter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace phosphene::encode
