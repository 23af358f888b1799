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

using bankwise::ExpressionError;
using bankwise::IndexExpression;

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
std::uint64_t get_local_id(unsigned) {
  return threadIdx.x;
}
unsigned get_sub_group_local_id() {
  return threadIdx.x;
}
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
#define SAME_IN_C(...)                              \
  Case {                                            \
#__VA_ARGS__, [](int tid) -> Int {                \
      [[maybe_unused]] const int lane = tid;          \
      [[maybe_unused]] const int laneid = tid;        \
      threadIdx.x = unsigned(tid);                    \
      return (void)tid, Int(__VA_ARGS__);             \
    } \
  }

// clang-format off: it would parse < > as a template
constexpr Case cases[]{
    SAME_IN_C(tid),
    SAME_IN_C(17 * tid),
    SAME_IN_C((tid ^ (tid >> 3)) * 4),
    SAME_IN_C(tid % 16 * 33 + tid / 16),
    SAME_IN_C(0),
    SAME_IN_C(9007199254740991),
    SAME_IN_C(-9007199254740991),
    SAME_IN_C(0x1fFFffFFffFFff),
    SAME_IN_C(0xaB),
    SAME_IN_C(0Xf),
    SAME_IN_C(((((tid))))),
    // signs
    SAME_IN_C(-tid),
    SAME_IN_C(+tid),
    SAME_IN_C(-tid * 3),
    SAME_IN_C(-tid + 70),
    SAME_IN_C(tid - -3),
    SAME_IN_C(tid * -3),
    SAME_IN_C(tid / -3),
    SAME_IN_C(tid % -3),
    SAME_IN_C(-tid / 3),
    SAME_IN_C(-tid % 3),
    SAME_IN_C(-7 / 2 * 2),
    SAME_IN_C(tid - 5 - 3),
    SAME_IN_C(tid - (5 - 3)),
    SAME_IN_C(100 / 7 / 2),
    SAME_IN_C(100 / (7 / 2)),
    SAME_IN_C(100 % 7 * 3),
    SAME_IN_C(100 * 3 % 7),
    SAME_IN_C(7 * (tid - 31) % 5),
    // bit operations
    SAME_IN_C(~tid & 0xffffffff),
    SAME_IN_C(~(tid | 8) & 63),
    SAME_IN_C(tid & ~3),
    SAME_IN_C(1 << tid % 8),
    SAME_IN_C(1 << 2 << 3),
    SAME_IN_C(1024 >> 2 >> 3),
    SAME_IN_C(1 << 3 + 1),
    SAME_IN_C(64 >> tid / 8),
    SAME_IN_C(tid & 6 | 1),
    SAME_IN_C(tid | 1 & 6),
    SAME_IN_C(tid ^ 5 & 12),
    SAME_IN_C(tid | 5 ^ 12),
    SAME_IN_C(tid ^ 5 | 12),
    SAME_IN_C(tid & 3 == 3),
    SAME_IN_C(tid ^ 3 < 7),
    SAME_IN_C(tid | 4 != 4),
    SAME_IN_C(tid & 1 + 2),
    SAME_IN_C(tid << 2 & 0xf0),
    SAME_IN_C(0xf0 & tid << 2),
    SAME_IN_C(tid >> 1 ^ tid >> 2 ^ tid >> 3),
    SAME_IN_C(1LL << 52),
    SAME_IN_C(~tid),
    SAME_IN_C(~(-1)),
    SAME_IN_C(-tid & 31),
    SAME_IN_C(-tid | 3),
    SAME_IN_C(-5 ^ tid),
    SAME_IN_C(-tid >> 1),
    SAME_IN_C((tid - 40) >> 2),
    SAME_IN_C((tid - 40) << 2),
    SAME_IN_C(-1 << 31 >> tid % 32),
    SAME_IN_C((tid - 32) / 3),
    SAME_IN_C((tid - 32) % 3),
    SAME_IN_C(-1 - 2147483647),
    SAME_IN_C(tid & ~-4),
    // types
    SAME_IN_C(~0u),
    SAME_IN_C(-1 / 2),
    SAME_IN_C(-1 / 2u),
    SAME_IN_C(-1 % 7U),
    SAME_IN_C(0u - tid),
    SAME_IN_C((tid - 3u) >> 1),
    SAME_IN_C((tid - 3u) >> 1ll),
    SAME_IN_C((tid - 3) >> 1u),
    SAME_IN_C(-1 < 1u),
    SAME_IN_C(tid - 40 > 0u),
    SAME_IN_C(2147483647u * 3),
    SAME_IN_C(4294967295 * 5),
    SAME_IN_C(0xffffffff * 5),
    SAME_IN_C(0x7fffffff - tid),
    SAME_IN_C(1u << 31),
    SAME_IN_C(1ll << 40 | tid),
    SAME_IN_C(1ull << 62),
    SAME_IN_C(-1 + 0ul > 5),
    SAME_IN_C((0u - 1) + 0ll),
    SAME_IN_C(-1ll + 0u),
    SAME_IN_C(-1 / 2ull),
    SAME_IN_C((tid < 9 ? -1 : 1u) / 2),
    SAME_IN_C((tid < 9 ? -1 : 1u) + 0ll),
    SAME_IN_C((tid < 9 ? 1u : -1) / 2),
    SAME_IN_C(-2147483648),
    SAME_IN_C(0x80000000 / -1),
    SAME_IN_C(!2u - 2),
    SAME_IN_C((tid < 3u) - 2),
    SAME_IN_C((1u && 2u) - 2),
    // names and functions
    SAME_IN_C(lane * 33),
    SAME_IN_C(laneid ^ 5),
    SAME_IN_C(threadIdx.x * 2u),
    SAME_IN_C((threadIdx.x - 32) / 4),
    SAME_IN_C(-threadIdx.x % 5),
    SAME_IN_C(get_sub_group_local_id() - 1),
    SAME_IN_C((get_sub_group_local_id() - 1) >> 4),
    SAME_IN_C((get_local_id(0) - 32) >> 4),
    SAME_IN_C(get_local_id(0) % 16 * 0x10 + get_local_id(0) / 16),
    SAME_IN_C(lane < 16 ? lane : threadIdx.x),
    SAME_IN_C(min(tid, 16)),
    SAME_IN_C(max(tid - 40, -8)),
    SAME_IN_C(min(-1, threadIdx.x)),
    SAME_IN_C(max(-1, 3ull) >> 1),
    SAME_IN_C(max(min(tid * 2, 40), 8) % 16),
    SAME_IN_C(abs(tid - 16)),
    SAME_IN_C(abs(tid - 16) - 20 >> 1),
    SAME_IN_C(abs(tid - 16ll) - 20),
    // comparisons
    SAME_IN_C(tid < 3),
    SAME_IN_C(tid <= 3),
    SAME_IN_C(tid > 3),
    SAME_IN_C(tid >= 3),
    SAME_IN_C(tid == 3),
    SAME_IN_C(tid != 3),
    SAME_IN_C(tid<5 == tid> 2),
    SAME_IN_C(1 < 2 < 3),
    SAME_IN_C(3 > 2 > 1),
    SAME_IN_C(5 == 5 == 1),
    SAME_IN_C(tid + 1 < tid * 2),
    SAME_IN_C(tid << 1 < 9),
    SAME_IN_C(-1 < tid),
    SAME_IN_C(tid > -1),
    SAME_IN_C(tid < -1),
    // logical operators
    SAME_IN_C(!tid),
    SAME_IN_C(!tid + 5),
    SAME_IN_C(!(tid - 5)),
    SAME_IN_C(tid && 5),
    SAME_IN_C(tid || 0),
    SAME_IN_C(tid<3 || tid> 9 && tid < 12),
    SAME_IN_C((tid < 3 || tid > 9) && tid < 12),
    SAME_IN_C(tid & 1 && tid & 2 || tid & 4),
    SAME_IN_C(1 || 0 && 0),
    SAME_IN_C(tid | 0 && tid),
    SAME_IN_C(tid == 1 || tid == 2),
    // the conditional operator
    SAME_IN_C(tid ? 64 / tid : 7),
    SAME_IN_C(tid < 8 ? tid * 2 : tid),
    SAME_IN_C(tid < 8    ? 1
              : tid < 16 ? 2
                         : 3),
    SAME_IN_C(tid < 8 ? tid < 4 ? 1 : 2 : 3),
    SAME_IN_C((tid < 8 ? 1 : 2) * 3),
    SAME_IN_C(tid < 8 ? 1 : 2 * 3),
    SAME_IN_C(tid & 1 ? tid + 1 : tid - 1),
    SAME_IN_C(tid || 0 ? 4 : 5),
    SAME_IN_C(1 ? 0 ? 1 : 2 : 3),
    SAME_IN_C(tid % 2   ? tid % 3 ? 1 : 2
              : tid % 5 ? 3
                        : 4),
    SAME_IN_C(tid == 0 ? 1
              : 0      ? 2
                       : 3),
    SAME_IN_C(tid < 9 ? -1 : +1),
    SAME_IN_C((tid < 32 ? tid : 63 - tid) << 2),
    SAME_IN_C(3 + (tid ? 1 : 2) + 4),
};
constexpr Case signs_in_a_row[]{
    SAME_IN_C(-(-tid)), SAME_IN_C(!(!tid)),  SAME_IN_C(!!tid),      SAME_IN_C(7 * !!tid),  SAME_IN_C(- -tid),
    SAME_IN_C(~~tid),   SAME_IN_C(-!tid),    SAME_IN_C(!-tid),      SAME_IN_C(-~tid),      SAME_IN_C(~-tid),
    SAME_IN_C(+-+tid),  SAME_IN_C(tid - -3), SAME_IN_C(tid - - -3), SAME_IN_C(tid + + +3),
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

std::string shown(const std::optional<Int>& value) {
  return value ? std::to_string(*value) : "error";
}

/// Empty if the expression has C's value for every lane; otherwise the first lane that differs.
std::string difference(const std::string& text, Int (*value)(int)) {
  for (unsigned tid = 0; tid < 64; ++tid) {
    const auto found = calculated(text, tid);
    if (found != value(int(tid))) {
      return text + " of " + std::to_string(tid) + ": " + shown(found) + ", in C " + std::to_string(value(int(tid)));
    }
  }
  return "";
}

}  // namespace

