#include "encode/fragmenter.hpp"

#include <cassert>
#include <cstdio>
#include <utility>

#include "encode/libav.hpp"
#include "encode/nal.hpp"

extern "C" {
#include <libavutil/mem.h>
}

namespace phosphene::encode {
namespace {

constexpr int kIoBufferBytes = 64 << 10;
// empty_moov: the init segment comes first, and says no duration (browsers then play with low
// delay). frag_custom: a fragment ends when we say so, in the same call. skip_trailer: nothing is
// kept for an index at the end.
constexpr char kFlags[] = "empty_moov+default_base_moof+frag_custom+skip_trailer";

// The bytes are const from FFmpeg 7 on.
template <typename Byte>
int append(void* out, Byte* bytes, int size) {
  auto& buffer = *static_cast<Bytes*>(out);
  buffer.insert(buffer.end(), bytes, bytes + size);
  return size;
}

struct FreeIo {
  void operator()(AVIOContext* io) const {
    av_free(io->buffer);
    avio_context_free(&io);
  }
};

Error failed(const char* what, int status) {
  return Error{std::string("the MP4 muxer could not write ") + what + ": " + libav_text(status)};
}

}  // namespace

struct Fragmenter::State {
  Bytes out;  // what libavformat has written since it was last taken
  std::unique_ptr<AVIOContext, FreeIo> io;
  AvFormatContext format;
  AVRational frame_time{};  // seconds
  AvPacket packet{av_packet_alloc()};
  Bytes init;
  std::string mime;

  Bytes take() {
    avio_flush(io.get());
    return std::exchange(out, {});
  }
};

Fragmenter::Fragmenter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Fragmenter::~Fragmenter() = default;
Fragmenter::Fragmenter(Fragmenter&&) noexcept = default;
Fragmenter& Fragmenter::operator=(Fragmenter&&) noexcept = default;

Result<Fragmenter> Fragmenter::create(const StreamInfo& info) {
  route_libav_log();
  const Bytes& avcc = info.extradata;
  if (avcc.size() < 7 || avcc[0] != 1)
    return Error{"the stream has no avcC, without which MP4 cannot hold H.264"};

  auto state = std::make_unique<State>();
  state->frame_time = av_inv_q(frame_rate(info.fps));
  char mime[40];
  std::snprintf(mime, sizeof mime, "video/mp4; codecs=\"avc1.%02X%02X%02X\"", avcc[1], avcc[2],
                avcc[3]);
  state->mime = mime;

  AVFormatContext* format = nullptr;
  if (const int status = avformat_alloc_output_context2(&format, nullptr, "mp4", nullptr);
      status < 0)
    return failed("anything", status);
  state->format.reset(format);
  state->io.reset(avio_alloc_context(static_cast<unsigned char*>(av_malloc(kIoBufferBytes)),
                                     kIoBufferBytes, /*write_flag=*/1, &state->out, nullptr, append,
                                     nullptr));
  format->pb = state->io.get();

  AVStream* stream = avformat_new_stream(format, nullptr);
  stream->time_base = state->frame_time;
  AVCodecParameters& codec = *stream->codecpar;
  codec.codec_type = AVMEDIA_TYPE_VIDEO;
  codec.codec_id = AV_CODEC_ID_H264;
  codec.width = info.width;
  codec.height = info.height;
  codec.extradata =
      static_cast<std::uint8_t*>(av_mallocz(avcc.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  codec.extradata_size = static_cast<int>(avcc.size());
  std::copy(avcc.begin(), avcc.end(), codec.extradata);

  AVDictionary* settings = nullptr;
  av_dict_set(&settings, "movflags", kFlags, 0);
  const int status = avformat_write_header(format, &settings);
  av_dict_free(&settings);
  if (status < 0) return failed("an init segment", status);
  state->init = state->take();
  return Fragmenter(std::move(state));
}

const std::vector<std::uint8_t>& Fragmenter::init_segment() const {
  return state_->init;
}

const std::string& Fragmenter::mime() const {
  return state_->mime;
}

Result<std::vector<std::uint8_t>> Fragmenter::write(const Packet& packet) {
  AVPacket& out = *state_->packet;
  out.data = const_cast<std::uint8_t*>(packet.data.data());  // read only
  out.size = static_cast<int>(packet.data.size());
  out.flags = packet.keyframe ? AV_PKT_FLAG_KEY : 0;
  out.pts = out.dts = packet.number;
  out.duration = 1;
  av_packet_rescale_ts(&out, state_->frame_time, state_->format->streams[0]->time_base);
  state_->out.reserve(packet.data.size() + 256);
  int status = av_write_frame(state_->format.get(), &out);
  if (status >= 0) status = av_write_frame(state_->format.get(), nullptr);
  if (status < 0) return failed("a fragment", status);
  return state_->take();
}

}  // namespace phosphene::encode
