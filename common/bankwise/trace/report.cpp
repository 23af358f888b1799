// SPDX-License-Identifier: MIT
#include <bankwise/trace/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <tuple>

#include <bankwise/trace/diagnosis_text.hpp>
#include <bankwise/trace/warps.hpp>

namespace bankwise::trace {
namespace {

unsigned warps_or_throw(const KernelTrace& trace, const banks::Architecture& architecture) {
  const unsigned warps = warps_in(trace, architecture);
  if (warps > 0) return warps;
  throw std::invalid_argument(
      fmt::format("{} has warps of {} lanes, and the trace's have {}; emulate with Launch::warp = {}",
                  architecture.name, architecture.warp, trace.warp, architecture.warp));
}

void add_sentence(std::vector<std::string>& all, const std::string& sentence) {
  if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(sentence);
}

class Lines {
 public:
  Lines(const KernelTrace& trace, std::vector<LineReport>& lines) : trace_(trace), lines_(lines) {}

  /// The compiler may emit several instructions for a line; the report merges them.
  std::size_t number_of(std::uint32_t site, std::uint32_t array, banks::Operation operation, unsigned width) {
    const auto [found, is_new] = numbers_.try_emplace({site, array, operation, width}, 0);
    if (!is_new) return found->second;
    const Site& place = trace_.sites[site];
    const std::string& name = trace_.arrays[array].name;
    const auto [line, is_new_line] =
        index_.try_emplace({place.file, place.line, place.column, place.pc, name, operation, width}, lines_.size());
    if (is_new_line) {
      lines_.push_back({place, name, operation, width, {}, 0, {}, {}, 0});
      ranks_.emplace_back();
    }
    return found->second = line->second;
  }

  /// The line of merged accesses: that of the same place, array and operation, whatever its width.
  std::size_t number_of_merged(const Pattern& pattern, std::uint32_t array) {
    const Site& place = trace_.sites[pattern.site];
    const std::string& name = trace_.arrays[array].name;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const LineReport& line = lines_[i];
      if (line.operation == pattern.operation && line.site.line == place.line && line.site.column == place.column &&
          line.site.pc == place.pc && line.array == name && line.site.file == place.file) {
        return i;
      }
    }
    return number_of(pattern.site, array, pattern.operation, pattern.width);
  }

  void add_merged(const Pattern& pattern, const WarpAccess& one) {
    const std::size_t number = pattern.count > 0 ? number_of(pattern.site, one.array, pattern.operation, pattern.width)
                                                 : number_of_merged(pattern, one.array);
    one.add_to(lines_[number].merged, pattern.merged_count());
    if (pattern.merged_count() == 0) return;
    lines_[number].widest_merged = std::max(lines_[number].widest_merged, pattern.width);
  }

  void add(const Pattern& pattern, const WarpAccess& one, unsigned warps) {
    const std::size_t number = number_of(pattern.site, one.array, pattern.operation, pattern.width);
    LineReport& line = lines_[number];
    one.add_to(line.costs, pattern.count);
    if (one.mixed) line.mixed += pattern.count;
    if (one.cost() == nullptr || one.cost()->conflicts == 0 || pattern.is_loop) return;
    const Occurrence& first = pattern.first;
    const std::uint32_t warp = first.warp * warps + one.number;
    const Rank rank{
        ~std::uint64_t{one.cost()->conflicts}, first.block, pattern.level, warp, first.launch, first.number};
    if (line.worst && ranks_[number] <= rank) return;
    ranks_[number] = rank;
    const auto lanes = one.access.addresses, sources = one.access.sources;
    line.worst = {one.cost()->conflicts,
                  first.block,
                  pattern.level,
                  warp,
                  one.access.mask,
                  {lanes.begin(), lanes.end()},
                  {sources.begin(), sources.end()}};
  }

 private:
  using Rank = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;

  const KernelTrace& trace_;
  std::vector<LineReport>& lines_;
  std::vector<Rank> ranks_;  // for the worst access of each line
  std::map<std::tuple<std::uint32_t, std::uint32_t, banks::Operation, unsigned>, std::size_t> numbers_;
  std::map<std::tuple<std::string, unsigned, unsigned, std::optional<std::uint64_t>, std::string, banks::Operation,
                      unsigned>,
           std::size_t>
      index_;
};

/// Null for copies.
banks::Tally* of_kind(Report& report, banks::Operation operation) {
  if (banks::is_copy(operation)) return nullptr;
  if (operation == banks::Operation::load) return &report.loads;
  return operation == banks::Operation::store ? &report.stores : &report.atomics;
}

void add_to_sums(Report& report, std::uint32_t level, banks::Operation operation, const banks::Tally& tally) {
  report.levels[level].costs.add(tally);
  if (banks::Tally* kind = of_kind(report, operation)) kind->add(tally);
  report.all.add(tally);
}

void add_to_merged(Report& report, banks::Operation operation, const banks::Tally& tally) {
  if (operation == banks::Operation::load) report.merged_loads.add(tally);
  if (operation == banks::Operation::store) report.merged_stores.add(tally);
  report.merged_all.add(tally);
}

/// The most warps of a block.
unsigned warps_of_block(const KernelTrace& trace, unsigned warp) {
  std::uint64_t most = 0;
  for (const Shape& shape : trace.shapes) {
    std::uint64_t threads = 1;
    for (const std::uint64_t size : shape.block) threads *= std::min<std::uint64_t>(size, 1024);
    most = std::max(most, (std::min<std::uint64_t>(threads, 1024) + warp - 1) / warp);
  }
  return unsigned(most);
}

void add_participants(Report& report, const Participants& one, unsigned warps) {
  const unsigned lanes = report.warp;
  for (unsigned i = 0; i < warps; ++i) {
    const std::uint64_t mask = lanes_in(one.mask, lanes, i);
    report.levels[one.level].active_lanes += one.count * unsigned(std::popcount(mask));
    report.levels[one.level].issued_warps += mask != 0 ? one.count : 0;
  }
}

}  // namespace

