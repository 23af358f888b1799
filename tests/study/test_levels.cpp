// Levels of the real kernels against numbers worked out by hand.
#include <bankwise/study/levels.hpp>

#include <bankwise/banks/cost.hpp>
#include <bankwise/report/metrics.hpp>
#include "access_patterns/access_patterns.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

VariantLevels one(const CaseStudy& study, std::string_view name, const char* architecture, Extent extent) {
  const Variant* const variant = &variant_of(study, name);
  return levels_of(study, std::span(&variant, 1), extent, *banks::find_architecture(architecture)).front();
}

struct Row {
  std::string name;
  std::uint64_t lanes, warps, accesses, passes, ideal;
  bool operator==(const Row&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << "{\"" << row.name << "\", " << row.lanes << ", " << row.warps << ", " << row.accesses << ", "
             << row.passes << ", " << row.ideal << "}";
}

std::vector<Row> rows(const VariantLevels& variant) {
  INFO(variant.reason);
  REQUIRE(variant.kernels.size() == 1);
  std::vector<Row> rows;
  for (const auto& level : variant.kernels.front().report.levels) {
    rows.push_back({variant.kernels.front().level_names[level.level], level.active_lanes, level.issued_warps,
                    level.costs.accesses, level.costs.passes, level.costs.ideal});
  }
  return rows;
}

constexpr Extent many{1, 1 << 20}, matrix{1024, 1024};

}  // namespace

TEST_CASE("study/levels/reduction") {
  // 16-byte accesses, four passes for a whole warp; two loads and a store for each lane that adds.
  CHECK(rows(one(reduction::case_study(), "sequential", "sm_90", many)) ==
        std::vector<Row>{{"load", 256, 8, 8, 32, 32},
                         {"add 128", 128, 4, 12, 48, 48},
                         {"add 64", 64, 2, 6, 24, 24},
                         {"add 32", 32, 1, 3, 12, 12},
                         {"add 16", 16, 1, 3, 6, 6},
                         {"add 8", 8, 1, 3, 3, 3},
                         {"add 4", 4, 1, 3, 3, 3},
                         {"add 2", 2, 1, 3, 3, 3},
                         {"add 1", 1, 1, 3, 3, 3},
                         {"store", 1, 1, 1, 1, 1}});
  const auto naive = rows(one(reduction::case_study(), "naive", "sm_90", many));
  CHECK(naive[1] == Row{"add 128", 128, 4, 48, 192, 48});  // stride 4: four lanes in a bank
  CHECK(naive[4] == Row{"add 16", 16, 1, 12, 24, 12});
}

TEST_CASE("study/levels/scan") {
  const VariantLevels naive = one(prefix_sum::case_study(), "naive", "sm_90", many);
  const auto levels = rows(naive);
  REQUIRE(levels.size() == 20);
  constexpr unsigned warps[]{8, 4, 2, 1, 1, 1, 1, 1, 1}, degree[]{2, 4, 8, 16, 16, 8, 4, 2, 1};
  constexpr double utilization[]{1, 1, 1, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125};
  for (unsigned i = 0; i < 9; ++i) {
    const unsigned busy = 256 >> i, root = i == 8 ? 2 : 0;  // lane 0 reads and clears the root
    CHECK(levels[1 + i] == Row{"up " + std::to_string(busy) + (root != 0 ? ", root" : ""), busy, warps[i],
                               3 * warps[i] + root, 3 * warps[i] * degree[i] + root, 3 * warps[i] + root});
    CHECK(levels[18 - i] ==
          Row{"down " + std::to_string(busy), busy, warps[i], 4 * warps[i], 4 * warps[i] * degree[i], 4 * warps[i]});
    CHECK(report::alu_utilization(naive.kernels.front().report.level(1 + i).costs, 32) == utilization[i]);
  }
  CHECK(levels.front() == Row{"load", 256, 8, 16, 32, 16});
  CHECK(levels.back() == Row{"store", 256, 8, 16, 32, 16});
  CHECK(naive.costs->passes == 731);
  CHECK(naive.costs->ideal == 174);
  CHECK(naive.costs->conflicts == 557);
  CHECK(one(prefix_sum::case_study(), "padded", "sm_90", many).costs->conflicts == 0);
}

