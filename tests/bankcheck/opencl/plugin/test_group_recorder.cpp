#include "bankcheck/opencl/plugin/group_recorder.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <bankwise/trace/report.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::opencl;

namespace {

/// The report of a launch on each architecture; lines sorted by place.
struct Launch {
  trace::KernelTrace trace;
  std::vector<trace::Report> tallies;
};

Launch on(GroupRecorder& recorder, const std::vector<std::string>& names) {
  Launch launch{recorder.take(), {}};
  for (const std::string& name : names) {
    auto& lines = launch.tallies.emplace_back(trace::report(launch.trace, *banks::find_architecture(name))).lines;
    std::sort(lines.begin(), lines.end(), [](auto& a, auto& b) {
      return std::tie(a.site, a.array, a.operation, a.width) < std::tie(b.site, b.array, b.operation, b.width);
    });
  }
  return launch;
}

const std::vector<LocalArray> two_arrays{{"a", 0}, {"b", array_stride}};

/// One group in which each lane makes this access.
Launch record(const std::vector<std::string>& names, unsigned lanes,
              const std::function<LaneAccess(unsigned)>& access_of) {
  GroupRecorder recorder({});
  recorder.begin(0, two_arrays);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    LanePath path;
    recorder.access(lane, path, access_of(lane));
  }
  recorder.end();
  return on(recorder, names);
}

const Instruction place{{"input.cl", 3, 5}, 16, false};
constexpr auto load = banks::Operation::load;

}  // namespace

TEST_CASE("opencl/plugin/group_recorder/lanes_to_accesses") {
  const Launch launch = record({"sm_90", "gfx942"}, 128, [](unsigned lane) {
    return LaneAccess{&place, load, 4, 0, 128 * (lane % 32)};
  });
  REQUIRE(launch.tallies.size() == 2);
  const auto& sm_90 = launch.tallies[0];
  REQUIRE(sm_90.lines.size() == 1);
  CHECK(sm_90.lines[0].site == place.site);
  CHECK(sm_90.lines[0].array == "a");
  CHECK(sm_90.lines[0].operation == load);
  CHECK(sm_90.lines[0].width == 4);
  CHECK(sm_90.lines[0].mixed == 0);
  CHECK(sm_90.lines[0].costs == banks::Tally{4, 128, 4 * 32, 4, 4 * 31, 0});
  REQUIRE(sm_90.lines[0].worst);
  CHECK(sm_90.lines[0].worst->warp == 0);
  CHECK(sm_90.lines[0].worst->mask == 0xFFFFFFFF);
  CHECK(sm_90.lines[0].worst->addresses.size() == 32);
  CHECK(sm_90.lines[0].worst->addresses[31] == 31 * 128);
  const auto& gfx942 = launch.tallies[1];
  REQUIRE(gfx942.lines.size() == 1);
  CHECK(gfx942.lines[0].costs.accesses == 2);
  CHECK(gfx942.lines[0].costs.lanes == 128);
  CHECK(gfx942.lines[0].worst->mask == ~std::uint64_t{0});
  CHECK(launch.trace.blocks == 1);
}

TEST_CASE("opencl/plugin/group_recorder/partial_warp") {
  const Launch launch = record({"sm_90", "gfx942"}, 70, [](unsigned lane) {
    return LaneAccess{&place, load, 4, 0, 4 * lane};
  });
  CHECK(launch.tallies[0].lines.at(0).costs == banks::Tally{3, 70, 3, 3, 0, 0});
  CHECK_FALSE(launch.tallies[0].lines[0].worst);
  CHECK(launch.tallies[1].lines.at(0).costs.accesses == 2);
  REQUIRE(launch.tallies[0].level_count == 1);
  CHECK(launch.tallies[0].level(0).active_lanes == 70);
  CHECK(launch.tallies[0].level(0).issued_warps == 3);
  CHECK(launch.tallies[1].level(0).active_lanes == 70);
  CHECK(launch.tallies[1].level(0).issued_warps == 2);
}

