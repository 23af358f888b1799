// Each OpenCL kernel under Oclgrind accesses memory like its CUDA counterpart in the emulator: two compilers,
// two ways of running warps and two recorders, which share only the bank model.
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/trace/report.hpp>
#include "port_runs.hpp"
#include "tests/case_studies.hpp"
#include "tests/emulator/emulated_plan.hpp"

using namespace bankwise;
using namespace bankwise::study;
using nlohmann::json;
namespace fs = std::filesystem;

trace::KernelTrace example_trace(unsigned warp);  // example_trace.cpp

namespace {

/// Sums over all blocks of all launches of a kernel.
struct PortNumbers {
  json levels = json::array();   ///< by number of barriers
  json kinds = json::object();   ///< by operation and width: "load 4"
  json global = json::object();  ///< the same for global memory, with sectors
};

using AllPortNumbers = std::map<std::string, PortNumbers>;  ///< by kernel

/// Adds the counts of one object to those of another, which may have none yet. Ratios do not add up.
void add(json& sum, const json& counts) {
  for (const char* name : {"active_lanes", "issued_warps", "accesses", "lanes", "passes", "ideal_passes", "conflicts",
                           "sectors", "ideal_sectors", "bytes", "unknown"}) {
    if (!counts.contains(name)) continue;  // only levels have lanes that took part
    json& to = sum[name];
    to = (to.is_null() ? 0 : to.get<std::uint64_t>()) + counts.at(name).get<std::uint64_t>();
  }
}

void add_level(PortNumbers& numbers, std::size_t level, const json& counts) {
  while (numbers.levels.size() <= level) numbers.levels.push_back(json::object());
  add(numbers.levels[level], counts);
}

void add_kind(json& kinds, const std::string& operation, unsigned width, const json& counts) {
  add(kinds[operation + ' ' + std::to_string(width)], counts);
}

json json_of(const banks::Tally& costs) {
  return {{"accesses", costs.accesses},  {"lanes", costs.lanes},         {"passes", costs.passes},
          {"ideal_passes", costs.ideal}, {"conflicts", costs.conflicts}, {"unknown", costs.unknown}};
}

json json_of(const banks::SectorTally& costs) {
  return {{"accesses", costs.accesses},   {"lanes", costs.lanes}, {"sectors", costs.sectors},
          {"ideal_sectors", costs.ideal}, {"bytes", costs.bytes}, {"unknown", costs.unknown}};
}

/// Adds the emulator's report of a launch with all blocks traced.
void add_report(PortNumbers& numbers, const trace::Report& report) {
  for (const auto& level : report.levels) {
    json counts = json_of(level.costs);
    counts["active_lanes"] = level.active_lanes;
    counts["issued_warps"] = level.issued_warps;
    add_level(numbers, level.level, counts);
  }
  for (const auto& line : report.lines) {
    add_kind(numbers.kinds, std::string(to_string(line.operation)), line.width, json_of(line.costs));
  }
  for (const auto& line : report.global_lines) {
    add_kind(numbers.global, std::string(to_string(line.operation)), line.width, json_of(line.costs));
  }
}

/// The CUDA kernels in the emulator: every variant's plan once, in warps of the architecture's width.
AllPortNumbers emulated_numbers(const CaseStudy& study, Extent extent, const banks::Architecture& architecture) {
  AllPortNumbers all;
  const std::vector<Words> inputs = all_inputs(study, extent);
  for (const Variant& variant : variants_of_all_kernels(study, extent, emulated_units)) {
    if (!why_not_emulated(study, variant).empty()) continue;
    const auto job =
        emulate_job(study, variant, extent, inputs, {.warp = architecture.warp, .global_patterns = 1 << 16}, {}, true);
    if (job.outputs != study.reference(extent, inputs, variant)) {
      throw std::runtime_error(std::string(variant.name) + " is wrong in the emulator");
    }
    const Plan plan = study.plan(variant, extent, emulated_units);
    for (std::size_t i = 0; i < job.traces.size(); ++i) {
      add_report(all[plan.launches()[i].kernel], trace::report(job.traces[i], architecture));
    }
  }
  return all;
}

/// The OpenCL kernels, from the report of `bankcheck opencl`, on the architecture of this name.
AllPortNumbers checked_numbers(const json& report, std::string_view architecture) {
  AllPortNumbers all;
  for (const json& kernel : report.at("kernels")) {
    PortNumbers& numbers = all[kernel.at("kernel")];
    for (const json& on : kernel.at("architectures")) {
      if (on.at("architecture") != architecture) continue;
      for (const json& level : on.at("levels")) add_level(numbers, level.at("level"), level);
      for (const json& line : on.at("lines")) add_kind(numbers.kinds, line.at("operation"), line.at("width"), line);
      for (const json& line : on.at("global_lines")) {
        add_kind(numbers.global, line.at("operation"), line.at("width"), line);
      }
    }
  }
  return all;
}

static_assert(emulated_units == ported_units);

constexpr std::array architectures{"sm_90", "gfx942"};  // warps of 32 and of 64

/// Why the local-memory accesses of an OpenCL kernel differ from its CUDA counterpart's, and the CUDA kernel with the
/// same accesses, if there is one; null if they do not differ.
json difference_of(const CaseStudy& study, std::string_view kernel) {
  return kernel_facts(study, kernel).value("port", json());
}

/// Removes the levels that only the CUDA kernels have, because OpenCL lacks a feature; they have no accesses.
json without_levels_of_cuda(const CaseStudy& study, json levels) {
  for (const auto& only : facts(study).value("only_in_cuda", json::array())) {
    INFO(only);
    const std::size_t level = only.at("level");
    if (level >= levels.size()) continue;
    CHECK(levels[level].value("accesses", 0) == 0);
    levels.erase(level);
  }
  return levels;
}

/// Both sides of each kernel that ran, keyed by kernel and architecture.
struct Pair {
  PortNumbers opencl, cuda;
};
using Pairs = std::map<std::pair<std::string, std::string>, Pair>;

/// Runs both sides. `folder`: a folder of other OpenCL kernels.
Pairs run_both(const CaseStudy& study, Extent extent, const std::string& folder = "") {
  std::string names;
  for (const char* architecture : architectures) names += (names.empty() ? "" : ",") + std::string(architecture);
  const Checked checked = check(run_plans(study, extent, folder), "--arch " + names);
  INFO(checked.outcome.err);
  REQUIRE(checked.outcome.code == support::exit_ok);
  Pairs pairs;
  for (const char* architecture : architectures) {
    for (auto& [kernel, numbers] : checked_numbers(checked.json, architecture)) {
      pairs[{kernel, architecture}].opencl = numbers;
    }
    for (auto& [kernel, numbers] : emulated_numbers(study, extent, architecture_named(architecture))) {
      pairs[{kernel, architecture}].cuda = {without_levels_of_cuda(study, numbers.levels), numbers.kinds,
                                            numbers.global};
    }
  }
  return pairs;
}

/// OpenCL kernels that load or store their bytes of global memory in other pieces than their CUDA counterpart, and why.
const std::map<std::string, std::string, std::less<>> other_pieces{
    {"transpose_blocked",
     "transposes blocks of 16 x 16 words, and what is left at the edges word by word; in CUDA 4 x 4"},
};

/// Bytes by "load", "store", "atomic".
std::map<std::string, std::uint64_t> bytes_moved(const json& global) {
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& [kind, counts] : global.items()) {
    bytes[kind.substr(0, kind.find(' '))] += counts.at("bytes").get<std::uint64_t>();
  }
  return bytes;
}

