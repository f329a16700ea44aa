// From one run's frames to fragments, as long as its tensors stay what they are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/run.hpp"
#include "base/result.hpp"
#include "canvas/composer.hpp"
#include "canvas/layout.hpp"
#include "encode/encoder.hpp"
#include "encode/fragmenter.hpp"
#include "stream/view.hpp"

namespace phosphene::app {

/// Bound to the channel's thread.
class Stage {
 public:
  struct Fragment {
    std::vector<std::uint8_t> bytes;
    bool keyframe = false;
  };

  /// Lays the table's tensors of the view's kind out and opens an encoder. `id` names the layout:
  /// greater than any before it. Error: there is nothing to show, or no encoder.
  static Result<std::unique_ptr<Stage>> create(const stream::View& view, std::string run,
                                               std::shared_ptr<const TensorTable> table,
                                               const std::string& encoder, std::uint32_t id,
                                               std::uint32_t number);

  std::uint64_t tensors_version() const { return table_->version; }
  v1::ViewPlan plan() const;
  /// What viewers need before the first fragment; the epoch is the layout's id.
  v1::ChannelStart start() const;

  /// Composes a frame. Tiles that do not fit their section are left out and counted.
  void draw(const v1::Frame& frame);
  /// Something was drawn: before that there is no picture to encode.
  bool has_picture() const { return has_picture_; }
  /// Of the frame drawn last.
  std::uint32_t number() const { return number_; }
  /// The picture as it is now, as the next fragment.
  Result<Fragment> encode(bool keyframe);

  std::uint64_t tiles_refused() const { return tiles_refused_; }

 private:
  Stage() = default;
  v1::Facts facts(bool keyframe);

  struct Known {  // of a tensor
    v1::TensorFacts facts;
    bool changed = true;         // since the last encoded frame
    std::uint32_t drawn_in = 0;  // number of the frame
  };

  stream::View view_;
  std::string run_;
  std::shared_ptr<const TensorTable> table_;
  std::uint32_t id_ = 0;
  std::vector<v1::Tensor> declared_;  // of the view's kind
  std::vector<canvas::Tensor> tensors_;
  canvas::Layout layout_;
  std::unordered_map<std::uint32_t, std::size_t> section_of_;  // by tensor id
  std::unique_ptr<canvas::Composer> composer_;
  std::unique_ptr<encode::Encoder> encoder_;
  std::unique_ptr<encode::Fragmenter> fragmenter_;

  std::uint32_t number_ = 0;
  bool has_picture_ = false;
  std::uint64_t step_ = 0;
  std::int64_t time_us_ = 0;
  std::map<std::uint32_t, Known> known_;  // by tensor id
  std::uint64_t tiles_refused_ = 0;
  std::string serialised_;  // kept for its memory
};

}  // namespace phosphene::app
