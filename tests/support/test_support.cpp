#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <bankwise/support/bandwidths.hpp>
#include <bankwise/support/csv.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/parallel.hpp>
#include <bankwise/support/text.hpp>
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace bankwise;

namespace {

using Fields = std::vector<std::string>;

/// The fields of a line; a single field "REFUSED", which occurs in no line, if the line is refused.
Fields split(std::string_view line) {
  std::vector<std::string_view> fields{"left over"};
  std::vector<std::string> unquoted{"left over"};
  if (!support::split_csv(line, fields, unquoted)) return {"REFUSED"};
  return {fields.begin(), fields.end()};
}

}  // namespace

TEST_CASE("support/csv/fields") {
  CHECK(split("a,b,c") == Fields{"a", "b", "c"});
  CHECK(split("a") == Fields{"a"});
  CHECK(split(" a , b ") == Fields{" a ", " b "});
  CHECK(split("\xC3\xA9,\xE2\x82\xAC") == Fields{"\xC3\xA9", "\xE2\x82\xAC"});
  // Empty fields.
  CHECK(split("") == Fields{""});
  CHECK(split(",") == Fields{"", ""});
  CHECK(split("a,") == Fields{"a", ""});
  CHECK(split(",,b") == Fields{"", "", "b"});
  CHECK(split("\"\"") == Fields{""});
  CHECK(split("\"\",\"\"") == Fields{"", ""});
  CHECK(split("\"a\",") == Fields{"a", ""});
  // Quotes.
  CHECK(split("\"a,b\",c") == Fields{"a,b", "c"});
  CHECK(split("\"a\"\"b\"") == Fields{"a\"b"});
  CHECK(split("\"\"\"\"") == Fields{"\""});
  CHECK(split("\"\"\"\"\"\",x") == Fields{"\"\"", "x"});
  CHECK(split("x,\"a\"\"\",\"\"\"b\"") == Fields{"x", "a\"", "\"b"});
  // Many.
  std::string line;
  Fields expected;
  for (int i = 0; i < 500; ++i) {
    line += (i == 0 ? "\"field " : ",\"field ") + std::to_string(i) + R"(, with a ""tail""")";
    expected.push_back("field " + std::to_string(i) + ", with a \"tail\"");
  }
  CHECK(split(line) == expected);
}

TEST_CASE("support/csv/misplaced_quote") {
  for (const char* line : {R"(")", R"("a)", R"(a,"b)", R"("a"b)", R"("a" ,b)", R"("a"")", R"(""")", R"(""a)",
                           R"("a""b"c")", "a\"b", "a\"", " \"a\"", "x,a\"b,y", "5\" disk"}) {
    INFO(line);
    CHECK(split(line) == Fields{"REFUSED"});
  }
}

TEST_CASE("support/csv/minimal_quoting") {
  CHECK(support::csv_field("") == "");
  CHECK(support::csv_field("plain text") == "plain text");
  CHECK(support::csv_field("a,b") == "\"a,b\"");
  CHECK(support::csv_field("a\"b") == "\"a\"\"b\"");
  CHECK(support::csv_field("a\rb") == "\"a\rb\"");
  for (const char* text : {"", "a", ",", "\"", "\"\"", "a,\"b\",,", "\xC3\xA9,"}) {
    INFO(text);
    CHECK(split(support::csv_field(text) + "," + support::csv_field(text)) == Fields{text, text});
  }
  // The negative control: without quotes this field would be split.
  CHECK(split("a,b") != Fields{"a,b"});
}

