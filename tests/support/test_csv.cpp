// SPDX-License-Identifier: MIT
#include <bankwise/support/csv.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

using Fields = std::vector<std::string>;

/// The fields of a line; a single field "REFUSED", which occurs in no line, if the line is refused.
Fields split(std::string_view line) {
  std::vector<std::string_view> fields{"left over"};
  std::vector<std::string> unquoted{"left over"};
  if (!split_csv(line, fields, unquoted)) return {"REFUSED"};
  return {fields.begin(), fields.end()};
}

}  // namespace

TEST_CASE("support/csv/commas") {
  CHECK(split("a,b,c") == Fields{"a", "b", "c"});
  CHECK(split("a") == Fields{"a"});
  CHECK(split(" a , b ") == Fields{" a ", " b "});
  CHECK(split("\xC3\xA9,\xE2\x82\xAC") == Fields{"\xC3\xA9", "\xE2\x82\xAC"});
}

TEST_CASE("support/csv/empty_fields") {
  CHECK(split("") == Fields{""});
  CHECK(split(",") == Fields{"", ""});
  CHECK(split("a,") == Fields{"a", ""});
  CHECK(split(",,b") == Fields{"", "", "b"});
  CHECK(split("\"\"") == Fields{""});
  CHECK(split("\"\",\"\"") == Fields{"", ""});
  CHECK(split("\"a\",") == Fields{"a", ""});
}

TEST_CASE("support/csv/quotes") {
  CHECK(split("\"a,b\",c") == Fields{"a,b", "c"});
  CHECK(split("\"a\"\"b\"") == Fields{"a\"b"});
  CHECK(split("\"\"\"\"") == Fields{"\""});
  CHECK(split("\"\"\"\"\"\",x") == Fields{"\"\"", "x"});
  CHECK(split("x,\"a\"\"\",\"\"\"b\"") == Fields{"x", "a\"", "\"b"});
}

TEST_CASE("support/csv/more_fields") {
  std::string line;
  Fields expected;
  for (int i = 0; i < 500; ++i) {
    line += (i == 0 ? "\"field " : ",\"field ") + std::to_string(i) + R"(, with a ""tail""")";
    expected.push_back("field " + std::to_string(i) + ", with a \"tail\"");
  }
  CHECK(split(line) == expected);
}

TEST_CASE("support/csv/misplaced_quote") {
  for (const char* line :
       {R"(")", R"("a)", R"(a,"b)", R"("a"b)", R"("a" ,b)", R"("a"")", R"(""")", R"(""a)", R"("a""b"c")"}) {
    INFO(line);
    CHECK(split(line) == Fields{"REFUSED"});
  }
}

TEST_CASE("support/csv/quote_in_field") {
  for (const char* line : {"a\"b", "a\"", " \"a\"", "x,a\"b,y", "5\" disk"}) {
    INFO(line);
    CHECK(split(line) == Fields{"REFUSED"});
  }
}

TEST_CASE("support/csv/minimal_quoting") {
  CHECK(csv_field("") == "");
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("a\"b") == "\"a\"\"b\"");
  CHECK(csv_field("a\rb") == "\"a\rb\"");
  for (const char* text : {"", "a", ",", "\"", "\"\"", "a,\"b\",,", "\xC3\xA9,"}) {
    INFO(text);
    CHECK(split(csv_field(text) + "," + csv_field(text)) == Fields{text, text});
  }
  // The negative control: without quotes this field would be split.
  CHECK(split("a,b") != Fields{"a,b"});
}
