// SPDX-License-Identifier: MIT
#include "bankcheck/driver/source_finder.hpp"

#include "tests/catch_any.hpp"

using namespace bankwise::driver;

namespace {

/// "file:number text" of each line.
std::vector<std::string> told(std::string_view text) {
  const SourceText source(text);
  std::vector<std::string> lines;
  for (const auto& line : source.lines())
    lines.push_back(std::string(line.file) + ":" + std::to_string(line.number) + " " + std::string(line.text));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("driver/source_text/trimmed_and_path_suffix") {
  CHECK(trimmed("") == "");
  CHECK(trimmed(" \t\r") == "");
  CHECK(trimmed("\t a  b \r") == "a  b");
  CHECK(trimmed("a") == "a");
  CHECK(ends_with_path("input.cl", "input.cl"));
  CHECK(ends_with_path("/tmp/input.cl", "input.cl"));
  CHECK(ends_with_path("/a/b/c.cl", "b/c.cl"));
  CHECK_FALSE(ends_with_path("/tmp/my_input.cl", "input.cl"));
  CHECK_FALSE(ends_with_path("input.cl", "/tmp/input.cl"));
  CHECK_FALSE(ends_with_path("", "input.cl"));
}

TEST_CASE("driver/source_text/lines") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("a\n") == Lines{"a"});
  CHECK(lines_of("a\nb") == Lines{"a", "b"});
  CHECK(lines_of("\n\na\n\n") == Lines{"", "", "a", ""});
  CHECK(lines_of("a\r\nb\r\n") == Lines{"a\r", "b\r"});
  CHECK(lines_of(std::string_view("a\0b\nc", 5)) == Lines{std::string("a\0b", 3), "c"});
  CHECK(told("").empty());
  CHECK(told("one\n\n three") == Lines{"input.cl:1 one", "input.cl:2 ", "input.cl:3  three"});
  CHECK(told("#define N 32\n#pragma unroll\n# if 5\nx") ==
        Lines{"input.cl:1 #define N 32", "input.cl:2 #pragma unroll", "input.cl:3 # if 5", "input.cl:4 x"});
}

TEST_CASE("driver/source_text/line_directive") {
  CHECK(told("a\n#line 10\nb\nc") == Lines{"input.cl:1 a", "input.cl:2 #line 10", "input.cl:10 b", "input.cl:11 c"});
  CHECK(told("#line 7 \"dir/k.cl\"\nb\n#line 3\nc") ==
        Lines{"input.cl:1 #line 7 \"dir/k.cl\"", "dir/k.cl:7 b", "dir/k.cl:8 #line 3", "dir/k.cl:3 c"});
  CHECK(told("  #  line\t9 \"a b.cl\" \r\nx")[1] == "a b.cl:9 x");
  // The directive may be followed by other text.
  CHECK(told("#line 2 \"a.cl\"\n#line 5 \"b.cl\"\nx") ==
        Lines{"input.cl:1 #line 2 \"a.cl\"", "a.cl:2 #line 5 \"b.cl\"", "b.cl:5 x"});
  // The preprocessor's own form.
  CHECK(told("# 12 \"x.h\"\nb")[1] == "x.h:12 b");
  CHECK(told("# 12 \"x.h\" 3 4\nb")[1] == "x.h:12 b");
  CHECK(told("# 1 \"<built-in>\"\n# 4 \"k.cl\" 2\nb")[2] == "k.cl:4 b");
  // Not a directive.
  for (const char* line :
       {"#line", "#line N", "#line \"x.cl\"", "# \"x.cl\"", "#line 99999999999", "line 5", "#", "5"}) {
    INFO(line);
    CHECK(told(std::string(line) + "\nb")[1] == "input.cl:2 b");
  }
  CHECK(told("#line 5 \"unclosed\nb")[1] == "input.cl:5 b");
}

TEST_CASE("driver/source_text/place") {
  const SourceText source("zero\n#line 1 \"dir/k.cl\"\none\r\ntwo\n#line 2 \"other.cl\"\nthree");
  REQUIRE(source.find("/tmp/input.cl", 1) != nullptr);
  CHECK(source.find("/tmp/input.cl", 1)->text == "zero");
  CHECK(source.find("dir/k.cl", 1)->text == "one\r");
  CHECK(source.find("/home/me/dir/k.cl", 2)->text == "two");
  CHECK(source.find("other.cl", 2)->text == "three");
  CHECK(source.find("k.cl", 1) == nullptr);  // another file
  CHECK(source.find("input.cl", 3) == nullptr);
  CHECK(source.find("input.cl", 0) == nullptr);
  CHECK(source.find("included.h", 1) == nullptr);
  CHECK(SourceText("").find("input.cl", 1) == nullptr);
  const SourceText twice("#line 1 \"a.cl\"\nfirst\n#line 1 \"a.cl\"\nsecond");
  CHECK(twice.find("a.cl", 1)->text == "first");
}