TEST_CASE("opencl/plugin/group_recorder/several_parts") {
  const Launch launch = record({"sm_90"}, 2, [](unsigned lane) { return LaneAccess{&place, load, 32, 0, 32 * lane}; });
  REQUIRE(launch.trace.patterns.size() == 2);
  CHECK(launch.trace.patterns[0].addresses == std::vector<std::uint32_t>{0, 32});
  CHECK(launch.trace.patterns[1].addresses == std::vector<std::uint32_t>{16, 48});
  const Instruction instruction{{"input.cl", 1, 1}, 1, false};
  // The first bytes are in words 0 and 32, both of bank 0; the second bytes are in words 1 and 32.
  const Launch split = record({"sm_90"}, 2, [&](unsigned lane) {
    return LaneAccess{&instruction, load, 2, 0, lane == 0 ? 3U : 129U};
  });
  CHECK(split.tallies[0].lines.at(0).costs == banks::Tally{2, 4, 3, 2, 1, 0});
  CHECK(split.tallies[0].lines[0].worst->addresses == std::vector<std::uint32_t>{3, 129});
}

TEST_CASE("opencl/plugin/group_recorder/levels") {
  GroupRecorder recorder({});
  recorder.begin(0, two_arrays);
  std::vector<LanePath> paths(64);
  for (unsigned lane = 0; lane < 64; ++lane) recorder.access(lane, paths[lane], {&place, load, 4, 0, 4 * lane});
  recorder.barrier();
  recorder.barrier();  // a level without accesses
  for (unsigned lane = 0; lane < 16; ++lane) recorder.access(lane, paths[lane], {&place, load, 4, 0, 128 * lane});
  recorder.barrier();
  recorder.end();
  const Launch launch = on(recorder, {"sm_90"});
  const auto& tally = launch.tallies[0];
  REQUIRE(tally.level_count == 4);
  CHECK(tally.level(0).costs == banks::Tally{2, 64, 2, 2, 0, 0});
  CHECK(tally.level(1).costs == banks::Tally{});
  CHECK(tally.level(1).issued_warps == 0);
  CHECK(tally.level(2).costs == banks::Tally{1, 16, 16, 1, 15, 0});
  CHECK(tally.level(2).active_lanes == 16);
  CHECK(tally.level(3).costs == banks::Tally{});
  REQUIRE(tally.lines.size() == 1);
  CHECK(tally.lines[0].costs == banks::Tally{3, 80, 18, 3, 15, 0});
  CHECK(tally.lines[0].worst->level == 2);
}

TEST_CASE("opencl/plugin/group_recorder/misaligned_split") {
  const auto widths = [](unsigned bytes, unsigned alignment) {
    const Instruction instruction{{"input.cl", 1, 1}, alignment, false};
    const Launch launch = record({"sm_90"}, 32, [&](unsigned lane) {
      return LaneAccess{&instruction, load, bytes, 0, 64 * lane};
    });
    const auto& lines = launch.tallies[0].lines;
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].costs.lanes == 32 * lines[0].costs.accesses);
    return std::pair(lines[0].width, lines[0].costs.accesses);
  };
  CHECK(widths(16, 16) == std::pair(16U, std::uint64_t{1}));
  CHECK(widths(16, 4) == std::pair(4U, std::uint64_t{4}));
  CHECK(widths(16, 1) == std::pair(1U, std::uint64_t{16}));
  CHECK(widths(12, 4) == std::pair(4U, std::uint64_t{3}));
  CHECK(widths(12, 16) == std::pair(16U, std::uint64_t{1}));  // a vector of three
  CHECK(widths(64, 64) == std::pair(16U, std::uint64_t{4}));
  CHECK(widths(8, 32) == std::pair(8U, std::uint64_t{1}));
  CHECK(widths(6, 2) == std::pair(2U, std::uint64_t{3}));
}

TEST_CASE("opencl/plugin/group_recorder/several_arrays") {
  const Launch launch = record({"sm_90", "gfx942"}, 64, [](unsigned lane) {
    return LaneAccess{&place, load, 4, lane < 40 ? 1U : 0U, 4 * (lane % 32)};
  });
  const auto& lines = launch.tallies[0].lines;
  REQUIRE(lines.size() == 1);  // lanes 32 to 39 are the first of the second warp
  CHECK(lines[0].array == "b");
  CHECK(lines[0].mixed == 1);
  CHECK(lines[0].costs == banks::Tally{2, 64, 2, 2, 0, 0});
  CHECK(launch.tallies[1].lines.at(0).mixed == 1);
  CHECK(launch.tallies[1].lines[0].array == "b");
}

