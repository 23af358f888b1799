// The patch for global memory and engines, with the emulator as the GPU: patterns, costs and sectors in the table.
#include "tests/bankcheck/cuda/injection/emulated_patch.hpp"

#include <map>
#include <random>
#include <set>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/sectors.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/cuda/injection/patch_engines.cuh"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

/// Each block is a warp that makes one access.
struct WarpAddresses {
  std::uint64_t addresses[32];
  std::uint32_t mask;
};
__global__ void access_all(LaunchSlot* launch, const WarpAddresses* accesses, unsigned flags) {
  const WarpAddresses& access = accesses[blockIdx.x];
  if ((access.mask >> threadIdx.x & 1) == 0) return;
  count_global(launch, 0x1230, access.addresses[threadIdx.x], pack_what(AccessSource::global, 4, flags),
               direction(flags), access.mask);
}

constexpr unsigned LOADS = 1, STORES = 2, ATOMICS = 3;  // flags

void launch(Table& table, const std::vector<WarpAddresses>& accesses, unsigned flags) {
  ++current_launch;
  emulate(access_all, {.grid = {unsigned(accesses.size())}, .block = {32}}, &table.launch, accesses.data(), flags);
}

/// Lane l at `base` + `step` * l, in the lanes of `mask`.
WarpAddresses in_steps(std::uint64_t base, std::int64_t step, std::uint32_t mask = 0xffffffff) {
  WarpAddresses access{.addresses = {}, .mask = mask};
  for (unsigned lane = 0; lane < 32; ++lane) access.addresses[lane] = base + std::uint64_t(step * int(lane));
  return access;
}

/// Words of `bytes` bytes from `base` on, in any order.
WarpAddresses random_words(std::mt19937& random, std::uint64_t base, unsigned bytes) {
  WarpAddresses access{.addresses = {}, .mask = random() % 3 == 0 ? std::uint32_t(random()) | 16 : 0xffffffff};
  for (std::uint64_t& address : access.addresses) address = base + random() % (bytes / 4) * 4;
  return access;
}

constexpr std::uint64_t BASE = 0x7f0000000000;

/// By the model, which takes addresses of 32 bits.
banks::SectorTally expected_of(const std::vector<WarpAddresses>& accesses) {
  banks::SectorTally tally;
  for (const WarpAddresses& access : accesses) {
    const auto offsets = trace::relative_to_line(access.mask, access.addresses);
    const auto cost =
        banks::sectors(*banks::find_architecture("sm_90"), {banks::Operation::load, 4, access.mask, offsets});
    tally.add(access.mask, &*cost);
  }
  return tally;
}

/// What the table has, patterns by the model.
banks::SectorTally tally_of(const Table& table) {
  banks::SectorTally tally;
  for (std::uint32_t i = 0; i < table.header().used; ++i) {
    const PatternEntry& entry = table.entries[i];
    std::uint64_t addresses[32];
    for (unsigned lane = 0; lane < 32; ++lane) {
      addresses[lane] = BASE + std::uint64_t(std::int64_t{std::int32_t(entry.addresses[lane])});
    }
    const auto offsets = trace::relative_to_line(entry.mask, addresses);
    const auto cost =
        banks::sectors(*banks::find_architecture("sm_90"), {banks::Operation::load, 4, entry.mask, offsets});
    tally.add(entry.mask, &*cost, table.count_of(entry));
  }
  for (std::uint32_t i = 0; i < table.header().costs_used; ++i) {
    const PatternEntry& entry = table.costs()[i];
    if ((entry.what & COSTED) == 0) continue;
    const PackedCost cost = unpack_cost(entry.mask);
    const banks::SectorCost sectors{cost.passes, (cost.lane_passes * 4 + 31) / 32, cost.ideal, cost.lane_passes * 4};
    tally.add((std::uint64_t{1} << cost.lanes) - 1, &sectors, table.count_of(entry));
  }
  return tally;
}

