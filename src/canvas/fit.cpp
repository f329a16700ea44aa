#include "canvas/fit.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace phosphene::canvas {
namespace {

constexpr int kMostBands = 8;
constexpr int kMostKernelBands = 64;  // of kernels with a single input: no rows to keep together
constexpr int kMostAspect = 4;        // of a cell
constexpr int kMostKernelAspect = 2;  // of a kernel's or a map's cell
constexpr int kBandGap = 2;           // pixels
constexpr int kRowGap = 2;            // above an attached row; none in low sections
constexpr int kLow = 40;              // pixels: sections below it are low
constexpr int kThickest = 16;         // pixels of an attached row

// A matrix is turned or folded only where it is longer than this, or differs so from its room.
constexpr double kLongMatrix = 4;

// What makes a picture harder to read, as parts of its area.
constexpr double kFoldCost = 0.04;
constexpr double kTransposeCost = 0.06;
constexpr double kNoRowsCost = 0.1;
constexpr double kNoGapCost = 0.06;
constexpr double kPooledUnitCost = 0.1;  // each side of kernels or maps
constexpr double kPooledWideCost = 0.1;  // one axis pooled, the other enlarged

constexpr int even(int pixels) {
  return pixels & ~1;
}
constexpr int even_up(int pixels) {
  return (pixels + 1) & ~1;
}
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

/// Where attached rows begin below a weight: on an even coordinate, one dark pixel being enough for
/// a gap.
constexpr int start_of_rows(int pixels, int gap) {
  return gap == 0 ? even_up(pixels) : even_up(pixels + 1);
}

/// Dark pixels between units whose cells have `scale` pixels.
constexpr std::uint32_t gap_of(std::uint64_t scale) {
  return scale < 4 ? 1 : 2;
}

/// Fewer cells than elements. Each unit gets the same number of cells where that leaves little room
/// unused.
AxisFit fit_pooled(std::uint64_t elements, std::uint64_t unit, int pixels) {
  const auto made = [&](std::uint64_t used, std::uint64_t cells, std::uint64_t group,
                        std::uint32_t gap) {
    return AxisFit{static_cast<int>(used), static_cast<std::uint32_t>(cells),
                   static_cast<std::uint32_t>(group), gap,
                   static_cast<double>(cells) / static_cast<double>(elements)};
  };
  const auto room = static_cast<std::uint64_t>(pixels);
  const std::uint64_t groups = elements / unit;
  if (unit > 1 && groups > 1 && groups <= room) {
    const std::uint64_t apart = std::min((room + 1) / groups - 1, unit);
    if (apart >= 4 && (groups * (apart + 1) - 1) * 8 >= room * 7)
      return made(groups * (apart + 1) - 1, groups * apart, apart, 1);
    const std::uint64_t together = room / groups;
    if (groups * together * 8 >= room * 7)
      return made(groups * together, groups * together, groups * together, 0);
  }
  return made(room, room, room, 0);
}

/// Fits `elements` in units of `unit` on at most `pixels`, a cell at most `most` pixels long.
AxisFit fit_axis(std::uint64_t elements, std::uint64_t unit, int pixels, int most) {
  const auto room = static_cast<std::uint64_t>(pixels);
  if (pixels <= 0) return {};
  if (elements > room) {
    return fit_pooled(elements, unit, pixels);
  }
  const auto cells = static_cast<std::uint32_t>(elements);
  const std::uint64_t groups = elements / unit;
  const std::uint64_t largest = std::min<std::uint64_t>(room / elements, most);
  const bool stretches = largest < static_cast<std::uint64_t>(most);
  if (unit > 1 && groups > 1) {
    for (std::uint64_t scale = largest; scale > 0; --scale) {
      const std::uint32_t gap = gap_of(scale);
      const std::uint64_t needed = groups * (scale * unit + gap) - gap;
      if (needed > room) continue;
      // From four pixels on cells may differ by one, so that the room is used to its end.
      const std::uint64_t used = scale >= 4 && stretches ? room : needed;
      return {static_cast<int>(used), cells, static_cast<std::uint32_t>(unit), gap,
              static_cast<double>(scale)};
    }
  }
  const std::uint64_t used = largest >= 4 && stretches ? room : largest * elements;
  return {static_cast<int>(used), cells, cells, 0,
          static_cast<double>(used) / static_cast<double>(elements)};
}

/// Both axes, neither with cells longer than four times the other's.
std::pair<AxisFit, AxisFit> fit_axes(std::uint64_t u, std::uint64_t unit_u, int room_u,
                                     std::uint64_t v, std::uint64_t unit_v, int room_v) {
  constexpr int kAny = kMaxSide;
  const int most = unit_u > 1 && unit_v > 1 ? kMostKernelAspect : kMostAspect;
  AxisFit fit_u = fit_axis(u, unit_u, room_u, kAny), fit_v = fit_axis(v, unit_v, room_v, kAny);
  const auto longest = [most](const AxisFit& other) {
    return most * std::max(1, static_cast<int>(other.scale));
  };
  if (fit_u.scale > longest(fit_v)) fit_u = fit_axis(u, unit_u, room_u, longest(fit_v));
  if (fit_v.scale > longest(fit_u)) fit_v = fit_axis(v, unit_v, room_v, longest(fit_u));
  return {fit_u, fit_v};
}

/// Pixels of the last, shorter band of a fold, whose whole bands have `whole` elements.
int last_pixels(const AxisFit& axis, std::uint64_t cells) {
  const std::uint64_t groups = cells / axis.group;
  const std::uint64_t whole = axis.cells / axis.group;
  return static_cast<int>(groups * (static_cast<std::uint64_t>(axis.pixels) + axis.gap) / whole) -
         static_cast<int>(axis.gap);
}

/// Pixels that a row of an example gets where a column has `wide`: as much in maps; else more, up
/// to four times as much, where that shows all examples.
double height_of_row(const Form& form, std::uint64_t rows, double wide, int room) {
  if (form.unit_u > 1 && rows > 1) return wide < 0.75 ? wide : std::max(1.0, std::floor(wide));
  const double all = room / static_cast<double>(form.v);
  return std::floor(std::clamp(all, std::max(1.0, wide / 2), std::max(1.0, wide * kMostAspect)));
}

/// How well a fit can be read, at most 1.
double quality_of(const Form& form, const Fit& fit) {
  double quality = 1;
  const double aspect = std::max(fit.u.scale / fit.v.scale, fit.v.scale / fit.u.scale);
  const auto beyond = [](double ratio, double bound) {
    return std::max(0.0, std::log2(ratio / bound));
  };
  if (form.unit_u > 1 && form.unit_v > 1) {
    quality -= std::min(0.4, 0.15 * beyond(aspect, 1.3));
    const auto merges = [](const AxisFit& axis, std::uint64_t unit) {
      return axis.gap == 0 && axis.cells > unit;
    };
    quality -= kNoGapCost * (merges(fit.u, form.unit_u) + merges(fit.v, form.unit_v));
    quality -= kPooledUnitCost * ((fit.u.scale < 1) + (fit.v.scale < 1));
  } else {
    quality -= std::min(0.2, 0.04 * beyond(aspect, 4));
    if (std::min(fit.u.scale, fit.v.scale) < 1 && std::max(fit.u.scale, fit.v.scale) >= 2)
      quality -= kPooledWideCost;
  }
  const double width = fit.width, height = fit.height;
  quality -= 0.1 * beyond(std::max(width / height, height / width), 2);
  if (fit.bands > 1) quality -= kFoldCost;
  if (fit.transposed) quality -= kTransposeCost;
  if (form.attached > fit.rows) quality -= kNoRowsCost;
  return std::max(quality, 0.2);
}

/// One way of showing a form: orientation and fold are given, the rest follows.
struct Attempt {
  const Form& form;
  int width, height;

