// SPDX-License-Identifier: MIT
//
// Invalid index expressions are rejected with one error message, however long, deep or strange they are.
#include <string>

#include "bankcheck/predict/index_expression.hpp"
#include "tests/catch_any.hpp"

using bankwise::predict::ExpressionError;
using bankwise::predict::IndexExpression;

namespace {

/// The error message for this lane; empty if the expression has a value.
std::string refusal(const std::string& text, unsigned tid = 0) {
  try {
    IndexExpression expression(text);
    (void)expression(tid);
    return "";
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

void check_refused(const std::string& text, const std::string& words = "", unsigned tid = 0) {
  const std::string sentence = refusal(text, tid);
  INFO(text.substr(0, 100) << ": " << sentence);
  CHECK_FALSE(sentence.empty());
  CHECK(sentence.find('\n') == std::string::npos);
  CHECK(sentence.find(words) != std::string::npos);
}

std::string repeated(const std::string& text, unsigned times) {
  std::string copies;
  for (unsigned i = 0; i < times; ++i) copies += text;
  return copies;
}

}  // namespace

TEST_CASE("predict/expression_errors/control") {
  for (const char* text : {"1/1", "tid%1", "(tid)", "tid?1:2", "1>>0", "-1>0", "9007199254740991"}) {
    INFO(text);
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("predict/expression_errors/no_value") {
  check_refused("1/0", "divides by zero");
  check_refused("1%0", "divides by zero");
  check_refused("5/(tid-3)", "divides by zero (tid 3)", 3);
  check_refused("64%tid", "divides by zero (tid 0)");
  check_refused("1/-0", "divides by zero");
  CHECK(refusal("64%tid", 1).empty());
}

TEST_CASE("predict/expression_errors/too_large") {
  for (const char* text :
       {"18446744073709551616", "99999999999999999999999999", "0x10000000000000000", "18446744073709551616ull"}) {
    check_refused(text, "a number is not below 2^64");
  }
  for (const char* text : {"9223372036854775808", "18446744073709551615", "9223372036854775808ll"})
    check_refused(text, "a number without u is not below 2^63");
  for (const char* text : {"18446744073709551615u", "0xffffffffffffffff", "get_local_id(0)-1", "-1ull", "1ull<<63"})
    check_refused(text, "is not below 2^63 (tid 0)");
  CHECK(refusal("9223372036854775807").empty());
  CHECK(refusal("0xffffffffffffffff >> 1").empty());
}

TEST_CASE("predict/expression_errors/overflow") {
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
  for (const char* text : {"2147483647+1u", "2147483647+1ll", "2147483647u*5", "46340*46340", "0u-1", "-1u", "1<<31<<1",
                           "0x80000000/-1", "9223372036854775807+1u*0", "9223372036854775807+1ull-5"}) {
    INFO(text << ": " << refusal(text));
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("predict/expression_errors/shifts") {
  for (const char* text : {"1<<32", "1>>32", "1<<-1", "1>>-1", "1<<(0-tid-1)", "1u<<32", "1u>>4294967295u", "1<<32ull",
                           "1<<4294967296", "1>>0xffffffffffffffff", "1<<(1ll<<32)"}) {
    check_refused(text, "a shift is not between 0 and 31 (tid 0)");
  }
  for (const char* text : {"1ll<<64", "1ull>>64", "1ll>>-1"}) check_refused(text, "a shift is not between 0 and 63");
  for (const char* text : {"1<<31", "1>>31", "1u<<31u", "1ll<<63", "1ull>>63", "-1>>31", "-1<<31"}) {
    INFO(text);
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("predict/expression_errors/unknown_name") {
  const std::string known =
      "the names are tid, lane, laneid, threadIdx.x, get_local_id(0), get_sub_group_local_id(), min(a, b), max(a, b), "
      "abs(a)";
  CHECK(refusal("tidx*2") == "there is no name 'tidx'; did you mean 'tid'? " + known);
  CHECK(refusal("threadIdx.y") == "there is no name 'threadIdx.y'; did you mean 'threadIdx.x'? " + known);
  CHECK(refusal("threadidx.x + 1") == "there is no name 'threadidx.x'; did you mean 'threadIdx.x'? " + known);
  CHECK(refusal("get_loca_id(0)") == "there is no name 'get_loca_id'; did you mean 'get_local_id'? " + known);
  CHECK(refusal("lane_id") == "there is no name 'lane_id'; did you mean 'laneid'? " + known);
  CHECK(refusal("blockIdx.x*4") == "there is no name 'blockIdx.x'; " + known);
  CHECK(refusal("x") == "there is no name 'x'; " + known);
}

TEST_CASE("predict/expression_errors/arguments") {
  for (const char* text :
       {"get_local_id", "get_local_id()", "get_local_id(1)", "get_local_id(tid)", "get_local_id(0,0)"})
    check_refused(text, "get_local_id is understood as get_local_id(0) only");
  for (const char* text : {"get_sub_group_local_id", "get_sub_group_local_id(0)"})
    check_refused(text, "get_sub_group_local_id is understood as get_sub_group_local_id() only");
  for (const char* text : {"min", "min()", "min(tid)", "min(1,2,3)"})
    check_refused(text, "min is understood as min(a, b) only");
  for (const char* text : {"abs", "abs()", "abs(1,2)"}) check_refused(text, "abs is understood as abs(a) only");
  for (const char* text : {"min(", "min(1", "min(1,", "min(1,)", "min(,1)", "min(1 2)", "min 1,2", "abs -1"})
    check_refused(text);
  for (const char* text : {"get_local_id( 0u )", "get_local_id (0)", "get_sub_group_local_id ( )", "max( 1 , 2 )"})
    CHECK(refusal(text) == "");
}

TEST_CASE("predict/expression_errors/missing_or_unexpected") {
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
}

TEST_CASE("predict/expression_errors/incomplete") {
  for (const char* text : {"", " ", "     ", "\t"}) check_refused(text, "it is empty");
  for (const char* text : {"()",   "(",      ")",       "(((",    "(tid",    "tid)",   "tid)(", "+",      "tid+",
                           "*tid", "tid*/2", "tid?",    "tid?1",  "tid?1:",  "?",      "?:",    "tid:1",  "1:2",
                           "?1:2", "tid?:2", "tid tid", "tid 2",  "2 tid",   "tid(2)", "2(3)",  "(2)(3)", "tid!",
                           "tid~", "!",      "tid<>2",  "tid=>2", "tid<<<2", "tid**2", "[tid]"}) {
    check_refused(text);
  }
}

TEST_CASE("predict/expression_errors/other_languages") {
  for (const char* text :
       {"tid=3",  "tid+=1", "tid++", "x",        "Tid",      "TID",      "tid2",        "_tid",  "_pi",
        "_e",     "pi",     "tid.x", "sin(tid)", "pow(1,2)", "sum(tid)", "if(tid,1,2)", "rnd()", "\"tid\"",
        "'t'",    "\"\"",   "\"",    "1,2",      "tid,",     ",tid",     "(1,2)",       ",",     "tid;",
        "tid//2", "tid#2",  "$tid",  "@",        "`",        "tid\\2",   "{tid}",       "%s",    "%n"}) {
    check_refused(text);
  }
}

TEST_CASE("predict/expression_errors/malformed_numbers") {
  for (const char* text : {"1.5", "1.", ".5", "1e5", "0x", "0xg", "1uu", "1_000", "12tid", "0b1", "0x1.8", "1e", "5f",
                           "0x1p3", "1lul", "1lll", "1lL", "0xu", "1u2"}) {
    check_refused(text);
  }
  check_refused("1.5", "'1.5' is not an integer");
  check_refused("1e5", "'1e5' is not an integer");
}

TEST_CASE("predict/expression_errors/other_characters") {
  for (const char* text :
       {"\xC3\xA9", "tid\xC2\xA0*2", "\xFF", "tid\x01", "\x1B[31m", "tid\x7F", "tid\n", "tid\r", "1\n+1"}) {
    check_refused(text, "characters");
  }
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

TEST_CASE("predict/expression_errors/one_short_line") {
  CHECK(refusal(std::string(4096, 'a')).size() < 300);
  CHECK(refusal("tid" + std::string(4000, ' ') + "x").size() < 300);
}