TEST_CASE("expressions have the values that C gives them") {
  for (const Case& each : cases) CHECK(difference(each.text, each.value) == "");
  // The negative controls: another precedence, a wrong type, and a shift of the wrong kind are detected.
  CHECK(difference("(tid & 3) == 3", [](int tid) -> Int { return tid & 3 == 3; }) != "");
  CHECK(difference("-1 / 2", [](int) -> Int { return -1 / 2u; }) != "");
  CHECK(difference("(tid - 3u) >> 1", [](int tid) -> Int { return (tid - 3) >> 1; }) != "");
}

TEST_CASE("signs in a row are those of C") {
  for (const Case& each : signs_in_a_row) CHECK(difference(each.text, each.value) == "");
  for (const char* text : {"--tid", "tid--3", "++tid", "tid ++ 3", "tid---3"}) {
    INFO(text);
    CHECK_FALSE(calculated(text, 5));  // no constant expressions in C either
  }
}

TEST_CASE("blanks between tokens do not matter") {
  for (const char* text : {"tid*2+1", " tid * 2 + 1 ", "tid*2 +1", "   tid*2+1", "( tid )*2+ 1"}) {
    INFO(text);
    IndexExpression expression(text);
    CHECK(expression(5) == 11);
  }
}

TEST_CASE("&&, || and ?: evaluate only the side that they need") {
  for (const char* text : {"tid && 8/tid", "!tid || 8/tid", "tid ? 8/tid : 1", "!tid ? 1 : 8/tid"}) {
    INFO(text);
    CHECK(calculated(text, 0));
    CHECK(calculated(text, 4));
  }
  CHECK_FALSE(calculated("8/tid && tid", 0));
  CHECK_FALSE(calculated("tid || 8/tid", 0));
}

TEST_CASE("octal numbers are rejected, which are rarely intended") {
  CHECK_FALSE(calculated("010", 0));
  CHECK(calculated("0", 0) == 0);
}
