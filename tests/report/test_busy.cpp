// The pure model of common/bankwise/report/busy.hpp, with numbers computed by hand.
#include <bankwise/report/busy.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::report;

namespace {

/// Ten multiprocessors at 1 GHz: a cycle takes a nanosecond.
GpuRates ten() {
  return {.name = "ten", .multiprocessors = 10, .clock_ghz = 1, .l2_bytes = 3200, .l2 = 320.0, .dram = 64.0};
}

Work work_of(std::uint64_t blocks, std::uint64_t passes, std::uint64_t launches = 1) {
  return {.passes = passes, .grids = {{.blocks = blocks, .threads = 32, .launches = launches}}};
}

/// The same, by blocks of 32 warps: a pass of 32 is on the path of a warp.
Work wide(std::uint64_t blocks, std::uint64_t passes) {
  return {.passes = passes, .grids = {{.blocks = blocks, .threads = 1024}}};
}

double shared_ns(const Work& work, Assuming assuming = Assuming::usual) {
  return least_times(work, ten(), assuming)[std::size_t(Pipe::shared)].value();
}

}  // namespace

TEST_CASE("report/busy/least_time_of_shared_memory") {
  CHECK(shared_ns(work_of(10, 1000)) == Approx(100));
  CHECK(shared_ns({.passes = 1000}) == Approx(100));  // no grid is known: all multiprocessors
}

TEST_CASE("report/busy/tail_of_the_grid") {
  // 11 blocks of 100 passes: one multiprocessor has two.
  CHECK(shared_ns(work_of(11, 1100)) == Approx(200));
  CHECK(shared_ns(work_of(11, 1100), Assuming::nothing) == Approx(110));
  CHECK(shared_ns(work_of(20, 2000)) == Approx(200));
  CHECK(shared_ns(work_of(1, 100)) == Approx(100));  // one block uses one multiprocessor
  CHECK(shared_ns(work_of(1, 100), Assuming::nothing) == Approx(100));
  CHECK(shared_ns(work_of(1, 500, 5)) == Approx(500));
}

TEST_CASE("report/busy/launches_of_several_sizes") {
  // Threads do equal work: 10 blocks of 64 threads and 1 block of 64 threads share 1100 passes.
  const Work work{.passes = 1100, .grids = {{10, 64, 1}, {1, 64, 1}}};
  CHECK(shared_ns(work) == Approx(100 + 100));
  // 10 blocks of 96 threads have three quarters of the passes, 10 of 32 the rest.
  CHECK(shared_ns({.passes = 4000, .grids = {{10, 96, 1}, {10, 32, 1}}}) == Approx(300 + 100));
  CHECK(shared_ns({.passes = 100, .grids = {{0, 32, 7}, {1, 32, 1}}}) == Approx(100));  // empty launches do nothing
}

TEST_CASE("report/busy/least_time_of_caches_and_dram") {
  const Work work{
      .sectors = 4000, .cache_lines = 4000, .stored_sectors = 2000, .sectors_read = 500, .sectors_written = 200};
  const LeastTimes usual = least_times(work, ten(), Assuming::usual);
  CHECK(usual[1] == Approx(4000.0 / 4 / 10));
  CHECK(usual[2] == Approx((500 + 2000) * 32 / 320.0));
  CHECK(usual[3] == Approx(((500 * 32 - 3200) + (200 * 32 - 3200)) / 64.0));
  CHECK(least_times(work, ten(), Assuming::nothing)[2] == Approx((500 + 200) * 32 / 320.0));
  // The L1 cache needs a cycle for each cache line.
  CHECK(least_times({.cache_lines = 2000, .loaded_bytes = 32000}, ten(), Assuming::usual)[1] == Approx(500 / 10.0));
  CHECK(least_times({.cache_lines = 400, .loaded_bytes = 128000}, ten(), Assuming::nothing)[1] == Approx(1000 / 10.0));
  // In each launch the L2 cache may hold what it needs from the one before.
  const Work thrice{.sectors_read = 500, .grids = {{.blocks = 10, .threads = 32, .launches = 3}}};
  CHECK(least_times(thrice, ten(), Assuming::usual)[3] == Approx((500 * 32 - 3 * 3200) / 64.0));
  const Work cached{.sectors_read = 100, .sectors_written = 100};
  CHECK(least_times(cached, ten(), Assuming::usual)[3] == 0.0);
}