TEST_CASE("opencl/plugin/group_recorder/line_of_each_kind") {
  const Instruction narrow = place;
  const LaneAccess first{&place, load, 4, 0, 0};
  for (const LaneAccess& second : {LaneAccess{&place, load, 4, 1, 0}, LaneAccess{&place, load, 8, 0, 0},
                                   LaneAccess{&place, banks::Operation::store, 4, 0, 0}, first}) {
    const Launch launch = record({"sm_90"}, 64, [&](unsigned lane) { return lane < 32 ? first : second; });
    const bool same = second.array == 0 && second.bytes == 4 && second.operation == load;
    CHECK(launch.tallies[0].lines.size() == (same ? 1 : 2));
  }
  // Two instructions at one place share a line.
  const Launch launch = record({"sm_90"}, 64, [&](unsigned lane) {
    return LaneAccess{lane < 32 ? &place : &narrow, load, 4, 0, 4 * lane};
  });
  REQUIRE(launch.tallies[0].lines.size() == 1);
  CHECK(launch.tallies[0].lines[0].costs == banks::Tally{2, 64, 2, 2, 0, 0});
}

TEST_CASE("opencl/plugin/group_recorder/repetitions") {
  GroupRecorder recorder({});
  recorder.begin(0, two_arrays);
  for (unsigned lane = 0; lane < 32; ++lane) {
    LanePath path;
    for (unsigned time = 0; time <= lane % 3; ++time) recorder.access(lane, path, {&place, load, 4, 0, 128 * time});
  }
  recorder.end();
  const Launch launch = on(recorder, {"sm_90"});
  // Each time, all lanes have the same address: 32 lanes, then 21, then 10.
  CHECK(launch.tallies[0].lines.at(0).costs == banks::Tally{3, 32 + 21 + 10, 3, 3, 0, 0});
}

TEST_CASE("opencl/plugin/group_recorder/unknown_cost") {
  const Instruction instruction{{"input.cl", 1, 1}, 16, false};
  const Launch launch = record({"sm_20", "sm_90"}, 96, [&](unsigned lane) {
    return LaneAccess{&instruction, banks::Operation::atomic, 4, 0, 4 * lane};
  });
  CHECK(launch.tallies[0].lines.at(0).costs == banks::Tally{3, 96, 0, 0, 0, 3});
  CHECK(launch.tallies[0].level(0).costs.unknown == 3);
  CHECK(launch.tallies[0].unknown.size() == 1);
  CHECK(launch.tallies[1].lines.at(0).costs.unknown == 0);
  CHECK(launch.tallies[1].unknown.empty());
}

TEST_CASE("opencl/plugin/group_recorder/independent_groups") {
  GroupRecorder recorder({});
  for (unsigned group : {7U, 3U, 5U}) {
    recorder.begin(group, two_arrays);
    std::vector<LanePath> paths(32);
    if (group == 5) recorder.barrier();
    for (unsigned lane = 0; lane < 32; ++lane) recorder.access(lane, paths[lane], {&place, load, 4, 0, 128 * lane});
    recorder.end();
  }
  const Launch launch = on(recorder, {"sm_90"});
  CHECK(launch.trace.blocks == 3);
  CHECK(launch.trace.left_out.empty());
  const auto& tally = launch.tallies[0];
  REQUIRE(tally.lines.size() == 1);
  CHECK(tally.lines[0].costs == banks::Tally{3, 96, 96, 3, 93, 0});
  CHECK(tally.lines[0].worst->block == 3);
  CHECK(tally.lines[0].worst->level == 0);
  REQUIRE(tally.level_count == 2);
  CHECK(tally.level(0).costs.accesses == 2);
  CHECK(tally.level(1).costs.accesses == 1);
  GroupRecorder idle({});
  idle.begin(0, {});
  idle.end();
  const Launch empty = on(idle, {"sm_90"});
  CHECK(empty.trace.blocks == 1);
  CHECK(empty.tallies[0].lines.empty());
  REQUIRE(empty.tallies[0].level_count == 1);
  CHECK(empty.tallies[0].level(0).costs == banks::Tally{});
}

