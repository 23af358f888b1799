// Tables of PTX: statements, their operands, and the results that the PTX ISA manual defines.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ptx_rows {

using Bits = std::uint64_t;
constexpr Bits F(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr Bits D(double x) { return std::bit_cast<Bits>(x); }
constexpr Bits I(int x) { return std::uint32_t(x); }
inline constexpr Bits nan32 = 0x7FC00000, canonical_nan = 0x7FFFFFFF, ones = 0xFFFFFFFF, high64 = Bits{1} << 63;
inline constexpr Bits untouched = 0xEEEEEEEEEEEEEEEE;

/// The operands of all rows: %0 is the result, %1 to %4 are given.
struct Row {
  std::string text;  ///< without a semicolon: an instruction on %0 and all that are given
  std::vector<Bits> given;
  Bits result;
  unsigned bits = 32;  ///< of the result
};

// clang-format off
inline const std::vector<Row> scalar_rows{
    {"add.u32", {ones, 1}, 0}, {"add.s32", {5, I(-7)}, I(-2)}, {"add.sat.s32", {0x7FFFFFFF, 1}, 0x7FFFFFFF},
    {"add.sat.s32", {0x80000000, ones}, 0x80000000}, {"add.s16", {0x7FFF, 1}, 0x8000, 16},
    {"add.u64", {ones, 1}, 0x100000000, 64}, {"add.f32", {F(1.5f), F(2.25f)}, F(3.75f)},
    {"add.f32", {F(HUGE_VALF), F(-HUGE_VALF)}, canonical_nan}, {"add.rn.f32", {F(1), F(0x1p-30f)}, F(1)},
    {"add.rp.f32", {F(1), F(0x1p-30f)}, F(0x1.000002p0f)}, {"add.rm.f32", {F(-1), F(-0x1p-30f)}, F(-0x1.000002p0f)},
    {"add.rz.f32", {F(-1), F(0x1p-30f)}, F(-0x1.fffffep-1f)}, {"add.sat.f32", {F(0.75f), F(0.75f)}, F(1)},
    {"add.sat.f32", {F(-1), F(0.5f)}, 0}, {"add.sat.f32", {nan32, F(1)}, 0}, {"add.f32", {1, 2}, 3},
    {"add.ftz.f32", {1, 2}, 0}, {"add.ftz.f32", {0x80000001, 0x80000001}, 0x80000000},
    {"sub.ftz.f32", {F(0x1.8p-126f), F(0x1p-126f)}, 0}, {"add.rz.f64", {D(1), D(0x1p-80)}, D(1), 64},
    {"add.rp.f64", {D(1), D(0x1p-80)}, D(0x1.0000000000001p0), 64}, {"add.f16x2", {0x3C004000, 0x3C003C00}, 0x40004200},
    {"add.sat.f16", {0x4000, 0x3C00}, 0x3C00, 16}, {"add.rn.bf16x2", {0x3F804000, 0x3F803F80}, 0x40004040},
    {"sub.s32", {5, 7}, I(-2)}, {"sub.sat.s32", {0x80000000, 1}, 0x80000000}, {"sub.u64", {0, 1}, ~Bits{0}, 64},
    {"sub.f32", {F(1), F(2.5f)}, F(-1.5f)}, {"sub.f16", {0x3C00, 0x4000}, 0xBC00, 16},
    {"mul.lo.s32", {0x10001, 0x10000}, 0x10000}, {"mul.hi.s32", {I(-2), 3}, ones}, {"mul.hi.u32", {0xFFFFFFFE, 3}, 2},
    {"mul.wide.s32", {I(-2), 3}, Bits(-6), 64}, {"mul.wide.u32", {0xFFFFFFFE, 3}, 0x2FFFFFFFA, 64},
    {"mul.wide.s16", {0xFFFF, 2}, I(-2)}, {"mul.wide.u16", {0xFFFF, 0xFFFF}, 0xFFFE0001},
    {"mul.hi.s64", {~Bits{0}, 5}, ~Bits{0}, 64}, {"mul.hi.u64", {high64, 6}, 3, 64},
    {"mul.lo.u16", {300, 300}, 90000 - 65536, 16}, {"mul.f32", {F(1.5f), F(-2)}, F(-3)},
    {"mul.rn.f32", {F(0x1.000002p0f), F(0x1.000002p0f)}, F(0x1.000004p0f)},
    {"mul.rp.f32", {F(0x1.000002p0f), F(0x1.000002p0f)}, F(0x1.000006p0f)}, {"mul.sat.f32", {F(3), F(2)}, F(1)},
    {"mul.f16x2", {0x40003C00, 0x4200BC00}, 0x4600BC00}, {"mad.lo.s32", {3, I(-4), 5}, I(-7)},
    {"mad.hi.u32", {0x80000000, 4, 1}, 3}, {"mad.hi.sat.s32", {0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF}, 0x7FFFFFFF},
    {"mad.wide.u32", {0x10000, 0x10000, 5}, 0x100000005, 64}, {"mad.wide.s16", {0xFFFD, 4, 5}, I(-7)},
    {"mad.rn.f32", {F(2), F(3), F(1)}, F(7)},
    {"fma.rn.f32", {F(0x1.001p0f), F(0x1.001p0f), F(-0x1.002p0f)}, F(0x1p-24f)},
    {"fma.rp.f32", {F(1), F(1), F(0x1p-40f)}, F(0x1.000002p0f)}, {"fma.rn.sat.f32", {F(2), F(3), F(1)}, F(1)},
    {"fma.rz.f64", {D(1), D(1), D(-0x1p-80)}, D(0x1.fffffffffffffp-1), 64},
    {"fma.rn.f16", {0x4000, 0x4200, 0x3C00}, 0x4700, 16},
    {"fma.rn.relu.f16x2", {0xBC004000, 0x3C004000, 0}, 0x00004400},
    {"fma.rn.bf16", {0x4000, 0x4040, 0x3F80}, 0x40E0, 16}, {"div.s32", {I(-7), 2}, I(-3)},
    {"div.u32", {I(-8), 2}, 0x7FFFFFFC}, {"div.s32", {0x80000000, ones}, 0x80000000},
    {"div.rn.f32", {F(2), F(3)}, 0x3F2AAAAB}, {"div.rz.f32", {F(2), F(3)}, 0x3F2AAAAA},
    {"div.approx.f32", {F(1), F(4)}, F(0.25f)}, {"div.rn.f64", {D(1), D(4)}, D(0.25), 64},
    {"rem.s32", {I(-7), 2}, I(-1)}, {"rem.s32", {7, I(-2)}, 1}, {"rem.u32", {I(-7), 4}, 1},
    {"rem.s64", {high64, ~Bits{0}}, 0, 64}, {"abs.s32", {I(-5)}, 5}, {"abs.s32", {5}, 5},
    {"abs.s64", {Bits(-5)}, 5, 64}, {"abs.f32", {F(-0.0f)}, 0}, {"abs.f32", {F(-1.5f)}, F(1.5f)},
    {"abs.ftz.f32", {0x80000001}, 0}, {"abs.f64", {D(-2)}, D(2), 64}, {"abs.f16x2", {0xBC00C000}, 0x3C004000},
    {"abs.bf16", {0xBF80}, 0x3F80, 16}, {"neg.s32", {5}, I(-5)}, {"neg.s32", {0x80000000}, 0x80000000},
    {"neg.s64", {5}, Bits(-5), 64}, {"neg.f32", {0}, 0x80000000}, {"neg.f64", {D(-2)}, D(2), 64},
    {"neg.f16x2", {0x3C00C000}, 0xBC004000}, {"neg.bf16", {0x3F80}, 0xBF80, 16}, {"min.s32", {I(-1), 1}, I(-1)},
    {"min.u32", {I(-1), 1}, 1}, {"min.s64", {Bits(-1), 1}, Bits(-1), 64}, {"max.s32", {I(-1), 1}, 1},
    {"max.u32", {I(-1), 1}, I(-1)}, {"min.f32", {nan32, F(1)}, F(1)}, {"max.f32", {F(1), nan32}, F(1)},
    {"max.f32", {nan32, nan32}, canonical_nan}, {"min.NaN.f32", {nan32, F(1)}, canonical_nan},
    {"min.f32", {F(-0.0f), F(0)}, F(-0.0f)}, {"min.f32", {F(0), F(-0.0f)}, F(-0.0f)},
    {"max.f32", {F(-0.0f), F(0)}, F(0)}, {"max.f64", {D(-1), D(2)}, D(2), 64},
    {"min.f16x2", {0x3C00C000, 0x40003C00}, 0x3C00C000}, {"max.NaN.f16", {0x7E00, 0x3C00}, 0x7FFF, 16},
    {"max.f16", {0x7E00, 0x3C00}, 0x3C00, 16}, {"min.bf16", {0xBF80, 0x3F80}, 0xBF80, 16},
    {"min.NaN.bf16", {0xBF80, 0x7FC0}, 0x7FFF, 16}, {"sqrt.rn.f32", {F(2)}, 0x3FB504F3},
    {"sqrt.rp.f32", {F(2)}, 0x3FB504F4}, {"sqrt.rn.f64", {D(2)}, 0x3FF6A09E667F3BCD, 64},
    {"sqrt.approx.f32", {F(-1)}, canonical_nan}, {"rsqrt.approx.f32", {F(4)}, F(0.5f)},
    {"rcp.rn.f32", {F(3)}, 0x3EAAAAAB}, {"rcp.rz.f32", {F(3)}, 0x3EAAAAAA}, {"rcp.rn.f64", {D(4)}, D(0.25), 64},
    {"sin.approx.f32", {F(1.57079637f)}, F(1)}, {"cos.approx.f32", {0}, F(1)},
    {"cos.approx.f32", {F(3.14159274f)}, F(-1)}, {"ex2.approx.f32", {F(-1)}, F(0.5f)},
    {"ex2.approx.f16", {0x4200}, 0x4800, 16}, {"lg2.approx.f32", {F(8)}, F(3)}, {"lg2.approx.f32", {0}, F(-HUGE_VALF)},
    {"tanh.approx.f32", {F(-20)}, F(-1)}, {"tanh.approx.f16x2", {0x7C00FC00}, 0x3C00BC00},
    // Comparisons are below.
    {"set.eq.f32.s32", {3, 3}, F(1)}, {"set.eq.f16.f16", {0x3C00, 0x3C00}, 0x3C00, 16},
    {"set.eq.s32.u64", {1, Bits{1} << 32 | 1}, 0},
    {"{ .reg .pred p; setp.eq.u32 p, 1, 1; set.lt.and.u32.s32 %0, %1, %2, !p; }", {I(-1), 1}, 0},
    {"{ .reg .pred p; setp.eq.u32 p, 1, 1; set.lt.or.u32.s32 %0, %1, %2, p; }", {1, 1}, ones},
    {"{ .reg .pred p; setp.eq.u32 p, 1, 1; set.lt.xor.u32.s32 %0, %1, %2, p; }", {I(-1), 1}, 0},
    {"{ .reg .pred p, q, r; setp.ne.u32 r, 1, 1; setp.lt.or.s32 p|q, %1, %2, r; selp.u32 %0, 1, 0, p;\n"
     "  @q add.u32 %0, %0, 2; @!q add.u32 %0, %0, 4; }", {2, 1}, 2},
    {"{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %2, p; }", {3, 7}, 3},
    {"{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b64 %0, %1, %2, p; }", {7, 3}, 3, 64}, {"slct.u32.s32", {1, 2, 0}, 1},
    {"slct.f32.s32", {1, 2, I(-1)}, 2}, {"slct.u64.f32", {~Bits{0}, 2, F(-0.0f)}, ~Bits{0}, 64},
    {"slct.u32.f32", {1, 2, nan32}, 2}, {"cvt.rni.s32.f32", {F(2.5f)}, 2}, {"cvt.rni.s32.f32", {F(3.5f)}, 4},
    {"cvt.rzi.s32.f32", {F(-2.75f)}, I(-2)}, {"cvt.rmi.s32.f32", {F(-2.25f)}, I(-3)},
    {"cvt.rpi.s32.f32", {F(2.25f)}, 3}, {"cvt.rzi.u32.f32", {F(-1)}, 0}, {"cvt.rzi.u32.f32", {F(4e9f)}, 4000000000},
    {"cvt.rzi.s32.f32", {F(1e10f)}, 0x7FFFFFFF}, {"cvt.rzi.s32.f32", {F(-1e10f)}, 0x80000000}, {"cvt.rzi.s32.f32", {F(0x1p31f)}, 0x7FFFFFFF},
    {"cvt.rzi.u64.f32", {F(0x1p64f)}, ~Bits{0}, 64},
    {"cvt.rzi.s32.f32", {nan32}, 0}, {"cvt.rzi.s64.f32", {nan32}, high64, 64},
    {"cvt.rzi.s32.f64", {D(std::numeric_limits<double>::quiet_NaN())}, 0x80000000},
    {"cvt.rzi.u64.f64", {D(0x1p63)}, high64, 64}, {"cvt.rzi.u8.f32", {F(300)}, 255},
    {"cvt.rzi.s8.f32", {F(-300)}, I(-128)}, {"cvt.rzi.s32.f16", {0xC100}, I(-2)}, {"cvt.rn.f32.s32", {I(-3)}, F(-3)},
    {"cvt.rn.f32.u32", {ones}, F(0x1p32f)}, {"cvt.rz.f32.u32", {ones}, F(0x1.fffffep31f)},
    {"cvt.rp.f32.s64", {(Bits{1} << 40) + 1}, F(0x1.000002p40f)}, {"cvt.rn.f64.s32", {I(-3)}, D(-3), 64},
    {"cvt.rz.f64.u64", {~Bits{0}}, D(0x1.fffffffffffffp63), 64}, {"cvt.f64.f32", {F(1.5f)}, D(1.5), 64},
    {"cvt.rn.f32.f64", {D(1 + 0x1p-40)}, F(1)}, {"cvt.rp.f32.f64", {D(1 + 0x1p-40)}, F(0x1.000002p0f)},
    {"cvt.rm.f32.f64", {D(-1 - 0x1p-40)}, F(-0x1.000002p0f)}, {"cvt.rz.f32.f64", {D(-1 - 0x1p-40)}, F(-1)},
    {"cvt.rn.f16.f32", {F(65520)}, 0x7C00, 16}, {"cvt.rz.f16.f32", {F(65520)}, 0x7BFF, 16},
    {"cvt.rn.relu.f16.f32", {F(-1)}, 0, 16}, {"cvt.rn.f16.s32", {3}, 0x4200, 16}, {"cvt.f32.f16", {0x3E00}, F(1.5f)},
    {"cvt.f32.bf16", {0x4040}, F(3)}, {"cvt.rn.bf16.f32", {F(0x1.01p0f)}, 0x3F80, 16},
    {"cvt.rn.f16x2.f32", {F(2), F(1)}, 0x40003C00}, {"cvt.rna.tf32.f32", {F(1 + 0x1p-11f)}, F(1 + 0x1p-10f)},
    {"cvt.sat.f32.f32", {F(2)}, F(1)}, {"cvt.sat.f32.f32", {nan32}, 0}, {"cvt.sat.f32.f32", {F(0.25f)}, F(0.25f)},
    {"cvt.ftz.f32.f32", {1}, 0}, {"cvt.rni.f32.f32", {F(2.5f)}, F(2)}, {"cvt.rpi.f32.f32", {F(2.25f)}, F(3)},
    {"cvt.sat.u8.s32", {300}, 255}, {"cvt.sat.u8.s32", {I(-5)}, 0}, {"cvt.sat.s8.s32", {I(-300)}, I(-128)},
    {"cvt.s32.s8", {0x17F}, 127}, {"cvt.s32.s8", {0xFF}, I(-1)}, {"cvt.u32.u8", {0x1FF}, 0xFF},
    {"cvt.s64.s32", {I(-1)}, Bits(-1), 64}, {"cvt.u64.u32", {I(-1)}, ones, 64}, {"cvt.u16.u32", {0x12345}, 0x2345, 16},
    {"mov.u32 %0, 0x10;", {}, 16}, {"mov.s32 %0, -2;", {}, I(-2)}, {"mov.u32 %0, 0b101;", {}, 5},
    {"mov.f32 %0, 0f40490FDB;", {}, 0x40490FDB}, {"mov.f64 %0, 0d4000000000000000;", {}, D(2), 64},
    {"mov.f32 %0, -1.5;", {}, F(-1.5f)}, {"mov.b64 %0, {%1, %2};", {1, 2}, 0x200000001, 64},
    {"mov.b32 %0, {%1, %2};", {0x10001, 2}, 0x00020001},
    {"{ .reg .b32 a, b; mov.b64 {a, b}, %1; sub.u32 %0, a, b; }", {0x300000005}, 2},
    {"{ .reg .b16 a, b; mov.b32 {a, b}, %1; sub.u16 %0, a, b; }", {0x00030005}, 2, 16},
    {"{ .reg .b32 r<3>; mov.b32 r2, 7; mov.b32 _, 3; mov.b32 %0, r2; }", {}, 7},
    // Bits.
    {"and.b32", {0xF0F0, 0xFF00}, 0xF000}, {"or.b64", {high64, 1}, high64 | 1, 64},
    {"xor.b32", {0xF0F0, 0xFF00}, 0x0FF0},
    {"{ .reg .pred p, q; setp.eq.u32 p, %1, 1; setp.eq.u32 q, %1, 2; and.pred p, p, !q; selp.u32 %0, 1, 0, p; }", {1},
     1},
    {"{ .reg .pred p, q; setp.eq.u32 p, %1, 1; not.pred q, p; or.pred p, q, q; selp.u32 %0, 1, 0, p; }", {1}, 0},
    {"not.b32", {0xF0F0}, 0xFFFF0F0F}, {"not.b16", {0xF0F0}, 0x0F0F, 16}, {"shl.b32", {3, 31}, 0x80000000},
    {"shl.b32", {3, 32}, 0}, {"shl.b64", {1, 63}, high64, 64}, {"shl.b64", {1, 64}, 0, 64},
    {"shl.b16", {0x8001, 1}, 2, 16}, {"shr.u32", {0x80000000, 31}, 1}, {"shr.u32", {0x80000000, 32}, 0},
    {"shr.s32", {I(-8), 1}, I(-4)}, {"shr.s32", {I(-8), 32}, ones}, {"shr.s32", {8, 32}, 0},
    {"shr.s32", {I(-8), 0x100}, ones}, {"shr.s64", {high64, 63}, ~Bits{0}, 64}, {"shr.u64", {high64, 64}, 0, 64},
    {"shr.u16", {0xF000, 16}, 0, 16}, {"shf.l.wrap.b32", {0xAABBCCDD, 0x11223344, 8}, 0x223344AA},
    {"shf.l.wrap.b32", {0xAABBCCDD, 0x11223344, 40}, 0x223344AA},
    {"shf.l.clamp.b32", {0xAABBCCDD, 0x11223344, 40}, 0xAABBCCDD},
    {"shf.r.wrap.b32", {0xAABBCCDD, 0x11223344, 8}, 0x44AABBCC},
    {"shf.r.clamp.b32", {0xAABBCCDD, 0x11223344, 40}, 0x11223344}, {"bfe.u32", {0xABCD, 4, 8}, 0xBC},
    {"bfe.u32", {ones, 4, 0}, 0}, {"bfe.u32", {ones, 0, 32}, ones}, {"bfe.s32", {0xF, 0, 4}, ones},
    {"bfe.s32", {0x7, 0, 4}, 7}, {"bfe.s32", {0x80000000, 28, 8}, I(-8)}, {"bfe.s32", {0x80000000, 40, 4}, ones},
    {"bfe.s32", {ones, 0, 0}, 0}, {"bfe.u64", {0x123456789ABCDEF0, 36, 16}, 0x4567, 64},
    {"bmsk.clamp.b32", {4, 8}, 0xFF0}, {"bmsk.clamp.b32", {0, 40}, ones}, {"bmsk.clamp.b32", {32, 4}, 0},
    {"bmsk.wrap.b32", {36, 35}, 0x70}, {"bfi.b32", {0xF, 0x10000, 8, 4}, 0x10F00}, {"bfi.b32", {0xF, 0x10000, 8, 0}, 0x10000},
    {"bfi.b32", {0xF, 0x10000, 32, 4}, 0x10000}, {"bfi.b32", {0x12345678, 0, 0, 32}, 0x12345678},
    {"bfi.b64", {0xFF, 1, 60, 8}, 0xF000000000000001, 64}, {"bfi.b64", {high64 | 5, 1, 0, 64}, high64 | 5, 64},
    {"prmt.b32", {0x11112222, 0x33334444, 0x5410}, 0x44442222},
    {"prmt.b32", {0x80, 0x70, 0x4C80}, 0x7000FF80}, {"lop3.b32 %0, %1, %2, %3, 0x1A;", {0xF0, 0xCC, 0xAA}, 0x1A},
    {"lop3.b32 %0, %1, %2, %3, 0xE8;", {0xF0, 0xCC, 0xAA}, 0xE8},
    {"lop3.b32 %0, %1, %2, %3, 0x41;", {0xF0, 0xCC, 0xAA}, 0xFFFFFF41}, {"popc.b32", {0xF0F1}, 9},
    {"popc.b64", {~Bits{0}}, 64}, {"clz.b32", {1}, 31}, {"clz.b32", {0}, 32}, {"clz.b64", {1}, 63},
    {"brev.b32", {1}, 0x80000000}, {"brev.b32", {0x12345678}, 0x1E6A2C48}, {"brev.b64", {2}, high64 >> 1, 64},
    {"bfind.u32", {0x10}, 4}, {"bfind.u32", {0x80000000}, 31}, {"bfind.u32", {0}, ones}, {"bfind.s32", {ones}, ones},
    {"bfind.s32", {I(-16)}, 3}, {"bfind.u64", {Bits{1} << 40}, 40}, {"bfind.shiftamt.u32", {0x10}, 27},
    {"bfind.shiftamt.s64", {1}, 63}, {"dp4a.s32.s32", {0x01FF0203, 0x02030405, 10}, 32},
    {"dp4a.u32.u32", {0x01FF0203, 0x02030405, 10}, 800}, {"dp4a.s32.u32", {0x01FF0203, 0x02FF0405, 10}, I(-220)},
    {"sad.s32", {I(-1), 1, 10}, 12}, {"sad.u32", {I(-1), 1, 1}, ones}, {"sad.u64", {3, 5, ones}, ones + 2, 64},
    // Texts as they are written, and lanes alone.
    {"{\n .reg .pred p, q;\n .reg .b32 t<2>;\n setp.lt.u32 p|q, %1, 5; // comment\n mov.b32 t1, 100;\n"
     "@p add.u32 t1, t1, 1;\n @!p add.u32 t1, t1, 2;\n selp.b32 t0, 1000, 2000, q; /* ; */\n add.u32 %0, t0, t1;\n}", {0}, 2101},
    {"mov.f32 %0, 0f3FC00000; fma.rn.f32 %0, %0, %1, 0f40000000;", {F(2)}, F(5)},
    {"{ .reg .pred p; .reg .u32 i; mov.u32 i, 0; L: add.u32 i, i, 1; setp.lt.u32 p, i, %1; @p bra L; mov.u32 %0, i; }",
     {5}, 5},
    {"bra OVER; mov.u32 %0, 1; OVER: nanosleep.u32 20;", {}, 0xEEEEEEEE},
};

/// On memory: %1 is the address in shared memory of the eight words below, %2 in global memory of the same, %3 the
/// generic address of %1.
inline constexpr std::uint32_t words[8]{0x80FF7F01, 5, 0x3FC00000, 0xFFFFFFFE, 0, 0x40040000, 0x3C004000, 0};
struct MemoryRow {
  const char* text;
  Bits result;                     ///< of %0
  unsigned at = 0;                 ///< a word in shared memory
  std::uint32_t after = words[0];  ///< its value after the statement
  unsigned bits = 32;
};
inline constexpr Bits none = 0xEEEEEEEE;
inline const std::vector<MemoryRow> memory_rows{
    {"ld.shared.u32 %0, [%1];", words[0]}, {"ld.shared.u32 %0, [%1+4];", 5}, {"ld.shared::cta.s8 %0, [%1+3];", I(-128)},
    {"ld.shared.u8 %0, [%1+3];", 0x80}, {"ld.shared.s16 %0, [%1+2];", 0xFFFF80FF},
    {"ld.shared.b16 %0, [%1+2];", 0x80FF}, {"ld.volatile.shared.f64 %0, [%1+16];", D(2.5), 0, words[0], 64},
    {"ld.global.nc.u32 %0, [%2+4];", 5}, {"ld.u32 %0, [%3+12];", words[3]}, {"ldu.global.u32 %0, [%2+4];", 5},
    {"{ .reg .b32 a, b; ld.shared.v2.u32 {a, b}, [%1]; sub.u32 %0, a, b; }", words[0] - 5},
    {"st.shared.u8 [%1+1], 0xAB;", none, 0, 0x80FFAB01}, {"st.shared.b16 [%1+6], 0xABCD;", none, 1, 0xABCD0005},
    {"st.shared.f32 [%1], 1.0;", none, 0, 0x3F800000}, {"st.u32 [%3+4], 7;", none, 1, 7},
    {"st.shared.v2.b32 [%1], {1, 2};", none, 1, 2}, {"st.global.u32 [%2], 9; ld.global.u32 %0, [%2];", 9},
    {"atom.shared.add.u32 %0, [%1+4], 3;", 5, 1, 8}, {"atom.shared.add.s32 %0, [%1+4], -7;", 5, 1, 0xFFFFFFFE},
    {"atom.shared.exch.b32 %0, [%1+4], 3;", 5, 1, 3}, {"atom.shared.cas.b32 %0, [%1+4], 5, 9;", 5, 1, 9},
    {"atom.shared.cas.b32 %0, [%1+4], 6, 9;", 5, 1, 5}, {"atom.shared.cas.b16 %0, [%1+4], 5, 9;", 5, 1, 9},
    {"atom.shared.min.s32 %0, [%1+12], 1;", words[3], 3, words[3]},
    {"atom.shared.min.u32 %0, [%1+12], 1;", words[3], 3, 1}, {"atom.shared.max.s32 %0, [%1+12], 1;", words[3], 3, 1},
    {"atom.shared.max.u32 %0, [%1+12], 1;", words[3], 3, words[3]}, {"atom.shared.and.b32 %0, [%1+4], 4;", 5, 1, 4},
    {"atom.shared.or.b32 %0, [%1+4], 2;", 5, 1, 7}, {"atom.shared.xor.b32 %0, [%1+4], 1;", 5, 1, 4},
    {"atom.shared.inc.u32 %0, [%1+4], 5;", 5, 1, 0}, {"atom.shared.inc.u32 %0, [%1+4], 6;", 5, 1, 6},
    {"atom.shared.dec.u32 %0, [%1+4], 9;", 5, 1, 4}, {"atom.shared.dec.u32 %0, [%1+4], 4;", 5, 1, 4},
    {"atom.shared.dec.u32 %0, [%1+4], 5;", 5, 1, 4}, {"atom.shared.exch.b64 %0, [%1+16], 7;", D(2.5), 4, 7, 64},
    {"atom.shared.dec.u32 %0, [%1+28], 4;", 0, 7, 4},
    {"atom.shared.add.f32 %0, [%1+8], 0f3F000000;", 0x3FC00000, 2, 0x40000000},
    {"atom.shared.add.u64 %0, [%1+16], 0x100000001;", D(2.5), 4, 1, 64},
    {"atom.shared.add.f64 %0, [%1+16], 0d3FF8000000000000;", D(2.5), 5, 0x40100000, 64},
    {"atom.shared.add.noftz.f16x2 %0, [%1+24], 0x3C003C00;", words[6], 6, 0x40004200},
    {"red.shared.add.u32 [%1+4], 1;", none, 1, 6}, {"red.shared.max.s32 [%1+4], 9;", none, 1, 9},
    {"red.global.add.u32 [%2+4], 1; ld.global.u32 %0, [%2+4];", 6},
    {"cp.async.ca.shared.global [%1+4], [%2+8], 4; cp.async.wait_all; ld.shared.u32 %0, [%1+4];", words[2], 1,
     words[2]},
    {"cp.async.ca.shared.global [%1], [%2+8], 8, 4; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %0, "
     "[%1];",
     words[2], 1, 0},
    {"{ .reg .pred p; setp.eq.u32 p, 1, 1; cp.async.ca.shared.global [%1], [%2+8], 4, p; cp.async.wait_all; }", none, 0,
     0},
    {"{ .reg .b64 a; cvta.to.shared.u64 a, %3; sub.u64 %0, a, %1; }", 0, 0, words[0], 64},
    {"{ .reg .b64 a; cvta.shared.u64 a, %1; sub.u64 %0, a, %3; }", 0, 0, words[0], 64},
    {"{ .reg .b64 a; cvta.to.global.u64 a, %2; sub.u64 %0, a, %2; }", 0, 0, words[0], 64},
    {"{ .reg .pred p; isspacep.shared p, %3; selp.u32 %0, 1, 0, p; }", 1},
    {"{ .reg .pred p; isspacep.shared p, %2; selp.u32 %0, 1, 0, p; }", 0},
    {"{ .reg .pred p; isspacep.global p, %2; selp.u32 %0, 1, 0, p; }", 1},
    {"{ .reg .pred p; isspacep.global p, %3; selp.u32 %0, 1, 0, p; }", 0},
    {"membar.gl; fence.acq_rel.gpu; prefetch.global.L1 [%2]; prefetchu.L1 [%2]; griddepcontrol.wait;", none},
    {"discard.global.L2 [%2], 128; nanosleep.u32 20;", none},
    {"{ .reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; ld.global.L2::cache_hint.u32 %0, [%2+4], p; }",
     5},
    // Two arrivals complete a round; a state of another round is complete.
    {"{ .reg .b64 s; .reg .pred p, q; mbarrier.init.shared.b64 [%1+16], 2; mbarrier.arrive.shared.b64 s, [%1+16];\n"
     "  mbarrier.test_wait.shared.b64 p, [%1+16], s; mbarrier.arrive.shared.b64 s, [%1+16];\n"
     "  mbarrier.test_wait.shared.b64 q, [%1+16], s; selp.u32 %0, 10, 20, p; @q add.u32 %0, %0, 1; }", 21},
    {"{ .reg .b64 s; .reg .pred p, q; mbarrier.init.shared.b64 [%1+16], 1; mbarrier.test_wait.parity.shared.b64 p, "
     "[%1+16], 0;\n"
     "  mbarrier.arrive.shared.b64 s, [%1+16]; mbarrier.try_wait.parity.shared.b64 q, [%1+16], 0;\n"
     "  selp.u32 %0, 10, 20, p; @q add.u32 %0, %0, 1; mbarrier.inval.shared.b64 [%1+16]; }", 21},
    // Without one of two, every arrival completes a round.
    {"{ .reg .b64 s; .reg .pred p; mbarrier.init.shared.b64 [%1+16], 2; mbarrier.arrive_drop.shared.b64 s, [%1+16];\n"
     "  mbarrier.arrive.shared.b64 s, [%1+16]; mbarrier.arrive.shared.b64 s, [%1+16];\n"
     "  mbarrier.test_wait.shared.b64 p, [%1+16], s; selp.u32 %0, 1, 0, p; }", 1},
    {"{ .reg .b64 s; .reg .pred p; mbarrier.init.shared.b64 [%1+16], 1; cp.async.ca.shared.global [%1], [%2+8], 4;\n"
     "  cp.async.mbarrier.arrive.noinc.shared.b64 [%1+16]; mbarrier.test_wait.parity.shared.b64 p, [%1+16], 0;\n"
     "  selp.u32 %0, 1, 0, p; }", 1, 0, words[2]},
};

/// On the 32 lanes of a warp: %1 is the lane's number, %2 the address in shared memory of its row of eight numbers
/// of 16 bits, 8 · row and what follows.
struct WarpRow {
  const char* text;
  Bits (*result)(unsigned lane);
};
#define LANES(result) [](unsigned lane [[maybe_unused]]) -> Bits { return result; }
inline const std::vector<WarpRow> warp_rows{
    {"shfl.sync.up.b32 %0, %1, 1, 0, -1;", LANES(lane == 0 ? 0 : lane - 1)},
    {"shfl.sync.down.b32 %0, %1, 3, 31, -1;", LANES(lane < 29 ? lane + 3 : lane)},
    {"shfl.sync.bfly.b32 %0, %1, 16, 31, -1;", LANES(lane ^ 16)}, {"shfl.sync.idx.b32 %0, %1, 5, 31, -1;", LANES(5)},
    // Segments of eight lanes: 0x1800.
    {"shfl.sync.up.b32 %0, %1, 2, 0x1800, -1;", LANES(lane % 8 < 2 ? lane : lane - 2)},
    {"shfl.sync.down.b32 %0, %1, 2, 0x181F, -1;", LANES(lane % 8 > 5 ? lane : lane + 2)},
    {"shfl.sync.idx.b32 %0, %1, 11, 0x181F, -1;", LANES(lane / 8 * 8 + 3)},
    {"{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, 1, 0, -1; @p add.u32 %0, %0, 100; }",
     LANES(lane == 0 ? 0 : lane + 99)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, -1; }", LANES(31)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.any.pred p, p, -1; selp.u32 %0, 1, 0, p; }", LANES(1)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.all.pred p, p, -1; selp.u32 %0, 1, 0, p; }", LANES(0)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.all.pred p, !p, -1; selp.u32 %0, 1, 0, p; }", LANES(0)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 32; vote.sync.all.pred p, p, -1; selp.u32 %0, 1, 0, p; }", LANES(1)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.uni.pred p, p, -1; selp.u32 %0, 1, 0, p; }", LANES(0)},
    {"{ .reg .pred p; setp.lt.u32 p, %1, 0; vote.sync.uni.pred p, p, -1; selp.u32 %0, 1, 0, p; }", LANES(1)},
    {"{ .reg .b32 v; and.b32 v, %1, 3; match.any.sync.b32 %0, v, -1; }", LANES(0x11111111u << lane % 4)},
    {"{ .reg .b64 v; cvt.u64.u32 v, %1; shl.b64 v, v, 32; match.any.sync.b64 %0, v, -1; }", LANES(1u << lane)},
    {"{ .reg .pred p; match.all.sync.b32 %0|p, 7, -1; @!p mov.u32 %0, 1; }", LANES(ones)},
    {"{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; @p mov.u32 %0, 1; }", LANES(0)},
    {"redux.sync.add.u32 %0, %1, -1;", LANES(31 * 16)},
    {"{ .reg .s32 v; sub.s32 v, %1, 9; redux.sync.min.s32 %0, v, -1; }", LANES(I(-9))},
    {"{ .reg .s32 v; sub.s32 v, %1, 9; redux.sync.max.s32 %0, v, -1; }", LANES(22)},
    {"{ .reg .s32 v; sub.s32 v, %1, 9; redux.sync.min.u32 %0, v, -1; }", LANES(0)},
    {"{ .reg .s32 v; sub.s32 v, %1, 9; redux.sync.max.u32 %0, v, -1; }", LANES(ones)},
    {"{ .reg .b32 v; or.b32 v, %1, 64; redux.sync.and.b32 %0, v, -1; }", LANES(64)},
    {"redux.sync.or.b32 %0, %1, -1;", LANES(31)},
    {"{ .reg .b32 v; or.b32 v, %1, 1; redux.sync.xor.b32 %0, v, -1; }", LANES(0)}, {"activemask.b32 %0;", LANES(ones)},
    {"{ .reg .pred p, q; setp.gt.u32 q, %1, 3; mov.u32 %0, 9; @q elect.sync %0|p, 0xFFFFFFF0; @p add.u32 %0, %0, 100; "
     "}", LANES(lane == 4 ? 104 : lane < 4 ? 9 : 4)},
    {"mov.u32 %0, %%lanemask_lt; bar.sync 0; bar.warp.sync -1; barrier.sync 0;", LANES((1u << lane) - 1)},
    {"bar.sync 1, 32; mov.u32 %0, %%laneid;", LANES(lane)},
    // Lane 4 · row + column / 2 has the elements (row, column) and (row, column + 1).
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %0, [%2];", LANES((2 * lane) | (2 * lane + 1) << 16)},
    {"{ .reg .b32 a; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a, %0}, [%2]; }",
     LANES((64 + 2 * lane) | (64 + 2 * lane + 1) << 16)},
    {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%2];",
     LANES((lane / 4 + lane % 4 * 16) | (lane / 4 + lane % 4 * 16 + 8) << 16)},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%2], {%1}; bar.sync 0; ld.shared.u32 %0, [%2+4];",
     LANES(lane < 8 ? 4 * lane + 1 : (8 * lane + 2) | (8 * lane + 3) << 16)},
};
#undef LANES

