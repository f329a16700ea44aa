#include "decoder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

extern "C" {
#include <libavutil/mem.h>
}

namespace phosphene::encode {
namespace {

std::vector<std::uint8_t> plane_of(const AVFrame& frame, int index, int width, int height) {
  std::vector<std::uint8_t> plane;
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* row = frame.data[index] + std::ptrdiff_t{y} * frame.linesize[index];
    plane.insert(plane.end(), row, row + width);
  }
  return plane;
}

std::vector<std::vector<std::uint8_t>> user_data_of(const AVFrame& frame) {
  std::vector<std::vector<std::uint8_t>> all;
  for (int i = 0; i < frame.nb_side_data; ++i)
    if (const AVFrameSideData& one = *frame.side_data[i];
        one.type == AV_FRAME_DATA_SEI_UNREGISTERED)
      all.emplace_back(one.data, one.data + one.size);
  return all;
}

int byte_of(double value) {
  return std::clamp(static_cast<int>(std::lround(value)), 0, 255);
}

}  // namespace

Rgb rgb_at(const Decoded& picture, int x, int y) {
  const int block = (y / 2) * (picture.width / 2) + x / 2;
  const double luma = (picture.luma[y * picture.width + x] - 16) * 255.0 / 219.0;
  const double cb = (picture.cb[block] - 128) * 255.0 / 224.0;
  const double cr = (picture.cr[block] - 128) * 255.0 / 224.0;
  return {byte_of(luma + 1.5748 * cr), byte_of(luma - 0.1873 * cb - 0.4681 * cr),
          byte_of(luma + 1.8556 * cb)};
}

Decoder::Decoder(const StreamInfo& info)
    : context_(avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264))) {
  route_libav_log();
  context_->thread_count = 1;
  context_->err_recognition = AV_EF_EXPLODE;
  context_->extradata_size = static_cast<int>(info.extradata.size());
  context_->extradata =
      static_cast<std::uint8_t*>(av_mallocz(info.extradata.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  std::copy(info.extradata.begin(), info.extradata.end(), context_->extradata);
  REQUIRE(avcodec_open2(context_.get(), nullptr, nullptr) == 0);
}

Decoded Decoder::decode(const std::vector<std::uint8_t>& access_unit) {
  REQUIRE(av_new_packet(packet_.get(), static_cast<int>(access_unit.size())) == 0);
  std::copy(access_unit.begin(), access_unit.end(), packet_->data);
  REQUIRE(avcodec_send_packet(context_.get(), packet_.get()) == 0);
  av_packet_unref(packet_.get());
  REQUIRE(avcodec_receive_frame(context_.get(), frame_.get()) == 0);
  const AVFrame& frame = *frame_;
  return {frame.width,
          frame.height,
          plane_of(frame, 0, frame.width, frame.height),
          plane_of(frame, 1, frame.width / 2, frame.height / 2),
          plane_of(frame, 2, frame.width / 2, frame.height / 2),
          frame.color_range,
          frame.colorspace,
          frame.key_frame != 0,
          user_data_of(frame)};
}

}  // namespace phosphene::encode