TEST_CASE("report/busy/largest_pipe_first") {
  const Work work{.passes = 3000, .sectors = 4000, .cache_lines = 4000, .sectors_read = 1000};
  const Busy measured = busy(work, ten(), 600.0);
  REQUIRE(measured.pipes.size() == 4);
  CHECK(measured.pipes[0].pipe == Pipe::dram);
  CHECK(measured.pipes[0].least_ns == Approx(450));
  CHECK(measured.pipes[0].busy == Approx(0.75));
  CHECK(measured.pipes[1].pipe == Pipe::shared);
  CHECK(measured.pipes[1].busy == Approx(0.5));
  CHECK(measured.pipes[3].busy == Approx(100 / 600.0));
  CHECK(measured.over_the_next == Approx(1.5));
  const Busy unmeasured = busy(work, ten());
  CHECK(unmeasured.pipes[0].least_ns == Approx(450));
  CHECK_FALSE(unmeasured.pipes[0].busy);
  CHECK(busy({}, ten(), 100.0).pipes.empty());
  const Busy only_shared = busy({.passes = 10}, ten(), 0.0);
  REQUIRE(only_shared.pipes.size() == 1);
  CHECK_FALSE(only_shared.pipes[0].busy);
  CHECK_FALSE(only_shared.over_the_next);
}

TEST_CASE("report/busy/unknown_bandwidth") {
  GpuRates gpu = ten();
  gpu.l2.reset();
  const Work work{.passes = 1000, .sectors = 4000, .cache_lines = 4000, .sectors_read = 1000};
  const Busy known = busy(work, gpu, 1000.0);
  CHECK(std::ranges::find(known.pipes, Pipe::l2, &PipeUse::pipe) == known.pipes.end());
  CHECK_FALSE(most_saved_ns(work, {}, gpu));
  CHECK_FALSE(most_share(0, 10, work, gpu, 1000));
  CHECK(most_share(1000, 0, work, gpu, 1000) == Approx(0.2));
  // What remains limits the speedup: 4000 sectors need 100 ns of the L1 caches, DRAM 450.
  CHECK(most_speedup(work, {.sectors = 3000, .cache_lines = 3000, .sectors_read = 1000}, gpu, 900) == Approx(2));
  CHECK_FALSE(most_speedup(work, {}, gpu, 1000));
}

TEST_CASE("report/busy/bound_of_shared_memory") {
  // Busy 50 % of the time with, 10 % without conflicts, and a 32nd of the difference on the path of a warp.
  CHECK(most_speedup(wide(10, 5000), wide(10, 1000), ten(), 1000) == Approx(1 / (1 - 0.4 * 33 / 32)));
  // 90 % of the time could go, but DRAM needs half of it.
  Work before = wide(10, 9500), after = wide(10, 500);
  before.sectors_read = after.sectors_read = 1100;
  CHECK(most_speedup(before, after, ten(), 1000) == Approx(2));
  CHECK(most_speedup(work_of(10, 1000), work_of(10, 1000), ten(), 1000) == 1.0);  // nothing to save
}

