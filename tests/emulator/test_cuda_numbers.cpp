// CUDA's arithmetic functions, compared with plain loops and the C library. They need no lane.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <bankwise/emulator/cuda.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

TEST_CASE("emulator/cuda_numbers/bits") {
  size_t wrong = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const uint64_t wide =
        i < 65 ? (i == 64 ? 0 : 1ull << i) : (uint64_t(scramble(i)) << 32 | scramble(i + 1)) >> scramble(i + 2) % 64;
    const unsigned x = unsigned(wide), y = scramble(i + 3), by = scramble(i + 4) % 70,
                   selector = scramble(i + 5) & 0x7777;
    int leading = 0, leading64 = 0, ones = 0, ones64 = 0, first = 0, first64 = 0;
    unsigned reversed = 0, permuted = 0;
    uint64_t reversed64 = 0;
    for (int b = 63; b >= 0; --b) {
      const unsigned bit = wide >> b & 1;
      if (bit) first64 = b + 1, ++ones64;
      leading64 += ones64 == 0;
      reversed64 |= uint64_t(bit) << (63 - b);
      if (b > 31) continue;
      if (bit) first = b + 1, ++ones;
      leading += ones == 0;
      reversed |= bit << (31 - b);
    }
    for (int k = 0; k < 4; ++k) {
      const unsigned which = selector >> (4 * k) & 7;
      permuted |= ((which < 4 ? x >> (8 * which) : y >> (8 * (which - 4))) & 0xFF) << (8 * k);
    }
    wrong += __clz(int(x)) != leading || __clzll((long long)wide) != leading64 || __popc(x) != ones;
    wrong += __popcll(wide) != ones64 || __ffs(int(x)) != first || __ffsll((long long)wide) != first64;
    wrong += __brev(x) != reversed || __brevll(wide) != reversed64 || __byte_perm(x, y, selector) != permuted;
    const unsigned s = by % 32, c = by > 32 ? 32 : by;
    const auto left = [&](unsigned n) { return n == 0 ? y : n == 32 ? x : y << n | x >> (32 - n); };
    const auto right = [&](unsigned n) { return n == 0 ? x : n == 32 ? y : x >> n | y << (32 - n); };
    wrong += __funnelshift_l(x, y, by) != left(s) || __funnelshift_lc(x, y, by) != left(c);
    wrong += __funnelshift_r(x, y, by) != right(s) || __funnelshift_rc(x, y, by) != right(c);
    const long long a = int(x), b = int(y);
    wrong += __mulhi(int(x), int(y)) != int(a * b >> 32) || __umulhi(x, y) != uint64_t(x) * y >> 32;
    wrong += __umul24(x, y) != unsigned(uint64_t(x % (1 << 24)) * (y % (1 << 24)));
    const auto low24 = [](unsigned v) { return (long long)(v % (1 << 24)) - (v >> 23 & 1 ? 1 << 24 : 0); };
    wrong += __mul24(int(x), int(y)) != int(low24(x) * low24(y));
    wrong += __sad(int(x), int(y), 5) != unsigned((a < b ? b - a : a - b) + 5);
    wrong += __usad(x, y, 5) != (x < y ? y - x : x - y) + 5;
    int dot = 9;
    for (int k = 0; k < 32; k += 8) dot += int(int8_t(x >> k)) * int8_t(y >> k);
    wrong += __dp4a(int(x), int(y), 9) != dot;
    wrong += min(x, y) != (x < y ? x : y) || max(int(x), int(y)) != (int(x) > int(y) ? int(x) : int(y));
    wrong += min(int(x), y) != (x < y ? x : y) || max(wide, uint64_t(y)) != (wide > y ? wide : y);
    wrong += unsigned(__float_as_int(__int_as_float(int(y & 0x7F7FFFFF)))) != (y & 0x7F7FFFFF);
  }
  CHECK(wrong == 0);
  CHECK(__umul64hi(~0ull, ~0ull) == ~0ull - 1);
  CHECK(__mul64hi(-1, 5) == -1);
  CHECK(__hiloint2double(__double2hiint(-1.7), __double2loint(-1.7)) == -1.7);
}

