// SPDX-License-Identifier: MIT
//
// The pictures of the banks: compared in full where they are small, checked for well-formed XML where they are large.
#include <regex>
#include <string>

#include "bankcheck/predict/bank_picture.hpp"
#include "tests/bank_patterns.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"
#include "well_formed.hpp"

using namespace bankwise;
using namespace bankwise::predict;
using banks::Operation;

namespace {

BankPicture picture_of(const char* name, Operation operation, unsigned width, std::uint64_t mask,
                       const banks::ByteOf& byte_of) {
  const auto* architecture = banks::find_architecture(name);
  REQUIRE(architecture != nullptr);
  std::vector<std::uint32_t> addresses;
  for (unsigned lane = 0; lane < banks::max_lanes; ++lane) addresses.push_back(byte_of(lane));
  const banks::Access access{operation, width, mask, addresses};
  const auto outcome = banks::cost(*architecture, access);
  REQUIRE(std::holds_alternative<banks::Cost>(outcome));
  return picture(*architecture, access, std::get<banks::Cost>(outcome));
}

BankPicture stride_two() {
  return picture_of("sm_90", Operation::load, 4, 0xfffff, [](unsigned lane) { return 8 * lane; });
}

}  // namespace

TEST_CASE("predict/picture/lane_ranges") {
  CHECK(lane_ranges(0) == "");
  CHECK(lane_ranges(1) == "0");
  CHECK(lane_ranges(0x7) == "0-2");
  CHECK(lane_ranges(0x5) == "0, 2");
  CHECK(lane_ranges(0x1D00FF) == "0-7, 16, 18-20");
  CHECK(lane_ranges(0xffffffff) == "0-31");
  CHECK(lane_ranges(std::uint64_t{1} << 63) == "63");
  CHECK(lane_ranges(~std::uint64_t{0}) == "0-63");
  CHECK(lane_ranges(~std::uint64_t{0} << 62 | 1) == "0, 62-63");
}

TEST_CASE("predict/picture/exact_text") {
  CHECK(to_text(stride_two(), 80) ==
        "\nlanes 0-19: 2 passes\n"
        "  bank      0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15\n"
        "  pass 1   !0   .  !1   .  !2   .  !3   .   4   .   5   .   6   .   7   .\n"
        "  pass 2  !16   . !17   . !18   . !19   .   .   .   .   .   .   .   .   .\n"
        "  bank     16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31\n"
        "  pass 1    8   .   9   .  10   .  11   .  12   .  13   .  14   .  15   .\n");
  // Each pass broadcasts one word to its four lanes; every other bank serves one lane.
  const auto bytes = picture_of("sm_13", Operation::load, 1, 0xffff, [](unsigned lane) { return lane; });
  CHECK(to_text(bytes, 80) ==
        "\nlanes 0-15: 4 passes\n"
        "  bank      0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15\n"
        "  pass 1   0+  !4  !8 !12   .   .   .   .   .   .   .   .   .   .   .   .\n"
        "  pass 2    . !5+  !9 !13   .   .   .   .   .   .   .   .   .   .   .   .\n"
        "  pass 3    .   .!10+ !14   .   .   .   .   .   .   .   .   .   .   .   .\n"
        "  pass 4    .   .   . !15   .   .   .   .   .   .   .   .   .   .   .   .\n");
}

TEST_CASE("predict/picture/titles_and_idle_banks") {
  const auto choice =
      picture_of("sm_13", Operation::load, 4, 0xffff, [](unsigned lane) { return lane < 8 ? 0 : 4 * lane; });
  CHECK(choice.lane_groups.at(0).title == "lanes 0-15: 1 to 2 passes");
  const auto split = picture_of("sm_90", Operation::load, 12, 3, [](unsigned lane) { return 12 * lane; });
  REQUIRE(split.lane_groups.size() == 3);
  CHECK(split.lane_groups[0].title == "lanes 0-1, bytes 0-3 of each: 1 pass");
  CHECK(split.lane_groups[2].title == "lanes 0-1, bytes 8-11 of each: 1 pass");
  const auto same = picture_of("sm_90", Operation::load, 4, 0xff, [](unsigned) { return 0; });
  const std::string text = to_text(same, 80);
  CHECK(count(text, "  banks 16-31: idle\n") == 1);
  CHECK(count(text, " 0+") == 1);
  CHECK(to_text(picture_of("sm_90", Operation::load, 4, 0, [](unsigned) { return 0; }), 80) == "");
}

TEST_CASE("predict/picture/fits_terminal") {
  for (const unsigned columns : {0U, 40U, 41U, 72U, 73U, 80U, 136U, 137U, 1000U}) {
    const std::string text = to_text(stride_two(), columns);
    INFO(columns << '\n' << text);
    std::size_t longest = 0, begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      longest = std::max(longest, end - begin);
    }
    CHECK(longest <= std::max(columns, 41U));
    CHECK(count(text, "  bank ") == (columns < 73 ? 4 : columns < 137 ? 2 : 1));
  }
}

TEST_CASE("predict/picture/colours") {
  const std::string plain = to_text(stride_two(), 80), colour = predict::coloured(to_text(stride_two(), 80));
  CHECK(count(plain, "\033") == 0);
  CHECK(count(colour, "\033[1;31m") == 8);  // the cells of the four banks with two passes
  CHECK(count(colour, "\033[0m") == count(colour, "\033[1;31m") + count(colour, "\033[2m"));
  CHECK(std::regex_replace(colour, std::regex("\033[^m]*m"), "") == plain);
}

TEST_CASE("predict/picture/xml_check") {
  CHECK(what_is_malformed("<a b=\"c\">d &lt; e<f/></a>\n") == "");
  for (const char* bad : {"", "<a>", "</a>", "<a></b>", "<a><b></a></b>", "<a>&</a>", "<a>&nbsp;</a>", "<a", "<a b=c/>",
                          "<a b=\"c/>", "<a/><b/>", "text", "<a/>text", "<a b=\"<\"/>"}) {
    INFO(bad);
    CHECK(what_is_malformed(bad) != "");
  }
}

TEST_CASE("predict/picture/svg") {
  for (const char* title : {"plain", "tid<3 && tid>1 ? \"a\" : 'b' & 1", "]]>", "&lt;"}) {
    const std::string svg = to_svg(stride_two(), title);
    INFO(svg.substr(0, 500));
    CHECK(what_is_malformed(svg) == "");
    CHECK(count(svg, "#f2b8b0") == 8);          // lanes of a bank with conflicts
    CHECK(count(svg, "#bcd9f0") == 12);         // lanes without conflicts
    CHECK(count(svg, "<rect ") == 1 + 2 * 32);  // the background, two passes
    CHECK(count(svg, ">lanes 0-19: 2 passes<") == 1);
  }
  CHECK(count(to_svg(stride_two(), "a<b>&c"), ">a&lt;b&gt;&amp;c</text>") == 1);
  const auto none = picture_of("sm_90", Operation::load, 4, 0, [](unsigned) { return 0; });
  CHECK(what_is_malformed(to_svg(none, "")) == "");
}
