// Compiled for AVX2, FMA and F16C, and called only where they are. Nothing inline from elsewhere is
// used here: the linker might keep this file's copy of it for everybody.
#include <immintrin.h>

#include "capture/kernels.hpp"

// Left to its own measure, the compiler keeps the vectors of a loop in memory.
#define INLINE __attribute__((always_inline)) inline

namespace phosphene::capture {
namespace {

constexpr std::size_t kBlock = 64;       // floats whose levels fill one vector
constexpr std::uintptr_t kAhead = 4096;  // bytes; from 2048 to 8192 all the same

// ---------------------------------------------------------------- what was seen

struct Watch {
  __m256 min = _mm256_set1_ps(__builtin_inff());
  __m256 max = _mm256_set1_ps(-__builtin_inff());
  __m256 poison = _mm256_setzero_ps();  // y·0 summed: NaN as soon as any y is NaN or ±Inf

  INLINE void add(__m256 y) {
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

/// Asks for a block some way ahead: the machine's own prefetching stops at every page. What lies
/// behind the end is asked for in vain, not read.
INLINE void prefetch_block(const float* x) {
  const auto ahead = reinterpret_cast<std::uintptr_t>(x) + kAhead;
  for (std::uintptr_t line = 0; line < kBlock * sizeof(float); line += 64)
    _mm_prefetch(reinterpret_cast<const char*>(ahead + line), _MM_HINT_T0);
}

// ---------------------------------------------------------------- levels

template <Reading kReading>
INLINE __m256 read(const float* x) {
  const __m256 value = _mm256_loadu_ps(x);
  return kReading == Reading::kValue ? value : _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value);
}

struct Lookup {
  explicit Lookup(const LevelTable& table)
      : odd(_mm256_load_ps(table.odd)),
        even(_mm256_load_ps(table.even)),
        factor(_mm256_set1_ps(table.factor)),
        bias(_mm256_set1_ps(table.bias)) {}
  __m256 odd, even, factor, bias;
};

/// What the levels of a run were made from.
template <Reading kReading>
struct Trace {
  static constexpr bool kLog = kReading == Reading::kLogMagnitude;

  __m256 min = _mm256_set1_ps(__builtin_inff());
  __m256 max = _mm256_set1_ps(kLog ? 0.0f : -__builtin_inff());
  __m256i least_guess = _mm256_setzero_si256();  // int16