TEST_CASE("support/parallel/each_item_once") {
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  constexpr std::uint64_t large = std::uint64_t{1} << 40, least = 4096;
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, least - 1, least, least + 1,
                                    2 * least, 3 * least + 1, std::uint64_t{100003}, large, large + 1}) {
    for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
      INFO(count << " with " << threads << " threads");
      std::mutex mutex;
      std::vector<Range> ranges;
      std::set<std::thread::id> ids;
      support::in_parallel_parts(count, threads, [&](std::uint64_t first, std::uint64_t last) {
        const std::lock_guard lock(mutex);
        ranges.emplace_back(first, last);
        ids.insert(std::this_thread::get_id());
      });
      std::sort(ranges.begin(), ranges.end());
      REQUIRE(ranges.size() <= std::max(1U, threads));
      std::uint64_t end = 0;
      for (const auto& [first, last] : ranges) {
        REQUIRE(first == end);
        REQUIRE(last > first);
        REQUIRE(first % least == 0);
        end = last;
      }
      REQUIRE(end == count);
      // With enough work, every thread has some; the caller's thread always does.
      if (threads > 0 && count >= threads * threads * least) REQUIRE(ranges.size() == threads);
      REQUIRE((count == 0 || ids.count(std::this_thread::get_id()) == 1));
    }
  }
  for (const std::uint64_t count : {0, 1, 5000, 100003}) {
    for (const unsigned threads : {1U, 2U, 5U}) {
      std::vector<int> taken(count, 0);
      support::in_parallel(count, threads, [&](std::uint64_t i) { ++taken[i]; });
      CHECK(std::size_t(std::count(taken.begin(), taken.end(), 1)) == count);
    }
  }
}

TEST_CASE("support/quantity/counts") {
  const std::uint64_t largest = ~std::uint64_t{0};
  CHECK(support::parse_count("--n", "0", largest) == 0);
  CHECK(support::parse_count("--n", "1000003", largest) == 1000003);
  CHECK(support::parse_count("--n", "16Mi", largest) == 16777216);
  CHECK(support::parse_count("--n", "2G", largest) == 2000000000);
  CHECK(support::parse_count("--n", "3k", largest) == 3000);
  CHECK(support::parse_count("--n", "1Ti", largest) == 1099511627776);
  CHECK(support::parse_count("--n", "2^20", largest) == 1048576);
  CHECK(support::parse_count("--n", "10^0", largest) == 1);
  CHECK(support::parse_count("--n", "18446744073709551615", largest) == largest);
  for (const char* text :
       {"", " ", "12Q", "Ki", "-5", "+5", "1.5M", "1e6", "16MiB", "16mI", "2^", "2^x", "^2", "2^3^4", "0x10"}) {
    INFO(text);
    CHECK_THROWS_AS(support::parse_count("--n", text, 1000), support::UsageError);
  }
  for (const char* text :
       {"1001", "1Ki", "2^64", "3^99999999999999999999", "99999999999999999999", "18446744073709551615Ti"}) {
    INFO(text);
    CHECK_THROWS_AS(support::parse_count("--n", text, 1000), support::UsageError);
  }
}

TEST_CASE("support/quantity/three_digits") {
  CHECK(support::format_time(98.7e-6) == "98.7 us");
  CHECK(support::format_time(9.996e-3) == "10.0 ms");
  CHECK(support::format_time(2) == "2 s");
  CHECK(support::format_bytes(67108864) == "67.1 MB");
  CHECK(support::format_bytes(16) == "16 B");
  CHECK(support::format_bytes(0) == "0 B");
  CHECK(support::grouped(0) == "0");
  CHECK(support::grouped(999) == "999");
  CHECK(support::grouped(16777216) == "16,777,216");
}

TEST_CASE("support/quantity/wrapped") {
  CHECK(support::wrapped("one two three", 100, 2) == "one two three\n");
  CHECK(support::wrapped("one two three", 7, 2) == "one two\n  three\n");
  CHECK(support::wrapped("  one two three", 8, 4) == "  one\n    two\n    three\n");
  CHECK(support::wrapped("a_long_word b", 5, 0) == "a_long_word\nb\n");
  CHECK(support::wrapped("a_long_word", 5, 0) == "a_long_word\n");
  CHECK(support::wrapped("of 42.9 %", 8, 0) == "of\n42.9 %\n");
  CHECK(support::wrapped("", 5, 0) == "\n");
}