std::vector<std::string> incompleteness(const KernelTrace& trace, const banks::Architecture& architecture) {
  std::vector<std::string> sentences;
  std::uint64_t costed = 0;
  for (const Excess& excess : trace.excess) costed += excess.architecture == architecture.name ? excess.accesses : 0;
  if (costed < trace.excess_accesses) {
    sentences.push_back(fmt::format("{} accesses of {} did not fit into the trace, and have no cost on {}",
                                    trace.excess_accesses - costed, trace.kernel, architecture.name));
  }
  if (trace.left_out > 0) {
    sentences.push_back(
        fmt::format("{} accesses of {} were left out: the numbers are lower bounds", trace.left_out, trace.kernel));
  }
  return sentences;
}

bool merging_matters(const Report& report) {
  return report.merged_all != report.all;
}

Report report(const KernelTrace& trace, const banks::Architecture& architecture) {
  const unsigned warps = warps_or_throw(trace, architecture);
  Report report{.architecture = &architecture,
                .kernel = trace.kernel,
                .warp = trace.warp / warps,
                .blocks = trace.blocks,
                .levels = std::vector<LevelReport>(trace.levels),
                .incomplete = incompleteness(trace, architecture)};
  Lines lines(trace, report.lines);
  const unsigned block_warps = warps_of_block(trace, report.warp);
  for (const Pattern& pattern : trace.patterns) {
    for_each_warp(pattern, trace.warp, warps, architecture, block_warps, [&](const WarpAccess& one) {
      if (const auto* sentence = std::get_if<std::string>(&one.answer)) add_sentence(report.unknown, *sentence);
      banks::Tally merged;
      one.add_to(merged, pattern.merged_count());
      add_to_merged(report, pattern.operation, merged);
      if (pattern.count == 0) return;
      banks::Tally tally;
      one.add_to(tally, pattern.count);
      if (one.more_passes > 0) add_sentence(report.ranges, loop_range_reason);
      add_to_sums(report, pattern.level, pattern.operation, tally);
      lines.add(pattern, one, warps);
    });
  }
  // Merged accesses belong to lines that the others have made.
  for (const Pattern& pattern : trace.patterns) {
    for_each_warp(pattern, trace.warp, warps, architecture, block_warps,
                  [&](const WarpAccess& one) { lines.add_merged(pattern, one); });
  }
  for (const Excess& excess : trace.excess) {
    if (excess.architecture != architecture.name) continue;
    if (excess.tally.unknown > 0) add_sentence(report.unknown, excess.why_unknown);
    add_to_sums(report, excess.level, excess.operation, excess.tally);
    add_to_merged(report, excess.operation, excess.tally);
    LineReport& line = report.lines[lines.number_of(excess.site, excess.array, excess.operation, excess.width)];
    line.costs.add(excess.tally);
    line.merged.add(excess.tally);
    line.mixed += excess.mixed;
  }
  for (const Diagnosis& one : trace.diagnoses) report.diagnoses.push_back(placed_sentence_of(one, trace));
  for (const Participants& one : trace.participants) add_participants(report, one, warps);
  for (std::uint32_t i = 0; i < trace.levels; ++i) {
    report.levels[i].level = i;
    report.levels[i].alu_utilization = report.levels[i].costs.utilization(report.warp);
  }
  report.alu_utilization = report.all.utilization(report.warp);
  std::uint64_t lanes = 0, issued = 0;
  for (const BasicBlock& block : trace.basic_blocks) {
    lanes += block.lanes;
    issued += block.issued;
  }
  if (issued > 0) report.simt_efficiency = double(lanes) / (double(issued) * report.warp);
  return report;
}

}  // namespace bankwise::trace

namespace bankwise {

std::uint64_t conflicts(const trace::KernelTrace& trace, std::string_view architecture) {
  const banks::Architecture* found = banks::find_architecture(architecture);
  if (found == nullptr) {
    throw std::invalid_argument(fmt::format("there is no architecture '{}'; bankcheck archs shows all", architecture));
  }
  const trace::Report report = trace::report(trace, *found);
  if (!report.incomplete.empty()) throw std::invalid_argument(report.incomplete.front());
  if (report.all.unknown > 0) throw std::invalid_argument(report.unknown.front());
  return report.all.conflicts + report.all.more_conflicts;
}

}  // namespace bankwise
