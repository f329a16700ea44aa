#include "app/demo/idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace phosphene::demo {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kMaxHeaderBytes = 4 + 4 * 255;

/// Reads on and on from plain or gzip bytes, and never holds more than it was asked for.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {
    if (bytes.size() < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) return;
    stream_.next_in = const_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    gzip_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK;
  }
  ~Reader() {
    if (gzip_) inflateEnd(&stream_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// How many bytes there were for `out`; fewer at the end.
  Result<std::size_t> read(std::span<std::uint8_t> out) {
    if (!gzip_) {
      const std::size_t count = std::min(out.size(), rest_.size());
      std::copy_n(rest_.begin(), count, out.begin());
      rest_ = rest_.subspan(count);
      return count;
    }
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out > 0 && !ended_) {
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        ended_ = true;
      } else if (code == Z_BUF_ERROR) {
        return Error{"the gzip data ends too early"};
      } else if (code != Z_OK) {
        return Error{"the gzip data is damaged"};
      }
    }
    return out.size() - stream_.avail_out;
  }

 private:
  std::span<const std::uint8_t> rest_;
  z_stream stream_{};
  bool gzip_ = false, ended_ = false;
};

}  // namespace

Result<IdxArray> parse_idx(std::span<const std::uint8_t> bytes, std::size_t rank) {
  if (bytes.size() > kMaxIdxBytes) return Error{"larger than 1 GiB"};
  Reader reader(bytes);
  std::uint8_t header[kMaxHeaderBytes];
  const auto magic = reader.read(std::span(header, 4));
  if (!magic) return magic.error();
  if (*magic < 4 || header[0] != 0 || header[1] != 0)
    return Error{"not an IDX file: it must begin with two zero bytes"};
  if (header[2] != kUnsignedByte) {
    return Error{"IDX values of type " + std::to_string(header[2]) +
                 ", where unsigned bytes (8) are needed"};
  }
  if (header[3] != rank) {
    return Error{"an IDX array of rank " + std::to_string(header[3]) + ", where rank " +
                 std::to_string(rank) + " is needed"};
  }
  const auto sizes = reader.read(std::span(header, 4 * rank));
  if (!sizes) return sizes.error();
  if (*sizes < 4 * rank) return Error{"it ends within the IDX header"};

  IdxArray array;
  std::size_t count = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint8_t* size = header + 4 * d;
    array.shape.push_back(std::uint32_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
    if (array.shape.back() > kMaxIdxBytes / std::max<std::size_t>(count, 1)) {
      return Error{"its IDX header says more than 1 GiB"};
    }
    count *= array.shape.back();
  }
  // Grows with what is really there: a header that lies about the size costs nothing.
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (std::size_t have = 0; have < count;) {
    array.values.resize(std::min(count, have + kPiece));
    const auto got = reader.read(std::span(array.values).subspan(have));
    if (!got) return got.error();
    if (*got < array.values.size() - have) {
      return Error{"it holds " + std::to_string(have + *got) + " values, but its header says " +
                   std::to_string(count)};
    }
    have += *got;
  }
  std::uint8_t beyond;
  const auto extra = reader.read(std::span(&beyond, 1));
  if (!extra) return extra.error();
  if (*extra > 0)
    return Error{"it holds more than the " + std::to_string(count) +
                 " values that its header says"};
  return array;
}

Result<IdxArray> read_idx(const std::filesystem::path& path, std::size_t rank) {
  const auto failed = [&](std::string_view why) {
    return Error{path.string() + ": " + std::string(why)};
  };
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return failed(std::strerror(errno));
  const std::streamoff size = file.tellg();
  if (size < 0) return failed("cannot be read");
  if (static_cast<std::size_t>(size) > kMaxIdxBytes) return failed("larger than 1 GiB");
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size)) return failed("cannot be read");
  auto array = parse_idx(bytes, rank);
  if (!array) return failed(array.error().message);
  return array;
}

}  // namespace phosphene::demo
