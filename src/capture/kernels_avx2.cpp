// Compiled for AVX2, FMA and F16C, and called only where they are. Nothing inline from elsewhere is
// used here: the linker might keep this file's copy of it for everybody.
#include <immintrin.h>

#include "capture/kernels.hpp"

namespace phosphene::capture {
namespace {

constexpr std::size_t kBlock = 64;  // floats whose levels fill one vector

// ---------------------------------------------------------------- what was seen

struct Watch {
  __m256 min = _mm256_set1_ps(__builtin_inff());
  __m256 max = _mm256_set1_ps(-__builtin_inff());
  __m256 poison = _mm256_setzero_ps();  // y·0 summed: NaN as soon as any y is NaN or ±Inf

  void add(__m256 y) {
    min = _mm256_min_ps(min, y);
    max = _mm256_max_ps(max, y);
    poison = _mm256_fmadd_ps(y, _mm256_setzero_ps(), poison);
  }
  void add(const Watch& other) {
    min = _mm256_min_ps(min, other.min);
    max = _mm256_max_ps(max, other.max);
    poison = _mm256_add_ps(poison, other.poison);
  }
  Seen seen() const {
    alignas(32) float low[8], high[8];
    _mm256_store_ps(low, min);
    _mm256_store_ps(high, max);
    Seen all = {low[0], high[0],
                _mm256_movemask_ps(_mm256_cmp_ps(poison, poison, _CMP_UNORD_Q)) == 0};
    for (int i = 1; i < 8; ++i) {
      all.min = low[i] < all.min ? low[i] : all.min;
      all.max = high[i] > all.max ? high[i] : all.max;
    }
    return all;
  }
};

/// The last n < 64 numbers, repeated to fill a block with what the bounds know already.
void fill_block(const float* x, std::size_t n, float* block) {
  for (std::size_t i = 0; i < kBlock; ++i) block[i] = x[i < n ? i : 0];
}

// ---------------------------------------------------------------- levels

template <Reading kReading>
__m256 read(const float* x) {
  const __m256 value = _mm256_loadu_ps(x);
  return kReading == Reading::kValue ? value : _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value);
}

struct Lookup {
  __m256 odd, even, offset, factor, bias;
};

template <Reading kReading>
__m256i levels_of(__m256 y, const Lookup& table) {
  const __m256 x =
      kReading == Reading::kLogMagnitude ? _mm256_cvtepi32_ps(_mm256_castps_si256(y)) : y;
  const __m256 t = _mm256_fmadd_ps(_mm256_sub_ps(x, table.offset), table.factor, table.bias);
  const __m256i j = _mm256_cvttps_epi32(
      _mm256_min_ps(_mm256_max_ps(t, _mm256_setzero_ps()), _mm256_set1_ps(7.0f)));
  const __m256 odd = _mm256_cmp_ps(y, _mm256_permutevar8x32_ps(table.odd, j), _CMP_GE_OQ);
  const __m256 even = _mm256_cmp_ps(y, _mm256_permutevar8x32_ps(table.even, j), _CMP_GE_OQ);
  const __m256i above = _mm256_add_epi32(_mm256_castps_si256(odd), _mm256_castps_si256(even));
  return _mm256_sub_epi32(_mm256_add_epi32(j, j), above);
}

template <Reading kReading>
__m256i thirty_two_levels(const float* x, const Lookup& table, Watch (&watch)[2]) {
  __m256i levels[4];
  for (int v = 0; v < 4; ++v) {
    const __m256 y = read<kReading>(x + 8 * v);
    watch[v % 2].add(y);
    levels[v] = levels_of<kReading>(y, table);
  }
  const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(levels[0], levels[1]),
                                            _mm256_packs_epi32(levels[2], levels[3]));
  return _mm256_maddubs_epi16(bytes, _mm256_set1_epi16(0x0110));  // 16·first + second
}

