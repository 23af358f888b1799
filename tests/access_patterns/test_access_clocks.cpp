// Single accesses: queries to the model, and the conversion of times and counts to clocks.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include <bankwise/report/report.hpp>
#include "access_patterns/access_patterns.hpp"
#include "tests/case_studies.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;
using access_patterns::access_of;
using access_patterns::AccessResult;
using access_patterns::derive_clocks;
using access_patterns::expected_clocks;
using access_patterns::measured_passes;
using access_patterns::repeated_access;
using access_patterns::RepeatedAccess;
using access_patterns::Row;

namespace {

const CaseStudy& patterns = access_patterns::case_study();
constexpr Extent turns{1, 100};

gpu::DeviceInfo device_of(const std::string& architecture) {
  gpu::DeviceInfo device;
  device.architecture = architecture;
  return device;
}

AccessResult asked(std::string_view variant, const std::string& device = "sm_90", const char* wanted = nullptr) {
  return access_of(variant_of(patterns, variant), turns, device_of(device),
                   wanted == nullptr ? nullptr : banks::find_architecture(wanted));
}

/// A row with a time of `seconds` per access.
Row timed(std::string_view variant, double seconds) {
  Row row;
  row.result.variant = variant;
  row.access = asked(variant);
  row.result.timing.median = seconds * double(row.access.count);
  return row;
}

/// The expected output of a pattern.
Words reference_of(std::string_view variant, Extent extent) {
  return patterns.reference(extent, {}, variant_of(patterns, variant)).front();
}

}  // namespace

TEST_CASE("access_patterns/access_clocks/architecture_of_device") {
  CHECK(asked("stride16", "sm_86").architecture == "sm_80");
  CHECK(asked("stride16", "sm_86", "gfx942").architecture == "gfx942");
  CHECK(asked("stride16", "").architecture == "sm_90");
  CHECK(asked("stride16", "a CPU").architecture == "sm_90");
}

TEST_CASE("access_patterns/access_clocks/articles") {
  CHECK(asked("stride16").cost->passes == 16);
  CHECK(asked("stride17").cost->passes == 1);
  CHECK(asked("stride16", "", "sm_13").cost->passes == 32);  // 16 for each half-warp
  CHECK(asked("char", "", "sm_13").cost->conflicts == 6);
  CHECK(asked("char_widened", "", "sm_13").cost->conflicts == 0);
  CHECK(asked("rows_of_17", "", "sm_13").cost->conflicts == 0);
  CHECK(asked("rows_of_17").cost->conflicts == 1);  // the fix for 16 banks, on 32
  CHECK(asked("lds128_case5").cost->conflicts == 2);
  CHECK(asked("float4", "", "sm_20").cost->passes == 2);
  CHECK(asked("stride2", "", "gfx942").cost->passes == 4);  // two lane groups, each twice
}

TEST_CASE("access_patterns/access_clocks/hand_computed") {
  struct Worked {
    const char* variant;
    unsigned passes, conflicts;
  };
  constexpr Worked worked[]{
      {"double_even_lanes", 1, 0},        // 16 lanes, 32 words, and idle neighbours: the half-warps merge
      {"store_double_even_lanes", 2, 0},  // but not when they store
      {"char_column128", 32, 31},         // rows as long as all banks
      {"char_column132", 1, 0},           // one word of padding
      {"store_char", 1, 0},               // eight words, four lanes each
      {"store_char_record8", 2, 1},       // words 0, 2, 4 ... 62
      {"store_double_columns", 4, 2},     // a half-warp has 8 columns of 2 rows, which share their banks
      {"store_double_swizzled", 2, 0},    // the second row is shifted by 8 columns
      {"store_float4_columns", 16, 12},   // a quarter has 2 columns of 4 rows
      {"store_float4_swizzled", 4, 0},    // its 8 chunks are in 8 different groups of banks
      {"add_even", 2, 1},                 //
      {"add_four_bins", 8, 7},            // eight lanes queue for each word
      {"add_one_bin", 32, 31},            //
      {"add_own_bins64", 32, 31},         // 32 words in one bank
      {"add_own_bins65", 1, 0},           //
      {"increment_one_bin", 1, 0},        // the hardware counts the lanes and adds the number once
      {"increment_own_bins64", 32, 31},   // but different words of one bank conflict
      {"swap", 2, 0},                     // two passes per bank cycle
      {"swap_record8", 4, 1},             //
      {"swap_one_lock", 64, 31},          //
      {"ldmatrix_packed", 4, 0},          // one pass per matrix
      {"ldmatrix_row32", 8, 4},           // rows 0 and 4, 1 and 5 ... are 128 bytes apart
      {"ldmatrix_row64", 16, 12},         // every second one
      {"ldmatrix_row128", 32, 28},        // every one
      {"ldmatrix_padded128", 4, 0},       // 144 bytes: each row is shifted by one chunk
      {"ldmatrix_swizzled64", 4, 0},      //
      {"ldmatrix_swizzled128", 4, 0},     //
      {"stmatrix_row64", 16, 12},         //
      {"stmatrix_swizzled64", 4, 0},      //
  };
  for (const Worked& row : worked) {
    INFO(row.variant);
    const auto cost = asked(row.variant).cost;
    REQUIRE(cost);
    CHECK(cost->passes == row.passes);
    CHECK(cost->conflicts == row.conflicts);
  }
  CHECK(asked("store_char", "", "sm_13").cost->conflicts == 6);  // bytes of one word conflict, as in char
  CHECK(asked("ldmatrix_packed", "", "sm_70").refusal.find("sm_70 has no 16-byte ldmatrix.x4") == 0);
  CHECK(asked("stmatrix_packed", "", "sm_80").refusal.find("sm_80 has no 16-byte stmatrix.x4") == 0);
}