  Fit best{};

  void keep(const Fit& found) {
    if (found.value > best.value) best = found;
  }

  void try_bands(bool transposed, bool folds_u, std::uint64_t bands);
  void try_wrapped();
};

void Attempt::try_bands(bool transposed, bool folds_u, std::uint64_t bands) {
  const std::uint64_t folded = folds_u ? form.u : form.v;
  const std::uint64_t folded_unit = folds_u ? form.unit_u : form.unit_v;
  const std::uint64_t units = folded / folded_unit;
  const std::uint64_t units_a_band = ceil_div(units, bands);
  bands = ceil_div(units, units_a_band);  // none empty
  const int n = static_cast<int>(bands);

  int room_u = transposed ? height : width;
  int room_v = transposed ? width : height;
  const int band_gap = kBandGap + (folds_u && form.attached > 0 ? 2 : 0);
  int& across = folds_u ? room_v : room_u;  // the side along which the bands follow one another
  if (n > 1) across = even((across + band_gap) / n) - band_gap;
  if (room_u <= 0 || room_v <= 0) return;

  Fit found;
  found.transposed = transposed;
  found.folds_u = folds_u;
  found.bands = n;

  // Attached rows take 2–6 pixels each, unless that would be more than a third.
  const bool low = room_v < kLow;
  const int row_gap = low ? 0 : kRowGap;
  const int thinnest = low ? 2 : std::clamp(even(room_v / 20 / std::max(1, form.attached)), 2, 6);
  int reserved = form.attached * (row_gap + thinnest);
  if (reserved * 3 > room_v) reserved = 0;

  std::uint64_t band_u = form.u, band_v = form.v;
  (folds_u ? band_u : band_v) = n == 1 ? folded : units_a_band * folded_unit;
  int room_host = room_v - reserved;
  if (form.examples > 1) {
    const std::uint64_t rows = form.v / form.examples;
    const double wide = fit_axis(band_u, form.unit_u, room_u, kMaxSide).scale;
    const double high = height_of_row(form, rows, wide, room_host);
    const double gap = rows > 1 && high >= 1 ? gap_of(static_cast<std::uint64_t>(high)) : 0;
    const double fitting = (room_host + gap) / (static_cast<double>(rows) * high + gap);
    found.examples =
        std::clamp<std::uint64_t>(static_cast<std::uint64_t>(fitting), 1, form.examples);
    band_v = found.examples * rows;
    if (high < 1)
      room_host =
          std::min(room_host, static_cast<int>(static_cast<double>(band_v) * high * 1.25) + 1);
  }
  std::tie(found.u, found.v) =
      fit_axes(band_u, form.unit_u, room_u, band_v, form.unit_v, room_host);
  if (found.u.cells == 0 || found.v.cells == 0) return;

  // A band of pooled cells holds whole outputs only where the fold divides them.
  const AxisFit& folded_fit = folds_u ? found.u : found.v;
  const bool pooled = folded_fit.scale < 1;
  if (n > 1 && pooled && folds_u && form.attached > 0 && units % bands != 0) return;

  int pixels_v = found.v.pixels;
  if (reserved > 0) {
    // Two pixels at a time, as there is room: thicker, up to a tenth of the section, a quarter of a
    // low one.
    const int start = start_of_rows(found.v.pixels, row_gap);
    const int room = room_v - start - (form.attached - 1) * row_gap;
    const int most =
        low ? room_v / 4
            : std::max(form.attached * thinnest, std::min(room_v / 10, form.attached * kThickest));
    const int steps = std::min(room, most) / 2;
    if (steps < form.attached) return;
    found.rows = form.attached;
    found.row_gap = row_gap;
    found.thickness = steps / form.attached * 2;
    found.thicker = steps % form.attached;
    pixels_v = start + steps * 2 + (form.attached - 1) * row_gap;
  }
  const int pixels_u = found.u.pixels;
  const int used_u = folds_u ? pixels_u : n * (even_up(pixels_u) + band_gap) - band_gap;
  const int used_v = folds_u ? n * (even_up(pixels_v) + band_gap) - band_gap : pixels_v;
  found.width = transposed ? used_v : used_u;
  found.height = transposed ? used_u : used_v;

  // The last band may be shorter.
  double bands_filled = n;
  if (n > 1 && !pooled)
    bands_filled = static_cast<double>(folded) / static_cast<double>(folds_u ? band_u : band_v);
  const double rows_u = folds_u ? bands_filled * pixels_u : pixels_u;
  found.covered = bands_filled * pixels_u * found.v.pixels +
                  rows_u * (found.rows * found.thickness + 2 * found.thicker);

  found.value = found.covered * quality_of(form, found);
  keep(found);
}

void Attempt::try_wrapped() {
  const std::uint64_t elements = form.u * form.v;
  Fit found;
  found.wrapped = true;
  found.transposed = form.u == 1;
  const auto room = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  int cell_width = 1, cell_height = 1;
  if (elements <= room) {
    // The largest cells, at most 4:1, with which all rows fit.
    std::uint64_t largest = 0;
    for (int h = 1;
         h <= height && static_cast<std::uint64_t>(h) * h <= kMostAspect * room / elements; ++h) {
      const std::uint64_t rows = height / h;
      const auto columns = static_cast<int>(ceil_div(elements, rows));
      const int w = std::min(width / columns, kMostAspect * h);
      if (w == 0 || w * kMostAspect < h) continue;
      const std::uint64_t area = static_cast<std::uint64_t>(w) * h;
      if (area <= largest) continue;
      largest = area;
      cell_width = w;
      cell_height = h;
    }
    if (largest == 0) return;
  }
  const auto columns =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(width / cell_width, elements));
  const std::uint64_t cells = std::min<std::uint64_t>(
      elements, static_cast<std::uint64_t>(columns) * (height / cell_height));
  found.bands = static_cast<int>(ceil_div(cells, columns));
  found.u = {static_cast<int>(columns) * cell_width, columns, columns, 0,
             static_cast<double>(cell_width)};
  found.v = {cell_height, static_cast<std::uint32_t>(cells), 1, 0,
             static_cast<double>(cell_height)};
  found.width = found.u.pixels;
  found.height = found.bands * cell_height;
  found.covered = static_cast<double>(cells) * cell_width * cell_height;
  found.value = found.covered;
  keep(found);
}

}  // namespace