/// Texts that the interpreter stops at, and why.
inline constexpr std::pair<const char*, const char*> stopped_texts[]{
    {"sub.u16x2 %0, %1, %2;", "not emulated: sub.u16x2"},
    {"prmt.b32.f4e %0, %1, %2, %3;", "not emulated: prmt.b32.f4e"},
    {"min.xorsign.abs.f32 %0, %1, %2;", "not emulated: min.xorsign.abs.f32"},
    {"rem.f32 %0, %1, %2;", "not emulated: rem.f32"}, {"add.u32 %0, %1;", "not emulated: add.u32"},
    {"slct %0, %1, %2, %3;", "not emulated: slct"}, {"setp.eq.f16x2 %0, %1, %2;", "not emulated: setp.eq.f16x2"},
    {"atom.shared.min.f16 %0, [%1], %2;", "not emulated: atom.shared.min.f16"},
    {"cp.async.bulk.shared.global [%1], [%2], 16;", "not emulated: cp.async.bulk"},
    {"mbarrier.expect_tx.shared.b64 [%1], 16;", "not emulated: mbarrier.expect_tx"},
    {"bar.red.popc.u32 %0, 0, 1;", "not emulated: bar.red.popc.u32"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b8 %0, [%1];", "not emulated: ldmatrix.sync.aligned.m8n8.x1.shared.b8"},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32 {%0}, {%1}, {%2}, {%3};", "not emulated: mma.sync"},
    {"exit;", "not emulated: exit"}, {"trap;", "stops: trap"},
};
// clang-format on

}  // namespace ptx_rows
