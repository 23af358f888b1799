// SPDX-License-Identifier: MIT
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

TEST_CASE("support/quantity/counts") {
  const std::uint64_t largest = ~std::uint64_t{0};
  CHECK(parse_count("--n", "0", largest) == 0);
  CHECK(parse_count("--n", "1000003", largest) == 1000003);
  CHECK(parse_count("--n", "16Mi", largest) == 16777216);
  CHECK(parse_count("--n", "2G", largest) == 2000000000);
  CHECK(parse_count("--n", "3k", largest) == 3000);
  CHECK(parse_count("--n", "1Ti", largest) == 1099511627776);
  CHECK(parse_count("--n", "2^20", largest) == 1048576);
  CHECK(parse_count("--n", "10^0", largest) == 1);
  CHECK(parse_count("--n", "18446744073709551615", largest) == largest);
}

TEST_CASE("support/quantity/no_counts") {
  for (const char* text :
       {"", " ", "12Q", "Ki", "-5", "+5", "1.5M", "1e6", "16MiB", "16mI", "2^", "2^x", "^2", "2^3^4", "0x10"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_count("--n", text, 1000), UsageError);
  }
  for (const char* text :
       {"1001", "1Ki", "2^64", "3^99999999999999999999", "99999999999999999999", "18446744073709551615Ti"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_count("--n", text, 1000), UsageError);
  }
}

TEST_CASE("support/quantity/three_digits") {
  CHECK(format_time(98.7e-6) == "98.7 us");
  CHECK(format_time(9.996e-3) == "10.0 ms");
  CHECK(format_time(2) == "2 s");
  CHECK(format_bytes(67108864) == "67.1 MB");
  CHECK(format_bytes(16) == "16 B");
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(16777216) == "16 777 216");
}

TEST_CASE("support/quantity/edit_distance") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("padded", "padded") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("pakced", "packed") == 2);
  CHECK(edit_distance("tile32", "tile32_padded") == 7);
}

TEST_CASE("support/quantity/nearest_name") {
  CHECK(no_such("variant", "pakced", {"naive", "packed"}, "--list") ==
        "there is no variant 'pakced'; did you mean 'packed'? --list shows all");
  CHECK(no_such("variant", "unknown", {"naive", "packed"}, "--list") ==
        "there is no variant 'unknown'; --list shows all");
  CHECK(no_such_but("name", "tif", {"tid", "lane"}, "the names are tid, lane") ==
        "there is no name 'tif'; did you mean 'tid'? the names are tid, lane");
  CHECK(no_such_but("name", "foo", {"tid", "lane"}, "the names are tid, lane") ==
        "there is no name 'foo'; the names are tid, lane");
  CHECK(no_such("variant", "", {"tid"}, "--list") == "there is no variant ''; --list shows all");
}