TEST_CASE("access_patterns/access_clocks/within_tile") {
  for (const Variant& variant : patterns.variants) {
    INFO(variant.name);
    CHECK_NOTHROW(reference_of(variant.name, {1, 3}));
    const RepeatedAccess repeated = repeated_access(variant, {1, 1});
    const bool in_parts = to_string(repeated.operation).starts_with("st");  // below STEP, all different
    std::set<std::uint32_t> places;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((repeated.mask >> lane & 1) == 0) continue;
      CHECK(repeated.addresses[lane] % repeated.width == 0);
      if (!in_parts) continue;
      CHECK(repeated.addresses[lane] < (repeated.width == 16 ? 512 : 256));
      CHECK(places.insert(repeated.addresses[lane]).second);
    }
  }
}

TEST_CASE("access_patterns/access_clocks/no_rule_is_a_sentence") {
  const AccessResult wide = asked("float4", "", "intel_xe");
  CHECK_FALSE(wide.cost);
  CHECK(wide.refusal.find("no cost for 16-byte load on intel_xe") == 0);
  CHECK_FALSE(expected_clocks(wide));
}

TEST_CASE("access_patterns/access_clocks/expected_clocks") {
  CHECK(expected_clocks(asked("stride16")) == 16.0);
  CHECK(expected_clocks(asked("float4")) == 4.0);
  CHECK(expected_clocks(asked("lds128_case2")) == 2.0);  // one pass
}

TEST_CASE("access_patterns/access_clocks/counted_clocks_per_access") {
  std::vector<Row> rows{timed("stride2", 1e-9)};
  const auto count = double(rows[0].access.count);
  rows[0].counted = {2 * count, 2 * count, 900 * count};
  derive_clocks(rows);
  CHECK(rows[0].access.clocks == 2.0);
  CHECK(rows[0].access.clocks_from == "clock64");
}

TEST_CASE("access_patterns/access_clocks/times_per_conflict_free_row") {
  std::vector<Row> rows{timed("stride2", 4e-9), timed("stride3", 2e-9), timed("float4", 8e-9)};
  derive_clocks(rows);
  CHECK(std::abs(*rows[0].access.clocks - 2) < 1e-9);
  CHECK(std::abs(*rows[1].access.clocks - 1) < 1e-9);
  CHECK(std::abs(*rows[2].access.clocks - 4) < 1e-9);
  CHECK(rows[2].access.clocks_from == "time relative to stride3");
}

TEST_CASE("access_patterns/access_clocks/floor_bounds_passes") {
  AccessResult access = asked("lds128_case2");
  CHECK_FALSE(measured_passes(access));
  access.clocks = 2.04;
  CHECK(measured_passes(access)->passes == 2);
  CHECK(measured_passes(access)->at_most);
  access.clocks = 3.9;
  CHECK(measured_passes(access)->passes == 4);
  CHECK_FALSE(measured_passes(access)->at_most);
}

TEST_CASE("access_patterns/access_clocks/measured_whatever_is_requested") {
  std::vector<Row> rows{timed("stride1", 1e-9), timed("stride2", 2e-9), timed("lds128_case2", 2e-9)};
  for (Row& row : rows) row.access = asked(row.result.variant, "sm_90", "sm_13");
  derive_clocks(rows);
  CHECK(rows[0].access.cost->passes == 2);
  CHECK(rows[0].access.clocks == 1.0);
  CHECK(rows[1].access.clocks == 2.0);
  CHECK(measured_passes(rows[2].access)->at_most);  // the floor of the device

  std::vector<Row> unknown{timed("stride1", 1e-9)};
  unknown[0].access = asked("stride1", "gfx1");
  derive_clocks(unknown);
  CHECK_FALSE(unknown[0].access.clocks);
  CHECK(unknown[0].access.clocks_from == "the bank model does not know this device");
}

