// Arithmetic as IEEE 754 starts out, whatever the trainer set.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace phosphene::capture {

/// Rounds to nearest and keeps denormals while it lives: a training process may have set them to
/// zero (torch.set_flush_denormal), and levels must not depend on that. Bound to the thread that
/// made it.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
#if defined(__SSE__)
  DefaultFloatEnvironment() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFloatEnvironment() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kDefault = 0x1f80;  // every exception masked
  unsigned before_;
#else
  DefaultFloatEnvironment() {}
  ~DefaultFloatEnvironment() {}
#endif
};

}  // namespace phosphene::capture
