// SPDX-License-Identifier: MIT
//
// Values of expressions, compared with the compiler's for a table of expressions.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "bankcheck/predict/index_expression.hpp"
#include "tests/catch_any.hpp"

using bankwise::predict::ExpressionError;
using bankwise::predict::IndexExpression;

// The tests rely on C's precedence without parentheses.
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wextra"  // ?: between an int and an unsigned
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#else
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif

namespace {

using Int = std::int64_t;

// The names that CUDA and OpenCL define, with the types that they have there.
struct {
  unsigned x;
} threadIdx;
std::uint64_t get_local_id(unsigned) { return threadIdx.x; }
unsigned get_sub_group_local_id() { return threadIdx.x; }
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
  return std::min<std::common_type_t<A, B>>(a, b);
}
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
  return std::max<std::common_type_t<A, B>>(a, b);
}
template <class T>
T abs(T a) {
  return a < 0 ? -a : a;
}

struct Case {
  const char* text;
  Int (*value)(int tid);
};
#define SAME(...)                                   \
  Case {                                            \
#__VA_ARGS__, [](int tid) -> Int {                \
      [[maybe_unused]] const int lane = tid;          \
      [[maybe_unused]] const int laneid = tid;        \
      threadIdx.x = unsigned(tid);                    \
      return (void)tid, Int(__VA_ARGS__);             \
    } \
  }

// It would parse < > as a template.
// clang-format off
constexpr Case cases[]{
    SAME(tid), SAME(17 * tid), SAME((tid ^ (tid >> 3)) * 4), SAME(tid % 16 * 33 + tid / 16), SAME(0),
    SAME(9007199254740991), SAME(-9007199254740991), SAME(0x1fFFffFFffFFff), SAME(0xaB), SAME(0Xf), SAME(((((tid))))),
    // signs
    SAME(-tid), SAME(+tid), SAME(-tid * 3), SAME(-tid + 70), SAME(tid - -3), SAME(tid * -3), SAME(tid / -3),
    SAME(tid % -3), SAME(-tid / 3), SAME(-tid % 3), SAME(-7 / 2 * 2), SAME(tid - 5 - 3), SAME(tid - (5 - 3)),
    SAME(100 / 7 / 2), SAME(100 / (7 / 2)), SAME(100 % 7 * 3), SAME(100 * 3 % 7), SAME(7 * (tid - 31) % 5),
    // bit operations
    SAME(~tid & 0xffffffff), SAME(~(tid | 8) & 63), SAME(tid & ~3), SAME(1 << tid % 8), SAME(1 << 2 << 3),
    SAME(1024 >> 2 >> 3), SAME(1 << 3 + 1), SAME(64 >> tid / 8), SAME(tid & 6 | 1), SAME(tid | 1 & 6),
    SAME(tid ^ 5 & 12), SAME(tid | 5 ^ 12), SAME(tid ^ 5 | 12), SAME(tid & 3 == 3), SAME(tid ^ 3 < 7),
    SAME(tid | 4 != 4), SAME(tid & 1 + 2), SAME(tid << 2 & 0xf0), SAME(0xf0 & tid << 2),
    SAME(tid >> 1 ^ tid >> 2 ^ tid >> 3), SAME(1LL << 52), SAME(~tid), SAME(~(-1)), SAME(-tid & 31), SAME(-tid | 3),
    SAME(-5 ^ tid), SAME(-tid >> 1), SAME((tid - 40) >> 2), SAME((tid - 40) << 2), SAME(-1 << 31 >> tid % 32),
    SAME((tid - 32) / 3), SAME((tid - 32) % 3), SAME(-1 - 2147483647), SAME(tid & ~-4),
    // types
    SAME(~0u), SAME(-1 / 2), SAME(-1 / 2u), SAME(-1 % 7U), SAME(0u - tid), SAME((tid - 3u) >> 1),
    SAME((tid - 3u) >> 1ll), SAME((tid - 3) >> 1u), SAME(-1 < 1u), SAME(tid - 40 > 0u), SAME(2147483647u * 3),
    SAME(4294967295 * 5), SAME(0xffffffff * 5), SAME(0x7fffffff - tid), SAME(1u << 31), SAME(1ll << 40 | tid),
    SAME(1ull << 62), SAME(-1 + 0ul > 5), SAME((0u - 1) + 0ll), SAME(-1ll + 0u), SAME(-1 / 2ull),
    SAME((tid < 9 ? -1 : 1u) / 2), SAME((tid < 9 ? -1 : 1u) + 0ll), SAME((tid < 9 ? 1u : -1) / 2), SAME(-2147483648),
    SAME(0x80000000 / -1), SAME(!2u - 2), SAME((tid < 3u) - 2), SAME((1u && 2u) - 2),
    // names and functions
    SAME(lane * 33), SAME(laneid ^ 5), SAME(threadIdx.x * 2u), SAME((threadIdx.x - 32) / 4), SAME(-threadIdx.x % 5),
    SAME(get_sub_group_local_id() - 1), SAME((get_sub_group_local_id() - 1) >> 4), SAME((get_local_id(0) - 32) >> 4),
    SAME(get_local_id(0) % 16 * 0x10 + get_local_id(0) / 16), SAME(lane < 16 ? lane : threadIdx.x),
    SAME(min(tid, 16)), SAME(max(tid - 40, -8)), SAME(min(-1, threadIdx.x)), SAME(max(-1, 3ull) >> 1),
    SAME(max(min(tid * 2, 40), 8) % 16), SAME(abs(tid - 16)), SAME(abs(tid - 16) - 20 >> 1),
    SAME(abs(tid - 16ll) - 20),
    // comparisons
    SAME(tid < 3), SAME(tid <= 3), SAME(tid > 3), SAME(tid >= 3), SAME(tid == 3), SAME(tid != 3),
    SAME(tid<5 == tid> 2), SAME(1 < 2 < 3), SAME(3 > 2 > 1), SAME(5 == 5 == 1), SAME(tid + 1 < tid * 2),
    SAME(tid << 1 < 9), SAME(-1 < tid), SAME(tid > -1), SAME(tid < -1),
    // logical operators
    SAME(!tid), SAME(!tid + 5), SAME(!(tid - 5)), SAME(tid && 5), SAME(tid || 0), SAME(tid<3 || tid> 9 && tid < 12),
    SAME((tid < 3 || tid > 9) && tid < 12), SAME(tid & 1 && tid & 2 || tid & 4), SAME(1 || 0 && 0),
    SAME(tid | 0 && tid), SAME(tid == 1 || tid == 2),
    // the conditional operator
    SAME(tid ? 64 / tid : 7), SAME(tid < 8 ? tid * 2 : tid), SAME(tid < 8 ? 1 : tid < 16 ? 2 : 3),
    SAME(tid < 8 ? tid < 4 ? 1 : 2 : 3), SAME((tid < 8 ? 1 : 2) * 3), SAME(tid < 8 ? 1 : 2 * 3),
    SAME(tid & 1 ? tid + 1 : tid - 1), SAME(tid || 0 ? 4 : 5), SAME(1 ? 0 ? 1 : 2 : 3),
    SAME(tid % 2 ? tid % 3 ? 1 : 2 : tid % 5 ? 3 : 4), SAME(tid == 0 ? 1 : 0 ? 2 : 3), SAME(tid < 9 ? -1 : +1),
    SAME((tid < 32 ? tid : 63 - tid) << 2), SAME(3 + (tid ? 1 : 2) + 4),
};
constexpr Case signs_in_a_row[]{
    SAME(-(-tid)), SAME(!(!tid)),  SAME(!!tid),      SAME(7 * !!tid),  SAME(- -tid),
    SAME(~~tid),   SAME(-!tid),    SAME(!-tid),      SAME(-~tid),      SAME(~-tid),
    SAME(+-+tid),  SAME(tid - -3), SAME(tid - - -3), SAME(tid + + +3),
};
// clang-format on

