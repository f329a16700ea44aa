#include "encode/fragmenter.hpp"

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "decoder.hpp"
#include "encode/nal.hpp"
#include "scene.hpp"

extern "C" {
#include <libavutil/mem.h>
}

using namespace phosphene;
using namespace phosphene::encode;

namespace {

struct Sample {
  double seconds = 0;
  bool keyframe = false;
  Bytes data;
};

/// A whole file in memory, read by libavformat as any player would.
class Demuxer {
 public:
  explicit Demuxer(Bytes file) : file_(std::move(file)), rest_(file_) {
    constexpr int kBufferBytes = 4096;
    io_ = avio_alloc_context(static_cast<unsigned char*>(av_malloc(kBufferBytes)), kBufferBytes, 0,
                             this, read, nullptr, nullptr);
    format_ = avformat_alloc_context();
    format_->pb = io_;
    format_->flags |= AVFMT_FLAG_NOPARSE;  // what the container says, not what H.264 says
    REQUIRE(avformat_open_input(&format_, nullptr, nullptr, nullptr) == 0);
  }
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer() {
    avformat_close_input(&format_);
    av_freep(&io_->buffer);
    avio_context_free(&io_);
  }

  const AVStream& stream() const {
    REQUIRE(format_->nb_streams == 1);
    return *format_->streams[0];
  }

  std::vector<Sample> samples() {
    std::vector<Sample> all;
    const AvPacket packet(av_packet_alloc());
    const double unit = av_q2d(stream().time_base);
    while (av_read_frame(format_, packet.get()) >= 0) {
      CHECK(packet->pts == packet->dts);
      all.push_back({packet->pts * unit, (packet->flags & AV_PKT_FLAG_KEY) != 0,
                     Bytes(packet->data, packet->data + packet->size)});
      av_packet_unref(packet.get());
    }
    return all;
  }

 private:
  static int read(void* self, std::uint8_t* out, int size) {
    ByteView& rest = static_cast<Demuxer*>(self)->rest_;
    const std::size_t taken = std::min(rest.size(), static_cast<std::size_t>(size));
    if (taken == 0) return AVERROR_EOF;
    std::copy_n(rest.begin(), taken, out);
    rest = rest.subspan(taken);
    return static_cast<int>(taken);
  }

  Bytes file_;
  ByteView rest_;
  AVIOContext* io_ = nullptr;
  AVFormatContext* format_ = nullptr;
};

std::unique_ptr<Encoder> encoder_of(int width, int height, double fps, const char* name) {
  EncoderOptions options;
  options.width = width;
  options.height = height;
  options.fps = fps;
  options.name = name;
  auto encoder = make_encoder(options);
  REQUIRE(encoder);
  return *std::move(encoder);
}

Fragmenter fragmenter_of(const Encoder& encoder) {
  auto fragmenter = Fragmenter::create(encoder.info());
  REQUIRE(fragmenter);
  return *std::move(fragmenter);
}

void append(Bytes& out, const Bytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}

std::uint32_t u32(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

std::vector<std::string> boxes_of(ByteView bytes) {
  std::vector<std::string> names;
  while (bytes.size() >= 8) {
    const std::size_t size = u32(bytes.data());
    names.emplace_back(reinterpret_cast<const char*>(bytes.data()) + 4, 4);
    REQUIRE(size >= 8);
    REQUIRE(size <= bytes.size());
    bytes = bytes.subspan(size);
  }
  CHECK(bytes.empty());
  return names;
}

std::ptrdiff_t find(const Bytes& bytes, std::string_view text) {
  const auto at = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  return at == bytes.end() ? -1 : at - bytes.begin();
}

/// The duration of a fragment's samples, in units of its track.
std::uint32_t duration_of(const Bytes& fragment) {
  const std::ptrdiff_t at = find(fragment, "tfhd");
  REQUIRE(at >= 0);
  const std::uint8_t* box = fragment.data() + at + 4;
  const std::uint32_t flags = u32(box) & 0xffffff;
  REQUIRE((flags & 0x8) !=
          0);  // a default duration, which no sample of one-frame fragments overrides
  return u32(box + 8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0));
}

}  // namespace

TEST_CASE("each packet leaves as one whole fragment, in the same call") {
  const auto encoder = encoder_of(160, 96, 30, "libx264");
  auto fragmenter = fragmenter_of(*encoder);
  CHECK(boxes_of(fragmenter.init_segment()) == std::vector<std::string>{"ftyp", "moov"});
  Scene scene(160, 96);
  for (int frame = 0; frame < 4; ++frame) {
    const auto packet = encoder->encode(scene.picture(), false, {});
    REQUIRE(packet);
    const auto fragment = fragmenter.write(*packet);
    REQUIRE(fragment);
    CHECK(boxes_of(*fragment) == std::vector<std::string>{"moof", "mdat"});
    CHECK(fragment->size() <= packet->data.size() + 120);
    CHECK(std::equal(packet->data.rbegin(), packet->data.rend(), fragment->rbegin()));
  }
}

