// Accesses that are given as an index formula: their cost, and how it is shown.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/predict/predict.hpp"
#include "tests/bank_patterns.hpp"
#include "tests/bankcheck/sentences.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"
#include "well_formed.hpp"

using namespace bankwise;
using namespace bankwise::predict;
using banks::Operation;

namespace {

const banks::Architecture& named(const char* name) {
  const auto* architecture = banks::find_architecture(name);
  REQUIRE(architecture != nullptr);
  return *architecture;
}

Prediction predicted(const std::string& index, const char* architecture = "sm_90", unsigned width = 4,
                     std::uint64_t mask = 0xffffffff, Operation operation = Operation::load) {
  return predict_index(named(architecture), operation, width, mask, index);
}

/// The error message; empty if the access has a cost.
std::string option_refusal(const std::string& index, unsigned width = 4, std::uint64_t mask = 0xffffffff,
                           Operation operation = Operation::load) {
  return sentence_of([&] { (void)predicted(index, "sm_90", width, mask, operation); });
}

}  // namespace

TEST_CASE("predict/index/cute_layout") {
  CHECK(predicted("(8,64):(64,1)").cost.passes == 8);
  CHECK(predicted("Swizzle<3,3,3> o (8,64):(64,1)").cost.passes == 2);
  const Prediction halves = predicted("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,8)", "sm_90", 16);
  CHECK(halves.addresses[9] == ((64 + 8) ^ 8) * 2);
  check_sentence(option_refusal("(8,2):(2,1)"), "element 16 is outside of the layout");
  check_sentence(option_refusal("(8,2):(2,1"), "')'");
}

TEST_CASE("predict/index/cost") {
  CHECK(predicted("tid").cost.passes == 1);
  CHECK(predicted("tid*2").cost.passes == 2);
  CHECK(predicted("tid*32").cost.passes == 32);
  CHECK(predicted("tid*33").cost.passes == 1);
  CHECK(predicted("threadIdx.x*2u").cost.passes == 2);
  CHECK(predicted("(lane ^ -1) & 31").cost.passes == 1);
  CHECK(predicted("min(get_local_id(0), 15) * 0x20").cost.passes == 16);
  CHECK(predicted("(tid%8)*32 + (tid/8 ^ tid%8)").cost.passes == 4);
  const Prediction wide = predicted("tid*3", "gfx942", 16, ~std::uint64_t{0});
  for (unsigned lane = 0; lane < 64; ++lane) CHECK(wide.addresses[lane] == 48 * lane);
  CHECK(wide.cost.passes == banks::cost_of("gfx942", Operation::load, 16, ~std::uint64_t{0}, [](unsigned lane) {
                              return 48 * lane;
                            }).passes);
  CHECK(predicted("tid/0", "sm_90", 4, 0).cost.passes == 0);  // no lane is active
}

namespace {

Prediction with_names(const std::string& index, const IndexNames& names, const std::string& array = "",
                      unsigned width = 4, std::uint64_t mask = 0xffffffff) {
  std::optional<ArrayDeclaration> declared;
  if (!array.empty()) declared = array_declared(array, names);
  return predict_index(named("sm_90"), Operation::load, width, mask, index, names, declared);
}

std::string refusal_of(const std::string& index, const IndexNames& names, const std::string& array = "") {
  return sentence_of([&] { (void)with_names(index, names, array); });
}

}  // namespace

TEST_CASE("predict/index/blocks") {
  const IndexNames block{.block = {8, 2, 2}};
  for (const char* index : {"tx + 100*ty + 10000*tz", "threadIdx.x + 100*threadIdx.y + 10000*threadIdx.z",
                            "get_local_id(0) + 100*get_local_id(1) + 10000*get_local_id(2)",
                            "tid % blockDim.x + 100*(tid / get_local_size(0) % blockDim.y) + 10000*(lane / 16)"}) {
    INFO(index);
    const Prediction prediction = with_names(index, block);
    for (unsigned lane = 0; lane < 32; ++lane) {
      CHECK(prediction.addresses[lane] == 4 * (lane % 8 + 100 * (lane / 8 % 2) + 10000 * (lane / 16)));
    }
  }
  CHECK(with_names("ty*17 + tx", {.block = {16, 16, 1}}).cost.passes == 2);   // lane 16 is in the bank of lane 1
  CHECK(with_names("(tx - 1)/2u & 1", block).addresses[0] == 4);              // tx is an int
  CHECK(with_names("(get_local_id(1) - 1) >> 63", block).addresses[0] == 4);  // 64 bits
}

