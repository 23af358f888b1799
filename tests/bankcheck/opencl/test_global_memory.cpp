// Accesses to global memory, counted by hand: programs/global.c has the kernels.
#include <fstream>

#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/report.hpp>
#include "checked_program.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Operation;

namespace {

trace::Trace traced(const std::string& arguments = "", const std::string& options = "",
                    const std::string& before = "") {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path() / "t.jsonl").string();
  ended(0, bankcheck("opencl --trace " + path + " " + options + " -- " + program("global") + " " + arguments, before));
  std::ifstream file(path);
  return trace::read_json_lines(file, "t").trace;
}

const trace::KernelTrace& kernel_of(const trace::Trace& trace, const std::string& name) {
  for (const trace::KernelTrace& kernel : trace.kernels) {
    if (kernel.kernel == name) return kernel;
  }
  throw std::runtime_error("no kernel " + name);
}

/// All lines with this operation, in warps of 32.
banks::SectorTally tally_of(const trace::KernelTrace& kernel, Operation operation, unsigned width = 4,
                            const std::string& architecture = "sm_90") {
  banks::SectorTally sum;
  for (const auto& line : trace::report(kernel, *banks::find_architecture(architecture)).global_lines) {
    if (line.operation == operation && line.width == width) sum.add(line.costs);
  }
  return sum;
}

/// Accesses, lanes, sectors, ideal, lines, bytes.
banks::SectorTally tally(std::uint64_t accesses, std::uint64_t lanes, std::uint64_t sectors, std::uint64_t ideal,
                         std::uint64_t lines, std::uint64_t bytes) {
  return {accesses, lanes, sectors, ideal, lines, bytes, 0};
}

struct Expected {
  const char* kernel;
  Operation operation;
  unsigned width;
  banks::SectorTally tally;
};

// 128 lanes are four warps. All sums are over these four.
const Expected expected[]{
    {"row", Operation::load, 4, tally(4, 128, 16, 16, 4, 512)},
    {"row", Operation::store, 4, tally(4, 128, 16, 16, 4, 512)},
    {"column", Operation::load, 4, tally(4, 128, 128, 16, 128, 512)},
    {"misaligned", Operation::load, 4, tally(4, 128, 20, 16, 8, 512)},
    {"records", Operation::load, 4, tally(8, 256, 96, 32, 24, 1024)},
    {"indirect", Operation::load, 4, tally(8, 256, 16 + 4 * 3, 16 + 4, 4 + 4 * 3, 512 + 4 * 12)},
    {"broadcast", Operation::load, 4, tally(4, 128, 4, 4, 4, 16)},
    {"loop", Operation::load, 4, tally(16, 4 * 80, 4 * 16, 4 * (4 + 3 + 2 + 1), 16, 4 * 320)},
    {"quads", Operation::load, 16, tally(4, 128, 64, 64, 16, 2048)},
    {"split_quads", Operation::load, 4, tally(16, 512, 256, 64, 64, 2048)},
    {"octets", Operation::load, 16, tally(8, 256, 256, 128, 64, 4096)},
    {"chars", Operation::load, 1, tally(4, 128, 4, 4, 4, 128)},
    {"chars", Operation::store, 1, tally(4, 128, 4, 4, 4, 128)},
    {"two_buffers", Operation::load, 4, tally(4, 128, 32, 16, 8, 512)},
    {"branch", Operation::load, 4, tally(2, 16, 2, 2, 2, 64)},
    {"atomics", Operation::atomic, 4, tally(4, 128, 4, 4, 4, 128)},
    {"atomics", Operation::store, 4, {}},
    {"swaps", Operation::atomic, 4, tally(4, 128, 16, 16, 4, 512)},
    {"called", Operation::load, 4, tally(4, 128, 20, 16, 8, 512)},
    {"levels", Operation::load, 4, tally(8, 256, 32, 32, 8, 1024)},
    {"copied", Operation::load, 4, {}},
    {"private_array", Operation::load, 4, {}},
    {"private_array", Operation::store, 4, tally(4, 128, 16, 16, 4, 512)},
    {"constants", Operation::load, 4, {}},
    {"constants", Operation::store, 4, tally(4, 128, 16, 16, 4, 512)},
};

}  // namespace

