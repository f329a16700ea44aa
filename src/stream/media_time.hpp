// The time line of one endless mp4: begins at 0 and has neither holes nor jumps, whatever its
// channel does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace phosphene::stream {

/// Players of a plain file wait for the time of the first frame, and stay behind for good after a
/// hole: a late joiner, a viewer who skipped and a new epoch each get their fragments at the time
/// they are due.
class MediaTime {
 public:
  /// Moves the decode time of a fragment (moof + mdat, ISO 14496-12). `follows`: it is the next one
  /// of the same epoch after the one before. A fragment without a decode time stays as it is.
  void place(std::span<std::uint8_t> fragment, bool follows);

 private:
  std::optional<std::uint64_t> last_in_;
  std::uint64_t last_out_ = 0;
  std::uint64_t duration_ = 1;  // of the fragment before, in the media's time scale
};

}  // namespace phosphene::stream