Form form_of(const Reading& reading, int attached) {
  return {reading.x.elements, reading.y.elements, reading.x.unit,
          reading.y.unit,     reading.examples,   attached};
}

Fit fit(const Form& form, int width, int height) {
  Attempt attempt{form, width, height};
  if (width <= 0 || height <= 0) return {};
  if ((form.u == 1 || form.v == 1) && form.attached == 0 && form.examples == 1) {
    attempt.try_wrapped();
    return attempt.best;
  }
  attempt.try_bands(false, false, 1);
  const double u = static_cast<double>(form.u), v = static_cast<double>(form.v);
  const bool kernels = form.unit_u > 1 || form.unit_v > 1;
  const double box = static_cast<double>(width) / height;
  const auto is_off = [](double ratio) { return std::max(ratio, 1 / ratio) > kLongMatrix; };
  if (!kernels && !is_off(u / v) && !is_off(u / v / box)) return attempt.best;

  for (const bool transposed : {false, true}) {
    if (transposed && (kernels || form.examples > 1)) break;
    if (transposed) attempt.try_bands(true, false, 1);
    // Folding into b bands makes u b times shorter and v b times longer, or the reverse.
    const double off = transposed ? u / v * box : u / v / box;
    const bool folds_u = off > 1;
    if (!folds_u && form.examples > 1) continue;
    const std::uint64_t units = folds_u ? form.u / form.unit_u : form.v / form.unit_v;
    const std::uint64_t others = folds_u ? form.v / form.unit_v : form.u / form.unit_u;
    const std::uint64_t most =
        std::min<std::uint64_t>(units, kernels && others == 1 ? kMostKernelBands : kMostBands);
    const auto ideal = static_cast<std::uint64_t>(std::sqrt(std::max(off, 1 / off)));
    for (std::uint64_t bands = std::max<std::uint64_t>(2, ideal > 1 ? ideal - 1 : 1);
         bands <= std::min(most, ideal + 2); ++bands)
      attempt.try_bands(transposed, folds_u, bands);
    if (ideal > most && most > 1) attempt.try_bands(transposed, folds_u, most);
  }
  return attempt.best;
}