TEST_CASE("study/levels/wider_warps") {
  for (const char* architecture : {"hd5870", "gfx90a"}) {
    unsigned lanes = 0, warps = 0;
    for (const Row& row : rows(one(prefix_sum::case_study(), "naive", architecture, many))) {
      if (!row.name.starts_with("up ")) continue;
      lanes += row.lanes;
      warps += row.warps;
    }
    CHECK(lanes == 511);
    CHECK(warps == 13);  // 511 / (13 * 64) = 61.4 %
  }
}

TEST_CASE("study/levels/transposes") {
  const CaseStudy& study = transpose::case_study();
  CHECK(rows(one(study, "naive", "sm_90", matrix)) ==
        std::vector<Row>{{"rows in", 256, 8, 8, 8, 8}, {"columns out", 256, 8, 8, 64, 8}});
  CHECK(rows(one(study, "padded", "sm_90", matrix)) ==
        std::vector<Row>{{"rows in", 256, 8, 8, 16, 8}, {"columns out", 256, 8, 8, 16, 8}});
  CHECK(rows(one(study, "tile32", "sm_90", matrix)) ==
        std::vector<Row>{{"rows in", 256, 8, 32, 32, 32}, {"columns out", 256, 8, 32, 1024, 32}});
  CHECK(one(study, "swizzled", "sm_90", matrix).costs->conflicts == 0);
  for (const char* name : {"vectorized", "output_order", "persisting"}) {  // words in, chunks of 16 bytes out
    CHECK(rows(one(study, name, "sm_90", matrix)) ==
          std::vector<Row>{{"rows in", 512, 16, 128, 128, 128}, {"columns out", 512, 16, 32, 128, 128}});
    for (const Extent extent : {Extent{63, 65}, {64, 65}, {65, 64}}) {  // or the other way round
      CHECK(one(study, name, "sm_90", extent).costs->passes == 256);
      CHECK(one(study, name, "sm_90", extent).costs->conflicts == 0);
    }
  }
  const VariantLevels global = one(study, "global", "sm_90", matrix);
  CHECK(global.kernels.empty());
  CHECK(global.reason.empty());
  CHECK_FALSE(global.alu_utilization);
  CHECK(global.simt_efficiency == 1.0);
}

TEST_CASE("study/levels/repeated_access") {
  const CaseStudy& study = access_patterns::case_study();
  const banks::Architecture& architecture = *banks::find_architecture("sm_90");
  for (const char* name : {"stride16", "stride17", "rows_of_17", "float4_column8", "lds128_case5", "double_even_lanes",
                           "store_char_record8", "store_short", "store_double_even_lanes", "store_float4_columns",
                           "add_four_bins", "increment_one_bin", "swap_one_lock"}) {
    INFO(name);
    const auto level = rows(one(study, name, "sm_90", {1, 2})).at(1);  // the level before has no access
    const auto repeated = access_patterns::repeated_access(variant_of(study, name), {1, 2});
    const auto cost =
        banks::cost(architecture, {repeated.operation, repeated.width, repeated.mask & 0xFFFFFFFF, repeated.addresses});
    CHECK(level.name == "turns");
    CHECK(level.accesses == repeated.count);
    CHECK(level.passes == level.accesses * std::get<banks::Cost>(cost).passes);
  }
}

TEST_CASE("study/levels/named") {
  for (const CaseStudy* study : all_case_studies) {
    for (const Variant& variant : study->variants) {
      if (variant.library) continue;
      INFO(study->name << " " << variant.name);
      const VariantLevels levels = one(*study, variant.name, "sm_90", example_extent(*study));
      CHECK((levels.reason.empty() || levels.reason.ends_with("PTX")));
      for (const auto& kernel : levels.kernels) {
        if (study->level_names == nullptr) continue;
        CHECK(study->level_names(variant, kernel.name).size() == kernel.report.level_count);
      }
    }
  }
}

TEST_CASE("study/levels/largest_problems") {
  const VariantLevels large = one(reduction::case_study(), "sequential", "sm_90", {1, max_elements / 4});  // 4 TiB
  CHECK(large.reason == "");
  CHECK(large.costs.value_or(banks::Tally{}).passes == 135);
  const VariantLevels too_large = one(reduction::case_study(), "sequential", "sm_90", {1, max_elements});
  CHECK(too_large.reason == "no CUDA grid has 4294967296 blocks; at most 2147483647");
  CHECK_FALSE(too_large.costs);
  CHECK(one(prefix_sum::case_study(), "naive", "sm_90", {1, 0}).costs.value_or(banks::Tally{}).passes == 731);
}
