#include <bit>
#include <protozero/pbf_writer.hpp>

#include "capture/codec.hpp"
#include "wire/framing.hpp"

namespace phosphene::capture {
namespace {

using protozero::pbf_writer;

// Fields are written in the order of their numbers and left out where they hold the default:
// libprotobuf's bytes.

void add(pbf_writer& to, std::uint32_t tag, std::uint64_t value) {
  if (value) to.add_uint64(tag, value);
}
void add_double(pbf_writer& to, std::uint32_t tag, double value) {
  if (std::bit_cast<std::uint64_t>(value)) to.add_double(tag, value);
}
void add_time(pbf_writer& to, std::uint32_t tag, std::int64_t us) {
  if (us) to.add_sfixed64(tag, us);
}
void add_text(pbf_writer& to, std::uint32_t tag, std::string_view text) {
  if (!text.empty()) to.add_string(tag, to_utf8(text));
}
template <typename Enum>
void add_enum(pbf_writer& to, std::uint32_t tag, Enum value) {
  add(to, tag, static_cast<std::uint64_t>(value));
}

// protozero drops a submessage without fields; which of a oneof it was would be lost with it.
template <typename Fill>
void add_message(pbf_writer& to, std::string& out, std::uint32_t tag, Fill&& fill) {
  const std::size_t before = out.size();
  {
    pbf_writer message(to, tag);
    fill(message);
  }
  if (out.size() == before) to.add_message(tag, "", 0);
}

template <typename Fill>
void add_from_hook(std::string& out, std::uint32_t tag, Fill&& fill) {
  pbf_writer from_hook(out);
  add_message(from_hook, out, tag, fill);
}

void fill(pbf_writer& to, const TensorInfo& tensor) {
  add(to, 1, tensor.id);
  add_text(to, 2, tensor.name);
  add_enum(to, 3, tensor.kind);
  add_enum(to, 4, tensor.dtype);
  to.add_packed_uint64(5, tensor.shape.begin(), tensor.shape.end());
  to.add_packed_enum(6, tensor.roles.begin(), tensor.roles.end());
  add(to, 7, tensor.attached_to);
  add_double(to, 8, tensor.lo);
  add_double(to, 9, tensor.hi);
}

void fill(pbf_writer& to, const Range& range) {
  add_double(to, 1, range.lo);
  add_double(to, 2, range.hi);
  add_enum(to, 3, range.shape);
}

void fill(pbf_writer& to, const Statistics& statistics) {
  add(to, 1, statistics.step);
  add(to, 2, statistics.count);
  add(to, 3, statistics.nan);
  add(to, 4, statistics.inf);
  add(to, 5, statistics.zero);
  add_double(to, 6, statistics.min);
  add_double(to, 7, statistics.max);
  add_double(to, 8, statistics.mean);
  add_double(to, 9, statistics.std);
  add_double(to, 10, statistics.l2);
}

void fill(pbf_writer& to, std::string& out, const Tile& tile) {
  add(to, 1, tile.tensor);
  if (!tile.levels.empty()) {
    to.add_bytes(2, reinterpret_cast<const char*>(tile.levels.data()), tile.levels.size());
  }
  add(to, 3, tile.cells);
  add_message(to, out, 4, [&](pbf_writer& range) { fill(range, tile.range); });
  if (tile.statistics) {
    add_message(to, out, 5, [&](pbf_writer& statistics) { fill(statistics, *tile.statistics); });
  }
  to.add_packed_uint32(6, tile.marks.begin(), tile.marks.end());
  if (tile.step) to.add_uint64(7, *tile.step);
}

}  // namespace

void encode(const Hello& hello, std::string& out) {
  add_from_hook(out, 1, [&](pbf_writer& to) {
    add(to, 1, wire::kProtocolVersion);
    add_text(to, 2, hello.run);
    add_text(to, 3, hello.name);
    add(to, 4, hello.pid);
    add_text(to, 5, hello.host);
    add_text(to, 6, hello.library);
    add_time(to, 7, hello.started_us);
    add_text(to, 8, hello.token);
  });
}

void encode(const std::vector<TensorInfo>& tensors, std::string& out) {
  add_from_hook(out, 2, [&](pbf_writer& to) {
    for (const TensorInfo& tensor : tensors) {
      add_message(to, out, 1, [&](pbf_writer& message) { fill(message, tensor); });
    }
  });
}

void encode(const Frame& frame, std::string& out) {
  add_from_hook(out, 3, [&](pbf_writer& to) {
    add(to, 1, frame.view);
    add(to, 2, frame.plans);
    add(to, 3, frame.step);
    add_time(to, 4, frame.time_us);
    for (const Tile& tile : frame.tiles) {
      if (tile.tensor == 0) continue;
      add_message(to, out, 5, [&](pbf_writer& message) { fill(message, out, tile); });
    }
  });
}

void encode(const std::vector<Series>& scalars, std::string& out) {
  add_from_hook(out, 4, [&](pbf_writer& to) {
    for (const Series& series : scalars) {
      add_message(to, out, 1, [&](pbf_writer& message) {
        add_text(message, 1, series.name);
        message.add_packed_uint64(2, series.steps.begin(), series.steps.end());
        message.add_packed_double(3, series.values.begin(), series.values.end());
      });
    }
  });
}

void encode(const Progress& progress, std::string& out) {
  add_from_hook(out, 5, [&](pbf_writer& to) {
    add(to, 1, progress.step);
    add_double(to, 2, progress.steps_per_second);
    add_double(to, 3, progress.cost_us_per_step);
    add(to, 4, progress.frames_sent);
    add(to, 5, progress.frames_dropped_queue);
    add(to, 6, progress.frames_dropped_budget);
    add(to, 7, progress.scalars_dropped);
  });
}

void encode(const Notice& notice, std::string& out) {
  add_from_hook(out, 6, [&](pbf_writer& to) { add_text(to, 1, notice.text); });
}

}  // namespace phosphene::capture
