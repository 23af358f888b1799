// `bankcheck layout` as a user runs it.
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

namespace {

/// Checks that the text has these words, in whatever lines.
void check_says(const std::string& text, std::initializer_list<const char*> words) {
  const std::string line = std::regex_replace(text, std::regex("\\s+"), " ");
  INFO(text);
  for (const char* part : words) {
    INFO(part);
    CHECK_THAT(line, has(part));
  }
}

}  // namespace

TEST_CASE("layouts/command/text") {
  const auto free = bankcheck("layout 'Swizzle<3,3,3> o (8,64):(64,1)' --type half --copy ldmatrix.x4");
  CHECK(free.code == 0);
  CHECK(free.err.empty());
  check_says(free.out,
             {"8 rows of 64 elements of 2 bytes, 1,024 bytes in all", "no conflicts on sm_90",
              "a linear layout (XORs of bits of row and column) has 8", "rule on sm_90", "lanes 0-7: 1 pass"});
  const auto plain =
      bankcheck("layout '(64,64):(64,1)' --type half --copy ldmatrix.x4 --copy 'store.16 by row' --arch sm_90,sm_80");
  CHECK(plain.code == 0);
  check_says(plain.out, {"448 conflicts on sm_90, 0 with Swizzle<3, 3, 3>; 448 conflicts on sm_80", "store.16 by row",
                         "ldmatrix.x4, instruction 1 of 16, on sm_90: passes 32, ideal 4"});
  const auto second = bankcheck("layout --shape 32,32 --type float --copy 'load by row' --copy 'load by column'");
  check_says(second.out, {"load by column, instruction 1 of 32, on sm_90: passes 32, ideal 1"});
  const auto two_rows = bankcheck("layout --shape 2,64 --type float --copy 'load by column'");
  check_says(two_rows.out, {"tile[row][column ^ row * 16]", "tile[2][64 + 16]"});
  // A linear layout that is better than each swizzle is named.
  const auto sums = bankcheck(
      "layout '(8,32):(32,1)' --type float --copy 'load by ((2,2),(2,2,2)):((16,2),(8,1,4))' --copy 'store by column'");
  check_says(sums.out,
             {"a linear layout (XORs of bits of row and column) has 16 passes",
              "bits 0 to 7 of the number of an element are r1 ^ r2,", "where c0 is the lowest bit of the column"});
  const auto three = bankcheck(
      "layout '(4,4):(4,1)' --type float4 --copy load --copy 'load by column' "
      "--copy 'load by Swizzle<1,1,-2> o (4,4):(4,1)'");
  check_says(three.out, {"has fewer than 8 passes,", "and no other one fewer than 6 passes"});
  const auto odd = bankcheck("layout --shape 32,48 --strides 96,2 --type bf16 --copy 'load.16 by column'");
  check_says(odd.out, {"powers of two", "16 bytes after every 96"});
}

TEST_CASE("layouts/command/json") {
  const auto outcome = bankcheck(
      "layout '#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[1,0]}>' --shape 64,64 --type f16 "
      "--copy ldmatrix.x4 --copy 'load by column' --arch sm_90,sm_80 --json");
  CHECK(outcome.code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  check_members(json, R"({"schema_version": 1, "rows": 64, "columns": 64, "element_bytes": 2, "bytes": 8192,
                          "architectures": ["sm_90", "sm_80"]})");
  REQUIRE(json["copies"].size() == 4);
  check_members(json["copies"][0], R"({"copy": "ldmatrix.x4", "architecture": "sm_90", "operation": "ldmatrix.x4",
                                       "width": 16, "instructions": 16, "passes": 64, "ideal": 64, "conflicts": 0})");
  check_members(json["certificates"][1], R"({"architecture": "sm_80", "together": 16, "along": "rows", "why": ""})");
  CHECK(json["certificates"][0]["matrix"].size() == 12);
  CHECK(json["layouts"][0]["passes"].size() == 2);
  const auto along = [](const std::string& copy) {
    const std::string layout = "layout '(64,64):(1,64)' --type f16 --json --copy '" + copy + "'";
    return nlohmann::json::parse(bankcheck(layout).out)["certificates"][0]["along"];
  };
  CHECK(along("store.16") == "columns");
  CHECK(along("store") == "columns");  // words of two elements
}

TEST_CASE("layouts/command/refusals") {
  check_fails("layout", 2, "layout needs a layout");
  check_fails("layout '(8,64):(64' --type half", 2, "')'");
  check_fails("layout '(8,64):(64,1)'", 2, "give --type");
  check_fails("layout '(8,64):(64,1)' --type half --copy ldmatrix.x9", 2, "none of load");
  check_fails("layout '(8,64):(64,1)' --type half --copy ldmatrix.x4 --arch gfx942", 2, "gfx942 has no");
  check_fails("layout '(8,64):(64,1)' --type half --arch sm_91", 2, "sm_91");
  check_fails("layout --shape 8 --type half --strides", 2, "--strides");
}

TEST_CASE("layouts/command/sizes") {
  for (const char* layout : {"'(1,1):(1,1)'", "1:0", "'(1,2):(0,1)'", "'(512,1024):(1024,1)'"}) {
    INFO(layout);
    const auto outcome = bankcheck(std::string("layout --type half ") + layout);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, has("conflicts on sm_90"));
  }
}