TEST_CASE("access_patterns/access_clocks/wrong_row_calibrates_nothing") {
  std::vector<Row> rows{timed("stride1", 1e-12), timed("stride3", 1e-9), timed("stride2", 2e-9)};
  rows[0].result.status = Status::wrong;
  derive_clocks(rows);
  CHECK(rows[2].access.clocks_from == "time relative to stride3");
}

TEST_CASE("access_patterns/access_clocks/no_conflict_free_row") {
  std::vector<Row> rows{timed("stride2", 4e-9)};
  derive_clocks(rows);
  CHECK_FALSE(rows[0].access.clocks);
  CHECK_THAT(rows[0].access.clocks_from, has("--variant stride1"));
  rows[0].access.count = 0;
  rows[0].counted = {5};
  derive_clocks(rows);
  CHECK_FALSE(rows[0].access.clocks);
}

TEST_CASE("access_patterns/access_clocks/reference_of_loads") {
  // Three iterations of 16 loads: the third has the addresses of the first.
  const Words sums = reference_of("stride17", {1, 3});
  for (unsigned lane : {0U, 1U, 31U, 32U, 511U}) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 3 * 16; ++i) sum += ((17 * 4 * (lane % 32) + i % 32 * 256) / 4) * 0x9E3779B1U;
    CHECK(sums.at(lane) == sum);
  }
  CHECK(reference_of("lds128_case1", {1, 3}).at(0) == 0);  // idle
  CHECK(reference_of("lds128_case1", {1, 3}).at(15) != 0);
}

TEST_CASE("access_patterns/access_clocks/reference_of_stores") {
  const Words one = reference_of("store_short", {1, 1});  // stores go to four of eight addresses
  for (const unsigned thread : {0U, 1U, 31U, 32U, 511U}) {
    const unsigned first = thread / 32 * 8 * 256 + thread % 32 * 2;
    std::uint32_t sum = 4 * (thread * 0x85EBCA6B & 0xFFFF);
    for (unsigned place = 4; place < 8; ++place)
      sum += (first + place * 256) / 4 * 0x9E3779B1 >> thread % 2 * 16 & 0xFFFF;
    CHECK(one.at(thread) == sum);
  }
  const Words wide = reference_of("store_float4_columns", {1, 2});
  for (const unsigned thread : {0U, 1U, 511U}) CHECK(wide.at(thread) == 4 * (4 * thread * 0x85EBCA6B + 0 + 1 + 2 + 3));
}

TEST_CASE("access_patterns/access_clocks/reference_of_atomics") {
  // All 512 threads update words 3 + 64 * k: iterations 1 and 3 of three update those with k below 16.
  const auto filled = [](unsigned k) { return (3 + 64 * k) * 0x9E3779B1; };
  std::uint32_t added = 0, counted = 0, swapped = 0;
  for (unsigned k = 0; k < 32; ++k) {
    const std::uint32_t turns_here = k < 16 ? 2 : 1;  // of three iterations
    added += filled(k) + turns_here * (512 * 513 / 2);
    counted += filled(k) + turns_here * 512;
    swapped += ~filled(k);
  }
  CHECK(reference_of("add_one_bin", {1, 3}) == Words(512, added));
  CHECK(reference_of("increment_one_bin", {1, 3}) == Words(512, counted));
  CHECK(reference_of("swap_one_lock", {1, 3}) == Words(512, swapped));
}

TEST_CASE("access_patterns/access_clocks/reference_of_matrices") {
  const Words loaded = reference_of("ldmatrix_row128", {1, 1});
  const Words stored = reference_of("stmatrix_row64", {1, 2});
  for (const unsigned thread : {0U, 5U, 30U, 31U, 100U}) {
    const unsigned lane = thread % 32;
    std::uint32_t sum = 0;
    for (unsigned place = 0; place < 16; ++place) {
      for (unsigned matrix = 0; matrix < 4; ++matrix) {
        const unsigned row = matrix % 2 * 8 + lane / 4, chunk = matrix / 2;  // 16 rows, left half and right half
        sum += (place * 64 + row * 32 + chunk * 4 + lane % 4) * 0x9E3779B1;
      }
    }
    CHECK(loaded.at(thread) == sum);
    // Four adjacent lanes stored this row: the row's index in its matrix selects them, the matrix's index the part.
    const unsigned first = thread / 32 * 32 + lane % 8 * 4;
    CHECK(stored.at(thread) == 4 * ((4 * first + 0 + 1 + 2 + 3) * 0x85EBCA6B + 4 * (lane / 8)));
  }
}