TEST_CASE("report/busy/conflict_on_the_path_of_a_warp") {
  const auto saved = [](Work before, const Work& after) { return most_saved_ns(before, after, ten()).value(); };
  // Measured on an H200, clocks of a load by 1, 4 and 32 warps of a multiprocessor, without and with 31 conflicts.
  const struct {
    std::uint64_t warps;
    double without, with;
  } rows[]{{1, 34.2, 96.2}, {4, 34, 128}, {8, 34, 256}, {32, 38, 1024}};
  for (const auto& row : rows) {
    const Work load{.passes = 32 * row.warps, .grids = {{.blocks = 1, .threads = 32 * row.warps}}};
    CHECK(saved(load, {.passes = row.warps}) == Approx(31.0 * double(row.warps + 1)));
    CHECK(saved(load, {.passes = row.warps}) >= row.with - row.without - 0.05);
  }
  // Of 20 blocks of 2 warps a multiprocessor executes two, one after the other.
  Work before{.passes = 4000, .grids = {{.blocks = 20, .threads = 64}}};
  CHECK(saved(before, {}) == Approx(400 + 200));
  // All passes are those of one warp. The fix leaves it a quarter of its passes.
  before.path_passes = 4000;
  CHECK(saved(before, {}) == Approx(400 + 400));
  CHECK(saved(before, {.passes = 1000, .path_passes = 1000}) == Approx(300 + 300));
  CHECK(saved({.passes = 100, .path_passes = 0}, {.passes = 90, .path_passes = 20}) == Approx(1));
}

TEST_CASE("report/busy/path_through_the_levels") {
  trace::Report report;
  report.blocks = 5;
  const auto level = [](std::uint64_t warps, std::uint64_t passes, std::uint64_t ideal) {
    trace::LevelReport row{.issued_warps = warps};
    row.costs.passes = passes;
    row.costs.ideal = ideal;
    return row;
  };
  // Five blocks: 8 warps each, then 1 warp each.
  report.levels = {level(40, 400, 40), level(5, 100, 5)};
  CHECK(path_of(report, &banks::Tally::passes) == Approx(5 * (400 / 40 + 100 / 5)));
  CHECK(path_of(report, &banks::Tally::ideal) == Approx(5 * (1 + 1)));
  report.levels.push_back(level(0, 1, 0));
  CHECK_FALSE(path_of(report, &banks::Tally::passes));
  CHECK(path_of(report, &banks::Tally::ideal) == Approx(5 * (1 + 1)));
}

TEST_CASE("report/busy/measured_ladders_stay_below_the_bound") {
  // Of one block on an H200 (docs/results/nvidia_h200, block scope): passes, those of one warp, clocks.
  const struct {
    std::string_view pair;
    std::uint64_t passes, passes_after;
    double path, path_after, clocks, clocks_after;
  } rows[]{{"prefix_sum: naive, padded", 731, 174, 437, 69, 1142.8, 586.7},
           {"reduction: naive, packed", 540, 180, 236, 104, 509.1, 259.4},
           {"reduction: interleaved, sequential", 414, 135, 266, 59, 653.7, 324.7},
           {"transpose: naive, padded", 72, 32, 9, 4, 83.0, 39.1},
           {"transpose: tile32, tile32_padded", 1056, 64, 132, 8, 1088.5, 77.8},
           {"transpose: tile32, swizzled", 1056, 64, 132, 8, 1088.5, 79.2}};
  for (const auto& row : rows) {
    INFO(row.pair);
    const std::vector<Grid> one_block{{.blocks = 1, .threads = 256}};
    const Work before{.passes = row.passes, .path_passes = row.path, .grids = one_block};
    const Work after{.passes = row.passes_after, .path_passes = row.path_after, .grids = one_block};
    // A cycle is a nanosecond.
    CHECK(most_speedup(before, after, ten(), row.clocks) >= row.clocks / row.clocks_after);
    CHECK(most_saved_ns(before, after, ten()) >= row.clocks - row.clocks_after);
  }
}

TEST_CASE("report/busy/bound_at_least_1") {
  // The clock was higher than assumed: the least times exceed the time.
  CHECK(most_speedup(work_of(10, 5000), work_of(10, 4000), ten(), 100) == 1.0);
  CHECK(most_speedup(work_of(10, 500), work_of(10, 5000), ten(), 100) == 1.0);  // a change for the worse
  CHECK_FALSE(most_speedup(work_of(10, 500), work_of(10, 100), ten(), 0));
  CHECK_FALSE(most_speedup(work_of(10, 5000), {}, ten(), 100));  // nothing limits it
}

