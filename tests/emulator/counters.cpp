#include "counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include <bankwise/trace/report.hpp>
#include "emulated_plan.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

void emulate_kernel(const CaseStudy& study, CountedKernel& row) {
  const EmulatedJob job = emulate_job(study, variant_of(study, row.variant), row.extent, all_inputs(study, row.extent),
                                      {.global_patterns = 4096});
  const auto report = trace::report(job.traces.front(), *banks::find_architecture("sm_90"));
  if (report.all.unknown > 0) throw std::runtime_error(row.kernel + ": " + report.unknown.front());
  const auto counts = [&](const trace::Report& from) {
    return Counts{from.loads.passes,     from.loads.conflicts, from.stores.passes,
                  from.stores.conflicts, from.atomics.passes,  from.atomics.conflicts};
  };
  row.emulated = counts(report);
  row.merged = counts(merged(report));
  Sectors& sectors = row.emulated_sectors.emplace();
  for (const auto& line : report.global_lines) {
    using enum banks::Operation;
    sectors[line.operation == store ? 1 : line.operation == atomic ? 2 : 0] += line.costs.sectors;
  }
}

/// The lines of a table, without its heading, with blanks between the cells.
std::vector<std::string> rows_of(const char* name) {
  std::ifstream file(std::string(SOURCE_DIRECTORY "/docs/results/nvidia_h200/") + name);
  std::vector<std::string> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    rows.push_back(line);
  }
  return rows;
}

/// The patterns of access_patterns are many rows of one kernel each; one line states how many agree.
bool is_pattern(const CountedKernel& kernel) { return kernel.study == "access_patterns"; }

std::string cell(const CountedKernel& kernel, std::size_t i) {
  const std::uint64_t measured = kernel.measured[i], emulated = kernel.emulated.value_or(kernel.measured)[i];
  const std::uint64_t merged = kernel.merged.value_or(kernel.measured)[i];
  if (measured == emulated && measured == merged) return fmt::format("{}", measured);
  return merged == emulated ? fmt::format("{}, emulated **{}**", measured, emulated)
                            : fmt::format("{}, emulated **{}**, merged **{}**", measured, emulated, merged);
}

}  // namespace

std::vector<CountedKernel> counted_kernels() {
  std::map<std::pair<std::string, std::string>, Sectors> sectors;  // by study and variant
  for (const std::string& line : rows_of("sectors.csv")) {
    std::istringstream fields(line);
    std::string study, variant, height, width, kernel;
    fields >> study >> variant >> height >> width >> kernel;
    for (auto& count : sectors[{study, variant}]) fields >> count;
    if (!fields) throw std::runtime_error("sectors.csv cannot be read: " + line);
  }
  std::vector<CountedKernel> kernels;
  for (const std::string& line : rows_of("counters.csv")) {
    std::istringstream fields(line);
    CountedKernel row;
    fields >> row.study >> row.variant >> row.extent.height >> row.extent.width >> row.kernel;
    for (auto& count : row.measured) fields >> count;
    if (!fields) throw std::runtime_error("counters.csv cannot be read: " + line);
    const CaseStudy& study = case_study_named(row.study);
    if (std::ranges::none_of(study.variants, [&](const Variant& v) { return v.name == row.variant; }))
      continue;  // gone
    row.measured_sectors = sectors.at({row.study, row.variant});
    row.why_not = why_not_emulated(study, variant_of(study, row.variant));
    if (row.why_not.empty()) emulate_kernel(study, row);
    kernels.push_back(row);
  }
  return kernels;
}