  INLINE void add(__m256 y) {
    min = _mm256_min_ps(min, y);
    // Magnitudes are in the order of their bits, NaN above all; a NaN must not get lost where no
    // guess shows it.
    max = kLog ? _mm256_castsi256_ps(
                     _mm256_max_epi32(_mm256_castps_si256(max), _mm256_castps_si256(y)))
               : _mm256_max_ps(max, y);
  }
  Seen seen() const {
    alignas(32) float low[8], high[8];
    _mm256_store_ps(low, min);
    _mm256_store_ps(high, max);
    const __m256i lost = _mm256_cmpeq_epi16(least_guess, _mm256_set1_epi16(-0x8000));
    Seen all = {low[0], high[0], _mm256_testz_si256(lost, lost) != 0};
    for (int i = 0; i < 8; ++i) {
      all.min = low[i] < all.min ? low[i] : all.min;
      all.max = high[i] > all.max ? high[i] : all.max;
      all.finite = all.finite && !__builtin_isnan(high[i]);
    }
    if (kLog) all.finite = all.finite && !__builtin_isinf(all.max);
    if (kLog && all.min > all.max) all.max = -__builtin_inff();  // n = 0
    return all;
  }
};

struct Guess {
  __m256i half;   // j: half the level, rounded down; −2³¹ where t is NaN or beyond int32
  __m256i above;  // minus the number of thresholds reached from there on
};

template <Reading kReading>
INLINE Guess guess(__m256 y, const Lookup& table) {
  const __m256 x =
      kReading == Reading::kLogMagnitude ? _mm256_cvtepi32_ps(_mm256_castps_si256(y)) : y;
  const __m256i j = _mm256_cvttps_epi32(_mm256_fmadd_ps(x, table.factor, table.bias));
  const __m256 odd = _mm256_cmp_ps(y, _mm256_permutevar8x32_ps(table.odd, j), _CMP_GE_OQ);
  const __m256 even = _mm256_cmp_ps(y, _mm256_permutevar8x32_ps(table.even, j), _CMP_GE_OQ);
  return {j, _mm256_add_epi32(_mm256_castps_si256(odd), _mm256_castps_si256(even))};
}

/// 16 levels as int16, in the order that packing in lanes leaves. A guess outside 0 … 7 looked up
/// nonsense, but nonsense of 0, 1 or 2: what lies below stays below 1, what lies above stays
/// above 15.
template <Reading kReading>
INLINE __m256i sixteen_levels(const float* x, const Lookup& table, Trace<kReading>& trace) {
  const __m256 y0 = read<kReading>(x), y1 = read<kReading>(x + 8);
  trace.add(y0);
  trace.add(y1);
  const Guess first = guess<kReading>(y0, table), second = guess<kReading>(y1, table);
  const __m256i half = _mm256_packs_epi32(first.half, second.half);
  const __m256i above = _mm256_packs_epi32(first.above, second.above);
  trace.least_guess = _mm256_min_epi16(trace.least_guess, half);
  return _mm256_subs_epi16(_mm256_adds_epi16(half, half), above);
}

/// 32 levels as 16 pairs, the first of a pair in the high half of a byte.
template <Reading kReading>
INLINE __m256i sixteen_pairs(const float* x, const Lookup& table, Trace<kReading>& trace) {
  const __m256i low = sixteen_levels<kReading>(x, table, trace);
  const __m256i high = sixteen_levels<kReading>(x + 16, table, trace);
  const __m256i levels = _mm256_min_epu8(_mm256_packus_epi16(low, high), _mm256_set1_epi8(15));
  return _mm256_maddubs_epi16(levels, _mm256_set1_epi16(0x0110));
}

/// 64 levels as 32 bytes.
template <Reading kReading>
INLINE void quantise_block(const float* x, const Lookup& table, Trace<kReading>& trace,
                           std::uint8_t* out) {
  const __m256i first = sixteen_pairs<kReading>(x, table, trace);
  const __m256i second = sixteen_pairs<kReading>(x + 32, table, trace);
  // The packing worked in halves: each lane holds every other two bytes.
  const __m256i halves = _mm256_packus_epi16(first, second);
  const __m128i low = _mm256_castsi256_si128(halves), high = _mm256_extracti128_si256(halves, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi16(low, high));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16), _mm_unpackhi_epi16(low, high));
}

template <Reading kReading>
Seen quantise_as(const float* x, std::size_t n, const LevelTable& table, std::uint8_t* levels) {
  const Lookup lookup(table);
  Trace<kReading> trace;
  for (; n >= kBlock; n -= kBlock, x += kBlock, levels += kBlock / 2) {
    prefetch_block(x);
    quantise_block<kReading>(x, lookup, trace, levels);
  }
  if (n > 0) {
    float block[kBlock];
    std::uint8_t packed[kBlock / 2];
    fill_block(x, n, block);
    quantise_block<kReading>(block, lookup, trace, packed);
    __builtin_memcpy(levels, packed, n / 2);
    if (n % 2 != 0) levels[n / 2] = packed[n / 2] & 0xf0;
  }
  return trace.seen();
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

struct WatchWide {
  INLINE void add(__m256d y) {
    min = _mm256_min_pd(min, y);
    max = _mm256_max_pd(max, y);
    poison = _mm256_fmadd_pd(y, _mm256_setzero_pd(), poison);
  }
  SeenWide seen() const {
    alignas(32) double low[4], high[4];
    _mm256_store_pd(low, min);
    _mm256_store_pd(high, max);
    SeenWide all = {low[0], high[0],
                    _mm256_movemask_pd(_mm256_cmp_pd(poison, poison, _CMP_UNORD_Q)) == 0};
    for (int i = 1; i < 4; ++i) {
      all.min = low[i] < all.min ? low[i] : all.min;
      all.max = high[i] > all.max ? high[i] : all.max;
    }
    return all;
  }
  __m256d min = _mm256_set1_pd(__builtin_inf());
  __m256d max = _mm256_set1_pd(-__builtin_inf());
  __m256d poison = _mm256_setzero_pd();  // as in Watch
};

/// The formula itself, with its division: as exact as it comes, and memory is the slower part of
/// float64 anyway.
template <bool kLog>
INLINE __m128i four_levels(const double* x, const Scale::Terms& terms, bool magnitude,
                           WatchWide& watch) {
  __m256d y = _mm256_loadu_pd(x);
  if (kLog || magnitude) y = _mm256_andnot_pd(_mm256_set1_pd(-0.0), y);
  watch.add(y);
  __m256d level = _mm256_setzero_pd();
  if (kLog) {
    for (int k = 0; k < 15; ++k) {
      const __m256d threshold =
          _mm256_broadcast_sd(reinterpret_cast<const double*>(&terms.thresholds) + k);
      const __m256d reached = _mm256_cmp_pd(y, threshold, _CMP_GE_OQ);
      level = _mm256_add_pd(level, _mm256_and_pd(reached, _mm256_set1_pd(1)));
    }
  } else {
    const __m256d above =
        _mm256_sub_pd(_mm256_mul_pd(y, _mm256_set1_pd(terms.unit)), _mm256_set1_pd(terms.lo));
    const __m256d exact =
        _mm256_div_pd(_mm256_mul_pd(_mm256_set1_pd(16), above), _mm256_set1_pd(terms.span));
    level = _mm256_min_pd(_mm256_max_pd(exact, _mm256_setzero_pd()), _mm256_set1_pd(15));
  }
  return _mm256_cvttpd_epi32(level);
}

template <bool kLog>
INLINE void quantise_sixteen(const double* x, const Scale::Terms& terms, bool magnitude,
                             WatchWide& watch, std::uint8_t* out) {
  const __m128i low = _mm_packs_epi32(four_levels<kLog>(x, terms, magnitude, watch),
                                      four_levels<kLog>(x + 4, terms, magnitude, watch));
  const __m128i high = _mm_packs_epi32(four_levels<kLog>(x + 8, terms, magnitude, watch),
                                       four_levels<kLog>(x + 12, terms, magnitude, watch));
  const __m128i pairs = _mm_maddubs_epi16(_mm_packus_epi16(low, high), _mm_set1_epi16(0x0110));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(pairs, pairs));
}

template <bool kLog>
SeenWide quantise_wide_as(const double* x, std::size_t n, const Scale::Terms& terms, bool magnitude,
                          std::uint8_t* levels) {
  WatchWide watch;
  for (; n >= 16; n -= 16, x += 16, levels += 8)
    quantise_sixteen<kLog>(x, terms, magnitude, watch, levels);
  if (n > 0) {
    double block[16];
    std::uint8_t packed[8];
    for (std::size_t i = 0; i < 16; ++i) block[i] = x[i < n ? i : 0];
    quantise_sixteen<kLog>(block, terms, magnitude, watch, packed);
    __builtin_memcpy(levels, packed, n / 2);
    if (n % 2 != 0) levels[n / 2] = packed[n / 2] & 0xf0;
  }
  return watch.seen();
}

SeenWide quantise_wide(const double* x, std::size_t n, const Scale::Terms& terms, bool log,
                       bool magnitude, std::uint8_t* levels) {
  return log ? quantise_wide_as<true>(x, n, terms, magnitude, levels)
             : quantise_wide_as<false>(x, n, terms, magnitude, levels);
}

template <Reading kReading>
INLINE void watch_block(const float* x, Watch& even, Watch& odd) {
  for (std::size_t i = 0; i < kBlock; i += 16) {
    even.add(read<kReading>(x + i));
    odd.add(read<kReading>(x + i + 8));
  }
}

template <Reading kReading>
Seen bounds_as(const float* x, std::size_t n) {
  Watch even, odd;
  for (; n >= kBlock; n -= kBlock, x += kBlock) watch_block<kReading>(x, even, odd);
  if (n > 0) {
    float block[kBlock];
    fill_block(x, n, block);
    watch_block<kReading>(block, even, odd);
  }
  even.add(odd);
  return even.seen();
}

Seen bounds(const float* x, std::size_t n, bool magnitude) {
  return magnitude ? bounds_as<Reading::kMagnitude>(x, n) : bounds_as<Reading::kValue>(x, n);
}

// ---------------------------------------------------------------- statistics

INLINE __m256d low_doubles(__m256 x) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}
INLINE __m256d high_doubles(__m256 x) {
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

/// Kernels::roots, eight at a time: most means are normal numbers of float32, whose roots cost a
/// third.
INLINE __m256 eight_roots(__m256d low, __m256d high) {
  const __m256 mean = _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
  const __m256 root = _mm256_sqrt_ps(mean);
  const __m256 normal =
      _mm256_and_ps(_mm256_cmp_ps(mean, _mm256_set1_ps(0x1p-126f), _CMP_GE_OQ),
                    _mm256_cmp_ps(mean, _mm256_set1_ps(__builtin_inff()), _CMP_LT_OQ));
  if (_mm256_movemask_ps(normal) == 0xff) return root;
  const __m256 wide_root =
      _mm256_set_m128(_mm256_cvtpd_ps(_mm256_sqrt_pd(high)), _mm256_cvtpd_ps(_mm256_sqrt_pd(low)));
  return _mm256_blendv_ps(wide_root, root, normal);
}

void roots(const double* means, std::size_t n, float* y) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i,
                     eight_roots(_mm256_loadu_pd(means + i), _mm256_loadu_pd(means + i + 4)));
  if (i == n) return;
  double last[8] = {};
  float last_roots[8];
  __builtin_memcpy(last, means + i, (n - i) * sizeof(double));
  _mm256_storeu_ps(last_roots, eight_roots(_mm256_loadu_pd(last), _mm256_loadu_pd(last + 4)));
  __builtin_memcpy(y + i, last_roots, (n - i) * sizeof(float));
}