TEST_CASE("report/busy/bound_of_global_memory") {
  const Work before{.sectors = 1100, .sectors_read = 100}, after{.sectors = 100, .sectors_read = 100};
  // Each of 1000 sectors: a cycle of one in ten multiprocessors, 64 bytes of L2, 192 bytes of DRAM.
  // Without a grid each multiprocessor has one warp, which waits 1.25 cycles more.
  const double saved = 1000 * ((1 + 1.25) / 10.0 + 64 / 320.0 + 192 / 64.0);
  CHECK(most_saved_ns(before, after, ten()) == Approx(saved));
  // A single multiprocessor gets a sector per cycle from the L2 cache, however fast that is.
  CHECK(most_saved_ns({.sectors = 100, .grids = {{.blocks = 1, .threads = 64}}}, {}, ten()) ==
        Approx(100 * (1 + 1.25 / 2 + 1 + 192 / 64.0)));
  CHECK(most_speedup(before, after, ten(), 5000) == Approx(5000 / (5000 - saved)));
  CHECK(most_speedup(before, after, ten(), 1000) == Approx(1000 / 10.0));  // the L2 cache has to deliver 100 sectors
}

TEST_CASE("report/busy/sectors_that_fit_into_the_l2") {
  // 50 sectors fill half of the cache: each comes from DRAM once.
  const Work before{.sectors = 1050, .sectors_read = 30, .sectors_written = 20}, after{.sectors = 50};
  const double in_caches = 1000 * ((1 + 1.25) / 10.0 + 64 / 320.0);
  CHECK(most_saved_ns(before, after, ten()) == Approx(in_caches + 50 * 192 / 64.0));
  CHECK(most_share(0, 1000, before, ten(), 1000) == Approx((in_caches + 150) / 1000));
  Work larger = before;
  larger.sectors_read = 31;
  CHECK(most_saved_ns(larger, after, ten()) == Approx(in_caches + 1000 * 192 / 64.0));
  larger.grids = {{.blocks = 10, .threads = 32, .launches = 2}};  // each launch touches half
  CHECK(most_saved_ns(larger, after, ten()) == Approx(in_caches + 51 * 192 / 64.0));
}

TEST_CASE("report/busy/share_of_a_line") {
  const Work work = wide(11, 1100);
  // Half of the passes of the busiest, 100 of 1000 ns, and a 32nd of them on the path of a warp.
  CHECK(most_share(550, 0, work, ten(), 1000) == Approx(0.1 * 33 / 32));
  CHECK(most_share(550, 0, work, ten(), 50) == 1.0);
  CHECK_FALSE(most_share(550, 0, work, ten(), 0));
  Work tree = work;  // of its 1,100 passes 300 are on the path of one warp, and some of these may be the line's
  tree.path_passes = 300;
  CHECK(most_share(550, 0, tree, ten(), 1000) == Approx(0.1 + 2 * 300 / 11.0 / 1000));
  CHECK(most_share(110, 0, tree, ten(), 1000) == Approx(0.02 + 0.02));
  CHECK(likely_ns(550, 0, work, ten()) == Approx(100));
  CHECK(likely_ns(0, 550, work, ten()) == Approx(550 * 32 / 320.0));
  GpuRates gpu = ten();
  gpu.l2.reset();
  CHECK(likely_ns(0, 550, work, gpu) == Approx(550 * 32 / 64.0));
}

TEST_CASE("report/busy/rates_of_a_row") {
  const banks::GpuModel* h200 = banks::find_gpu("h200");
  REQUIRE(h200 != nullptr);
  const GpuRates gpu = rates_of(*h200);
  CHECK(gpu.clock_ghz == Approx(1.98));
  CHECK(gpu.dram == Approx(4631).margin(1));
  CHECK_FALSE(gpu.is_dram_peak);
  const GpuRates h100 = rates_of(*banks::find_gpu("H100"));
  CHECK(h100.dram == Approx(3352).margin(1));
  CHECK(h100.is_dram_peak);
  CHECK_FALSE(h100.l2);
  CHECK_FALSE(h100.l2_unknown.empty());
}