TEST_CASE("opencl/global/hand_counted") {
  const trace::Trace trace = traced();
  for (const Expected& row : expected) {
    INFO(row.kernel << ", " << to_string(row.operation) << ' ' << row.width);
    const trace::KernelTrace& kernel = kernel_of(trace, row.kernel);
    CHECK(kernel.watches_global);
    CHECK(tally_of(kernel, row.operation, row.width) == row.tally);
    CHECK(kernel.global_left_out == 0);
    CHECK(tally_of(kernel, row.operation, row.width, "gfx942").lanes == row.tally.lanes);
  }
  CHECK(tally_of(kernel_of(trace, "row"), Operation::load, 4, "gfx942").accesses == 2);
  // What differs by whole cache lines, or by the level, is one pattern.
  CHECK(kernel_of(trace, "levels").global_patterns.size() == 4);
  for (const trace::Pattern& pattern : kernel_of(trace, "levels").global_patterns) CHECK(pattern.count == 2);
}

TEST_CASE("opencl/global/touched_sectors") {
  const trace::Trace trace = traced();
  const auto touched = [&](const char* name) {
    const trace::KernelTrace& kernel = kernel_of(trace, name);
    return std::pair(kernel.sectors_read, kernel.sectors_written);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(touched("row") == Pair(16, 16));
  CHECK(touched("column") == Pair(128, 16));
  CHECK(touched("misaligned") == Pair(17, 16));
  CHECK(touched("broadcast") == Pair(1, 16));
  CHECK(touched("loop") == Pair(16, 16));  // however often
  CHECK(touched("octets") == Pair(128, 16));
  CHECK(touched("two_buffers") == Pair(32, 16));
  CHECK(touched("atomics") == Pair(1, 1));
  CHECK(touched("swaps") == Pair(16, 16));  // each finds another value: it only reads
  CHECK(touched("copied") == Pair(16, 16));
  CHECK(touched("constants") == Pair(0, 16));
  // A part of the groups: a lower bound.
  const trace::Trace part = traced("", "--max-groups 1");
  CHECK(kernel_of(part, "row").sectors_read == 8);
}

TEST_CASE("opencl/global/partial_groups") {
  const trace::Trace trace = traced("row");
  // Two groups of 40 work-items, each a warp of 32 and one of 8, or one warp of 64. The second begins in sector 5.
  CHECK(tally_of(kernel_of(trace, "row"), Operation::load) == tally(4, 80, 10, 10, 5, 320));
  CHECK(tally_of(kernel_of(trace, "row"), Operation::load, 4, "gfx942").accesses == 2);
}

TEST_CASE("opencl/global/beyond_the_bound") {
  const trace::Trace whole = traced(), part = traced("", "", "BANKWISE_PATTERN_BYTES=1000");
  REQUIRE(kernel_of(part, "records").global_excess_accesses > 0);
  for (const Expected& row : expected) {
    INFO(row.kernel);
    CHECK(tally_of(kernel_of(part, row.kernel), row.operation, row.width) == row.tally);
    CHECK(kernel_of(part, row.kernel).sectors_read == kernel_of(whole, row.kernel).sectors_read);
  }
}

TEST_CASE("opencl/global/memory_spaces") {
  const trace::Trace shared = traced("", "--memory shared"), global = traced("", "--memory global"), both = traced();
  for (const trace::KernelTrace& kernel : both.kernels) {
    INFO(kernel.kernel);
    const trace::KernelTrace &a = kernel_of(shared, kernel.kernel), &b = kernel_of(global, kernel.kernel);
    CHECK((a.watches_shared && !a.watches_global));
    CHECK((a.global_patterns.empty() && a.sectors_read == 0 && a.sectors_written == 0));
    CHECK(a.patterns.size() == kernel.patterns.size());
    CHECK((!b.watches_shared && b.watches_global));
    CHECK(b.patterns.empty());
    CHECK(b.global_patterns.size() == kernel.global_patterns.size());
    CHECK(b.sectors_read == kernel.sectors_read);
  }
}

TEST_CASE("opencl/global/same_trace_each_time") { CHECK(to_json_lines(traced()) == to_json_lines(traced())); }