namespace {

/// Rows of a device, and their report.
struct Made {
  std::vector<Row> rows;
  RunResults report;
};
Made made(bool is_gpu) {
  gpu::DeviceInfo device = device_of("sm_90");
  device.is_gpu = is_gpu;
  Made made{{timed("stride1", 1e-9), timed("stride16", 16e-9), timed("lds128_case2", 2e-9)},
            {&patterns, {}, {device}, {}, {}}};
  for (Row& row : made.rows) {
    row.result.device = &made.report.devices.front();
    row.result.status = Status::ok;
    if (!is_gpu) row.result.timing.median.reset();
  }
  derive_clocks(made.rows);
  for (const Row& row : made.rows) made.report.results.push_back(row.result);
  return made;
}

}  // namespace

TEST_CASE("access_patterns/access_clocks/reports") {
  const Made on_gpu = made(true);
  const auto json = nlohmann::json::parse(json_report(on_gpu.report, on_gpu.rows)).at("results").at(1).at("access");
  check_members(json, R"({"pattern": "int data[16 * t]", "passes": 16, "ideal_passes": 1, "conflicts": 15,
                          "expected_clocks": 16, "measured_passes": 16, "at_floor": false})");
  CHECK(std::abs(json.at("clocks").get<double>() - 16) < 1e-9);

  const std::string csv = access_patterns::csv_report(on_gpu.report, on_gpu.rows),
                    text = text_report(on_gpu.report, on_gpu.rows);
  CHECK_THAT(csv, has("expected_clocks,clocks\n"));
  CHECK_THAT(csv, has(",load,4,sm_90,16,1,15,16,16"));
  CHECK(std::count(csv.begin(), csv.end(), ',') == 4 * 19);
  CHECK_THAT(text,
             has("load 4       16      1         15        16   16.00               16  time relative to stride1"));
  CHECK_THAT(text, has("2.00             <= 2  time relative to stride1"));
}

TEST_CASE("access_patterns/access_clocks/report_without_banks") {
  const Made on_cpu = made(false);
  const std::string text = text_report(on_cpu.report, on_cpu.rows);
  INFO(text);
  CHECK_THAT(text, has("wavefronts) by the bank model for sm_90; a CPU has no banks: results are only verified\n"));
  CHECK(count(text, "clocks") == 0);
  CHECK_THAT(text, has("load 4       16      1         15        16\n"));
  CHECK(nlohmann::json::parse(json_report(on_cpu.report, on_cpu.rows))
            .at("results")
            .at(0)
            .at("access")
            .at("clocks")
            .is_null());
}

TEST_CASE("access_patterns/access_clocks/two_iterations") {
  for (const char* name : {"stride16", "stride17", "float4_column8"}) {
    INFO(name);
    constexpr Extent many{1, 1'000'003};
    const Variant& variant = variant_of(patterns, name);
    const auto& architecture = *banks::find_architecture("sm_90");
    const RepeatedAccess repeated = repeated_access(variant, many);
    const auto cost = std::get<banks::Cost>(banks::cost(
        architecture, {repeated.operation, repeated.width, repeated.mask & 0xFFFFFFFF, repeated.addresses}));
    const JobModel model = access_patterns::model_of_turns(variant, many, architecture);
    if (patterns.emulated == nullptr) continue;
    REQUIRE(model.loads);
    CHECK(model.loads->passes == repeated.count * cost.passes);
    CHECK(model.loads->conflicts == repeated.count * cost.conflicts);
    CHECK(model.stores->conflicts == 0);  // the tile is filled once
    CHECK(model.stores->passes == access_patterns::model_of_turns(variant, {1, 1}, architecture).stores->passes);
    CHECK(access_patterns::model_of_turns(variant, {1, 0}, architecture).loads->passes == 0);
  }
}

TEST_CASE("access_patterns/bandwidth_needs_a_gpu") {
  const ScratchDirectory scratch;
  const Outcome outcome = in_shell(
      "XDG_CACHE_HOME='" + scratch.path().string() + "' '" SAMPLES_DIRECTORY "/access_patterns'", "--bandwidth");
  INFO(outcome.err);
  if (outcome.code == 0) {  // there is one
    CHECK_THAT(outcome.out, has("GB/s from the L2 cache and "));
    CHECK(std::filesystem::exists(scratch.path() / "bankwise/bandwidths.csv"));
  } else {
    CHECK(outcome.code == 77);
    CHECK_FALSE(std::filesystem::exists(scratch.path() / "bankwise"));
  }
}