TEST_CASE("predict/index/other_names") {
  const IndexNames any{.values = {{"k", 3}, {"big", 1LL << 32}}, .any_lane_name = true};
  CHECK(with_names("i*32", any).cost.passes == 32);
  CHECK(with_names("i*32", any).other_lane == "i");
  CHECK_THAT(text_of(with_names("i*32", any), 80), has("\n'i' is the lane number\n"));
  CHECK(with_names("tid*32", any).other_lane == "");
  CHECK(with_names("tid + k", any).addresses[1] == 16);
  CHECK(with_names("i + (big >> 31)", any).addresses[0] == 8);
  const auto check_unknown = [&](const char* index, const char* words) {
    check_sentence(refusal_of(index, any), words);
  };
  check_unknown("i*32 + j", "there is no name 'j'; the names are tid, ");
  check_unknown("i*32 + tid", "there is no name 'i'; ");
  check_unknown("tid*32 + n", "; --let n=1 gives it a value");
  check_unknown("tif*32", "did you mean 'tid'?");
  check_unknown("a.b", "there is no name 'a.b'");
  check_unknown("f(3)", "there is no name 'f'");
  check_sentence(refusal_of("i", {}), "there is no name 'i'");
}

TEST_CASE("predict/index/arrays") {
  const IndexNames names{.block = {32, 8, 1}, .values = {{"TILE", 32}}, .any_lane_name = true};
  const auto passes = [&](const char* index, const char* array) { return with_names(index, names, array).cost.passes; };
  CHECK(passes("tile[threadIdx.x][3]", "float tile[32][32]") == 32);
  CHECK(passes("tile[threadIdx.x][3]", "__shared__ float tile[TILE][TILE + 1];") == 1);
  CHECK(passes(" tile [ tx ] [ (3) ] ", "volatile __local unsigned int tile[TILE][TILE+1] ;") == 1);
  CHECK(passes("tile[i][0]", "int tile[32][16]") == 16);
  CHECK(passes("s[tx*2]", "extern __shared__ float s[];") == 2);
  CHECK(passes("ty*32 + tx", "float s[]") == 1);
  CHECK(passes("s[tx*2]", "") == 2);
  CHECK(with_names("cube[tz][ty][tx]", {.block = {2, 4, 4}}, "double cube[4][4][3]", 8).addresses[31] ==
        8 * (3 * 12 + 3 * 3 + 1));
  CHECK(with_names("tile[tx][-1 + 2]", names, "short tile[32][4]", 2).addresses[2] == 2 * 9);
  CHECK(array_declared("alignas(16) float4 v[2]", {}).bytes == 16);
  CHECK(array_declared("__align__(8) const unsigned char v[2]", {}).bytes == 1);

  const auto refused = [&](const char* index, const char* array, const char* words) {
    check_sentence(refusal_of(index, names, array), words);
  };
  refused("tile[tx][3]", "float tile[32]", "it has 2 subscripts, and tile needs 1");
  refused("tile[tx]", "float tile[32][33]", "it has 1 subscript, and tile needs 2");
  refused("tile[tx][3]", "", "so it needs the declaration, for example --array 'float tile[32][33]'");
  refused("tilt[tx][3]", "float tile[32][33]", "the array is tile, not tilt");
  refused("tile[tx][3]", "float tile[16][17]", "element 275 of lane 16 is past the end of tile, which has 272");
  refused("tile[a[tx]][3]", "float tile[16][17]", "'a[tx]' depends on data");
  refused("tile[tx][3", "float tile[16][17]", "it is no access of the form tile[y][x]");
  refused("tile[tx][]", "float tile[16][17]", "an operand is missing");
  refused("tid", "float tile", "a declaration is missing");
  refused("tid", "tile[3]", "a declaration is missing");
  refused("tid", "float tile[3] x", "a declaration is missing");
  refused("tid", "float3 tile[3]", "the size of a float3 is not known");
  refused("tid", "float tile[N]", "[N]: there is no name 'N'");
  refused("tid", "float tile[0]", "it is no extent");
  refused("tid", "float tile[3][]", "[]: it is empty");
  refused("tid", "float tile[65536][65536]", "larger than 4 GiB");
  refused("tid", "float \033[2J[3]", "--array 'float ?[2J[3]'");
}