void check_global(const std::string& kernel, const json& opencl, const json& cuda) {
  if (const auto other = other_pieces.find(kernel); other != other_pieces.end()) {
    INFO(other->second);
    CHECK(bytes_moved(opencl) == bytes_moved(cuda));
  } else {
    CHECK(opencl == cuda);
  }
}

/// Kernels that ran, on either side.
std::set<std::string> check_ports(const CaseStudy& study, Extent extent) {
  std::set<std::string> ran;
  const Pairs pairs = run_both(study, extent);
  for (const auto& [name, pair] : pairs) {
    INFO(name.first << " on " << text(extent) << ", " << name.second);
    ran.insert(name.first);
    const json different = difference_of(study, name.first);
    check_global(name.first, pair.opencl.global, pair.cuda.global);
    if (!different.is_null()) {
      INFO(different);
      CHECK(pair.opencl.levels != pair.cuda.levels);
      if (!different.contains("same_as")) continue;
    }
    const std::string port =
        different.is_null() ? name.first : std::string(study.kernel_prefix) + std::string(different.at("same_as"));
    const PortNumbers& cuda = pairs.at({port, name.second}).cuda;
    CHECK(pair.opencl.levels == cuda.levels);
    CHECK(pair.opencl.kinds == cuda.kinds);
  }
  return ran;
}

std::set<std::string> kernels_that_differ(const BrokenPort& broken, Extent extent) {
  std::set<std::string> differ;
  for (const auto& [name, pair] : run_both(broken.study(), extent, broken.folder())) {
    if (!difference_of(broken.study(), name.first).is_null()) continue;  // differs as expected
    const bool levels = pair.opencl.levels != pair.cuda.levels, kinds = pair.opencl.kinds != pair.cuda.kinds;
    CHECK(levels == kinds);
    const bool global = !other_pieces.contains(name.first) && pair.opencl.global != pair.cuda.global;
    if (levels || global) differ.insert(name.first + " on " + name.second);
  }
  return differ;
}