struct EightDoubles {
  INLINE void add_squares(__m256 x) {
    const __m256d a = low_doubles(x), b = high_doubles(x);
    low = _mm256_fmadd_pd(a, a, low);
    high = _mm256_fmadd_pd(b, b, high);
  }
  __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
};

/// Elements 0 … 3 of eight cells, from four floats at each cell's begin; 0 where a cell is
/// narrower.
struct Columns {
  INLINE Columns(const float* row, const std::int32_t* begins, __m256i widths) {
    const __m256 a = pair(row, begins[0], begins[4]), b = pair(row, begins[1], begins[5]);
    const __m256 c = pair(row, begins[2], begins[6]), d = pair(row, begins[3], begins[7]);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 ab_high = _mm256_unpackhi_ps(a, b), cd_high = _mm256_unpackhi_ps(c, d);
    x[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    x[1] = within<1>(_mm256_shuffle_ps(ab, cd, 0xee), widths);
    x[2] = within<2>(_mm256_shuffle_ps(ab_high, cd_high, 0x44), widths);
    x[3] = within<3>(_mm256_shuffle_ps(ab_high, cd_high, 0xee), widths);
  }
  __m256 x[4];

 private:
  static INLINE __m256 pair(const float* row, std::int32_t low, std::int32_t high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row + low)),
                                _mm_loadu_ps(row + high), 1);
  }
  template <int kColumn>
  static INLINE __m256 within(__m256 column, __m256i widths) {
    const __m256i inside = _mm256_cmpgt_epi32(widths, _mm256_set1_epi32(kColumn));
    return _mm256_and_ps(column, _mm256_castsi256_ps(inside));
  }
};

