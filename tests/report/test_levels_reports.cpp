// Levels in the reports: text, JSON, picture.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include <bankwise/report/report.hpp>
#include "tests/bankcheck/predict/well_formed.hpp"
#include "tests/case_studies.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::report;
using nlohmann::json;

namespace {

RunResults report_of(const CaseStudy& study, Extent extent, const std::vector<const char*>& architectures) {
  RunResults report{&study, {"test"}, {}, {}, {}};
  std::vector<const Variant*> variants;
  for (const Variant& variant : study.variants) {
    if (!variant.library) variants.push_back(&variant);
  }
  for (const char* name : architectures) {
    for (auto& levels : levels_of(study, variants, extent, *banks::find_architecture(name))) {
      report.levels.push_back(std::move(levels));
    }
  }
  return report;
}

std::set<std::string> keys(const json& row) {
  std::set<std::string> keys;
  for (const auto& [key, value] : row.items()) keys.insert(key);
  return keys;
}

}  // namespace

TEST_CASE("report/levels_reports/json") {
  const auto report = json::parse(json_report(report_of(transpose::case_study(), {64, 64}, {"sm_90", "gfx942"})));
  const auto& variants = transpose::case_study().variants;
  const auto libraries = std::count_if(variants.begin(), variants.end(), [](const Variant& v) { return v.library; });
  REQUIRE(report.at("totals").size() == 2 * (variants.size() - std::size_t(libraries)));
  for (const auto& row : report.at("totals")) {
    CHECK(keys(row) == std::set<std::string>{"variant", "architecture", "alu_utilization", "simt_efficiency", "passes",
                                             "ideal_passes", "conflicts", "reason"});
    CHECK(row.at("reason").get<std::string>().empty() == row.at("passes").is_number());
  }
  // Rows with passes have two levels each, on both architectures.
  const auto with_passes = std::count_if(report.at("totals").begin(), report.at("totals").end(), [](const json& row) {
    return row.at("passes").is_number() && row.at("passes") > 0;
  });
  CHECK(with_passes > 0);
  REQUIRE(report.at("levels").size() == 2 * std::size_t(with_passes));
  for (const auto& row : report.at("levels")) {
    CHECK(keys(row) == std::set<std::string>{"variant", "architecture", "warp_width", "block", "kernel", "level",
                                             "name", "active_lanes", "issued_warps", "alu_utilization", "accesses",
                                             "passes", "ideal_passes", "conflicts"});
    const auto name = row.at("variant").get<std::string>();
    CHECK(row.at("block") == variant_of(transpose::case_study(), name).group.size());
    CHECK(row.at("warp_width") == (row.at("architecture") == "sm_90" ? 32 : 64));
    CHECK(row.at("passes") == row.at("ideal_passes").get<int>() + row.at("conflicts").get<int>());
  }
  check_members(report.at("levels").at(1), R"({"kernel": "transpose_naive", "name": "columns out", "passes": 64})");
  CHECK(report.at("totals").at(0).at("alu_utilization").is_null());  // global
}

TEST_CASE("report/levels_reports/empty_level") {
  const RunResults report = report_of(access_patterns::case_study(), {1, 5}, {"sm_90"});
  const auto level = json::parse(json_report(report)).at("levels").at(1);
  check_members(level, R"({"name": "clock", "accesses": 0, "passes": 0, "alu_utilization": null})");
}

TEST_CASE("report/levels_reports/unknown_cost") {
  // An architecture without any rule.
  banks::Architecture nothing = *banks::find_architecture("sm_90");
  nothing.rules = {};
  const Variant* const naive = &variant_of(reduction::case_study(), "naive");
  RunResults report{&reduction::case_study(), {}, {}, {}, {}};
  report.levels = levels_of(*report.study, std::span(&naive, 1), {1, 1000}, nothing);
  const auto parsed = json::parse(json_report(report));
  check_members(parsed.at("levels").at(0), R"({"passes": null, "alu_utilization": 1})");
  CHECK(parsed.at("totals").at(0).at("passes").is_null());
  CHECK_FALSE(parsed.at("totals").at(0).at("reason").get<std::string>().empty());
  CHECK_THAT(levels_text(report), has(" ? "));
  CHECK_THAT(levels_svg(report), has("cost unknown"));
}