TEST_CASE("the init segment says no duration, and the mime type is that of its avcC") {
  const auto encoder = encoder_of(1280, 720, 30, "libx264");
  const auto fragmenter = fragmenter_of(*encoder);
  CHECK(fragmenter.mime() == "video/mp4; codecs=\"avc1.42C01F\"");
  CHECK(find(fragmenter.init_segment(), "mehd") < 0);
  Demuxer demuxer(fragmenter.init_segment());
  CHECK(demuxer.stream().duration <= 0);
  CHECK(demuxer.stream().codecpar->width == 1280);
  CHECK(demuxer.stream().codecpar->height == 720);
}

TEST_CASE("init and fragments, one after the other, are a file with every frame in its place") {
  std::mt19937 random(11);
  for (const double fps : {30.0, 29.97, 24000.0 / 1001, 0.5, 0.1, 120.0, 7.3}) {
    CAPTURE(fps);
    const auto encoder = encoder_of(160, 96, fps, "libx264");
    auto fragmenter = fragmenter_of(*encoder);
    Scene scene(160, 96);
    Bytes file = fragmenter.init_segment();
    std::vector<Packet> packets;
    std::vector<std::uint32_t> durations;
    for (int frame = 0; frame < 12; ++frame) {
      if (frame % 3 != 2) scene.randomise(random);  // each third is a repetition
      auto packet = encoder->encode(scene.picture(), frame == 7, Bytes{0, 0, 1});
      REQUIRE(packet);
      const auto fragment = fragmenter.write(*packet);
      REQUIRE(fragment);
      append(file, *fragment);
      packets.push_back(*std::move(packet));
      durations.push_back(duration_of(*fragment));
    }
    Demuxer demuxer(std::move(file));
    const auto samples = demuxer.samples();
    REQUIRE(samples.size() == packets.size());
    const double unit = av_q2d(demuxer.stream().time_base);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      CHECK(samples[i].seconds == doctest::Approx(i / fps).epsilon(1e-6));
      CHECK(durations[i] * unit == doctest::Approx(1 / fps).epsilon(1e-6));
      CHECK(samples[i].keyframe == packets[i].keyframe);
      CHECK(samples[i].data == packets[i].data);
      CHECK(facts_of(samples[i].data) == Bytes{0, 0, 1});
    }
  }
}

TEST_CASE("the pipeline runs without a codec") {
  const auto encoder = encoder_of(64, 48, 30, "null");
  auto fragmenter = fragmenter_of(*encoder);
  CHECK(fragmenter.mime() == "video/mp4; codecs=\"avc1.42C00A\"");
  Scene scene(64, 48);
  Bytes file = fragmenter.init_segment();
  for (int frame = 0; frame < 5; ++frame) {
    const auto packet = encoder->encode(scene.picture(), frame == 3, Bytes{1});
    REQUIRE(packet);
    append(file, *fragmenter.write(*packet));
  }
  const auto samples = Demuxer(std::move(file)).samples();
  REQUIRE(samples.size() == 5);
  CHECK(samples[3].keyframe);
  CHECK_FALSE(samples[4].keyframe);
  CHECK(facts_of(samples[4].data) == Bytes{1});
}

TEST_CASE("case_33 over 100,000 frames memory is level and time does not drift from number ÷ fps") {
  const auto encoder = encoder_of(32, 32, 29.97, "null");
  auto fragmenter = fragmenter_of(*encoder);
  Scene scene(32, 32);
  const Picture picture = scene.picture();
  Bytes last;
  const auto play = [&](int frames) {
    for (int frame = 0; frame < frames; ++frame) {
      const auto packet = encoder->encode(picture, false, Bytes(200, 1));
      REQUIRE(packet);
      auto fragment = fragmenter.write(*packet);
      REQUIRE(fragment);
      last = *std::move(fragment);
    }
    return mallinfo2().uordblks;
  };
  const std::size_t before = play(1'000);
  CHECK(play(100'000) <= before + 1024);

  Bytes file = fragmenter.init_segment();
  append(file, last);
  const auto samples = Demuxer(std::move(file)).samples();
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].seconds == doctest::Approx(100'999 / 29.97).epsilon(1e-12));
}

TEST_CASE("a stream without avcC is refused") {
  StreamInfo info;
  info.width = info.height = 64;
  for (const Bytes& extradata : {Bytes{}, Bytes{1, 2, 3}, Bytes{0, 0, 0, 1, 0x67, 0x42, 0, 10}}) {
    info.extradata = extradata;
    const auto fragmenter = Fragmenter::create(info);
    REQUIRE_FALSE(fragmenter);
    CHECK(fragmenter.error().message ==
          "the stream has no avcC, without which MP4 cannot hold H.264");
  }
}
