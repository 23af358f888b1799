// SPDX-License-Identifier: MIT
//
// Invalid index expressions are rejected with one error message, however long, deep or strange they are.
#include <string>

#include "bankcheck/predict/index_expression.hpp"
#include "tests/catch_any.hpp"

using bankwise::ExpressionError;
using bankwise::IndexExpression;

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
  std::string all;
  for (unsigned i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("the negative control: valid expressions are accepted") {
  for (const char* text : {"1/1", "tid%1", "(tid)", "tid?1:2", "1>>0", "-1>0", "9007199254740991"}) {
    INFO(text);
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("expressions without a value for a lane are rejected") {
  check_refused("1/0", "divides by zero");
  check_refused("1%0", "divides by zero");
  check_refused("5/(tid-3)", "divides by zero (tid 3)", 3);
  check_refused("64%tid", "divides by zero (tid 0)");
  check_refused("1/-0", "divides by zero");
  CHECK(refusal("64%tid", 1).empty());
}

TEST_CASE("values out of range are rejected") {
  for (const char* text :
       {"9007199254740992", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "99999999999999999999999999", "0x20000000000000", "0x10000000000000000",
        "9007199254740991+1", "9007199254740991*9007199254740991", "-9007199254740991-1",
        "-9007199254740991-9007199254740991", "1<<52<<1", "3<<52", "94906267*94906267"}) {
    check_refused(text, "not below 2^53");
  }
  CHECK(refusal("94906265*94906265").empty());
}

TEST_CASE("shift counts out of range and negative operands of bit operators are rejected") {
  for (const char* text : {"1<<53", "1>>53", "1<<-1", "1>>-1", "1<<(0-tid-1)"})
    check_refused(text, "a shift is not between");
  for (const char* text : {"-1>>1", "-1<<1", "-1&1", "1|-1", "-1^1", "~(-1)"}) check_refused(text, "is negative");
}

TEST_CASE("empty and incomplete expressions are rejected") {
  for (const char* text : {"", " ", "     ", "\t"}) check_refused(text, "it is empty");
  for (const char* text : {"()",   "(",      ")",       "(((",    "(tid",    "tid)",   "tid)(", "+",      "tid+",
                           "*tid", "tid*/2", "tid?",    "tid?1",  "tid?1:",  "?",      "?:",    "tid:1",  "1:2",
                           "?1:2", "tid?:2", "tid tid", "tid 2",  "2 tid",   "tid(2)", "2(3)",  "(2)(3)", "tid!",
                           "tid~", "!",      "tid<>2",  "tid=>2", "tid<<<2", "tid**2", "[tid]"}) {
    check_refused(text);
  }
}

TEST_CASE("operators and functions of other languages are rejected") {
  for (const char* text :
       {"tid=3",  "tid+=1", "tid++",       "x",        "Tid",      "TID",      "tid2",        "_tid",  "_pi",
        "_e",     "pi",     "threadIdx.x", "sin(tid)", "min(1,2)", "sum(tid)", "if(tid,1,2)", "rnd()", "\"tid\"",
        "'t'",    "\"\"",   "\"",          "1,2",      "tid,",     ",tid",     "(1,2)",       ",",     "tid;",
        "tid//2", "tid#2",  "$tid",        "@",        "`",        "tid\\2",   "{tid}",       "%s",    "%n"}) {
    check_refused(text);
  }
}

TEST_CASE("malformed numbers are rejected") {
  for (const char* text :
       {"1.5", "1.", ".5", "1e5", "0x", "0xg", "1u", "1_000", "12tid", "0b1", "0x1.8", "1e", "5f", "0x1p3"}) {
    check_refused(text);
  }
  check_refused("1.5", "'1.' is not an integer");
  check_refused("1e5", "'1e' is not an integer");
}

TEST_CASE("characters other than printable ASCII are rejected") {
  for (const char* text :
       {"\xC3\xA9", "tid\xC2\xA0*2", "\xFF", "tid\x01", "\x1B[31m", "tid\x7F", "tid\n", "tid\r", "1\n+1"}) {
    check_refused(text, "characters");
  }
  check_refused(std::string("tid\0*2", 6), "characters");
}

TEST_CASE("expressions that are too long or too deep are rejected") {
  check_refused(std::string(10000, 'x'), "longer than 4096");
  check_refused(repeated("1+", 5000) + "1", "longer than 4096");
  check_refused(std::string(4097, ' ') + "1", "longer than 4096");
  CHECK(refusal(std::string(4095, ' ') + "1").empty());
  CHECK(refusal(repeated("1+", 2047) + "1").empty());
  CHECK(refusal(repeated("(", 2000) + "tid" + repeated(")", 2000)).empty());
  CHECK(refusal(repeated("-(", 1000) + "tid" + repeated(")", 1000)).empty());
  CHECK(refusal(repeated("1+(", 1000) + "tid" + repeated(")", 1000)).empty());
  check_refused(repeated("tid?", 1000) + "1:2", "", 1);
  CHECK(refusal(repeated("tid?1:", 600) + "2").empty());
  check_refused(std::string(4096, '('));
  check_refused(std::string(4096, ')'));
  check_refused(std::string(4096, '?'));
  check_refused(std::string(4096, '~'));
}

TEST_CASE("an error message is one short line of printable ASCII") {
  CHECK(refusal(std::string(4096, 'a')).size() < 300);
  CHECK(refusal("tid" + std::string(4000, ' ') + "x").size() < 300);
}