const Difference* known_difference(const CountedKernel& kernel) {
  static const std::vector<Difference> all = [] {
    std::vector<Difference> rows;
    std::ifstream file(SOURCE_DIRECTORY "/tests/emulator/known_differences.json");
    for (const auto& row : nlohmann::json::parse(file)) {
      Difference& difference = rows.emplace_back(Difference{.study = row.at("study"), .variant = row.at("variant")});
      if (row.contains("why")) {
        difference.emulated = row.at("emulated"), difference.merged = row.at("merged"), difference.why = row.at("why");
      }
      if (row.contains("why_sectors")) {
        difference.sectors = row.at("sectors"), difference.why_sectors = row.at("why_sectors");
      }
    }
    return rows;
  }();
  for (const Difference& difference : all) {
    if (difference.study == kernel.study && difference.variant == kernel.variant) return &difference;
  }
  return nullptr;
}

std::string counters_page(const std::vector<CountedKernel>& kernels) {
  std::string text =
      "# The emulator compared with hardware counters, kernel by kernel\n\n"
      "Passes (NVIDIA: wavefronts) of one block of each kernel, written by the build target `update_counters`. In a "
      "cell with\n"
      "several numbers the first is the counter of an NVIDIA H200 ([counters.csv](counters.csv), [collected with "
      "Nsight\n"
      "Compute](../README.md)), *emulated* is what the bank model computes for the accesses of the emulator, and "
      "*merged* its\n"
      "second count, [as a device compiler may merge accesses](../../emulator.md#merged), if that differs.\n\n"
      "| kernel | load passes | conflicts | store passes | conflicts | atomic passes | conflicts |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  std::size_t patterns = 0, equal = 0, instructions = 0, emulated = 0, equal_sectors = 0, equal_kernels = 0;
  std::string notes, sectors, sector_notes;
  for (const CountedKernel& kernel : kernels) {
    if (is_pattern(kernel)) {
      ++(kernel.emulated ? patterns : instructions);
      equal += kernel.measured == kernel.emulated ? 1 : 0;
    }
    const Difference* difference = known_difference(kernel);
    emulated += kernel.emulated ? 1 : 0;
    equal_sectors += kernel.emulated_sectors == kernel.measured_sectors ? 1 : 0;
    if (difference != nullptr && difference->sectors) {
      sectors += fmt::format("| `{}` |", kernel.kernel);
      for (std::size_t i = 0; i < kernel.measured_sectors.size(); ++i) {
        const std::uint64_t counted = kernel.measured_sectors[i], own = (*kernel.emulated_sectors)[i];
        sectors += counted == own ? fmt::format(" {} |", own) : fmt::format(" {}, emulated **{}** |", counted, own);
      }
      sectors += '\n';
      sector_notes += fmt::format("- `{}`: {}\n", kernel.kernel, difference->why_sectors);
    }
    if (!kernel.emulated && !is_pattern(kernel))
      notes += fmt::format("- `{}` is not emulated: {}.\n", kernel.kernel, kernel.why_not);
    if (!kernel.emulated || difference == nullptr || !difference->emulated) {
      equal_kernels += kernel.emulated && !is_pattern(kernel) ? 1 : 0;
      continue;
    }
    text += fmt::format("| `{}`{} |", kernel.kernel, is_pattern(kernel) ? " " + kernel.variant : "");
    for (std::size_t i = 0; i < kernel.measured.size(); ++i) {
      text += fmt::format(" {} |", cell(kernel, i));
    }
    text += '\n';
    notes += fmt::format("- `{}`: {}\n", kernel.kernel, difference->why);
  }
  text += fmt::format(
      "\nThe other {} kernels agree in all six numbers, and so do {} of {} patterns of `access_patterns`; {} patterns "
      "with\n"
      "matrix instructions are not emulated.\n",
      equal_kernels, equal, patterns, instructions);
  return text + "\n## Differences\n\n" + notes +
         fmt::format(
             "\n## Sectors of global memory\n\n"
             "The sectors that the loads, the stores and the atomics of one block move are equal for {} of {} emulated "
             "kernels\n"
             "and patterns ([sectors.csv](sectors.csv)). The others:\n\n"
             "| kernel | loads | stores | atomics |\n| --- | ---: | ---: | ---: |\n",
             equal_sectors, emulated) +
         sectors + '\n' + sector_notes;
}
