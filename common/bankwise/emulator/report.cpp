// SPDX-License-Identifier: MIT
#include <bankwise/emulator/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <tuple>

#include <bankwise/banks/cost.hpp>

namespace bankwise::emulator {
namespace {

void check_warp(const Trace& trace, const banks::Architecture& architecture) {
  if (trace.warp == architecture.warp || trace.warp == architecture.lanes) return;
  throw std::invalid_argument(
      fmt::format("{} has warps of {} lanes, and the trace's have {}; emulate with Launch::warp = {}",
                  architecture.name, architecture.warp, trace.warp, architecture.warp));
}

/// The cost, or why there is none.
using Answer = std::variant<banks::Cost, std::string>;

Answer answer_for(const Trace& trace, const Access& access, const banks::Architecture& architecture) {
  if (access.is_loop) {
    return fmt::format("a {}-byte atomic of this kind is a loop whose length depends on the data", access.width);
  }
  const banks::Access of_model = trace.of_model(access);
  const auto answer = banks::cost(architecture, of_model);
  if (const auto* refusal = std::get_if<banks::Refusal>(&answer)) {
    return banks::sentence(architecture, of_model, *refusal);
  }
  return std::get<banks::Cost>(answer);
}

const banks::Cost* cost_in(const Answer& answer) {
  return std::get_if<banks::Cost>(&answer);
}

unsigned conflicts_of(const Answer& answer) {
  const banks::Cost* cost = cost_in(answer);
  return cost != nullptr ? cost->conflicts : 0;
}

/// Which lanes and warps of a level access shared memory at all.
class Participants {
 public:
  void add(const Access& access) { lanes_[{access.block, access.warp}] |= access.mask; }
  unsigned lanes() const {
    unsigned sum = 0;
    for (const auto& [warp, mask] : lanes_) sum += unsigned(std::popcount(mask));
    return sum;
  }
  unsigned warps() const { return unsigned(lanes_.size()); }

 private:
  std::map<std::pair<std::uint64_t, unsigned>, std::uint64_t> lanes_;
};

class Lines {
 public:
  explicit Lines(std::vector<LineReport>& lines) : lines_(lines) {}

  void add(const Trace& trace, std::size_t number, const Answer& answer) {
    const Access& access = trace.accesses[number];
    const Site& site = trace.sites[access.site];
    // The compiler may have made several instructions of a line, and they are one for the reader.
    const auto [found, is_new] = index_.try_emplace(
        std::tuple(site.file, site.line, access.array, access.operation, access.width), lines_.size());
    if (is_new) lines_.push_back({site, trace.arrays[access.array].name, access.operation, access.width, {}, number});
    LineReport& line = lines_[found->second];
    line.costs.add(access.mask, cost_in(answer));
    if (conflicts_of(answer) > worst_[found->second]) {
      worst_[found->second] = conflicts_of(answer);
      line.worst = number;
    }
  }

 private:
  std::vector<LineReport>& lines_;
  std::map<std::tuple<std::string, unsigned, std::uint32_t, banks::Operation, unsigned>, std::size_t> index_;
  std::map<std::size_t, unsigned> worst_;
};

Costs& of_kind(Report& report, banks::Operation operation) {
  if (operation == banks::Operation::load) return report.loads;
  return operation == banks::Operation::store ? report.stores : report.atomics;
}

}  // namespace

Report report(const Trace& trace, const banks::Architecture& architecture) {
  check_warp(trace, architecture);
  Report report{.architecture = &architecture,
                .kernel = trace.kernel,
                .warp = trace.warp,
                .blocks = trace.blocks.size(),
                .levels = std::vector<LevelReport>(trace.levels)};
  std::vector<Participants> participants(trace.levels);
  Lines lines(report.lines);
  for (std::size_t i = 0; i < trace.accesses.size(); ++i) {
    const Access& access = trace.accesses[i];
    const Answer answer = answer_for(trace, access, architecture);
    if (const auto* sentence = std::get_if<std::string>(&answer)) {
      auto& all = report.unknown;
      if (std::find(all.begin(), all.end(), *sentence) == all.end()) all.push_back(*sentence);
    }
    report.levels[access.level].costs.add(access.mask, cost_in(answer));
    of_kind(report, access.operation).add(access.mask, cost_in(answer));
    report.all.add(access.mask, cost_in(answer));
    participants[access.level].add(access);
    lines.add(trace, i, answer);
  }
  for (std::uint32_t i = 0; i < trace.levels; ++i) {
    LevelReport& level = report.levels[i];
    level.level = i;
    level.active_lanes = participants[i].lanes();
    level.issued_warps = participants[i].warps();
    level.alu_utilization = level.costs.utilization(trace.warp);
  }
  report.alu_utilization = report.all.utilization(trace.warp);
  std::uint64_t lanes = 0, issued = 0;
  for (const BasicBlock& block : trace.basic_blocks) {
    lanes += block.lanes;
    issued += block.issued;
  }
  if (issued > 0) report.simt_efficiency = double(lanes) / (double(issued) * trace.warp);
  return report;
}

}  // namespace bankwise::emulator

namespace bankwise {

std::uint64_t conflicts(const emulator::Trace& trace, std::string_view architecture) {
  const banks::Architecture* found = banks::find_architecture(architecture);
  if (found == nullptr) {
    throw std::invalid_argument(fmt::format("there is no architecture '{}'; bankcheck archs shows all", architecture));
  }
  const emulator::Report report = emulator::report(trace, *found);
  if (report.all.unknown > 0) throw std::invalid_argument(report.unknown.front());
  return report.all.conflicts;
}

}  // namespace bankwise
