// Global and local memory, with the numbers that programs/global.cu derives. They are read from the trace.
#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/report.hpp>
#include "watched_program.hpp"

using namespace bankwise;

namespace {

constexpr unsigned grid_blocks = 3;

const Traced& all_kernels() {
  static const Traced kernels = traced(program("global"));
  return kernels;
}

/// Accesses, lanes, sectors, ideal, lines and bytes; of one width, or of all.
Numbers moved(const trace::KernelTrace& kernel, const std::string& operation, unsigned width = 0) {
  Numbers sum(6, 0);
  for (const trace::GlobalLineReport& line : trace::report(kernel, *banks::find_architecture("sm_90")).global_lines) {
    if (to_string(line.operation) != operation || (width != 0 && line.width != width)) continue;
    const banks::SectorTally& costs = line.costs;
    CHECK(costs.unknown == 0);
    const Numbers row{costs.accesses, costs.lanes, costs.sectors, costs.ideal, costs.lines, costs.bytes};
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
  }
  return sum;
}

/// What `accesses` equal accesses move.
Numbers each(std::uint64_t accesses, Numbers of_one) {
  of_one.insert(of_one.begin(), 1);
  for (std::uint64_t& number : of_one) number *= accesses;
  return of_one;
}

const Numbers one_row{32, 4, 4, 1, 128};

}  // namespace

TEST_CASE("cuda/gpu/global/sectors_by_hand", "[global]") {
  struct Row {
    const char* kernel;
    Numbers moved;  ///< lanes, sectors, ideal, lines, bytes
  };
  const Row rows[] = {{"row", one_row},
                      {"column", {32, 32, 4, 32, 128}},
                      {"structures", {32, 12, 4, 3, 128}},
                      {"misaligned", {32, 5, 4, 2, 128}},
                      {"backwards", one_row},
                      {"broadcast", {32, 1, 1, 1, 4}},
                      {"pairs", one_row},
                      {"bytes_1", {32, 1, 1, 1, 32}},
                      {"bytes_8", {32, 8, 8, 2, 256}},
                      {"bytes_16", {32, 16, 16, 4, 512}},
                      {"read_only", one_row},
                      {"two_thirds", {21, 4, 3, 1, 84}},
                      {"every_fourth", {8, 4, 1, 1, 32}}};
  for (const Row& row : rows) {
    INFO(row.kernel);
    CHECK(moved(all_kernels().kernel(row.kernel), "load") == each(grid_blocks, row.moved));
    CHECK(all_kernels().kernel(row.kernel).global_left_out == 0);
    CHECK(all_kernels().kernel(row.kernel).global_excess_accesses == 0);
  }
  CHECK(moved(all_kernels().kernel("row"), "store") == each(grid_blocks, one_row));
  CHECK(moved(all_kernels().kernel("column_store"), "store") == each(grid_blocks, {32, 32, 4, 32, 128}));
  CHECK(moved(all_kernels().kernel("atomics"), "atomic") == each(std::uint64_t{3} * grid_blocks, {32, 8, 4, 2, 128}));
}

TEST_CASE("cuda/gpu/global/equal_accesses_are_one", "[global]") {
  // The blocks' parts are 256 KiB apart, at the same place in a line.
  for (const char* kernel : {"row", "column", "pairs"}) {
    INFO(kernel);
    CHECK(all_kernels().kernel(kernel).global_patterns.size() == 2);  // the load, and the store of its result
  }
}

