// What the encode stage costs, against libx264 called directly with the same settings on the same
// frames.
//
// Usage: encode_bench [--json] [--frames FILE --size WxH]
// FILE: raw frames, one byte a pixel, each a level 0 … 15; without it two made-up runs are
// measured.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/luma.hpp"
#include "bench.hpp"
#include "encode/codec.hpp"
#include "encode/encoder.hpp"
#include "encode/fragmenter.hpp"

namespace {

using namespace phosphene;
using namespace phosphene::encode;

constexpr double kFps = 30;

/// Luma planes of one run.
struct Frames {
  int width = 1000, height = 1000;
  std::vector<std::vector<std::uint8_t>> luma;

  Picture picture(std::size_t i) const {
    return {width, height, luma[i].data(), width, nullptr, 0};
  }
};

std::vector<std::uint8_t> drawn(const std::vector<std::uint8_t>& levels) {
  std::vector<std::uint8_t> luma(levels.size());
  std::ranges::transform(levels, luma.begin(),
                         [](std::uint8_t k) { return kLumaOfLevel[k % kLevels]; });
  return luma;
}

/// Normally distributed values of which each frame moves a share by one level, as training moves
/// weights (0.4 … 1 %) and gradient magnitudes (30 … 40 %).
Frames walk(int count, double share) {
  Frames frames;
  std::mt19937 random(1);
  std::normal_distribution<double> value(7.5, 2.5);
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(frames.width) * frames.height);
  for (auto& level : levels)
    level = static_cast<std::uint8_t>(std::clamp(value(random), 0.0, 15.0));
  for (int i = 0; i < count; ++i) {
    for (std::size_t moved = 0; moved < static_cast<std::size_t>(share * levels.size()); ++moved) {
      auto& level = levels[random() % levels.size()];
      if (random() % 2 ? level < 15 : level == 0)
        ++level;
      else
        --level;
    }
    frames.luma.push_back(drawn(levels));
  }
  return frames;
}

Frames read(const char* path, const char* size) {
  Frames frames;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::sscanf(size, "%dx%d", &frames.width, &frames.height) != 2) {
    std::fprintf(stderr, "%s cannot be read, or %s is not WIDTHxHEIGHT\n", path, size);
    std::exit(2);
  }
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(frames.width) * frames.height);
  while (file.read(reinterpret_cast<char*>(levels.data()),
                   static_cast<std::streamsize>(levels.size())))
    frames.luma.push_back(drawn(levels));
  return frames;
}

/// The codec alone: no facts, no NAL units cut, no fragments.
class Bare {
 public:
  explicit Bare(const EncoderOptions& options) : context_(*open_codec(options)) {
    chroma_.assign(static_cast<std::size_t>(options.width / 2) * (options.height / 2),
                   kChromaNeutral);
  }

  void encode(const Picture& picture) {
    AVFrame& frame = *frame_;
    frame.format = AV_PIX_FMT_YUV420P;
    frame.width = picture.width;
    frame.height = picture.height;
    frame.color_range = AVCOL_RANGE_MPEG;
    frame.pts = next_++;
    frame.data[0] = const_cast<std::uint8_t*>(picture.luma);
    frame.data[1] = frame.data[2] = chroma_.data();
    frame.linesize[0] = picture.width;
    frame.linesize[1] = frame.linesize[2] = picture.width / 2;
    frame.buf[0] = av_buffer_create(
        frame.data[0], 1, [](void*, std::uint8_t*) {}, nullptr, AV_BUFFER_FLAG_READONLY);
    if (avcodec_send_frame(context_.get(), &frame) < 0) std::abort();
    av_buffer_unref(&frame.buf[0]);
    if (avcodec_receive_packet(context_.get(), packet_.get()) < 0) std::abort();
    bench::keep(packet_->data);
    av_packet_unref(packet_.get());
  }

 private:
  AvCodecContext context_;
  AvFrame frame_{av_frame_alloc()};
  AvPacket packet_{av_packet_alloc()};
  std::vector<std::uint8_t> chroma_;
  std::int64_t next_ = 0;
};

/// What a channel's thread does with a picture: a packet with facts, then a fragment.
class Stage {
 public:
  explicit Stage(const EncoderOptions& options)
      : encoder_(*make_encoder(options)), fragmenter_(*Fragmenter::create(encoder_->info())) {}

  std::size_t encode(const Picture& picture) {
    const auto packet = encoder_->encode(picture, false, facts_);
    const auto fragment = fragmenter_.write(*packet);
    bench::keep(fragment->data());
    return fragment->size();
  }

 private:
  std::unique_ptr<Encoder> encoder_;
  Fragmenter fragmenter_;
  std::vector<std::uint8_t> facts_ = std::vector<std::uint8_t>(400, 1);
};

/// A run through both in turn, so that what else the machine does meets both alike.
void measure(bench::Report& report, const std::string& name, const Frames& frames, bool limits) {
  EncoderOptions options;
  options.width = frames.width;
  options.height = frames.height;
  options.fps = kFps;
  Bare bare(options);
  Stage stage(options);
  std::size_t bare_next = 0, stage_next = 0, first_bytes = 0, bytes = 0;
  // Each repeat takes two frames and times the second, so the keyframe that comes first is not
  // timed.
  const auto [bare_ms, stage_ms] = bench::median_ms_in_turn(
      static_cast<int>(frames.luma.size() / 2), [&] { bare.encode(frames.picture(bare_next++)); },
      [&] {
        bytes += stage.encode(frames.picture(stage_next));
        if (stage_next++ == 0) first_bytes = bytes;
      });
  const double megabytes_per_second =
      static_cast<double>(bytes - first_bytes) / static_cast<double>(stage_next - 1) * kFps / 1e6;

  if (limits) {
    report.at_least("encode " + name, 1000 / stage_ms, "frames/s", 60);
    report.at_most("encode " + name + ", video at 30 frames/s", megabytes_per_second, "MB/s", 2.5);
  } else {
    report.note("encode " + name, 1000 / stage_ms, "frames/s");
    report.note("encode " + name + ", video at 30 frames/s", megabytes_per_second, "MB/s");
  }
  report.at_most("encode " + name + ", stage", stage_ms / bare_ms, "× bare", 1.1);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  const char* file = nullptr;
  const char* size = nullptr;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--frames") == 0) file = argv[i + 1];
    if (std::strcmp(argv[i], "--size") == 0) size = argv[i + 1];
  }
  if (file && size) {
    measure(report, std::filesystem::path(file).filename().string(), read(file, size), true);
  } else {
    measure(report, "weights 1000x1000", walk(120, 0.006), true);
    measure(report, "gradients 1000x1000", walk(80, 0.35), false);
  }
  return report.finish();
}