/// Eight cells; each row holds four floats from the last cell's begin on.
template <bool kFourWide>
INLINE __m256 pool_eight(const float* const* rows, std::size_t row_count,
                         const std::int32_t* begins, __m256i widths, const double* reciprocals) {
  EightDoubles lane0, lane1, lane2, lane3;
  for (std::size_t r = 0; r < row_count; ++r) {
    const Columns columns(rows[r], begins, widths);
    lane0.add_squares(columns.x[0]);
    lane1.add_squares(columns.x[1]);
    lane2.add_squares(columns.x[2]);
    if (kFourWide) lane3.add_squares(columns.x[3]);
  }
  const __m256d low =
      _mm256_add_pd(_mm256_add_pd(lane0.low, lane1.low), _mm256_add_pd(lane2.low, lane3.low));
  const __m256d high =
      _mm256_add_pd(_mm256_add_pd(lane0.high, lane1.high), _mm256_add_pd(lane2.high, lane3.high));
  return eight_roots(_mm256_mul_pd(low, _mm256_loadu_pd(reciprocals)),
                     _mm256_mul_pd(high, _mm256_loadu_pd(reciprocals + 4)));
}

template <bool kFourWide>
void pool_narrow_as(const PooledRow& row, float* y) {
  std::size_t cell = 0;
  // One by one at the end, where four floats may not be there.
  for (; cell + 8 <= row.cells && row.begins[cell + 7] + 4 <= row.length; cell += 8) {
    const __m256i widths = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row.widths + cell));
    _mm256_storeu_ps(y + cell, pool_eight<kFourWide>(row.rows, row.row_count, row.begins + cell,
                                                     widths, row.reciprocals + cell));
  }
  for (; cell < row.cells; ++cell) {
    double lanes[4] = {};
    for (std::int32_t i = 0; i < row.widths[cell]; ++i) {
      for (std::size_t r = 0; r < row.row_count; ++r) {
        const double x = static_cast<double>(row.rows[r][row.begins[cell] + i]);
        lanes[i] += x * x;
      }
    }
    const double mean = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) * row.reciprocals[cell];
    roots(&mean, 1, y + cell);
  }
}

void pool_narrow(const PooledRow& row, float* y) {
  row.widest > 3 ? pool_narrow_as<true>(row, y) : pool_narrow_as<false>(row, y);
}

}  // namespace

const Kernels kAvx2Kernels = {quantise,   quantise_wide, bounds,        survey,
                              deviations, from_float16,  from_bfloat16, add_squares,
                              max_keys,   add_lanes,     roots,         pool_narrow};

}  // namespace phosphene::capture
