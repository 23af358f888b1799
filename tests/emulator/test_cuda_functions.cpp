// Functions that the C library lacks, and headers that programs include.
#include "tests/emulator/cuda_function_names.hpp"

// Including these never fails.
#include <cuComplex.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_fp8.h>
#include <cuda_gl_interop.h>
#include <cuda_profiler_api.h>
#include <cudnn.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <device_functions.h>
#include <driver_types.h>
#include <math_constants.h>
#include <nccl.h>
#include <nvrtc.h>
#include <nvtx3/nvToolsExt.h>
#include <sm_30_intrinsics.h>
#include <surface_functions.h>
#include <texture_fetch_functions.h>

#include <cmath>
#include <random>
#include "tests/catch_any.hpp"

namespace {

// Functions of device code are inlined into their callers, so they have no address.
#define OF(name) [](unsigned a, unsigned b) { return name(a, b); }

/// One number of a word, as a signed or an unsigned number.
int part(unsigned word, unsigned bits, unsigned i, bool is_signed) {
  const unsigned value = word >> (bits * i) & ((1u << bits) - 1);
  return is_signed && (value >> (bits - 1) & 1) != 0 ? int(value) - (1 << bits) : int(value);
}

template <class Function, class Expected>
unsigned wrong(Function function, unsigned bits, bool is_signed, Expected expected) {
  std::mt19937 random(5);
  unsigned count = 0;
  for (int round = 0; round < 2000; ++round) {
    const unsigned a = unsigned(random()), b = round % 8 == 0 ? a : unsigned(random()), all = function(a, b);
    for (unsigned i = 0; i < 32 / bits; ++i) {
      const int value = expected(part(a, bits, i, is_signed), part(b, bits, i, is_signed));
      count += part(all, bits, i, false) != (value & ((1 << bits) - 1));
    }
  }
  return count;
}

int bounded(int value, int least, int most) { return value < least ? least : value > most ? most : value; }

}  // namespace

TEST_CASE("emulator/cuda_functions/simd_integers") {
  CHECK(wrong(OF(__vadd4), 8, false, [](int a, int b) { return a + b; }) == 0);
  CHECK(wrong(OF(__vsub2), 16, false, [](int a, int b) { return a - b; }) == 0);
  CHECK(wrong(OF(__vaddss4), 8, true, [](int a, int b) { return bounded(a + b, -128, 127); }) == 0);
  CHECK(wrong(OF(__vsubus2), 16, false, [](int a, int b) { return bounded(a - b, 0, 65535); }) == 0);
  CHECK(wrong(OF(__vmaxs4), 8, true, [](int a, int b) { return a > b ? a : b; }) == 0);
  CHECK(wrong(OF(__vminu2), 16, false, [](int a, int b) { return a < b ? a : b; }) == 0);
  CHECK(wrong(OF(__vavgu4), 8, false, [](int a, int b) { return (a + b + 1) / 2; }) == 0);
  CHECK(wrong(OF(__vhaddu4), 8, false, [](int a, int b) { return (a + b) / 2; }) == 0);
  CHECK(wrong(OF(__vabsdiffs2), 16, true, [](int a, int b) { return std::abs(a - b); }) == 0);
  CHECK(wrong(OF(__vcmpgts4), 8, true, [](int a, int b) { return a > b ? -1 : 0; }) == 0);
  CHECK(wrong(OF(__vseteq2), 16, false, [](int a, int b) { return a == b ? 1 : 0; }) == 0);
  CHECK(wrong(OF(__vsetleu4), 8, false, [](int a, int b) { return a <= b ? 1 : 0; }) == 0);
  CHECK(__vabsss4(0x80FF0102) == 0x7F010102);
  CHECK(__vneg2(0x00010002) == 0xFFFFFFFE);
  CHECK(__vsadu4(0x01020304, 0x04030201) == 3 + 1 + 1 + 3);
  CHECK(__dp2a_lo(0x00020003, 0x0405FF06, 10) == 10 + 3 * 6 + 2 * -1);
  CHECK(__dp2a_hi(0x00020003u, 0x0405FF06u, 10u) == 10 + 3 * 5 + 2 * 4);
  CHECK(__fns(0b1011010, 2, 2) == 4);
  CHECK(__fns(0b1011010, 2, -1) == 1);
  CHECK(__fns(0b1011010, 2, 9) == ~0u);
}