/// The value; nothing if the expression is rejected.
std::optional<Int> calculated(const std::string& text, unsigned tid) {
  try {
    IndexExpression expression(text);
    return expression(tid);
  } catch (const ExpressionError&) {
    return std::nullopt;
  }
}

std::string shown(const std::optional<Int>& value) { return value ? std::to_string(*value) : "error"; }

/// Empty if the expression has C's value for every lane; otherwise the first lane that differs.
std::string difference(const std::string& text, Int (*value)(int)) {
  for (unsigned tid = 0; tid < 64; ++tid) {
    const auto index = calculated(text, tid);
    if (index != value(int(tid))) {
      return text + " of " + std::to_string(tid) + ": " + shown(index) + ", in C " + std::to_string(value(int(tid)));
    }
  }
  return "";
}

}  // namespace

TEST_CASE("predict/expression/values") {
  for (const Case& each : cases) CHECK(difference(each.text, each.value) == "");
  // The negative controls: another precedence, a wrong type, and a shift of the wrong kind are detected.
  CHECK(difference("(tid & 3) == 3", [](int tid) -> Int { return tid & 3 == 3; }) != "");
  CHECK(difference("-1 / 2", [](int) -> Int { return -1 / 2u; }) != "");
  CHECK(difference("(tid - 3u) >> 1", [](int tid) -> Int { return (tid - 3) >> 1; }) != "");
}

TEST_CASE("predict/expression/signs") {
  for (const Case& each : signs_in_a_row) CHECK(difference(each.text, each.value) == "");
  for (const char* text : {"--tid", "tid--3", "++tid", "tid ++ 3", "tid---3"}) {
    INFO(text);
    CHECK_FALSE(calculated(text, 5));  // no constant expressions in C either
  }
}

TEST_CASE("predict/expression/blanks") {
  for (const char* text : {"tid*2+1", " tid * 2 + 1 ", "tid*2 +1", "   tid*2+1", "( tid )*2+ 1"}) {
    INFO(text);
    IndexExpression expression(text);
    CHECK(expression(5) == 11);
  }
}

TEST_CASE("predict/expression/short_circuit") {
  for (const char* text : {"tid && 8/tid", "!tid || 8/tid", "tid ? 8/tid : 1", "!tid ? 1 : 8/tid"}) {
    INFO(text);
    CHECK(calculated(text, 0));
    CHECK(calculated(text, 4));
  }
  CHECK_FALSE(calculated("8/tid && tid", 0));
  CHECK_FALSE(calculated("tid || 8/tid", 0));
}

TEST_CASE("predict/expression/octal") {
  CHECK_FALSE(calculated("010", 0));
  CHECK(calculated("0", 0) == 0);
}