Placement place(const Form& form, const Fit& fit, int x, int y) {
  Placement placement;
  placement.attached.resize(fit.rows);
  const bool transposed = fit.transposed;
  const auto block = [&](int at_u, int at_v, int pixels_u, int pixels_v, const Span& u,
                         const Span& v) {
    Block made{{x + at_u, y + at_v, pixels_u, pixels_v}, u, v};
    if (transposed) made = {{x + at_v, y + at_u, pixels_v, pixels_u}, v, u};
    return made;
  };

  if (fit.wrapped) {
    const std::uint32_t cells = fit.v.cells, columns = fit.u.cells;
    const int cell_width = fit.u.pixels / static_cast<int>(columns);
    (transposed ? placement.v_cells : placement.u_cells) = cells;
    for (std::uint32_t begin = 0; begin < cells; begin += columns) {
      const std::uint32_t end = std::min(begin + columns, cells);
      const Span along{begin, end, end - begin, 0}, across{0, 1, 1, 0};
      const Rect rect{x, y + static_cast<int>(begin / columns) * fit.v.pixels,
                      static_cast<int>(end - begin) * cell_width, fit.v.pixels};
      placement.weight.push_back({rect, along, across});
    }
    return placement;
  }

  const auto bands = static_cast<std::uint32_t>(fit.bands);
  const auto cells_of = [&](const AxisFit& axis, std::uint64_t elements, bool folded) {
    const std::uint64_t whole = static_cast<std::uint64_t>(axis.cells) * (folded ? bands : 1);
    return static_cast<std::uint32_t>(std::min(whole, elements));
  };
  const std::uint64_t shown_v = form.v / form.examples * fit.examples;
  placement.u_cells = cells_of(fit.u, form.u, fit.folds_u);
  placement.v_cells = cells_of(fit.v, shown_v, !fit.folds_u);
  const auto outputs =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(form.u / form.unit_u, placement.u_cells));
  placement.attached_cells = outputs;

  const int rows_start = start_of_rows(fit.v.pixels, fit.row_gap);
  const int pixels_v = fit.rows == 0 ? fit.v.pixels
                                     : rows_start + fit.rows * (fit.thickness + fit.row_gap) -
                                           fit.row_gap + 2 * fit.thicker;
  const int band_gap = kBandGap + (fit.folds_u && form.attached > 0 ? 2 : 0);
  const int band_pitch = even_up(fit.folds_u ? pixels_v : fit.u.pixels) + band_gap;

  for (std::uint32_t band = 0; band < bands; ++band) {
    const auto part = [&](const AxisFit& axis, std::uint32_t cells, bool folded, int& pixels) {
      Span span{0, cells, axis.group, axis.gap};
      pixels = axis.pixels;
      if (folded) {
        span.begin = band * axis.cells;
        span.end = std::min(span.begin + axis.cells, cells);
      }
      if (axis.gap == 0) span.group = span.end - span.begin;
      if (span.end - span.begin < axis.cells) {
        AxisFit whole = axis;
        if (whole.gap == 0) whole.group = 1;
        pixels = last_pixels(whole, span.end - span.begin);
      }
      return span;
    };
    int along_u = 0, along_v = 0;
    const Span u = part(fit.u, placement.u_cells, fit.folds_u, along_u);
    const Span v = part(fit.v, placement.v_cells, !fit.folds_u, along_v);
    const int at_u = fit.folds_u ? 0 : static_cast<int>(band) * band_pitch;
    const int at_v = fit.folds_u ? static_cast<int>(band) * band_pitch : 0;
    placement.weight.push_back(block(at_u, at_v, along_u, along_v, u, v));

    if (!fit.folds_u && band + 1 < bands) continue;  // rows follow the last inputs
    Span row = u;
    row.begin = static_cast<std::uint32_t>(static_cast<std::uint64_t>(u.begin) * outputs /
                                           placement.u_cells);
    row.end =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(u.end) * outputs / placement.u_cells);
    row.group = u.gap > 0 ? 1 : row.end - row.begin;
    int row_at = at_v + start_of_rows(along_v, fit.row_gap);
    for (int i = 0; i < fit.rows; ++i) {
      const int thickness = fit.thickness + (i < fit.thicker ? 2 : 0);
      placement.attached[static_cast<std::size_t>(i)].push_back(
          block(at_u, row_at, along_u, thickness, row, Span{0, 1, 1, 0}));
      row_at += thickness + fit.row_gap;
    }
  }
  return placement;
}

}  // namespace phosphene::canvas