TEST_CASE("emulator/cuda_functions/dynamic_programming") {
  CHECK(__viaddmax_s32(5, -9, -3) == -3);
  CHECK(__viaddmax_s32(0x7FFFFFFF, 1, 7) == 7);
  CHECK(__viaddmin_u32(~0u, 2, 7) == 1);
  CHECK(__viaddmax_s32_relu(5, -9, -3) == 0);
  CHECK(__viaddmin_s16x2(0x7FFF0001, 0x00010002, 0x00000004) == 0x80000003);
  CHECK(__viaddmax_u16x2(0xFFFF0001, 0x00020002, 0x00000004) == 0x00010004);
  CHECK(__vimax3_s16x2(0xFFFF0001, 0xFFFE0003, 0xFFFD0002) == 0xFFFF0003);
  CHECK(__vimax3_s16x2_relu(0xFFFF0001, 0xFFFE0003, 0xFFFD0002) == 0x00000003);
  CHECK(__vimin3_s32(3, -1, 2) == -1);
  CHECK(__vimin3_u16x2(0xFFFF0001, 0xFFFE0003, 0xFFFD0002) == 0xFFFD0001);
  CHECK(__vimin_s16x2_relu(0xFFFF0005, 0x00010003) == 0x00000003);
  CHECK(__vimax_s32_relu(-5, -3) == 0);
  bool high = true, low = false;
  CHECK(__vibmax_s16x2(0xFFFF0003, 0x00010003, &high, &low) == 0x00010003);
  CHECK((!high && low));
  CHECK(__vibmin_u32(2, 3, &high) == 2);
  CHECK(high);
  CHECK(__vibmax_s32(2, 3, &high) == 3);
  CHECK(!high);
}

TEST_CASE("emulator/cuda_functions/error_functions") {
  for (const double x : {-3.0, -1.0, -0.3, 1e-9, 0.2, 0.7, 2.0, 5.0}) {
    CHECK(erfcinv(std::erfc(x)) == Approx(x).epsilon(1e-6));
    CHECK(normcdfinv(normcdf(x)) == Approx(x).epsilon(1e-6));
    CHECK(erfcx(x) == Approx(std::exp(x * x) * std::erfc(x)).epsilon(1e-12));
  }
  for (const double x : {-0.999, -0.5, 1e-12, 0.25, 0.75}) CHECK(std::erf(erfinv(x)) == Approx(x).epsilon(1e-14));
  CHECK(normcdf(0.0) == 0.5);
  CHECK(normcdf(1.959963984540054) == Approx(0.975).epsilon(1e-15));
  CHECK(erfinvf(0.5f) == 0.47693628f);
  CHECK(std::isinf(erfcinv(0.0)));
  CHECK(std::isnan(erfinv(1.5)));
  CHECK(erfcx(1000.0) == Approx(1 / (1000 * std::sqrt(M_PI))).epsilon(1e-6));
  CHECK(cyl_bessel_i0(1.0) == Approx(1.2660658777520083));
  CHECK(cyl_bessel_i1f(-1.0f) == Approx(-0.565159103992485).epsilon(1e-6));
  CHECK(norm3d(3e300, 4e300, 0.0) == Approx(5e300));
  CHECK(rhypotf(3, 4) == 0.2f);
  CHECK(rnorm4df(1, 1, 1, 1) == 0.5f);
  CHECK(rcbrt(8.0) == 0.5);
  const cuFloatComplex a = make_cuFloatComplex(1, 2), b = make_cuFloatComplex(3, -1);
  CHECK(cuCrealf(cuCdivf(cuCmulf(a, b), b)) == Approx(1));
  CHECK(cuCabs(make_cuDoubleComplex(3, 4)) == 5);
  CHECK(CUDART_INF_F > 3e38f);
}