TEST_CASE("predict/index/refused") {
  check_sentence(option_refusal("tid-1"), "--index 'tid-1': element -1 of lane 0 is negative");
  check_sentence(option_refusal("3-tid"), "element -1 of lane 4");
  check_sentence(option_refusal("tid*1073741824"), "element 1073741824 of lane 1");
  check_sentence(option_refusal("9007199254740991"), "element 9007199254740991 of lane 0");
  CHECK(option_refusal("1073741823").empty());
  CHECK(option_refusal("268435455", 16).empty());
  check_sentence(option_refusal("268435456", 16), "element 268435456 of lane 0");
  CHECK(option_refusal("4294967295", 1).empty());
  check_sentence(option_refusal("4294967296", 1), "element 4294967296");
  check_sentence(option_refusal("threadIdx.x-1"), "element 4294967295 of lane 0");
  check_sentence(option_refusal("get_local_id(0)-1"), "the value 18446744073709551615 is not below 2^63 (tid 0)");
  // The elements of inactive lanes do not matter.
  CHECK(option_refusal("tid-1", 4, 0xfffffffe).empty());
  CHECK(option_refusal("64/tid", 4, 0xfffffffe).empty());
  check_sentence(option_refusal("64/tid"), "it divides by zero (tid 0)");
  // No such access.
  check_sentence(option_refusal("tid", 3), "sm_90 has no 3-byte load");
  check_sentence(option_refusal("tid", 0), "sm_90 has no 0-byte load");
  check_sentence(option_refusal("tid", 4, std::uint64_t{1} << 32), "lane 32 is active");
  check_sentence(option_refusal("tid", 16, 0x7f, Operation::ldmatrix_x1), "lane 7 gives the address of a row");
  check_sentence(option_refusal("tid", 2, 1, Operation::atomic), "no cost for 2-byte atomic");
  check_sentence(option_refusal("tid", 4, 1, Operation::cp_async), "in global memory that lane 0 reads is not known");
  // Messages are short.
  const std::string longer = option_refusal(std::string(5000, 'x'));
  check_sentence(longer, "--index '" + std::string(60, 'x') + "...': it is longer than");
  CHECK(longer.size() < 200);
  for (const char* hostile : {"tid\n*2", "\x1B[31mtid", "tid\r", "\x07", "\xC3\xA9", "tid\t\x9B"}) {
    const std::string sentence = option_refusal(hostile);
    INFO(sentence);
    CHECK_FALSE(sentence.empty());
    CHECK(std::all_of(sentence.begin(), sentence.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  }
}

TEST_CASE("predict/index/text") {
  CHECK(text_of(predicted("tid*2", "sm_90", 4, 0xffff0001), 80) ==
        "sm_90: 4-byte load, element tid*2\n"
        "passes 2, ideal 1, conflicts 1\n"
        "rule: hardware counters of an H200: tests/data/h200_wavefronts.csv (measured here)\n"
        "\nlanes 0, 16-31: 2 passes\n"
        "  bank      0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15\n"
        "  pass 1   !0   .  17   .  18   .  19   .  20   .  21   .  22   .  23   .\n"
        "  pass 2  !16   .   .   .   .   .   .   .   .   .   .   .   .   .   .   .\n"
        "  bank     16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31\n"
        "  pass 1   24   .  25   .  26   .  27   .  28   .  29   .  30   .  31   .\n");
  const auto holds = [](const Prediction& prediction, const char* words) {
    const std::string text = text_of(prediction, 80);
    INFO(text);
    return text.find(words) != std::string::npos;
  };
  CHECK(holds(predicted("tid/2", "sm_90", 16), "lanes n and n^1 have the same address"));
  CHECK(holds(predicted("tid%2+tid/4*2", "sm_90", 16), "lanes n and n^2 have the same address"));
  CHECK_FALSE(holds(predicted("tid", "sm_90", 16), "have the same address"));
  CHECK(holds(predicted("tid", "sm_20"), "Counted in ways"));
  CHECK_FALSE(holds(predicted("tid"), "Counted in ways"));
  CHECK(holds(predicted("tid<8?0:tid", "sm_13", 4, 0xffff), "passes 1 to 2, ideal 1, conflicts 0 to 1"));
  CHECK_THAT(coloured(text_of(predicted("tid*2"), 80)), has("\033"));
  CHECK_THAT(text_of(predicted("tid*2"), 80), !has("\033"));
}

// The beginning shows the pattern: as many passes and lane groups as a report has.
TEST_CASE("predict/index/long_text") {
  const std::string column = text_of(predicted("32*tid"), 80);
  INFO(column);
  CHECK(count(column, "\n  pass ") == 4);
  CHECK(count(column, "\n  and 28 more passes\n  banks 16-31: idle\n") == 1);
  const std::string wide = text_of(predicted("8*tid", "sm_90", 16), 40);
  INFO(wide);
  CHECK(count(wide, "\nlanes ") == 2);
  CHECK(count(wide, "\n  banks 8-31: idle\n") == 2);
  CHECK(wide.ends_with("\nand 2 more lane groups; --svg or --json shows all\n"));
  CHECK(count(text_of(predicted("tid*5%160/5*32", "sm_90", 4, 0x1f), 80), "and 1 more pass\n") == 1);
}

TEST_CASE("predict/index/json") {
  const auto json = nlohmann::json::parse(json_of(predicted("tid < 8 ? 0 : tid", "sm_13", 4, 0xffff)));
  check_members(json, R"({"schema_version": 1, "architecture": "sm_13", "operation": "load", "width": 4,
                          "index": "tid < 8 ? 0 : tid", "mask": "0xffff", "passes": 1, "ideal": 1, "conflicts": 0,
                          "passes_max": 2, "conflicts_max": 1, "merged_by": 0, "evidence": "vendor",
                          "lane_groups": [{"lanes": "0-15", "first_byte": 0, "passes": 1, "passes_max": 2}]})");
  CHECK_FALSE(json["source"].get<std::string>().empty());
  CHECK_THAT(json["note"].get<std::string>(), has("broadcasts"));
  CHECK(json.size() == 14 + 2);
}

TEST_CASE("predict/index/svg") {
  const std::string svg = svg_of(predicted("tid<3&&tid>1?1:2"));
  CHECK(what_is_malformed(svg) == "");
  CHECK_THAT(svg, !has("element tid&lt;3&amp;&amp;tid&gt;1?1:2: 2 passes, 1 conflicts"));
  CHECK_THAT(svg, has("element tid&lt;3&amp;&amp;tid&gt;1?1:2: passes 1, conflicts 0"));
}

TEST_CASE("predict/index/every_access") {
  unsigned shown = 0;
  for (const auto& architecture : banks::architectures()) {
    for (int i = 0; i < banks::operation_count; ++i) {
      for (const unsigned width : {1U, 2U, 4U, 8U, 12U, 16U}) {
        const auto* rule = banks::find_rule(architecture, Operation(i), width);
        if (rule == nullptr || !rule->refusal.empty() || banks::is_copy(Operation(i))) continue;
        const auto prediction =
            predict_index(architecture, Operation(i), width, banks::first_lanes(architecture.warp), "tid*tid%37");
        INFO(architecture.name << ", " << to_string(Operation(i)) << ", " << width);
        CHECK_FALSE(text_of(prediction, 80).empty());
        CHECK(nlohmann::json::parse(json_of(prediction))["passes"] == prediction.cost.passes);
        CHECK(what_is_malformed(svg_of(prediction)) == "");
        ++shown;
      }
    }
  }
  CHECK(shown > 300);
}

TEST_CASE("predict/index/picture_in_documents") {
  const auto prediction = predicted("tid/16*17 + tid%16", "sm_90", 4, 0xffffffff, Operation::store);
  std::ifstream file(SOURCE_DIRECTORY "/docs/pictures/rows_of_17.svg");
  const std::string drawn{std::istreambuf_iterator<char>(file), {}};
  INFO("bankcheck predict --op store --index 'tid/16*17 + tid%16' --svg docs/pictures/rows_of_17.svg");
  CHECK((svg_of(prediction) == drawn));
}

// The pictures of the banks: compared in full where they are small, checked for well-formed XML where they are large.

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
        "  bank       0    1    2    3    4    5    6    7\n"
        "  pass 1    0+   !4   !8  !12    .    .    .    .\n"
        "  pass 2     .  !5+   !9  !13    .    .    .    .\n"
        "  pass 3     .    . !10+  !14    .    .    .    .\n"
        "  pass 4     .    .    .  !15    .    .    .    .\n"
        "  banks 8-15: idle\n");
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
