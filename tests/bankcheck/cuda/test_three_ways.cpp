// One kernel, watched in three ways: on a GPU (recorded), in the emulator, and under Oclgrind as its OpenCL port. The
// reports must agree.
#include <algorithm>
#include <fstream>
#include <set>
#include <tuple>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/report.hpp>
#include "bankcheck/cuda/record.hpp"
#include "tests/bankcheck/checked_report.hpp"
#include "tests/catch_any.hpp"
#include "tests/emulator/emulated_plan.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

/// The text of the source line, the operation, the width, and the numbers.
using Row = std::tuple<std::string, std::string, unsigned, Numbers>;
using Rows = std::vector<Row>;

std::string source_line(const std::string& file, unsigned number) {
  std::ifstream lines(SOURCE_DIRECTORY "/" + file);
  std::string line;
  for (unsigned i = 0; i < number; ++i) std::getline(lines, line);
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

Rows rows_of(const trace::KernelTrace& kernel, const std::string& file) {
  Rows rows;
  for (const trace::LineReport& line : trace::report(kernel, *banks::find_architecture("sm_90")).lines) {
    const banks::Tally& costs = line.costs;
    rows.emplace_back(source_line(file, line.site.line), to_string(line.operation), line.width,
                      Numbers{costs.accesses, costs.lanes, costs.passes, costs.ideal, costs.conflicts});
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

trace::KernelTrace recorded(const std::string& kernel) {
  const auto resolved = cuda::resolve({cuda::read_record(CUDA_RECORDS "/" + kernel + ".record")}, {});
  REQUIRE(resolved.trace.errors.empty());
  REQUIRE(resolved.trace.kernels.at(0).left_out.empty());
  return resolved.trace.kernels.at(0);
}

trace::KernelTrace emulated(const CaseStudy& study, Extent extent) {
  const auto named = [](const Variant& variant) { return variant.name == "naive"; };
  const auto variant = std::find_if(study.variants.begin(), study.variants.end(), named);
  REQUIRE(variant != study.variants.end());
  const Words input(extent.height * extent.width, 1);
  return emulate_job(study, *variant, extent, {input}, {}, {}, true).traces.at(0);
}

std::set<std::string> lines_with_conflicts(const Rows& rows) {
  std::set<std::string> lines;
  for (const auto& [text, operation, width, numbers] : rows) {
    if (numbers.back() > 0) lines.insert(text);
  }
  return lines;
}

}  // namespace

TEST_CASE("cuda/three_ways/transpose") {
  const Rows on_gpu = rows_of(recorded("transpose_naive"), "transpose/naive.cuh");
  // 16 blocks of 8 warps; a column of a 16 x 16 tile is an 8-way conflict.
  CHECK(on_gpu == Rows{{"tile[y][x] = word;", "store", 4, {128, 4096, 128, 128, 0}},
                       {"word = tile[x][y];", "load", 4, {128, 4096, 1024, 128, 896}}});
  CHECK(rows_of(emulated(transpose::case_study(), {64, 64}), "transpose/naive.cuh") == on_gpu);

  const Checked checked = check_with(
      "opencl", "'" SAMPLES_DIRECTORY "/transpose' --api opencl --profile --variant naive --width 64 --height 64", "",
      "");
  REQUIRE(checked.outcome.code == 0);
  Rows under_oclgrind;
  for (const auto& line : checked.on("transpose_naive").at("lines")) {
    under_oclgrind.emplace_back(line.at("source"), line.at("operation"), line.at("width"), numbers(line));
  }
  std::sort(under_oclgrind.begin(), under_oclgrind.end());
  CHECK(under_oclgrind == on_gpu);
}

TEST_CASE("cuda/three_ways/scan") {
  const auto on_gpu = lines_with_conflicts(rows_of(recorded("scan_naive"), "prefix_sum/naive.cuh"));
  CHECK(on_gpu.size() == 5);
  auto in_source = lines_with_conflicts(rows_of(emulated(prefix_sum::case_study(), {1, 512}), "prefix_sum/naive.cuh"));
  // Neighbours, of which nvcc makes one access of 8 bytes, which has no conflict.
  for (const char* merged : {"before_even = tree[2 * tid];", "before_odd = tree[2 * tid + 1];", "tree[2 * tid] = even;",
                             "tree[2 * tid + 1] = odd;"}) {
    CHECK(in_source.erase(merged) == 1);
  }
  CHECK(in_source == on_gpu);
}