TEST_CASE("support/quantity/nearest_name") {
  CHECK(support::edit_distance("", "") == 0);
  CHECK(support::edit_distance("padded", "padded") == 0);
  CHECK(support::edit_distance("", "abc") == 3);
  CHECK(support::edit_distance("pakced", "packed") == 2);
  CHECK(support::edit_distance("tile32", "tile32_padded") == 7);
  CHECK(support::no_such("variant", "pakced", {"naive", "packed"}, "--list") ==
        "there is no variant 'pakced'; did you mean 'packed'? --list shows all");
  CHECK(support::no_such("variant", "unknown", {"naive", "packed"}, "--list") ==
        "there is no variant 'unknown'; --list shows all");
  CHECK(support::no_such_but("name", "tif", {"tid", "lane"}, "the names are tid, lane") ==
        "there is no name 'tif'; did you mean 'tid'? the names are tid, lane");
  CHECK(support::no_such_but("name", "foo", {"tid", "lane"}, "the names are tid, lane") ==
        "there is no name 'foo'; the names are tid, lane");
  CHECK(support::nearest("H10", {"sm_90", "h100"}) == "h100");
  CHECK(support::nearest("abc", {"abxy"}).empty());  // a third of three letters
  CHECK(support::nearest("abcd", {"abxy"}) == "abxy");
  CHECK(support::nearest("x", {"y"}).empty());
  CHECK(support::nearest("ab", {}).empty());
  CHECK(support::no_such("variant", "", {"tid"}, "--list") == "there is no variant ''; --list shows all");
}

TEST_CASE("support/quantity/words_of_a_list") {
  for (const char* word : {"cl_khr_a", "b", "last"}) CHECK(support::has_word("cl_khr_a b last", word));
  for (const char* part : {"cl_khr", "a", "las", "b last", ""}) CHECK_FALSE(support::has_word("cl_khr_a b last", part));
  CHECK_FALSE(support::has_word("", "b"));
}

TEST_CASE("support/xml/escaped") {
  CHECK(support::xml_text("<a b=\"c\" d='e'>&amp;") == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
  const std::string plain = "tile[ty][tx]\t= \xC3\xA9 \xE2\x89\xA5 \xF0\x9F\x98\x80;\n";
  CHECK(support::xml_text(plain) == plain);
  CHECK(support::xml_text("").empty());
  // Invalid UTF-8.
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(support::xml_text("a\xFFz") == "a" + bad + "z");
  CHECK(support::xml_text("\xC3<") == bad + "&lt;");  // a truncated character does not hide the markup after it
  CHECK(support::xml_text("\xE2\x89") == bad + bad);  // at the end of the text
  CHECK(support::xml_text("\xC0\xBC") == bad + bad);  // the long form of '<'
  CHECK(support::xml_text("\xED\xA0\x80") == bad + bad + bad);            // a surrogate
  CHECK(support::xml_text("\xF4\x90\x80\x80") == bad + bad + bad + bad);  // past the last character
  CHECK(support::xml_text("\x80") == bad);
  // Hidden characters.
  CHECK(support::xml_text(std::string_view("a\0b\x1B[31m\x7F", 9)) == "a[U+0000]b[U+001B][31m[U+007F]");
  // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what is tested
  CHECK(support::xml_text("x\xE2\x80\xAEy\xE2\x81\xA6z") == "x[U+202E]y[U+2066]z");
  CHECK(support::xml_text("\xC2\x85") == "[U+0085]");
  CHECK(support::xml_text("\xEF\xBF\xBE") == "[U+FFFE]");
}

TEST_CASE("support/bandwidths") {
  const ScratchDirectory scratch;
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string old = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", (scratch.path() / "cache").c_str(), 1);
  CHECK_FALSE(support::measured_bandwidths("NVIDIA H200"));
  const std::string file = support::keep_bandwidths("NVIDIA H200", {5000, 4000});
  CHECK(file == (scratch.path() / "cache/bankwise/bandwidths.csv").string());
  support::keep_bandwidths("GPU, \"odd\"", {2, 1});
  support::keep_bandwidths("NVIDIA H200", {5500.26, 4500});
  CHECK(support::measured_bandwidths("NVIDIA H200")->l2 == Approx(5500.3));
  CHECK(support::measured_bandwidths("NVIDIA H200")->dram == 4500);
  CHECK(support::measured_bandwidths("GPU, \"odd\"")->dram == 1);
  std::ofstream(file) << "A,1\nB,x,2\nC,-1,2\nD,1,2,3\nE,nan,2\nF,3,4\n";  // what is no bandwidth is left out
  for (const char* name : {"A", "B", "C", "D", "E"}) CHECK_FALSE(support::measured_bandwidths(name));
  CHECK(support::measured_bandwidths("F")->l2 == 3);
  if (before == nullptr) {
    unsetenv("XDG_CACHE_HOME");
  } else {
    setenv("XDG_CACHE_HOME", old.c_str(), 1);
  }
}
