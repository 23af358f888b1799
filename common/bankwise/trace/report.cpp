#include <bankwise/trace/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/warps.hpp>

namespace bankwise::trace {
namespace {

/// What distinguishes the lines of a report.
struct LineKey {
  std::string_view file;
  unsigned line = 0, column = 0;
  std::optional<std::uint64_t> pc;
  std::string_view array;
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

/// The order of a line's accesses, of which the first is the worst: by most conflicts, block, level, warp, launch and
/// number.
using WorstKey = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;

class LineSums {
 public:
  LineSums(const KernelTrace& trace, std::vector<LineReport>& lines) : trace_(trace), lines_(lines) {}

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
    const std::uint64_t conflicts = access.cost()->conflicts;
    const WorstKey key{~conflicts, first.block, pattern.level, warp, first.launch, first.number};
    if (line.worst && worst_[number] <= key) return;
    worst_[number] = key;
    const auto lanes = access.access.addresses, sources = access.access.sources;
    line.worst = {conflicts,
                  first.block,
                  pattern.level,
                  warp,
                  access.access.mask,
                  {lanes.begin(), lanes.end()},
                  {sources.begin(), sources.end()}};
  }

 private:
  const KernelTrace& trace_;
  std::vector<LineReport>& lines_;
  std::vector<WorstKey> worst_;  // the worst access of each line
  std::map<NumberedLineKey, std::size_t> numbers_;
  std::map<LineKey, std::size_t> index_;
};

using Levels = std::map<std::uint32_t, LevelReport>;  // a trace of few bytes may have a million

void add_to_sums(Report& report, LevelReport& level, banks::Operation operation, const banks::Tally& tally) {
  level.costs.add(tally);
  report.all.add(tally);
  if (banks::is_copy(operation)) return;  // copies have no sum of their own
  const bool loads = operation == banks::Operation::load, stores = operation == banks::Operation::store;
  (loads ? report.loads : stores ? report.stores : report.atomics).add(tally);
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

void add_participants(LevelReport& level, const Participants& participants, unsigned warps, unsigned lanes) {
  for (unsigned i = 0; i < warps; ++i) {
    const std::uint64_t mask = lanes_in(participants.mask, lanes, i);
    level.active_lanes += participants.count * unsigned(std::popcount(mask));
    level.issued_warps += mask != 0 ? participants.count : 0;
  }
}

/// Tells the lines what is left of them in the second trace: an access there belongs to the line of its place and
/// width, or else to the first one of its place.
void set_merged(Report& report) {
  const auto place = [](const LineReport& line) { return std::tie(line.site, line.array, line.operation); };
  std::map<std::tuple<const Site&, const std::string&, const banks::Operation&>, std::vector<LineReport*>> places;
  for (LineReport& line : report.lines) {
    line.merged = {};
    line.widest = 0;
    places[place(line)].push_back(&line);
  }
  for (const LineReport& left : report.merged.front().lines) {
    const auto lines = places.find(place(left));
    if (lines == places.end()) continue;
    const auto as_wide = std::ranges::find(lines->second, left.width, &LineReport::width);
    LineReport& line = as_wide == lines->second.end() ? *lines->second.front() : **as_wide;
    line.merged.add(left.costs);
    line.widest = std::max(line.widest, left.width);
  }
}

/// The lines of a memory whose accesses cost sectors. Several sites may be one line.
void add_sectors(const KernelTrace& trace, SectorMemory memory, unsigned warps, const banks::Architecture& architecture,
                 std::vector<GlobalLineReport>& lines, banks::SectorTally& sum) {
  const SectorMembers& members = sector_members[std::size_t(memory)];
  std::map<LineKey, std::size_t> numbers;
  const auto line_of = [&](const auto& accesses) -> GlobalLineReport& {
    const Site& site = trace.sites[accesses.site];
    const LineKey key{site.file, site.line, site.column, site.pc, "", accesses.operation, accesses.width};
    const auto [number, is_new] = numbers.try_emplace(key, lines.size());
    if (is_new) lines.push_back({.site = site, .operation = accesses.operation, .width = accesses.width});
    return lines[number->second];
  };
  for (const Pattern& pattern : trace.*members.patterns) {
    GlobalLineReport& line = line_of(pattern);
    for_each_global_warp(pattern, memory, trace.warp, warps, architecture, [&](const GlobalWarpAccess& access) {
      line.costs.add(access.access.mask, access.cost ? &*access.cost : nullptr, pattern.count);
      if (!access.cost) return;
      if (line.typical && line.typical->cost.sectors * line.typical->count >= access.cost->sectors * pattern.count) {
        return;
      }
      const auto lanes = access.access.addresses;
      const std::uint32_t warp = pattern.first.warp * warps + access.number;
      line.typical = {*access.cost,        pattern.count,
                      pattern.first.block, warp,
                      access.access.mask,  {lanes.begin(), lanes.begin() + std::bit_width(access.access.mask)}};
    });
  }
  for (const GlobalExcess& excess : trace.*members.excess) {
    if (excess.architecture == architecture.name) line_of(excess).costs.add(excess.tally);
  }
  for (const GlobalLineReport& line : lines) sum.add(line.costs);
}

/// The shared memory of other blocks. Where its sectors are not known, its accesses count among those without a cost.
void add_remote(const KernelTrace& trace, unsigned warps, Report& report) {
  add_sectors(trace, SectorMemory::remote, warps, *report.architecture, report.remote_lines, report.remote);
  if (const banks::SectorTally& tally = report.remote; tally.unknown > 0) {
    report.all.accesses += tally.unknown;
    report.all.without_lanes += tally.unknown;
    report.all.unknown += tally.unknown;
    report.without_cost[std::string(remote_memory)] += tally.unknown;
    report.unknown.push_back(
        fmt::format("accesses to the {} have no known cost on {}", remote_memory, report.architecture->name));
  }
}

void add_engines(const KernelTrace& trace, Report& report) {
  std::map<std::tuple<std::string_view, unsigned, std::optional<std::uint64_t>, banks::Engine, std::uint32_t>,
           std::size_t>
      numbers;
  std::set<banks::Engine> unknown;
  for (const EngineAccesses& accesses : trace.engines) {
    const Site& site = trace.sites[accesses.site];
    const banks::EngineWork& work = accesses.work;
    const auto [number, is_new] =
        numbers.try_emplace({site.file, site.line, site.pc, work.engine, work.row_bytes}, report.engine_lines.size());
    if (is_new) report.engine_lines.push_back({.site = site, .engine = work.engine, .row_bytes = work.row_bytes});
    EngineLineReport& line = report.engine_lines[number->second];
    banks::Tally tally{.accesses = accesses.count, .without_lanes = accesses.count};
    if (const auto cost = banks::cost(*report.architecture, work)) {
      tally.passes = tally.ideal = cost->passes * accesses.count;
      line.cycles += cost->cycles * double(accesses.count);
    } else {
      tally.unknown = accesses.count;
      unknown.insert(work.engine);
      report.without_cost[std::string(to_string(work.engine))] += accesses.count;
    }
    line.bytes += work.bytes * accesses.count;
    line.costs.add(tally);
    report.engines.add(tally);
  }
  for (const banks::Engine engine : unknown)
    report.unknown.push_back(fmt::format("{} has no known cost on {}", to_string(engine), report.architecture->name));
  report.all.add(report.engines);
}

}  // namespace

LevelReport Report::level(std::uint32_t number) const {
  const auto known = std::ranges::lower_bound(levels, number, {}, &LevelReport::level);
  return known != levels.end() && known->level == number ? *known : LevelReport{.level = number};
}

banks::Tally Report::with_lanes() const {
  banks::Tally sum;
  for (const LineReport& line : lines) sum.add(line.costs);
  return sum;
}

const Report& merged(const Report& report) { return report.merged.empty() ? report : report.merged.front(); }
bool merging_matters(const Report& report) { return merged(report).all != report.all; }

Report report(const KernelTrace& trace, const banks::Architecture& architecture) {
  const unsigned warps = warps_in(trace, architecture);
  if (warps == 0) {
    throw std::invalid_argument(
        fmt::format("{} has warps of {} lanes, and the trace's have {}; emulate with Launch::warp = {}",
                    architecture.name, architecture.warp, trace.warp, architecture.warp));
  }
  Report report{.architecture = &architecture,
                .kernel = trace.kernel,
                .warp = trace.warp / warps,
                .blocks = trace.blocks,
                .level_count = trace.levels,
                .without_cost = trace.left_out,
                .incomplete = incompleteness(trace, architecture),
                .global_incomplete = global_incompleteness(trace, architecture)};
  LineSums lines(trace, report.lines);
  Levels levels;
  std::set<std::string> reasons;
  const auto add_reason = [&](const std::string& sentence) {
    if (reasons.insert(sentence).second) report.unknown.push_back(sentence);
  };
  const unsigned block_warps = warps_of_block(trace, report.warp);
  std::uint64_t turns = 0;
  for (const Pattern& pattern : trace.patterns) {
    for_each_warp(pattern, trace.warp, warps, architecture, block_warps, [&](const WarpAccess& access) {
      if (const auto* sentence = std::get_if<std::string>(&access.answer)) add_reason(*sentence);
      if (access.more > 0) report.ranges = {loop_range_reason};
      if (is_turn(pattern) && access.cost() != nullptr) turns += pattern.count;
      banks::Tally tally;
      access.add_to(tally, pattern.count);
      add_to_sums(report, levels[pattern.level], pattern.operation, tally);
      const char* const loop = pattern.is_loop ? " in a loop" : "";
      if (tally.unknown > 0) report.without_cost[std::string(to_string(pattern.operation)) + loop] += tally.unknown;
      lines.add(pattern, access, warps);
    });
  }
  for (const Excess& excess : trace.excess) {
    if (excess.architecture != architecture.name) continue;
    if (excess.tally.unknown > 0) {
      add_reason(excess.why_unknown);
      report.without_cost[std::string(to_string(excess.operation))] += excess.tally.unknown;
    }
    add_to_sums(report, levels[excess.level], excess.operation, excess.tally);
    LineReport& line = report.lines[lines.number_of({excess.site, excess.array, excess.operation, excess.width})];
    line.costs.add(excess.tally);
    line.mixed += excess.mixed;
  }
  if (turns > 0) {
    report.ranges.push_back(
        fmt::format("as it happened in this run: {} of loops, into which the compiler turns atomics on "
                    "floating-point numbers and on 64 bits; other warps that update the same words add turns",
                    support::plural(turns, "turn", "turns")));
  }
  add_sectors(trace, SectorMemory::global, warps, architecture, report.global_lines, report.global);
  add_remote(trace, warps, report);
  add_engines(trace, report);
  const std::uint64_t lost_remote = excess_without_cost(trace, SectorMemory::remote, architecture);
  if (lost_remote > 0) report.without_cost[std::string(remote_memory)] += lost_remote;
  report.accesses = report.all.accesses + report.remote.accesses - report.remote.unknown + total(trace.left_out) +
                    excess_without_cost(trace, architecture) + lost_remote;
  for (const DiagnosisRecord& diagnosis : trace.diagnoses) {
    report.diagnoses.push_back(placed_sentence_of(diagnosis, trace));
  }
  for (const Participants& participants : trace.participants) {
    add_participants(levels[participants.level], participants, warps, report.warp);
  }
  for (auto& [number, level] : levels) {
    level.level = number;
    report.levels.push_back(level);
  }
  for (const BasicBlock& block : trace.basic_blocks) {
    report.executed_lanes += block.lanes;
    report.executions += block.issued;
  }
  for (LineReport& line : report.lines)
    line.merged = line.costs, line.widest = line.costs.accesses > 0 ? line.width : 0;
  if (trace.merged) {
    report.merged.push_back(trace::report(merged(trace), architecture));
    for (const std::string& sentence : report.merged.front().unknown) add_reason(sentence);
    set_merged(report);
  }
  return report;
}

}  // namespace bankwise::trace

namespace bankwise {

const banks::Architecture& architecture_named(std::string_view name) {
  if (const auto* architecture = banks::find_architecture(name)) return *architecture;
  std::vector<std::string> names;
  for (const auto& architecture : banks::architectures()) names.emplace_back(architecture.name);  // preferred
  for (const auto& architecture : banks::architectures()) {
    std::ranges::move(names_of(architecture), std::back_inserter(names));
  }
  throw support::UsageError(support::no_such(
      "architecture", name, std::vector<std::string_view>(names.begin(), names.end()), "bankcheck archs"));
}

std::uint64_t conflicts(const trace::KernelTrace& trace, std::string_view architecture) {
  const banks::Architecture* model = banks::find_architecture(architecture);
  if (model == nullptr) {
    throw std::invalid_argument(fmt::format("there is no architecture '{}'; bankcheck archs shows all", architecture));
  }
  const trace::Report report = trace::report(trace, *model);
  if (!report.incomplete.empty()) throw std::invalid_argument(report.incomplete.front());
  if (report.all.unknown > 0) throw std::invalid_argument(report.unknown.front());
  if (report.remote.accesses > 0) {
    throw std::invalid_argument(fmt::format("conflicts of accesses to the {} are not known", trace::remote_memory));
  }
  return report.all.conflicts + report.all.more_conflicts;
}

}  // namespace bankwise