/// 64 levels as 32 bytes.
template <Reading kReading>
void quantise_block(const float* x, const Lookup& table, Watch (&watch)[2], std::uint8_t* out) {
  const __m256i first = thirty_two_levels<kReading>(x, table, watch);
  const __m256i second = thirty_two_levels<kReading>(x + 32, table, watch);
  // The packing worked in halves: each lane holds every other pair of bytes.
  const __m256i halves = _mm256_packus_epi16(first, second);
  const __m128i low = _mm256_castsi256_si128(halves), high = _mm256_extracti128_si256(halves, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi16(low, high));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16), _mm_unpackhi_epi16(low, high));
}

template <Reading kReading>
Seen quantise_as(const float* x, std::size_t n, const LevelTable& table, std::uint8_t* levels) {
  const Lookup lookup = {_mm256_load_ps(table.odd), _mm256_load_ps(table.even),
                         _mm256_set1_ps(table.offset), _mm256_set1_ps(table.factor),
                         _mm256_set1_ps(table.bias)};
  Watch watch[2];
  for (; n >= kBlock; n -= kBlock, x += kBlock, levels += kBlock / 2)
    quantise_block<kReading>(x, lookup, watch, levels);
  if (n > 0) {
    float block[kBlock];
    std::uint8_t packed[kBlock / 2];
    fill_block(x, n, block);
    quantise_block<kReading>(block, lookup, watch, packed);
    for (std::size_t i = 0; i < n / 2; ++i) levels[i] = packed[i];
    if (n % 2 != 0) levels[n / 2] = packed[n / 2] & 0xf0;
  }
  watch[0].add(watch[1]);
  return watch[0].seen();
}

Seen quantise(const float* x, std::size_t n, const LevelTable& table, std::uint8_t* levels) {
  switch (table.reading) {
    case Reading::kMagnitude:
      return quantise_as<Reading::kMagnitude>(x, n, table, levels);
    case Reading::kLogMagnitude:
      return quantise_as<Reading::kLogMagnitude>(x, n, table, levels);
    case Reading::kValue:
      break;
  }
  return quantise_as<Reading::kValue>(x, n, table, levels);
}

template <Reading kReading>
Seen bounds_as(const float* x, std::size_t n) {
  Watch watch[4];
  for (; n >= kBlock; n -= kBlock, x += kBlock)
    for (int v = 0; v < 8; ++v) watch[v % 4].add(read<kReading>(x + 8 * v));
  if (n > 0) {
    float block[kBlock];
    fill_block(x, n, block);
    for (int v = 0; v < 8; ++v) watch[v % 4].add(read<kReading>(block + 8 * v));
  }
  watch[0].add(watch[1]);
  watch[2].add(watch[3]);
  watch[0].add(watch[2]);
  return watch[0].seen();
}

Seen bounds(const float* x, std::size_t n, bool magnitude) {
  return magnitude ? bounds_as<Reading::kMagnitude>(x, n) : bounds_as<Reading::kValue>(x, n);
}

// ---------------------------------------------------------------- statistics

__m256d low_doubles(__m256 x) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}
__m256d high_doubles(__m256 x) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}

double total(__m256d x) {
  alignas(32) double lanes[4];
  _mm256_store_pd(lanes, x);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

Seen survey(const float* x, std::size_t n, std::uint64_t* zeros, double* sum) {
  Watch watch;
  __m256d sums[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  std::uint64_t count = 0;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 y = _mm256_loadu_ps(x + i);
    watch.add(y);
    const __m256 zero = _mm256_cmp_ps(y, _mm256_setzero_ps(), _CMP_EQ_OQ);
    count +=
        static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(zero))));
    sums[0] = _mm256_add_pd(sums[0], low_doubles(y));
    sums[1] = _mm256_add_pd(sums[1], high_doubles(y));
  }
  double rest = 0;
  for (; i < n; ++i) {
    watch.add(_mm256_set1_ps(x[i]));
    count += x[i] == 0;
    rest += static_cast<double>(x[i]);
  }
  *zeros += count;
  *sum += total(_mm256_add_pd(sums[0], sums[1])) + rest;
  return watch.seen();
}