/// Sectors of a source in the table.
std::uint64_t sectors_in(const Table& table, AccessSource source) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < table.header().costs_used; ++i) {
    const PatternEntry& entry = table.costs()[i];
    if (entry.what == pack_what(source, 0, 0)) sum += table.count_of(entry);
  }
  return sum;
}

void add_sectors(const std::vector<WarpAddresses>& accesses, std::set<std::uint64_t>& sectors) {
  for (const WarpAddresses& access : accesses) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((access.mask >> lane & 1) != 0) sectors.insert(access.addresses[lane] / 32);
    }
  }
}

}  // namespace

TEST_CASE("cuda/injection/patch/equal_accesses_are_one") {
  Table table(1000);
  std::vector<WarpAddresses> accesses;
  for (unsigned i = 0; i < 20; ++i) {
    const std::uint64_t base = BASE + (std::uint64_t{i} << 12);
    accesses.push_back(in_steps(base + 8, 4));
    accesses.push_back(in_steps(base, 256, 0x00aaaaaa));
    accesses.push_back(in_steps(base + 4096, -4));
    WarpAddresses squares = in_steps(base, 0);
    for (unsigned lane = 0; lane < 32; ++lane) squares.addresses[lane] += 4 * (lane * lane % 33);
    accesses.push_back(squares);
  }
  launch(table, accesses, LOADS);
  CHECK(table.header().used == 4);
  CHECK(table.header().global_used == 4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const PatternEntry& entry = table.entries[i];
    CHECK(table.count_of(entry) == 20);
    CHECK(entry.pc == 0x1230);
    if (entry.mask == 0x00aaaaaa) CHECK(entry.addresses[3] == 3 * 256 - 256);  // from the line of lane 1
    if (entry.addresses[1] == std::uint32_t(-4)) CHECK(entry.addresses[31] == std::uint32_t(-124));
  }
  CHECK(tally_of(table) == expected_of(accesses));
}

TEST_CASE("cuda/injection/patch/every_access_is_counted_once") {
  std::mt19937 random(11);
  std::vector<WarpAddresses> accesses;
  for (unsigned i = 0; i < 1500; ++i) {
    const std::uint64_t base = BASE + random() % 64 * 4;
    accesses.push_back(in_steps(base, std::int64_t(random() % 64) * 4 - 128, random() | 1U));
    accesses.push_back(random_words(random, base, 1U << (5 + random() % 16)));
    // Distances that do not fit into 32 bits, and those whose products do not.
    accesses.push_back(in_steps(base, std::int64_t{1} << (20 + random() % 12)));
  }
  const banks::SectorTally expected = expected_of(accesses);
  for (const std::uint32_t capacity : {100U, 4000U, 100000U}) {
    Table table(capacity);
    launch(table, accesses, LOADS);
    CHECK(table.launch.global_lost == 0);
    CHECK(tally_of(table) == expected);
    // The others are costed: this instruction has shown enough.
    CHECK(table.header().global_used >= std::min(capacity / 2, PATTERNS_OF_INSTRUCTION));
    CHECK(table.header().global_used < std::min(capacity / 2, PATTERNS_OF_INSTRUCTION) + 64);
    CHECK(table.header().costs_used > 0);
  }
}