TEST_CASE("cuda/gpu/global/generic_and_local", "[global]") {
  Numbers loads = each(grid_blocks, one_row);
  const Numbers half = each(grid_blocks, {16, 2, 2, 1, 64});
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i] += half[i];
  const trace::KernelTrace& anywhere = all_kernels().kernel("anywhere");
  CHECK(moved(anywhere, "load") == loads);
  CHECK(trace::report(anywhere, *banks::find_architecture("sm_90")).loads.lanes == grid_blocks * (32 + 16));
  const trace::KernelTrace& local = all_kernels().kernel("local");
  std::uint64_t stores = 0, read_back = 0;
  for (const trace::LocalAccesses& accesses : local.local_accesses) {
    (accesses.operation == banks::Operation::store ? stores : read_back) += accesses.accesses;
    CHECK(accesses.lanes == 32 * accesses.accesses);
  }
  CHECK(stores == grid_blocks);
  CHECK(read_back == grid_blocks);
}

TEST_CASE("cuda/gpu/global/copies", "[global]") {
  if (!has_capability(80)) return;
  const trace::KernelTrace& copies = all_kernels().kernel("copies");
  CHECK(moved(copies, "cp.async", 8) == each(grid_blocks, {32, 8, 8, 2, 256}));
  CHECK(moved(copies, "cp.async", 16) == each(grid_blocks, {32, 16, 16, 4, 512}));
  CHECK(moved(copies, "cp.async", 4) == Numbers{2 * grid_blocks, 48 * grid_blocks, 6 * grid_blocks, 6 * grid_blocks,
                                                2 * grid_blocks, 192 * grid_blocks});
}

TEST_CASE("cuda/gpu/global/gathers_and_distant_lanes", "[global]") {
  constexpr std::uint64_t accesses = std::uint64_t{512} * 4 * 50;
  for (const char* options : {"", "--table 8"}) {
    const Traced gathers = traced(program("global", "gather"), options);
    Numbers expected{accesses, 32 * accesses, 0, 0, 0, 0};
    std::istringstream printed(gathers.outcome.out);
    for (std::size_t i = 2; i < expected.size(); ++i) REQUIRE(printed >> expected[i]);
    const trace::KernelTrace& kernel = gathers.kernel("gather");
    CHECK(moved(kernel, "load") == expected);
    CHECK(kernel.global_left_out == 0);
    CHECK(kernel.global_patterns.size() >= 1000);
    CHECK(kernel.global_patterns.size() < 20000);
    CHECK(kernel.sectors_read == 2048);  // 64 KiB
    CHECK(kernel.sectors_written == 0);
  }
  const Traced distant = traced(program("global", "far"));
  CHECK(moved(distant.kernel("far"), "load") == each(grid_blocks, {32, 8, 4, 2, 128}));
  CHECK(distant.kernel("far").global_excess_accesses == grid_blocks);
}

TEST_CASE("cuda/gpu/global/different_sectors", "[global]") {
  CHECK(all_kernels().kernel("copy").sectors_read == 2 * 65536);
  CHECK(all_kernels().kernel("copy").sectors_written == 2 * 65536);
  CHECK(all_kernels().kernel("again").sectors_read == 3 * 128);
  CHECK(all_kernels().kernel("again").sectors_written == 3);
  // Replays of a graph may look like one launch: a lower bound.
  const trace::KernelTrace replayed = traced(program("global", "graph")).kernel("copy");
  CHECK(replayed.sectors_read >= 65536);
  CHECK(replayed.sectors_read <= 8 * 65536);
}

TEST_CASE("cuda/gpu/global/memory_spaces", "[global]") {
  const Traced shared = traced(program("global", "anywhere"), "--memory shared");
  CHECK_FALSE(shared.kernel("anywhere").watches_global);
  CHECK(shared.kernel("anywhere").global_patterns.empty());
  CHECK(shared.kernel("anywhere").sectors_read == 0);
  CHECK_FALSE(shared.kernel("anywhere").patterns.empty());
  const Traced global = traced(program("global", "anywhere"), "--memory global");
  CHECK_FALSE(global.kernel("anywhere").watches_shared);
  CHECK(global.kernel("anywhere").patterns.empty());
  CHECK(moved(global.kernel("anywhere"), "load") == moved(all_kernels().kernel("anywhere"), "load"));
}
