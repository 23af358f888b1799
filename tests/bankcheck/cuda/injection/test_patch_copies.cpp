// What the patch keeps of asynchronous copies is enough for their cost: from the patch, with the emulator as the GPU,
// through the table and a record to the bank model.
#include "tests/bankcheck/cuda/injection/emulated_patch.hpp"

#include <algorithm>
#include <random>

#include <bankwise/banks/cost.hpp>
#include "bankcheck/cuda/injection/patch.cu"
#include "bankcheck/cuda/injection/record_writer.hpp"
#include "bankcheck/cuda/record.hpp"
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace bankwise;
using banks::Operation;

namespace {

/// Each block is a warp that copies once. A lane that reads at 0 writes zeros.
struct WarpCopy {
  std::uint64_t from[32];
  std::uint32_t to[32], mask;
};
__global__ void copy_by_warps(LaunchSlot* launch, const WarpCopy* copies, unsigned width, bool reads) {
  const WarpCopy& copy = copies[blockIdx.x];
  if ((copy.mask >> threadIdx.x & 1) == 0) return;
  void* const from = reinterpret_cast<void*>(std::uintptr_t(copy.from[threadIdx.x]));
  // Blocks of a cluster have their rank in the high bits.
  const std::uint32_t to = blockIdx.x << 24 | copy.to[threadIdx.x];
  if (reads) {
    bankwise_async_copy_and_read(launch, 0x1230, from, to, width);
  } else {
    bankwise_async_copy(launch, 0x1230, from, to, width);
  }
}

constexpr std::uint64_t SOURCES = 0x7f0000000000;

/// What the table has of them, as the record says it.
cuda::RecordedKernel recorded_kernel(Table& table, const std::vector<WarpCopy>& copies, unsigned width,
                                     bool reads = false) {
  emulate(copy_by_warps, {.grid = {unsigned(copies.size())}, .block = {32}}, &table.launch, copies.data(), width,
          reads);
  const ScratchDirectory folder;
  RecordWriter writer(folder.path());
  writer.kernel(0, 0, 0, 0x10000, "k");
  for (std::uint32_t i = 0; i < table.header().used; ++i) {
    const PatternEntry& entry = table.entries[i];
    if (entry.what != pack_what(AccessSource::async_copy, width, 0)) continue;
    std::vector<std::uint32_t> addresses;
    banks::for_each_lane(entry.mask, [&](unsigned lane) { addresses.push_back(entry.addresses[lane]); });
    writer.pattern(0, entry.pc, kind_of_access(entry.what), width, 0, entry.mask, table.count_of(entry), addresses);
  }
  for (std::uint32_t i = 0; i < table.header().costs_used; ++i) {
    const PatternEntry& entry = table.costs()[i];
    if (entry.what >> 24 != (COSTED >> 24 | std::uint32_t(AccessSource::async_copy))) continue;
    writer.cost(0, entry.pc, kind_of_access(entry.what), entry.what >> 16 & 0xff, entry.what & 0xffff,
                unpack_cost(entry.mask), table.count_of(entry));
  }
  writer.end();
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    const ProcessRecord record = read_record(file.path());
    CHECK(record.ended);
    return record.kernels.at(0);
  }
  return {};
}

std::vector<cuda::RecordedPattern> recorded(Table& table, const std::vector<WarpCopy>& copies, unsigned width,
                                            bool reads = false) {
  return recorded_kernel(table, copies, width, reads).patterns;
}

void add(banks::Tally& tally, const banks::Access& access, std::uint64_t count) {
  const auto cost = banks::cost(*banks::find_architecture("sm_90"), access);
  tally.add(access.mask, &std::get<banks::Cost>(cost), count);
}

banks::Tally costed(const cuda::RecordedCost& cost) {
  return {.accesses = cost.count,
          .lanes = cost.count * cost.lanes,
          .passes = cost.count * cost.passes,
          .ideal = cost.count * cost.ideal,
          .conflicts = cost.count * (cost.passes - cost.ideal)};
}

banks::Tally tally_of(const std::vector<cuda::RecordedPattern>& patterns, Operation operation) {
  banks::Tally tally;
  for (const cuda::RecordedPattern& pattern : patterns) {
    CHECK(pattern.kind == cuda::Kind::async);
    add(tally, {operation, pattern.width, pattern.mask, pattern.addresses, pattern.sources}, pattern.count);
  }
  return tally;
}

/// From the addresses themselves.
banks::Tally tally_of(const std::vector<WarpCopy>& copies, Operation operation, unsigned width) {
  banks::Tally tally;
  for (const WarpCopy& copy : copies) {
    std::uint32_t sources[32];
    for (unsigned lane = 0; lane < 32; ++lane) {
      sources[lane] = copy.from[lane] == 0 ? banks::no_source : std::uint32_t(copy.from[lane] - SOURCES);
    }
    add(tally, {operation, width, copy.mask, copy.to, sources}, 1);
  }
  return tally;
}

/// Rows of `lanes` lanes, `pitch` bytes apart in global memory, which follow each other in shared memory.
WarpCopy tile(unsigned width, unsigned lanes, std::uint32_t pitch, std::uint64_t first = SOURCES) {
  WarpCopy copy{.from = {}, .to = {}, .mask = 0xffffffff};
  for (unsigned lane = 0; lane < 32; ++lane) {
    copy.from[lane] = first + lane / lanes * pitch + lane % lanes * width;
    copy.to[lane] = 1024 + lane * width;
  }
  return copy;
}