TEST_CASE("cuda/injection/patch/different_sectors_of_launch") {
  std::mt19937 random(12);
  Table table(10000);
  std::uint64_t read = 0, written = 0;
  for (unsigned number = 0; number < 6; ++number) {
    const unsigned flags = number % 3 == 0 ? LOADS : number % 3 == 1 ? STORES : ATOMICS;
    std::vector<WarpAddresses> accesses;
    for (unsigned i = 0; i < 500; ++i) {
      accesses.push_back(random_words(random, BASE, 1 << 15));
      accesses.push_back(in_steps(BASE + (1 << 20) + random() % 100 * 128, 4));
    }
    launch(table, accesses, flags);
    std::set<std::uint64_t> sectors;
    add_sectors(accesses, sectors);
    if (flags != STORES) read += sectors.size();
    if (flags != LOADS) written += sectors.size();
    CHECK(sectors_in(table, AccessSource::sectors_read) == read);
    CHECK(sectors_in(table, AccessSource::sectors_written) == written);
  }
  // A word for several lines: a lower bound. An earlier launch does not take words from a later one.
  Table small(10000, 4);
  std::vector<WarpAddresses> accesses;
  for (unsigned i = 0; i < 64; ++i) accesses.push_back(in_steps(BASE + 128 * i, 4));
  launch(small, accesses, LOADS);
  CHECK(sectors_in(small, AccessSource::sectors_read) == 16 * 4);
  current_launch -= 2;
  launch(small, accesses, LOADS);
  CHECK(sectors_in(small, AccessSource::sectors_read) == 16 * 4);
  small.launch.touched = 0;
  launch(small, accesses, STORES);
  CHECK(sectors_in(small, AccessSource::sectors_written) == 0);
}

TEST_CASE("cuda/injection/patch/half_of_costs") {
  // Costs of more kinds than their half has room for are lost, and counted.
  Table table(100);
  std::mt19937 random(13);
  std::vector<WarpAddresses> accesses;
  for (unsigned i = 0; i < 6000; ++i) accesses.push_back(random_words(random, BASE, 1U << (6 + random() % 10)));
  launch(table, accesses, LOADS);
  CHECK(table.header().global_costs <= MIN_COST_ENTRIES / 2 + 64);
  CHECK(tally_of(table).accesses + table.launch.global_lost == accesses.size());
}

namespace {

/// Each block is a warp whose lanes `mask` call the patch for one bulk copy alike.
struct Copy {
  std::uint64_t address;
  std::uint32_t bytes, mask;
};
__global__ void copy_all(LaunchSlot* launch, const Copy* copies, AccessSource source) {
  const Copy& copy = copies[blockIdx.x];
  if ((copy.mask >> threadIdx.x & 1) == 0) return;
  count_bulk(launch, 0x1230, source, copy.bytes, copy.address, 3);
}

}  // namespace

TEST_CASE("cuda/injection/patch/bulk_copies") {
  std::mt19937 random(14);
  for (const auto source : {AccessSource::bulk_global_to_shared, AccessSource::bulk_shared_to_global,
                            AccessSource::bulk_reduce_shared_to_global}) {
    Table table(1000);
    std::vector<Copy> copies;
    std::set<std::uint64_t> sectors;
    for (unsigned i = 0; i < 300; ++i) {
      copies.push_back(
          {BASE + random() % 4096 * 16, (i % 5 + 1) * 48U, i % 2 == 0 ? 1U : std::uint32_t(random()) | 1U});
      for (std::uint64_t at = copies[i].address; at < copies[i].address + copies[i].bytes; at += 16) {
        sectors.insert(at / 32);
      }
    }
    copies.push_back({0, 64, 1});  // between blocks
    ++current_launch;
    emulate(copy_all, {.grid = {unsigned(copies.size())}, .block = {32}}, &table.launch, copies.data(), source);
    const bool reads = source != AccessSource::bulk_shared_to_global;
    const bool writes = source != AccessSource::bulk_global_to_shared;
    CHECK(sectors_in(table, AccessSource::sectors_read) == (reads ? sectors.size() : 0));
    CHECK(sectors_in(table, AccessSource::sectors_written) == (writes ? sectors.size() : 0));
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counted, expected;  // by bytes and offset
    for (std::uint32_t i = 0; i < table.header().costs_used; ++i) {
      const PatternEntry& entry = table.costs()[i];
      if (entry.what != pack_what(source, 0, 0)) continue;
      CHECK(entry.mask == ENGINE_MASK);
      CHECK(entry.addresses[2] == 3);
      counted[{entry.addresses[0], entry.addresses[1]}] += table.count_of(entry);
    }
    for (const Copy& copy : copies) ++expected[{copy.bytes, copy.address % 128}];
    CHECK(counted == expected);
  }
}
