// The table of access patterns in device memory: the layout that the patch (patch.cu) writes and the host reads.
//
// A table is one allocation: a TableHeader, then `slots` keys, then COUNT_SHARDS arrays of `slots` counts, then the
// entries of patterns and those of costs, then the launch slots. Keys and counts form a hash table with open
// addressing; a key is never removed while a kernel may run, so the patch may read it through the L1 cache. Entries
// are filled in the order of insertion, so the host copies only those that are used.
//
// Once the entries of patterns are used up, the patch computes the cost of each access with a new pattern itself, and
// counts the accesses of each instruction that have the same cost. So the totals for the GPU that runs stay exact.
// Patterns and costs of global memory share these entries, but may use only a part of them: a gather from random
// addresses does not push out the patterns of shared memory.
//
// Another table, which both tables of a context share, has a word for each cache line of global memory: which launch
// touched it last, and which of its sectors that launch has read and written.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): also compiled as device code, which has no namespace std

namespace bankwise::cuda {

/// Counts of one pattern are spread over this many words, chosen by multiprocessor: one word in the L2 cache takes
/// about one atomic addition per clock, which would limit the whole GPU. A power of two.
constexpr uint32_t COUNT_SHARDS = 8;

/// Slots that the patch looks at before it gives a pattern up as lost.
constexpr uint32_t MAX_PROBES = 32;

/// Entries for costs, next to `capacity` entries for patterns. An instruction has a few costs; if its active lanes
/// vary, a few hundred.
constexpr uint32_t MIN_COST_ENTRIES = 4096;
constexpr uint32_t cost_entries(uint32_t capacity) {
  return capacity / 8 > MIN_COST_ENTRIES ? capacity / 8 : MIN_COST_ENTRIES;
}

/// The patch reports the number of entries to the host after each so many.
constexpr uint32_t FILL_REPORT_STEP = 64;

/// Warps check that an entry is free before they take one, so all resident warps together may take that many too many.
/// No GPU up to compute capability 12.0 has more than 192 multiprocessors of 64 warps.
constexpr uint32_t SPARE_ENTRIES = 192 * 64;

/// Patterns of global memory that one instruction may have (or several, by chance: its program counter is hashed), and
/// those of all instructions. Gathers have more patterns than anybody would look at, and costs are as exact.
constexpr uint32_t PATTERNS_OF_INSTRUCTION = 1024, INSTRUCTIONS = 4096;
constexpr uint32_t global_entries(uint32_t capacity) { return capacity / 2 < 65536 ? capacity / 2 : 65536; }

/// What reported the access; with its flags, it decides the `kind` of a pattern or the `what` of a bulk record.
enum class AccessSource : uint32_t {
  shared = 0,
  async_copy,
  matrix,
  remote,
  async_store,
  async_reduction,
  global,
  global_copy,  ///< what an asynchronous copy reads
  local,        ///< only its active lanes are counted
  first_bulk,   ///< from here on: no lanes
  bulk_global_to_shared = first_bulk,
  bulk_shared_to_global,
  bulk_shared_to_shared,
  bulk_reduce_shared_to_global,
  bulk_reduce_shared_to_shared,
  bulk_fill_shared,
  tma_load,
  tma_store,
  wgmma,
  tcgen05,          ///< the instruction that ends a group of them
  sectors_read,     ///< of global memory, that the launch had not read before
  sectors_written,  ///< or not written
  end
};

/// The source, bytes per lane (1 to 255), and the low 16 bits of the callback's flags, in one word.
constexpr uint32_t pack_what(AccessSource source, uint32_t width, uint32_t flags) {
  return uint32_t(source) << 24 | (width & 0xff) << 16 | (flags & 0xffff);
}

enum Direction : uint32_t { reads, writes, reads_and_writes };

/// Some of the callback's flags, Sanitizer_DeviceMemoryFlags (sanitizer_patching.h). A reduction whose result is unused
/// only writes.
constexpr Direction direction(uint32_t flags) {
  constexpr uint32_t READ = 1, WRITE = 2, ATOMIC_IN_SYSTEM = 4, ATOMIC_WRITE_ONLY = 256;
  if ((flags & (ATOMIC_IN_SYSTEM | ATOMIC_WRITE_ONLY)) != 0) return reads_and_writes;
  if ((flags & READ) != 0 && (flags & WRITE) != 0) return reads_and_writes;
  return (flags & WRITE) != 0 ? writes : reads;
}

/// Whether they say that the instruction only prefetches.
constexpr bool is_prefetch(uint32_t flags) { return (flags & (1 | 2 | 4 | 8 | 256)) == 8; }

/// Of copies of 16 bytes, only the machine code says whether they pass the L1 cache; of narrower ones none does.
constexpr uint32_t MAY_PASS_L1 = 16;

/// An asynchronous copy's address in a pattern, with all of its source that matters to the cost. In the low 21 bits:
/// its destination in shared memory, which needs 18. Above: COPY_ZEROS if the lane writes zeros, and `from` is null;
/// otherwise the word of its 128-byte line of global memory, in the high 5 bits; if the width is MAY_PASS_L1, that and
/// 32 times `line`, the line's number in the order of the warp's lanes, in the high 10. So an address keeps 32 bits,
/// and a step from lane to lane stays a step.
constexpr uint32_t COPY_ZEROS = 1 << 21;
constexpr uint32_t pack_copy(uint32_t to, uint64_t from, uint32_t line, uint32_t width) {
  const auto word = uint32_t(from >> 2);
  const uint32_t source = width == MAY_PASS_L1 ? (line << 5 | (word & 31)) << 22 : word << 27;
  return (to & (COPY_ZEROS - 1)) | (from == 0 ? COPY_ZEROS : source);
}

/// The words that describe an instruction without lanes; what they mean depends on its source:
///   bulk_…: bytes of one block's shared memory; address in global memory, modulo 128; how many blocks get the bytes
///   tma_load: Sanitizer_LoadMode; how many blocks get the bytes; the words 2 and 13 to 15 of the tensor map
///   wgmma: bytes of A in shared memory, and of B
constexpr uint32_t ENGINE_WORDS = 6, ENGINE_MASK = (1u << ENGINE_WORDS) - 1;

/// In PatternEntry::what: the entry counts accesses of one cost.
constexpr uint32_t COSTED = 0x80000000;
/// The flag of a copy's cost if it passes the L1 cache. A copy of the width MAY_PASS_L1 has one cost of each kind.
constexpr uint32_t PAST_L1 = 1;

/// The address in a window of shared memory that all blocks of a cluster share has the block's rank in the high 8 bits.
constexpr uint32_t BLOCK_BITS = 0xff000000;
/// The same relative to the block that the lowest active lane accesses: equal accesses of other blocks are equal.
constexpr uint32_t relative_to_block(uint32_t address, uint32_t of_lowest_lane) {
  return address ^ (of_lowest_lane & BLOCK_BITS);
}
constexpr bool is_remote(AccessSource source) {
  return source == AccessSource::remote || source == AccessSource::async_store ||
         source == AccessSource::async_reduction;
}

/// The cost of an access, in passes, each below 256. In global memory and in that of other blocks, `ideal` is the
/// number of different cache lines, `passes` of sectors, and `lane_passes` of what the lanes ask for; in local memory
/// all three are 0.
struct PackedCost {
  uint32_t lanes;        ///< active
  uint32_t ideal;        ///< passes without conflicts; 0: the source has no cost
  uint32_t passes;       ///< if lanes that access the same word are served together
  uint32_t lane_passes;  ///< if they queue
};
constexpr uint32_t pack_cost(PackedCost cost) {
  return cost.lanes << 24 | cost.ideal << 16 | cost.passes << 8 | cost.lane_passes;
}
constexpr PackedCost unpack_cost(uint32_t mask) {
  return {mask >> 24, mask >> 16 & 0xff, mask >> 8 & 0xff, mask & 0xff};
}

/// One pattern: the first access of it that was seen. Or the accesses of one instruction that have one cost.
struct PatternEntry {
  uint64_t pc;      ///< absolute program counter of the instruction
  uint32_t slot;    ///< index of its key and its counts
  uint32_t kernel;  ///< LaunchSlot::kernel
  uint32_t mask;    ///< active lanes; pack_cost() of a cost; without lanes: ENGINE_MASK, or 0 of sectors
  uint32_t what;    ///< pack_what(), and COSTED of a cost
  /// Offsets in shared memory; of copies: pack_copy(); of other blocks: relative_to_block(); in global memory: signed
  /// distances from the cache line of the lowest active lane; without lanes: ENGINE_WORDS; nothing of a cost.
  uint32_t addresses[32];
};
static_assert(sizeof(PatternEntry) == 152);

struct TableHeader {
  uint32_t used;          ///< entries of patterns taken, at most LaunchSlot::capacity + SPARE_ENTRIES
  uint32_t costs_used;    ///< entries of costs taken, at most cost_entries() + SPARE_ENTRIES
  uint32_t global_used;   ///< of `used`, by global memory; when at global_entries(), it gets no more
  uint32_t global_costs;  ///< of `costs_used`, by global and local memory; at half of them, they get no more
  uint32_t padding[12];
  uint32_t of_instruction[INSTRUCTIONS];  ///< patterns of global memory, by a hash of the program counter
};
static_assert(sizeof(TableHeader) == 64 + 4 * INSTRUCTIONS);

/// A word for a line of global memory: the launch that has touched it last, a
/// number that is larger for later ones, modulo 2^24, in the high bits; four bits for the sectors that it has read; and
/// four for those that it has written. 0: none yet.
constexpr uint32_t LAUNCH_BITS = 0xffffff00, READ_SHIFT = 4;
constexpr uint32_t LINE_SHIFT = 7, SECTOR_SHIFT = 5;  ///< lines of 128 bytes, sectors of 32

/// What a launch gets as the patch's user data: one for each kernel, shape of launch and stream. All zero means that
/// the host has not filled it in: nothing is watched.
struct LaunchSlot {
  uint64_t header;   ///< TableHeader*; keys, uint64_t[slots] (0 is free), and uint64_t[COUNT_SHARDS][slots] follow it
  uint64_t entries;  ///< PatternEntry[capacity + SPARE_ENTRIES], then those of costs
  uint64_t fill;     ///< uint32_t* in host memory: how many entries are used, now and then
  uint64_t touched;  ///< uint32_t[], a power of two of words, whose exponent is in the low 8 bits; 0: there are none
  uint64_t lost;     ///< accesses for which neither their pattern nor their cost had room
  uint64_t global_lost;  ///< the same of global and local memory
  uint32_t slots;        ///< 0: watch nothing
  uint32_t capacity;     ///< entries of patterns that may be used
  uint32_t kernel;       ///< id in the record
  uint32_t threshold;    ///< blocks to watch: is_watched_block()
};
static_assert(sizeof(LaunchSlot) == 64);

/// LaunchSlot::threshold that watches every block.
constexpr uint32_t ALL_BLOCKS = 0xffffffff;

/// 2^32 divided by the golden ratio: multiples of it, modulo 2^32, are spread evenly for any number of blocks, and no
/// side of a grid divides it. So the watched blocks do not align with rows or columns of a grid.
constexpr uint32_t BLOCK_MULTIPLIER = 2654435769u;

/// Whether the block with linear number `block` (modulo 2^32) is watched.
constexpr bool is_watched_block(uint32_t block, uint32_t threshold) {
  return threshold == ALL_BLOCKS || block * BLOCK_MULTIPLIER < threshold;
}

}  // namespace bankwise::cuda