/// Tiles, perhaps swizzled, with lanes that read anywhere, that write anywhere, that write zeros or that are idle.
WarpCopy random_copy(std::mt19937& random, unsigned width) {
  WarpCopy copy = tile(width, 1U << random() % 6, width * (random() % 40), SOURCES + random() % 64 * width);
  const unsigned swizzle = random() % 8, kind = random() % 6;
  for (unsigned lane = 0; lane < 32; ++lane) {
    copy.to[lane] ^= lane / 8 * width & swizzle * width;
    if (kind == 1 || random() % 16 == 0) copy.from[lane] = SOURCES + random() % 512 * width;
    if (kind == 2) copy.to[lane] = random() % 64 * width;
    if (kind == 3 && random() % 2 == 0) copy.from[lane] = 0;
  }
  if (random() % 3 == 0) copy.mask = std::uint32_t(random()) | 16;
  return copy;
}

}  // namespace

TEST_CASE("cuda/injection/patch_copies/equal_bank_model") {
  std::mt19937 random(21);
  for (const unsigned width : {4U, 8U, 16U}) {
    std::vector<WarpCopy> copies;
    for (unsigned i = 0; i < 600; ++i) copies.push_back(random_copy(random, width));
    Table table(4000);
    const auto patterns = recorded(table, copies, width);
    const banks::Tally through = tally_of(patterns, Operation::cp_async);
    CHECK(through == tally_of(copies, Operation::cp_async, width));
    CHECK(through.conflicts > 1000);
    if (width < 16) continue;
    const banks::Tally past = tally_of(patterns, Operation::cp_async_cg);
    CHECK(past == tally_of(copies, Operation::cp_async_cg, width));
    CHECK(past.conflicts > 1000);
  }
}

TEST_CASE("cuda/injection/patch_copies/equal_copies_are_one") {
  std::vector<WarpCopy> copies;
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint64_t first = SOURCES + (std::uint64_t{i} << 20);
    copies.push_back(tile(16, 4, 4096, first));           // in rows of 64 bytes
    copies.push_back(tile(16, 8, 128 * (i + 1), first));  // of lines, wherever they are
    copies.push_back(tile(16, 4, 4096, first + 64));      // in the other halves of lines
    copies.push_back(tile(16, 4, 4096, first));
    copies.back().from[31] = 0;
  }
  Table table(1000);
  auto patterns = recorded(table, copies, 16);
  REQUIRE(patterns.size() == 4);
  // Several threads run the blocks, so the order of the patterns differs from run to run.
  std::ranges::sort(patterns, {}, [](const cuda::RecordedPattern& pattern) { return pattern.sources[31]; });
  for (const cuda::RecordedPattern& pattern : patterns) {
    CHECK(pattern.count == 16);
    CHECK(pattern.addresses.front() == 1024);
    CHECK(pattern.addresses.back() == 1024 + 31 * 16);  // without the rank of the block
  }
  CHECK(patterns[0].sources[31] == 31 * 16);
  CHECK(patterns[1].sources[3] == 48);
  CHECK(patterns[1].sources[31] == 7 * 128 + 48);
  CHECK(patterns[2].sources[31] == 7 * 128 + 112);
  CHECK(patterns[3].sources[30] == 7 * 128 + 32);
  CHECK(patterns[3].sources[31] == banks::no_source);
  // Lines that are alike in their low 32 bits, and lanes without a source before others.
  WarpCopy far = tile(16, 1, 0);
  far.from[0] = 0;
  far.from[2] += std::uint64_t{1} << 39;
  Table other(1000);
  const auto lines = recorded(other, {far}, 16).at(0).sources;
  CHECK(lines[1] == 0);
  CHECK(lines[2] == 128);
  CHECK(lines[3] == 0);
}

TEST_CASE("cuda/injection/patch_copies/lines_of_narrow_copies") {
  // Through the L1 cache, it does not matter in which line a word is.
  std::mt19937 random(22);
  std::vector<WarpCopy> copies;
  for (unsigned i = 0; i < 16; ++i) {
    copies.push_back(tile(4, 32, 0));
    for (std::uint64_t& from : copies.back().from) from += random() % 1000 * 128;
  }
  Table table(1000);
  const auto patterns = recorded(table, copies, 4);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].sources[31] == 124);
}

TEST_CASE("cuda/injection/patch_copies/both_memories") {
  Table table(1000);
  WarpCopy half = tile(8, 32, 0);
  for (unsigned lane = 0; lane < 16; ++lane) half.from[lane] = 0;
  REQUIRE(recorded(table, {half, half}, 8, true).size() == 1);
  REQUIRE(table.header().used == 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const bool global = table.entries[i].what == pack_what(AccessSource::global_copy, 8, 0);
    CHECK(table.entries[i].mask == (global ? 0xffff0000 : 0xffffffff));
    CHECK(table.count_of(table.entries[i]) == 2);
  }
}

TEST_CASE("cuda/injection/patch_copies/full_table") {
  // Most copies have no room, and the patch computes their cost: both for 16 bytes, as it does not know the opcode.
  std::mt19937 random(23);
  for (const unsigned width : {4U, 8U, 16U}) {
    std::vector<WarpCopy> copies;
    for (unsigned i = 0; i < 800; ++i) copies.push_back(random_copy(random, width));
    Table table(100);
    const cuda::RecordedKernel kernel = recorded_kernel(table, copies, width);
    CHECK(kernel.patterns.size() < 200);
    for (const bool past : {false, true}) {
      const Operation operation = past ? Operation::cp_async_cg : Operation::cp_async;
      if (past && width < 16) continue;
      banks::Tally tally = tally_of(kernel.patterns, operation);
      for (const cuda::RecordedCost& cost : kernel.costs) {
        CHECK(cost.width == width);
        if ((cost.flags == cuda::past_l1) == past) tally.add(costed(cost));
      }
      CHECK(tally == tally_of(copies, operation, width));
    }
    CHECK(table.launch.lost == 0);
  }
}