void deviations(const float* x, std::size_t n, double around, double* squares, double* norm) {
  const __m256d mean = _mm256_set1_pd(around);
  __m256d square[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256d own[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 y = _mm256_loadu_ps(x + i);
    const __m256d halves[2] = {low_doubles(y), high_doubles(y)};
    for (int h = 0; h < 2; ++h) {
      const __m256d distance = _mm256_sub_pd(halves[h], mean);
      square[h] = _mm256_fmadd_pd(distance, distance, square[h]);
      own[h] = _mm256_fmadd_pd(halves[h], halves[h], own[h]);
    }
  }
  double rest = 0, rest_own = 0;
  for (; i < n; ++i) {
    const double value = static_cast<double>(x[i]);
    rest += (value - around) * (value - around);
    rest_own += value * value;
  }
  *squares += total(_mm256_add_pd(square[0], square[1])) + rest;
  *norm += total(_mm256_add_pd(own[0], own[1])) + rest_own;
}

// ---------------------------------------------------------------- reading other layouts and types

void gather(const float* a, std::ptrdiff_t stride, std::size_t n, float* y) {
  std::size_t i = 0;
  if (stride >= -0x8000000 && stride <= 0x8000000) {
    const __m256i index = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                             _mm256_set1_epi32(static_cast<int>(stride)));
    for (; i + 8 <= n; i += 8, a += 8 * stride)
      _mm256_storeu_ps(y + i, _mm256_i32gather_ps(a, index, 4));
  }
  for (; i < n; ++i, a += stride) y[i] = *a;
}

void from_float16(const std::uint16_t* a, std::size_t n, float* y) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i))));
  for (; i < n; ++i) y[i] = _cvtsh_ss(a[i]);
}

void from_bfloat16(const std::uint16_t* a, std::size_t n, float* y) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i bits =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    _mm256_storeu_ps(y + i, _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)));
  }
  for (; i < n; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(a[i]) << 16;
    __builtin_memcpy(y + i, &bits, sizeof bits);
  }
}

// ---------------------------------------------------------------- pooling

// The square of a float32 is exact in float64, so a fused sum is the same as one that rounds in
// between.
void add_squares(const float* x, std::size_t n, double* sums, bool first) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m256d y = _mm256_cvtps_pd(_mm_loadu_ps(x + i));
    const __m256d before = first ? _mm256_setzero_pd() : _mm256_loadu_pd(sums + i);
    _mm256_storeu_pd(sums + i, _mm256_fmadd_pd(y, y, before));
  }
  for (; i < n; ++i) {
    const double y = static_cast<double>(x[i]);
    sums[i] = (first ? 0 : sums[i]) + y * y;
  }
}

void max_keys(const float* x, std::size_t n, std::uint32_t* keys, bool first) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i rotated =
        _mm256_or_si256(_mm256_slli_epi32(bits, 1), _mm256_srli_epi32(bits, 31));
    __m256i key = _mm256_xor_si256(rotated, _mm256_set1_epi32(1));
    __m256i* const out = reinterpret_cast<__m256i*>(keys + i);
    if (!first) key = _mm256_max_epu32(key, _mm256_loadu_si256(out));
    _mm256_storeu_si256(out, key);
  }
  for (; i < n; ++i) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    const std::uint32_t key = ((bits << 1) | (bits >> 31)) ^ 1;
    keys[i] = first || key > keys[i] ? key : keys[i];
  }
}

void add_lanes(const double* x, std::size_t n, double* lanes) {
  __m256d sums = _mm256_loadu_pd(lanes);
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) sums = _mm256_add_pd(sums, _mm256_loadu_pd(x + i));
  _mm256_storeu_pd(lanes, sums);
  for (; i < n; ++i) lanes[i % 4] += x[i];
}

void roots(const double* means, std::size_t n, float* y) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    _mm_storeu_ps(y + i, _mm256_cvtpd_ps(_mm256_sqrt_pd(_mm256_loadu_pd(means + i))));
  for (; i < n; ++i)
    y[i] = _mm_cvtss_f32(
        _mm_cvtsd_ss(_mm_setzero_ps(), _mm_sqrt_sd(_mm_setzero_pd(), _mm_load_sd(means + i))));
}

