// SPDX-License-Identifier: MIT
#include <bankwise/trace/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
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

void add_sentence(std::vector<std::string>& sentences, const std::string& sentence) {
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(sentence);
}

/// What distinguishes the lines of a report.
struct LineKey {
  std::string file;
  unsigned line = 0, column = 0;
  std::optional<std::uint64_t> pc;
  std::string array;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  auto operator<=>(const LineKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 finds a 0 here
};

/// The same in the numbers of a trace: several keys may be one line.
struct NumberedLineKey {
  std::uint32_t site = 0, array = 0;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  auto operator<=>(const NumberedLineKey&) const = default;
};

/// The order of a line's accesses: the first one is the worst.
struct WorstKey {
  std::uint64_t fewer_conflicts = 0, block = 0;
  std::uint32_t level = 0, warp = 0;
  std::uint64_t launch = 0, number = 0;
  auto operator<=>(const WorstKey&) const = default;
};

class LineTable {
 public:
  LineTable(const KernelTrace& trace, std::vector<LineReport>& lines) : trace_(trace), lines_(lines) {}

  /// The compiler may emit several instructions for a line; the report merges them.
  std::size_t number_of(const NumberedLineKey& key) {
    const auto [numbered, is_new] = numbers_.try_emplace(key, 0);
    if (!is_new) return numbered->second;
    const Site& site = trace_.sites[key.site];
    const std::string& array = trace_.arrays[key.array].name;
    const auto [line, is_new_line] = index_.try_emplace(
        {site.file, site.line, site.column, site.pc, array, key.operation, key.width}, lines_.size());
    if (is_new_line) {
      lines_.push_back({.site = site, .array = array, .operation = key.operation, .width = key.width});
      worst_.emplace_back();
    }
    return numbered->second = line->second;
  }

  void add(const Pattern& pattern, const WarpAccess& access, unsigned warps) {
    const std::size_t number = number_of({pattern.site, access.array, pattern.operation, pattern.width});
    LineReport& line = lines_[number];
    access.add_to(line.costs, pattern.count);
    if (access.mixed) line.mixed += pattern.count;
    if (access.cost() == nullptr || access.cost()->conflicts == 0 || pattern.is_loop) return;
    const Occurrence& first = pattern.first;
    const std::uint32_t warp = first.warp * warps + access.number;
    const WorstKey key{
        ~std::uint64_t{access.cost()->conflicts}, first.block, pattern.level, warp, first.launch, first.number};
    if (line.worst && worst_[number] <= key) return;
    worst_[number] = key;
    const auto lanes = access.access.addresses, sources = access.access.sources;
    line.worst = WorstAccess{.conflicts = access.cost()->conflicts,
                             .block = first.block,
                             .level = pattern.level,
                             .warp = warp,
                             .mask = access.access.mask,
                             .addresses = {lanes.begin(), lanes.end()},
                             .sources = {sources.begin(), sources.end()}};
  }