namespace {

/// An access of a lane, and its place in words; lanes with equal places make the access together.
struct Step {
  unsigned level = 0, lane = 0;
  std::string where;
  LaneAccess access;
};

/// Sums by the definition: all steps with the same words, instruction and kind, the n-th of a lane with the n-th of the
/// others, are accesses of the warps of their lanes.
class SlowRecorder {
 public:
  explicit SlowRecorder(const banks::Architecture& architecture) : architecture_(architecture) {}

  void add_group(std::uint64_t group, const std::vector<Step>& steps, unsigned levels) {
    using Key = std::tuple<unsigned, unsigned, std::string, const Instruction*, banks::Operation, unsigned, unsigned>;
    std::map<Key, std::map<unsigned, LaneAccess>> together;  // lanes within the warp
    std::map<std::tuple<unsigned, unsigned, std::string, const Instruction*, banks::Operation, unsigned>, unsigned> did;
    std::set<std::pair<unsigned, unsigned>> active, warps;  // each with its level
    if (levels_.size() < levels) levels_.resize(levels);
    for (const Step& step : steps) {
      const LaneAccess& access = step.access;
      const unsigned warp = step.lane / architecture_.warp;
      const unsigned time =
          did[{step.level, step.lane, step.where, access.instruction, access.operation, access.bytes}]++;
      together[{step.level, warp, step.where, access.instruction, access.operation, access.bytes, time}].emplace(
          step.lane % architecture_.warp, access);
      levels_[step.level].active_lanes += active.emplace(step.level, step.lane).second ? 1 : 0;
      levels_[step.level].issued_warps += warps.emplace(step.level, warp).second ? 1 : 0;
    }
    for (const auto& [key, lanes] : together) add_access(group, std::get<0>(key), std::get<1>(key), lanes);
  }

  void check(const trace::Report& tally) const {
    REQUIRE(tally.lines.size() == lines_.size());
    auto expected = lines_.begin();
    for (const trace::LineReport& line : tally.lines) {
      const trace::LineReport& slow = (expected++)->second;
      INFO(line.site.line << " " << line.array << " " << to_string(line.operation) << " " << line.width);
      REQUIRE(std::tie(line.site, line.array, line.operation, line.width) ==
              std::tie(slow.site, slow.array, slow.operation, slow.width));
      REQUIRE(line.costs == slow.costs);
      REQUIRE(line.mixed == slow.mixed);
      REQUIRE(line.worst.has_value() == slow.worst.has_value());
      if (!line.worst) continue;
      REQUIRE(rank(*line.worst) == rank(*slow.worst));
      const auto again =
          banks::cost(architecture_, {line.operation, line.width, line.worst->mask, line.worst->addresses});
      REQUIRE(std::get<banks::Cost>(again).conflicts == slow.worst->conflicts);
    }
    REQUIRE(tally.level_count == levels_.size());
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      REQUIRE(tally.level(i).costs == levels_[i].costs);
      REQUIRE(tally.level(i).active_lanes == levels_[i].active_lanes);
      REQUIRE(tally.level(i).issued_warps == levels_[i].issued_warps);
    }
  }

 private:
  static std::tuple<std::uint64_t, std::uint64_t, unsigned, unsigned> rank(const trace::WorstAccess& worst) {
    return {~worst.conflicts, worst.block, worst.level, worst.warp};
  }