TEST_CASE("emulator/cuda_numbers/rounding") {
  size_t wrong = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    const float a = float(int(scramble(i))) * 1e-5f, b = float(int(scramble(i + 1))) * 3e-7f;
    const double sum = double(a) + b, product = double(a) * b;  // the product is exact, the sum nearly always
    wrong += __fmul_rd(a, b) > product || __fmul_ru(a, b) < product || __fmul_rn(a, b) != a * b;
    wrong += nextafterf(__fmul_rd(a, b), INFINITY) < __fmul_ru(a, b);
    wrong += fabs(double(__fmul_rz(a, b))) > fabs(product) || __fadd_rn(a, b) != a + b;
    wrong += __fadd_rd(a, b) > sum || __fadd_ru(a, b) < sum || __fsub_rn(a, b) != a - b;
    wrong += __fmaf_rn(a, b, a) != fmaf(a, b, a) || __dadd_rn(a, b) != sum || __fdiv_rn(a, b) != a / b;
    wrong += __float2int_rd(a) != int(floor(a)) || __float2int_ru(a) != int(ceil(a)) || __float2int_rz(a) != int(a);
    wrong += __float2int_rn(a) != int(nearbyint(a)) || __double2ll_rd(product) != (long long)floor(product);
    const int n = int(scramble(i));
    wrong += __int2float_rd(n) > double(n) || __int2float_ru(n) < double(n) || __int2float_rn(n) != float(n);
    wrong += __double2float_rd(product) > product || fabs(__double2float_rz(product)) > fabs(product);
  }
  CHECK(wrong == 0);
  CHECK(__float2int_rn(2.5f) == 2);
  CHECK(__float2int_rz(1e20f) == INT_MAX);
  CHECK(__float2int_rz(-1e20f) == INT_MIN);
  CHECK(__float2int_rn(NAN) == 0);
  CHECK(__float2uint_rz(-3.0f) == 0);
  CHECK(__float2uint_rn(4e9f) == 4000000000u);
  CHECK(__float2ull_rn(1e30f) == ULLONG_MAX);
  CHECK(__double2ll_rn(NAN) == LLONG_MIN);
}

static bool nearly(double a, double b) { return std::fabs(a - b) <= 1e-6 * (1 + std::fabs(b)); }

TEST_CASE("emulator/cuda_numbers/arithmetic") {
  for (float x : {0.1f, 0.5f, 1.0f, 2.75f, 40.0f}) {
    CHECK(nearly(rsqrtf(x), 1 / std::sqrt(x)));
    CHECK(nearly(rsqrt(double(x)), 1 / std::sqrt(double(x))));
    CHECK(nearly(__expf(x), std::exp(x)));
    CHECK(nearly(__logf(x), std::log(x)));
    CHECK(nearly(__powf(x, 1.5f), std::pow(x, 1.5f)));
    CHECK(__fdividef(x, 3) == x / 3);
    CHECK(__frcp_rn(x) == 1 / x);
    float sine = 0, cosine = 0;
    sincosf(x, &sine, &cosine);
    CHECK(nearly(sine, __sinf(x)));
    CHECK(nearly(cosine, __cosf(x)));
    sincospif(x, &sine, &cosine);
    CHECK(nearly(sine, std::sin(M_PI * x)));
    CHECK(nearly(cosine, std::cos(M_PI * x)));
  }
  CHECK(sinpif(3.0f) == 0.0f);
  CHECK(cospi(0.5) == 0.0);
  CHECK(__saturatef(1.5f) == 1.0f);
  CHECK(__saturatef(NAN) == 0.0f);
  CHECK(min(1.0f, 2.0) == 1.0);
  CHECK(max(NAN, 2.0f) == 2.0f);
  CHECK(abs(-2.5f) == 2.5f);
}