TEST_CASE("report/busy/rates_of_a_timed_kernel") {
  trace::KernelTime time{.launches = 1, .nanoseconds = 1, .clock_khz = 1'755'000, .gpu = "NVIDIA H200"};
  const GpuRates known = rates_of(time).value();
  CHECK(known.clock_ghz == Approx(1.755));
  CHECK(known.multiprocessors == 132);
  time.l2_bytes = 60 << 20;
  CHECK(rates_of(time)->l2_bytes == 60 << 20);
  const GpuRates measured = rates_of(time, support::Bandwidths{5500, 4500}).value();
  CHECK(measured.l2 == 5500.0);
  CHECK(measured.dram == 4500.0);
  CHECK_FALSE(measured.is_dram_peak);
  time.gpu = "NVIDIA of tomorrow";
  CHECK_FALSE(rates_of(time));
  time.multiprocessors = 200;
  time.dram_mb_s = 9'000'000;
  const GpuRates unknown = rates_of(time).value();
  CHECK(unknown.multiprocessors == 200);
  CHECK(unknown.dram == 9000.0);
  CHECK(unknown.is_dram_peak);
  CHECK_FALSE(unknown.l2_unknown.empty());
}

TEST_CASE("report/busy/work_of_a_trace") {
  trace::KernelTrace kernel{.blocks = 8, .sectors_read = 50, .sectors_written = 40};
  kernel.shapes = {{.threads = {64, 4, 1}, .block = {32, 2, 1}, .launches = 2}};  // 2 x 2 blocks
  trace::Report report;
  report.all = {.passes = 100, .ideal = 30, .conflicts = 70};
  report.global_lines = {
      {.operation = banks::Operation::load, .costs = {.sectors = 320, .ideal = 40, .lines = 160, .bytes = 32 * 40}},
      {.operation = banks::Operation::cp_async, .costs = {.sectors = 4, .ideal = 4, .bytes = 0}},
      {.operation = banks::Operation::atomic, .costs = {.sectors = 64, .ideal = 8, .lines = 20, .bytes = 32 * 100}}};
  report.levels = {{.costs = report.all}};
  // The trace does not know the warps: 16 of them may have executed the first line twice each, the second not.
  report.lines = {{.costs = {.accesses = 32, .passes = 64, .ideal = 32}},
                  {.costs = {.accesses = 17, .passes = 36, .ideal = 17}}};
  CHECK(work_of(kernel, report).path_passes == Approx(32 + 36));
  CHECK(work_of(kernel, report, Change::no_conflicts).path_passes == Approx(16 + 17));
  report.levels[0].issued_warps = 16;
  report.blocks = 8;
  const Work work = work_of(kernel, report);
  CHECK(work.passes == 100);
  CHECK(work.sectors == 320 + 4 + 64);
  CHECK(work.cache_lines == 160);
  CHECK(work.stored_sectors == 64);
  CHECK(work.sectors_read == 50);
  REQUIRE(work.grids.size() == 1);
  CHECK(work.grids[0].blocks == 4);
  CHECK(work.grids[0].threads == 64);
  CHECK(work.grids[0].launches == 2);
  CHECK(work_of(kernel, report, Change::no_conflicts).passes == 30);
  CHECK(work_of(kernel, report, Change::no_conflicts).sectors == work.sectors);
  const Work fewest = work_of(kernel, report, Change::fewest_sectors);
  CHECK(fewest.passes == 100);
  CHECK(fewest.sectors == 40 + 4 + 8);
  CHECK(fewest.cache_lines == 0);
  CHECK(fewest.stored_sectors == 8);
  CHECK(fewest.sectors_read == 40);     // what holds the bytes that are asked for
  CHECK(fewest.sectors_written == 40);  // all bytes are asked for
  kernel.blocks = 2;                    // of 8
  const Work sampled = work_of(kernel, report);
  CHECK(sampled.passes == 400);
  CHECK(sampled.sectors == 4 * 388);
  CHECK(sampled.sectors_read == 50);
}