  void add_access(std::uint64_t group, unsigned level, unsigned warp, const std::map<unsigned, LaneAccess>& lanes) {
    const LaneAccess& first = lanes.begin()->second;
    unsigned unit = 16, bytes = first.bytes;
    while (first.instruction->alignment > bytes && (bytes & (bytes - 1)) != 0) ++bytes;  // a vector of three
    while (bytes % unit != 0 || first.instruction->alignment % unit != 0) unit /= 2;
    const std::string& array = two_arrays[first.array].name;
    trace::LineReport& line = lines_[{first.instruction->site, array, first.operation, unit}];
    line = {first.instruction->site, array, first.operation, unit, line.costs, line.mixed, line.worst};
    for (unsigned part = 0; part < bytes; part += unit) {
      std::vector<std::uint32_t> addresses(architecture_.warp);
      std::uint64_t mask = 0;
      bool mixed = false;
      for (const auto& [lane, access] : lanes) {
        addresses[lane] = two_arrays[access.array].begin + access.offset + part;
        mask |= std::uint64_t{1} << lane;
        mixed |= access.array != first.array;
      }
      const auto answer = banks::cost(architecture_, {first.operation, unit, mask, addresses});
      const auto* cost = std::get_if<banks::Cost>(&answer);
      line.costs.add(mask, cost);
      levels_[level].costs.add(mask, cost);
      line.mixed += mixed ? 1 : 0;
      if (cost == nullptr || cost->conflicts == 0) continue;
      const trace::WorstAccess worst{cost->conflicts, group, level, warp, mask, addresses};
      if (!line.worst || rank(worst) < rank(*line.worst)) line.worst = worst;
    }
  }

  const banks::Architecture& architecture_;
  std::map<std::tuple<trace::Site, std::string, banks::Operation, unsigned>, trace::LineReport> lines_;
  std::vector<trace::LevelReport> levels_;
};

/// Instructions, two of which share a place, as those of one expression may.
const Instruction random_code[]{{{"input.cl", 3, 5}, 16, false},
                                {{"input.cl", 3, 5}, 4, false},
                                {{"input.cl", 2, 9}, 8, false},
                                {{"a.h", 7, 1}, 1, false}};

LaneAccess random_access(std::mt19937& random) {
  constexpr unsigned widths[]{1, 2, 4, 4, 4, 8, 12, 16};
  constexpr banks::Operation operations[]{load, load, banks::Operation::store, banks::Operation::atomic};
  const unsigned bytes = widths[random() % 8];
  return {&random_code[random() % 4], operations[random() % 4], bytes, unsigned(random() % 16 == 0),
          16 * unsigned(random() % 64)};
}

}  // namespace

TEST_CASE("opencl/plugin/group_recorder/random_lanes") {
  const char code[2]{};  // their addresses stand for a loop and a call
  const std::vector<std::string> architectures{"sm_90", "gfx942", "sm_20", "intel_xe"};
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    INFO(round);
    GroupRecorder recorder({});
    std::vector<SlowRecorder> slow;
    for (const auto& name : architectures) slow.emplace_back(*banks::find_architecture(name));
    for (const std::uint64_t group : {1U, 0U}) {
      recorder.begin(group, two_arrays);
      std::vector<Step> steps;
      const unsigned lanes = 1 + random() % 140, levels = 1 + random() % 3;
      std::vector<LanePath> paths(lanes);
      // Lanes choose from a few accesses; otherwise hardly any two would make the same one.
      std::vector<LaneAccess> choice;
      for (int i = 0; i < 4; ++i) choice.push_back(random_access(random));
      for (unsigned level = 0; level < levels; ++level) {
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const auto some = [&](const std::string& where) {
            for (unsigned left = random() % 4; left > 0; --left) {
              LaneAccess access = choice[random() % choice.size()];
              access.offset += 16 * unsigned(random() % 32);
              recorder.access(lane, paths[lane], access);
              steps.push_back({level, lane, where, access});
            }
          };
          some("straight");
          for (unsigned turn = 0, turns = random() % 4; turn < turns; ++turn) {
            paths[lane].enter_block({{&code[0]}, true});
            some("turn " + std::to_string(turn));
            paths[lane].enter_call(&code[1]);
            some("call in turn " + std::to_string(turn));
            paths[lane].leave_call();
          }
          paths[lane].enter_block({{}, false});
          some("straight");
        }
        if (level + 1 < levels) recorder.barrier();
      }
      recorder.end();
      for (SlowRecorder& recorder_of_architecture : slow) recorder_of_architecture.add_group(group, steps, levels);
    }
    const Launch launch = on(recorder, architectures);
    for (std::size_t i = 0; i < slow.size(); ++i) slow[i].check(launch.tallies[i]);
  }
}