struct EightDoubles {
  __m256d low, high;
};

// Column i of eight cells: its squares, summed over the rows. Cells narrower than that have 0
// there.
EightDoubles column(const PooledRow& row, __m256i begins, __m256i widths, int i) {
  const __m256i at = _mm256_add_epi32(begins, _mm256_set1_epi32(i));
  const __m256 present = _mm256_castsi256_ps(_mm256_cmpgt_epi32(widths, _mm256_set1_epi32(i)));
  EightDoubles sum = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  for (std::size_t r = 0; r < row.row_count; ++r) {
    const __m256 x = _mm256_mask_i32gather_ps(_mm256_setzero_ps(), row.rows[r], at, present, 4);
    const __m256d low = low_doubles(x), high = high_doubles(x);
    sum.low = _mm256_fmadd_pd(low, low, sum.low);
    sum.high = _mm256_fmadd_pd(high, high, sum.high);
  }
  return sum;
}

// Eight cells at a time; what is missing of the last eight has no width.
void pool_narrow(const PooledRow& row, float* y) {
  for (std::size_t cell = 0; cell < row.cells; cell += 8) {
    const std::size_t count = row.cells - cell < 8 ? row.cells - cell : 8;
    __m256i begins, widths;
    __m256d reciprocals[2];
    if (count == 8) {
      begins = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row.begins + cell));
      widths = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row.widths + cell));
      reciprocals[0] = _mm256_loadu_pd(row.reciprocals + cell);
      reciprocals[1] = _mm256_loadu_pd(row.reciprocals + cell + 4);
    } else {
      alignas(32) std::int32_t some_begins[8] = {}, some_widths[8] = {};
      alignas(32) double some_reciprocals[8] = {};
      for (std::size_t i = 0; i < count; ++i) {
        some_begins[i] = row.begins[cell + i];
        some_widths[i] = row.widths[cell + i];
        some_reciprocals[i] = row.reciprocals[cell + i];
      }
      begins = _mm256_load_si256(reinterpret_cast<const __m256i*>(some_begins));
      widths = _mm256_load_si256(reinterpret_cast<const __m256i*>(some_widths));
      reciprocals[0] = _mm256_load_pd(some_reciprocals);
      reciprocals[1] = _mm256_load_pd(some_reciprocals + 4);
    }
    const EightDoubles first = column(row, begins, widths, 0),
                       second = column(row, begins, widths, 1);
    __m256d low = _mm256_add_pd(first.low, second.low),
            high = _mm256_add_pd(first.high, second.high);
    if (_mm256_movemask_epi8(_mm256_cmpgt_epi32(widths, _mm256_set1_epi32(2))) != 0) {
      const EightDoubles third = column(row, begins, widths, 2),
                         fourth = column(row, begins, widths, 3);
      low = _mm256_add_pd(low, _mm256_add_pd(third.low, fourth.low));
      high = _mm256_add_pd(high, _mm256_add_pd(third.high, fourth.high));
    }
    const __m128 low_root = _mm256_cvtpd_ps(_mm256_sqrt_pd(_mm256_mul_pd(low, reciprocals[0])));
    const __m128 high_root = _mm256_cvtpd_ps(_mm256_sqrt_pd(_mm256_mul_pd(high, reciprocals[1])));
    const __m256 root = _mm256_set_m128(high_root, low_root);
    if (count == 8) {
      _mm256_storeu_ps(y + cell, root);
    } else {
      alignas(32) float some[8];
      _mm256_store_ps(some, root);
      for (std::size_t i = 0; i < count; ++i) y[cell + i] = some[i];
    }
  }
}

}  // namespace

const Kernels kAvx2Kernels = {quantise, bounds,       survey,        deviations,
                              gather,   from_float16, from_bfloat16, add_squares,
                              max_keys, add_lanes,    roots,         pool_narrow};

}  // namespace phosphene::capture