 private:
  const KernelTrace& trace_;
  std::vector<LineReport>& lines_;
  std::vector<WorstKey> worst_;  // the worst access of each line
  std::map<NumberedLineKey, std::size_t> numbers_;
  std::map<LineKey, std::size_t> index_;
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

/// The most warps of a block.
unsigned warps_of_block(const KernelTrace& trace, unsigned warp) {
  std::uint64_t max_warps = 0;
  for (const LaunchShape& shape : trace.shapes) {
    std::uint64_t threads = 1;
    for (const std::uint64_t size : shape.block) threads *= std::min<std::uint64_t>(size, 1024);
    max_warps = std::max(max_warps, (std::min<std::uint64_t>(threads, 1024) + warp - 1) / warp);
  }
  return unsigned(max_warps);
}

void add_participants(Report& report, const Participants& participants, unsigned warps) {
  const unsigned lanes = report.warp;
  for (unsigned i = 0; i < warps; ++i) {
    const std::uint64_t mask = lanes_in(participants.mask, lanes, i);
    report.levels[participants.level].active_lanes += participants.count * unsigned(std::popcount(mask));
    report.levels[participants.level].issued_warps += mask != 0 ? participants.count : 0;
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

const Report& merged(const Report& report) { return report.merged.empty() ? report : report.merged.front(); }

bool merging_matters(const Report& report) { return merged(report).all != report.all; }

MergedLine merged_line(const Report& report, const LineReport& line) {
  if (report.merged.empty()) return {line.costs, line.costs.accesses > 0 ? line.width : 0};
  const auto is_at = [](const LineReport& other, const LineReport& place) {
    return other.site == place.site && other.array == place.array && other.operation == place.operation;
  };
  // The line of a merged access has its width; otherwise it is the first one of its place.
  const auto line_of = [&](const LineReport& left) {
    const LineReport* first = nullptr;
    for (const LineReport& other : report.lines) {
      if (!is_at(other, left)) continue;
      if (other.width == left.width) return &other;
      if (first == nullptr) first = &other;
    }
    return first;
  };
  MergedLine sum;
  for (const LineReport& left : report.merged.front().lines) {
    if (!is_at(left, line) || line_of(left) != &line) continue;
    sum.costs.add(left.costs);
    sum.widest = std::max(sum.widest, left.width);
  }
  return sum;
}

Report report(const KernelTrace& trace, const banks::Architecture& architecture) {
  const unsigned warps = warps_or_throw(trace, architecture);
  Report report{.architecture = &architecture,
                .kernel = trace.kernel,
                .warp = trace.warp / warps,
                .blocks = trace.blocks,
                .levels = std::vector<LevelReport>(trace.levels),
                .incomplete = incompleteness(trace, architecture)};
  LineTable lines(trace, report.lines);
  const unsigned block_warps = warps_of_block(trace, report.warp);
  for (const Pattern& pattern : trace.patterns) {
    for_each_warp(pattern, trace.warp, warps, architecture, block_warps, [&](const WarpAccess& access) {
      if (const auto* sentence = std::get_if<std::string>(&access.answer)) add_sentence(report.unknown, *sentence);
      if (access.more_passes > 0) add_sentence(report.ranges, loop_range_reason);
      banks::Tally tally;
      access.add_to(tally, pattern.count);
      add_to_sums(report, pattern.level, pattern.operation, tally);
      lines.add(pattern, access, warps);
    });
  }
  for (const Excess& excess : trace.excess) {
    if (excess.architecture != architecture.name) continue;
    if (excess.tally.unknown > 0) add_sentence(report.unknown, excess.why_unknown);
    add_to_sums(report, excess.level, excess.operation, excess.tally);
    LineReport& line = report.lines[lines.number_of({excess.site, excess.array, excess.operation, excess.width})];
    line.costs.add(excess.tally);
    line.mixed += excess.mixed;
  }
  for (const DiagnosisRecord& diagnosis : trace.diagnoses) {
    report.diagnoses.push_back(placed_sentence_of(diagnosis, trace));
  }
  for (const Participants& participants : trace.participants) add_participants(report, participants, warps);
  for (std::uint32_t i = 0; i < trace.levels; ++i) report.levels[i].level = i;
  for (const BasicBlock& block : trace.basic_blocks) {
    report.executed_lanes += block.lanes;
    report.executions += block.issued;
  }
  if (trace.merged) {
    report.merged.push_back(trace::report(merged(trace), architecture));
    for (const std::string& sentence : report.merged.front().unknown) add_sentence(report.unknown, sentence);
  }
  return report;
}

}  // namespace bankwise::trace

namespace bankwise {

const banks::Architecture& architecture_named(std::string_view name) {
  if (const auto* architecture = banks::find_architecture(name)) return *architecture;
  std::vector<std::string_view> known;
  for (const auto& architecture : banks::architectures()) known.push_back(architecture.name);
  throw UsageError(no_such("architecture", name, known, "bankcheck archs"));
}

std::uint64_t conflicts(const trace::KernelTrace& trace, std::string_view architecture) {
  const banks::Architecture* model = banks::find_architecture(architecture);
  if (model == nullptr) {
    throw std::invalid_argument(fmt::format("there is no architecture '{}'; bankcheck archs shows all", architecture));
  }
  const trace::Report report = trace::report(trace, *model);
  if (!report.incomplete.empty()) throw std::invalid_argument(report.incomplete.front());
  if (report.all.unknown > 0) throw std::invalid_argument(report.unknown.front());
  return report.all.conflicts + report.all.more_conflicts;
}

}  // namespace bankwise