std::set<std::string> both_architectures(const std::string& kernel) {
  std::set<std::string> names;
  for (const char* architecture : architectures) names.insert(kernel + " on " + architecture);
  return names;
}

/// All sizes; together they must run every .cl file of the case study.
void check_all_ports(const CaseStudy& study, const std::vector<Extent>& extents) {
  std::set<std::string> ran;
  for (const Extent extent : extents) ran.merge(check_ports(study, extent));
  for (const auto& image : study.kernels->images) {
    if (image.opencl_file.empty()) continue;  // another test checks its reason
    INFO(image.name);
    CHECK(ran.contains(std::string(image.name)));
  }
}

}  // namespace

#define CHECK_PORTS(name, folder) \
  TEST_CASE("case_studies/ports/" #name) { check_all_ports(name::case_study(), extents(name::case_study(), "ports")); }
FOR_EACH_CASE_STUDY(CHECK_PORTS)

TEST_CASE("case_studies/ports/no_local_memory") {
  check_all_ports(flush(), {{1, 0}, {1, 20000}});
  for (const char* name : {"flush", "doubling"}) {
    for (const auto& [kernel, numbers] : emulated_numbers(ported_study(name), {1, 1000}, architecture_named("sm_90"))) {
      INFO(kernel);
      CHECK(numbers.kinds.empty());
    }
  }
}

TEST_CASE("case_studies/ports/every_port") {
  std::set<std::string, std::less<>> compared;
  std::vector<const CaseStudy*> studies(std::begin(all_case_studies), std::end(all_case_studies));
  studies.push_back(&flush());
  for (const CaseStudy* study : studies) {
    for (const auto& image : study->kernels->images) {
      if (!image.opencl_file.empty()) compared.emplace(image.opencl_source);
    }
  }
  compared.insert(text_of(example_kernel));  // case_studies/example
  std::size_t files = 0;
  for (fs::recursive_directory_iterator entry(SOURCE_DIRECTORY), end; entry != end; ++entry) {
    const fs::path& path = entry->path();
    const std::string name = path.filename();
    if (entry->is_directory() && (name == "build" || name.starts_with('.') || fs::exists(path / "CMakeCache.txt"))) {
      entry.disable_recursion_pending();  // build folders are not part of the repository
    }
    // Tools of the device's tests; and kernels for several ranks, which tests/cluster runs: without warp shuffles, they
    // access local memory in other ways than their CUDA counterparts.
    if (entry->is_directory() && (name == "telescoping_sum" || name == "ranks")) entry.disable_recursion_pending();
    if (path.extension() != ".cl") continue;
    INFO(path.string());
    CHECK(compared.contains(text_of(path)));
    ++files;
  }
  CHECK(files >= compared.size());
}

TEST_CASE("case_studies/ports/missing_padding") {
  const BrokenPort broken({"pad_removed", "transpose/padded.cl", {{"[TILE + 1]", "[TILE]"}}});
  CHECK(kernels_that_differ(broken, {33, 31}) == both_architectures("transpose_padded"));
}

TEST_CASE("case_studies/ports/extra_access") {
  const BrokenPort broken({"loads_twice",
                           "prefix_sum/padded.cl",
                           {{"total = tree[PAD(TILE - 1)];", "total = tree[PAD(TILE - 1)] | tree[PAD(TILE - 1)];"}}});
  CHECK(kernels_that_differ(broken, {1, 33}) == both_architectures("scan_padded"));
}

TEST_CASE("case_studies/ports/extra_global_access") {
  const std::string load = "word = in[(top + y) * width + left + x]";
  const BrokenPort broken({"reads_twice", "transpose/padded.cl", {{load, load + " | in[top * width + left] & 0"}}});
  CHECK(kernels_that_differ(broken, {33, 31}) == both_architectures("transpose_padded"));
}

// The kernel of docs/checking_opencl.md is the one of docs/checking_your_kernel.md with another tile.
TEST_CASE("case_studies/example/equals_cuda") {
  const Checked checked = check(program("example_matmul"), "--arch sm_90,gfx942", in_example_folder());
  INFO(checked.outcome.err);
  REQUIRE(checked.outcome.code == support::exit_ok);
  for (const char* name : {"sm_90", "gfx942"}) {
    const auto& architecture = architecture_named(name);
    PortNumbers cuda;
    add_report(cuda, trace::report(example_trace(architecture.warp), architecture));
    const PortNumbers opencl = checked_numbers(checked.json, name).at("linear_forward");
    INFO(name);
    CHECK(opencl.levels == cuda.levels);
    CHECK(opencl.kinds == cuda.kinds);
    CHECK(opencl.global == cuda.global);
  }
}
