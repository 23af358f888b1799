// Accesses to global memory in GroupRecorder.
#include <functional>
#include <random>
#include <set>
#include <thread>

#include <bankwise/trace/report.hpp>
#include "bankcheck/opencl/plugin/group_recorder.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::opencl;

namespace {

constexpr auto global_load = banks::Operation::load, store = banks::Operation::store;
constexpr std::uint64_t first_buffer = std::uint64_t{1} << 48, second_buffer = std::uint64_t{2} << 48;

LaneAccess global_access(const Instruction& instruction, banks::Operation operation, unsigned bytes,
                         std::uint64_t address) {
  return {&instruction, operation, bytes, LaneAccess::global, address};
}

const Instruction global_place{{"input.cl", 3, 5}, 16, false};

banks::SectorTally sectors_of(const trace::KernelTrace& trace) {
  return trace::report(trace, *banks::find_architecture("sm_90")).global;
}

/// One group in which each lane makes this access.
trace::KernelTrace record_global(unsigned lanes, const std::function<LaneAccess(unsigned)>& access_of) {
  TouchedSectors touched;
  GroupRecorder recorder({}, &touched);
  recorder.begin(0, {});
  for (unsigned lane = 0; lane < lanes; ++lane) {
    LanePath path;
    recorder.access(lane, path, access_of(lane));
  }
  recorder.end();
  trace::KernelTrace trace = recorder.take();
  trace.sectors_read = touched.counts().read, trace.sectors_written = touched.counts().written;
  return trace;
}

}  // namespace

TEST_CASE("opencl/plugin/global_recorder/local_apart") {
  TouchedSectors touched;
  GroupRecorder recorder({}, &touched);
  recorder.begin(0, {{"a", 0}});
  for (unsigned lane = 0; lane < 64; ++lane) {
    LanePath path;
    recorder.access(lane, path, global_access(global_place, global_load, 4, first_buffer + 4 * lane));
    if (lane < 8) recorder.access(lane, path, {&global_place, global_load, 4, 0, 4 * lane});
  }
  recorder.barrier();
  recorder.end();
  const trace::KernelTrace trace = recorder.take();
  REQUIRE(trace.patterns.size() == 1);
  CHECK(trace.patterns[0].mask == 0xFF);
  CHECK(trace.patterns[0].first.number == 0);  // as without global memory
  REQUIRE(trace.global_patterns.size() == 1);
  CHECK(trace.global_patterns[0].mask == ~std::uint64_t{0});
  REQUIRE(trace.participants.size() == 1);  // in accesses to local memory
  CHECK(trace.participants[0].mask == 0xFF);
  CHECK(touched.counts().read == 8);
}

TEST_CASE("opencl/plugin/global_recorder/buffers") {
  // Even lanes in one buffer, odd lanes in another: nothing is shared, although the offsets are neighbours.
  const auto trace = record_global(32, [](unsigned lane) {
    return global_access(global_place, global_load, 4, (lane % 2 == 0 ? first_buffer : second_buffer) + 4 * lane);
  });
  CHECK(sectors_of(trace) == banks::SectorTally{1, 32, 8, 4, 2, 128, 0});
  CHECK(trace.sectors_read == 8);
}

TEST_CASE("opencl/plugin/global_recorder/parts") {
  // A vector of three floats has the place of four, and a GPU loads all four. As a struct it is three loads.
  const auto vectors = record_global(
      32, [](unsigned lane) { return global_access(global_place, global_load, 12, first_buffer + 16 * lane); });
  CHECK(sectors_of(vectors) == banks::SectorTally{1, 32, 16, 16, 4, 512, 0});
  CHECK(vectors.sectors_read == 16);
  const Instruction of_struct{{"input.cl", 3, 5}, 4, false};
  const auto structs =
      record_global(32, [&](unsigned lane) { return global_access(of_struct, store, 12, first_buffer + 12 * lane); });
  CHECK(sectors_of(structs) == banks::SectorTally{3, 96, 36, 12, 9, 384, 0});
  CHECK(structs.sectors_written == 12);
}

TEST_CASE("opencl/plugin/global_recorder/random_lanes") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const unsigned lanes = 1 + random() % 140, bytes = 1U << random() % 5, range = 1U << (4 + random() % 14);
    std::vector<std::uint64_t> addresses;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const std::uint64_t buffer = random() % 16 == 0 ? second_buffer : first_buffer;
      addresses.push_back(buffer + random() % range / bytes * bytes);
    }
    const auto trace = record_global(
        lanes, [&](unsigned lane) { return global_access(global_place, global_load, bytes, addresses[lane]); });
    // By the definition.
    std::size_t sectors = 0, lines = 0;
    std::set<std::uint64_t> all;
    for (unsigned warp = 0; warp < lanes; warp += 32) {
      std::set<std::uint64_t> of_warp, lines_of_warp;
      for (unsigned lane = warp; lane < std::min(lanes, warp + 32); ++lane) {
        of_warp.insert(addresses[lane] / 32);
        lines_of_warp.insert(addresses[lane] / 128);
      }
      sectors += of_warp.size(), lines += lines_of_warp.size();
      all.merge(of_warp);
    }
    const banks::SectorTally tally = sectors_of(trace);
    INFO("round " << round);
    REQUIRE(tally.accesses == (lanes + 31) / 32);
    REQUIRE(tally.lanes == lanes);
    REQUIRE(tally.sectors == sectors);
    REQUIRE(tally.lines == lines);
    REQUIRE(trace.sectors_read == all.size());
    REQUIRE(trace.sectors_written == 0);
  }
}

TEST_CASE("opencl/plugin/global_recorder/several_threads") {
  TouchedSectors sectors;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      TouchedSectors::Toucher toucher(sectors);
      for (std::uint64_t i = 0; i < 20000; ++i) toucher.touch(32 * (i + 5000 * thread), 4, thread % 2 == 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sectors.counts().read == 30000);     // from 0 and from 10,000
  CHECK(sectors.counts().written == 30000);  // from 5,000 and from 15,000
}
