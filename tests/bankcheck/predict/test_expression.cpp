#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "bankcheck/predict/predict.hpp"
#include "tests/bankcheck/sentences.hpp"

using bankwise::predict::ExpressionError;
using bankwise::predict::IndexExpression;

// Values of expressions, compared with the compiler's for a table of expressions.

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
  // Several signs.
  for (const Case& each : signs_in_a_row) CHECK(difference(each.text, each.value) == "");
  for (const char* text : {"--tid", "tid--3", "++tid", "tid ++ 3", "tid---3"}) {
    INFO(text);
    CHECK_FALSE(calculated(text, 5));  // no constant expressions in C either
  }
}

TEST_CASE("predict/expression/blanks_and_octal") {
  for (const char* text : {"tid*2+1", " tid * 2 + 1 ", "tid*2 +1", "   tid*2+1", "( tid )*2+ 1"}) {
    INFO(text);
    CHECK(calculated(text, 5) == 11);
  }
  CHECK_FALSE(calculated("010", 0));
  CHECK_FALSE(calculated("07", 0));
  CHECK(calculated("0", 0) == 0);
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

// Invalid index expressions are rejected with one error message, however long, deep or strange they are.

namespace {

/// The error message for this lane; empty if the expression has a value.
std::string refusal(const std::string& text, unsigned tid = 0) {
  return sentence_of<ExpressionError>([&] {
    IndexExpression expression(text);
    (void)expression(tid);
  });
}

void check_refused(const std::string& text, const std::string& words = "", unsigned tid = 0) {
  const std::string sentence = refusal(text, tid);
  INFO(text.substr(0, 100) << ": " << sentence);
  CHECK_FALSE(sentence.empty());
  check_sentence(sentence, words);
}

void check_all_refused(std::initializer_list<const char*> texts, const std::string& words = "") {
  for (const char* text : texts) check_refused(text, words);
}

void check_none_refused(std::initializer_list<const char*> texts) {
  for (const char* text : texts) {
    INFO(text);
    CHECK(refusal(text) == "");
  }
}

std::string repeated(const std::string& text, unsigned times) {
  std::string copies;
  for (unsigned i = 0; i < times; ++i) copies += text;
  return copies;
}

}  // namespace

TEST_CASE("predict/expression_errors/control") {
  check_none_refused({"1/1", "tid%1", "(tid)", "tid?1:2", "1>>0", "-1>0", "9007199254740991"});
}

TEST_CASE("predict/expression_errors/arithmetic") {
  check_refused("1/0", "divides by zero");
  check_refused("1%0", "divides by zero");
  check_refused("5/(tid-3)", "divides by zero (tid 3)", 3);
  check_refused("64%tid", "divides by zero (tid 0)");
  check_refused("1/-0", "divides by zero");
  CHECK(refusal("64%tid", 1).empty());
  // Numbers.
  check_all_refused(
      {"18446744073709551616", "99999999999999999999999999", "0x10000000000000000", "18446744073709551616ull"},
      "a number is not below 2^64");
  check_all_refused({"9223372036854775808", "18446744073709551615", "9223372036854775808ll"},
                    "a number without u is not below 2^63");
  check_all_refused({"18446744073709551615u", "0xffffffffffffffff", "get_local_id(0)-1", "-1ull", "1ull<<63"},
                    "is not below 2^63 (tid 0)");
  CHECK(refusal("9223372036854775807").empty());
  CHECK(refusal("0xffffffffffffffff >> 1").empty());
  // Overflow.
  check_refused("2147483647+tid", "2147483647 + 1 overflows int, which is undefined in CUDA and OpenCL (tid 1)", 1);
  check_refused("-2147483647-tid-1", "-2147483648 - 1 overflows int", 1);
  check_refused("65536*(tid+32768)", "65536 * 32768 overflows int");
  check_refused("-(-2147483647-1)", "overflows int");
  check_refused("(-2147483647-1)/-1", "-2147483648 / -1 overflows int");
  check_refused("(-2147483647-1)%-1", "-2147483648 % -1 overflows int");
  check_refused("abs(-1<<31)", "overflows int");
  check_refused("9223372036854775807+1", "overflows a 64-bit integer");
  check_refused("9223372036854775807*2", "overflows a 64-bit integer");
  check_refused("(-9223372036854775807-1)/-1", "overflows a 64-bit integer");
  check_refused("(-9223372036854775807-1)%-1", "overflows a 64-bit integer");
  check_refused("-9223372036854775807-2", "overflows a 64-bit integer");
  check_none_refused({"2147483647+1u", "2147483647+1ll", "2147483647u*5", "46340*46340", "0u-1", "-1u", "1<<31<<1",
                      "0x80000000/-1", "9223372036854775807+1u*0", "9223372036854775807+1ull-5"});
  // Shifts.
  check_all_refused({"1<<32", "1>>32", "1<<-1", "1>>-1", "1<<(0-tid-1)", "1u<<32", "1u>>4294967295u", "1<<32ull",
                     "1<<4294967296", "1>>0xffffffffffffffff", "1<<(1ll<<32)"},
                    "a shift is not between 0 and 31 (tid 0)");
  check_all_refused({"1ll<<64", "1ull>>64", "1ll>>-1"}, "a shift is not between 0 and 63");
  check_none_refused({"1<<31", "1>>31", "1u<<31u", "1ll<<63", "1ull>>63", "-1>>31", "-1<<31"});
}

TEST_CASE("predict/expression_errors/exact_messages") {
  const std::string known =
      "the names are tid, lane, laneid, tx, ty, tz, threadIdx.x, blockDim.x, get_local_id(0), get_local_size(0), "
      "get_sub_group_local_id(), min(a, b), max(a, b), abs(a)";
  CHECK(refusal("tidx*2") == "there is no name 'tidx'; did you mean 'tid'? " + known);
  CHECK(refusal("threadIdx.y") == "threadIdx.y needs the shape of the block, for example --block 32x8");
  CHECK(refusal("2tid") == "'2tid' is not an integer; did you mean '2*tid'?");
  CHECK(refusal("33*threadIdx.x + 2get_local_id(0)") ==
        "'2get_local_id' is not an integer; did you mean '2*get_local_id'?");
  CHECK(refusal("2x") == "'2x' is not an integer");
  CHECK(refusal("threadidx.x + 1") == "there is no name 'threadidx.x'; did you mean 'threadIdx.x'? " + known);
  CHECK(refusal("get_loca_id(0)") == "there is no name 'get_loca_id'; did you mean 'get_local_id'? " + known);
  CHECK(refusal("lane_id") == "there is no name 'lane_id'; did you mean 'laneid'? " + known);
  CHECK(refusal("blockIdx.x*4") == "there is no name 'blockIdx.x'; did you mean 'blockDim.x'? " + known);
  CHECK(refusal("x") == "there is no name 'x'; " + known);
  CHECK(refusal("(tid") == "a ')' is missing at the end");
  CHECK(refusal("(tid,2)") == "a ')' is missing before ',2)'");
  CHECK(refusal("tid ? 1") == "a ':' is missing at the end");
  CHECK(refusal("tid +") == "an operand is missing at the end");
  CHECK(refusal("tid * /2") == "an operand is missing before '/2'");
  CHECK(refusal("tid 2") == "an operator is missing before '2'");
  CHECK(refusal("2(tid)") == "an operator is missing before '(tid)'");
  CHECK(refusal("tid)") == "')' is unexpected");
  CHECK(refusal("tid=3") == "'=' is unexpected");
  CHECK(refusal("tid++") == "there is no operator ++");
  CHECK(refusal(std::string(4096, 'a')).size() < 300);
  CHECK(refusal("tid" + std::string(4000, ' ') + "x").size() < 300);
}

TEST_CASE("predict/expression_errors/arguments") {
  check_all_refused({"get_local_id", "get_local_id()", "get_local_id(3)", "get_local_id(tid)", "get_local_id(0,0)"},
                    "get_local_id is understood as get_local_id(0), (1), (2) only");
  check_all_refused({"get_sub_group_local_id", "get_sub_group_local_id(0)"},
                    "get_sub_group_local_id is understood as get_sub_group_local_id() only");
  check_all_refused({"min", "min()", "min(tid)", "min(1,2,3)"}, "min is understood as min(a, b) only");
  check_all_refused({"abs", "abs()", "abs(1,2)"}, "abs is understood as abs(a) only");
  check_all_refused({"min(", "min(1", "min(1,", "min(1,)", "min(,1)", "min(1 2)", "min 1,2", "abs -1"});
  check_none_refused({"get_local_id( 0u )", "get_local_id (0)", "get_sub_group_local_id ( )", "max( 1 , 2 )"});
}

TEST_CASE("predict/expression_errors/not_an_expression") {
  check_all_refused({"", " ", "     ", "\t"}, "it is empty");
  check_all_refused({"()",   "(",      ")",       "(((",    "(tid",    "tid)",   "tid)(", "+",      "tid+",
                     "*tid", "tid*/2", "tid?",    "tid?1",  "tid?1:",  "?",      "?:",    "tid:1",  "1:2",
                     "?1:2", "tid?:2", "tid tid", "tid 2",  "2 tid",   "tid(2)", "2(3)",  "(2)(3)", "tid!",
                     "tid~", "!",      "tid<>2",  "tid=>2", "tid<<<2", "tid**2", "[tid]"});
  // Other languages, and names that they have.
  check_all_refused({"tid=3",  "tid+=1", "tid++", "x",        "Tid",      "TID",      "tid2",        "_tid",  "_pi",
                     "_e",     "pi",     "tid.x", "sin(tid)", "pow(1,2)", "sum(tid)", "if(tid,1,2)", "rnd()", "\"tid\"",
                     "'t'",    "\"\"",   "\"",    "1,2",      "tid,",     ",tid",     "(1,2)",       ",",     "tid;",
                     "tid//2", "tid#2",  "$tid",  "@",        "`",        "tid\\2",   "{tid}",       "%s",    "%n"});
  // Numbers.
  check_all_refused({"1.5", "1.", ".5", "1e5", "0x", "0xg", "1uu", "1_000", "12tid", "0b1", "0x1.8", "1e", "5f",
                     "0x1p3", "1lul", "1lll", "1lL", "0xu", "1u2"});
  check_refused("1.5", "'1.5' is not an integer");
  check_refused("1e5", "'1e5' is not an integer");
  check_all_refused({"\xC3\xA9", "tid\xC2\xA0*2", "\xFF", "tid\x01", "\x1B[31m", "tid\x7F", "tid\n", "tid\r", "1\n+1"},
                    "characters");
  check_refused(std::string("tid\0*2", 6), "characters");
}

TEST_CASE("predict/expression_errors/too_long_or_deep") {
  check_refused(std::string(10000, 'x'), "longer than 4096");
  check_refused(repeated("1+", 5000) + "1", "longer than 4096");
  check_refused(std::string(4097, ' ') + "1", "longer than 4096");
  CHECK(refusal(std::string(4095, ' ') + "1").empty());
  CHECK(refusal(repeated("1+", 2047) + "1").empty());
  CHECK(refusal(repeated("(", 900) + "tid" + repeated(")", 900)).empty());
  CHECK(refusal(repeated("-(", 600) + "tid" + repeated(")", 600)).empty());
  CHECK(refusal(repeated("1+(", 900) + "tid" + repeated(")", 900)).empty());
  CHECK(refusal(repeated("~", 1900) + "tid").empty());
  CHECK(refusal(repeated("abs(", 700) + "tid" + repeated(")", 700)).empty());
  check_refused(repeated("(", 2000) + "tid" + repeated(")", 2000), "nested too deep");
  check_refused(repeated("~", 4000) + "tid", "nested too deep");
  check_refused(repeated("tid?", 1000) + "1:2", "", 1);
  CHECK(refusal(repeated("tid?1:", 600) + "2").empty());
  check_refused(std::string(4096, '('), "nested too deep");
  check_refused(std::string(4096, ')'));
  check_refused(std::string(4096, '?'));
  check_refused(std::string(4096, '~'));
}
