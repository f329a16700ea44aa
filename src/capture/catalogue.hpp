// What a run has declared: written by the trainer's thread, read by the sender's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "capture/messages.hpp"

namespace phosphene::capture {

struct Declared {
  TensorInfo info;
  std::uint64_t revision = 0;  // of this declaration: grows with every one of the run
};

/// Tensors (index = id − 1) and notices. Thread-safe.
class Catalogue {
 public:
  static constexpr std::size_t kMaxNotices = 64;

  /// Adds the tensor with the next id, or replaces the one with its id.
  void declare(const Declared& declared) {
    content_.with([&](Content& content) {
      const std::size_t index = declared.info.id - 1;
      if (index >= content.tensors.size()) content.tensors.resize(index + 1);
      content.tensors[index] = declared;
    });
  }

  std::vector<Declared> tensors() const {
    return content_.with([](const Content& content) { return content.tensors; });
  }

  /// Those declared after `revision`, which moves on to the latest.
  std::vector<TensorInfo> declared_since(std::uint64_t& revision) const {
    return content_.with([&](const Content& content) {
      std::vector<TensorInfo> result;
      std::uint64_t latest = revision;
      for (const Declared& tensor : content.tensors) {
        if (tensor.revision <= revision) continue;
        latest = std::max(latest, tensor.revision);
        result.push_back(tensor.info);
      }
      revision = latest;
      return result;
    });
  }

  /// Says something to the people who watch, once. More than kMaxNotices different ones are not
  /// kept.
  void notice(std::string text) {
    content_.with([&](Content& content) {
      auto& notices = content.notices;
      if (notices.size() == kMaxNotices) return;
      if (std::find(notices.begin(), notices.end(), text) == notices.end()) {
        notices.push_back(std::move(text));
      }
    });
  }

  /// The notices from number `first` on.
  std::vector<std::string> notices_from(std::size_t first) const {
    return content_.with([&](const Content& content) {
      const auto begin = content.notices.begin();
      return std::vector<std::string>(
          begin + static_cast<std::ptrdiff_t>(std::min(first, content.notices.size())),
          content.notices.end());
    });
  }

 private:
  struct Content {
    std::vector<Declared> tensors;
    std::vector<std::string> notices;
  };
  Guarded<Content> content_;
};

}  // namespace phosphene::capture