TEST_CASE("report/levels_reports/text") {
  for (const CaseStudy* study : {&reduction::case_study(), &prefix_sum::case_study(), &transpose::case_study()}) {
    const std::string text = levels_text(report_of(*study, example_extent(*study), {"sm_13"}));
    INFO(text);
    check_fits(text);
    for (const Variant& variant : study->variants) CHECK((variant.library || text.find(variant.name) != text.npos));
  }
  const std::string text = levels_text(report_of(prefix_sum::case_study(), {1, 5000}, {"sm_90", "hd5870"}));
  CHECK(count(text, "731/174") == 2);
  CHECK(count(levels_text(report_of(reduction::case_study(), {1, 5000}, {"sm_90"})), "\n  interleaved  passes ") == 1);
  CHECK(count(text, "on hd5870") == 1);
  // On each: up and down in the table of naive and padded, and in that of padded_twice; and one row of hillis_steele.
  CHECK(count(text, "128") == 2 * (2 + 2 + 1));
  const std::string square = levels_text(report_of(transpose::case_study(), {64, 64}, {"sm_90"}));
  INFO(square);
  CHECK(square.starts_with(
      "transpose on sm_90: one block from barrier to barrier (block 0 of the CUDA kernels, emulated)\n"
      "72/16: 72 passes where 16 would do without conflicts; ALU: active lanes in warps of 32\n"
      "                              all  rows in  columns out\n"
      "  naive          passes     72/16        8         64/8\n"));
  CHECK(count(square, "  global, blocked: no shared memory\n  tma: not emulated: bulk copies") == 1);
}

TEST_CASE("report/levels_reports/picture") {
  for (const CaseStudy* study : all_case_studies) {
    const Extent extent = example_extent(*study);
    const std::string svg = levels_svg(report_of(*study, extent, {"sm_90", "gfx942"}));
    CHECK(what_is_malformed(svg) == "");
    const auto variants =
        std::count_if(study->variants.begin(), study->variants.end(), [](auto& v) { return !v.library; });
    CHECK(count(svg, "class=\"panel\"") == std::size_t(variants));
    CHECK_THAT(svg, !has("gfx942"));  // only the first architecture
  }
  const std::string svg = levels_svg(report_of(reduction::case_study(), {1, 5000}, {"sm_90"}));
  std::string places;  // of the panels: three in a row as long as they fit
  for (auto at = svg.find("translate("); at != std::string::npos; at = svg.find("translate(", at + 1)) {
    places += svg.substr(at + 10, svg.find(')', at) - at - 10) + ", ";
  }
  CHECK(places == "24 118, 526 118, 1028 118, 24 810, 526 810, 1028 810, 24 1502, 262 1502, 500 1502, 738 1502, ");
  const auto entry = [&](int x, std::string_view fill, std::string_view label) {
    return count(svg, fmt::format("<rect x=\"{}\" y=\"74\" width=\"16\" height=\"16\" fill=\"{}\"></rect>\n"
                                  "<text x=\"{}\" y=\"87\" font-size=\"12\" fill=\"#5f6b78\">{}</text>",
                                  x, fill, x + 22, label));
  };
  CHECK(entry(24, "#74a7d8", "none") == 1);
  CHECK(entry(488, "#540b1c", "32 or more") == 1);
  CHECK(entry(598, "#eef0f3", "idle") == 1);
  CHECK(
      count(svg, "<rect x=\"34\" y=\"112\" width=\"38\" height=\"512\" fill=\"#74a7d8\"><title>load, lanes 0 to 255") >=
      1);
  CHECK(count(svg, "conflicts -") == 0);                          // what is idle has no rectangle of its own
  CHECK(count(svg, "add 32, lanes 0 to 31: conflicts 0") == 3);   // sequential, packed, first_add
  CHECK(count(svg, "add 32, lanes 0 to 31: conflicts 3") == 1);   // naive: four lanes in a bank
  CHECK(count(svg, "add 32, lanes 0 to 31: conflicts 28") == 1);  // interleaved: eight in each of four quarters
}

TEST_CASE("report/levels_reports/full_row") {
  // Six panels of six levels of interleaved, with at most four letters below a level: just 1640 pixels.
  RunResults report = report_of(reduction::case_study(), {1, 5000}, {"sm_90"});
  const auto interleaved = std::ranges::find(report.levels, "interleaved", &VariantLevels::variant);
  VariantLevels six = std::move(*interleaved);
  KernelLevels& kernel = six.kernels.front();
  std::erase_if(kernel.report.levels, [](const auto& level) { return level.level < 4; });
  std::erase_if(kernel.trace.order, [&](const auto& step) { return kernel.trace.patterns[step.pattern].level < 4; });
  report.levels.clear();
  for (int i = 0; i < 6; ++i) report.levels.push_back(six);
  const std::string svg = levels_svg(report);
  CHECK(count(svg, "translate(1374 118)") == 1);
  CHECK(count(svg, "width=\"1640\" height=\"806\"") == 2);  // the sheet and its paper
  CHECK(count(svg, "width=\"26\" height=\"512\"") == 36);   // 6 * 4 + 4 pixels from column to column
}
