// The bank model's knowledge about GPUs is data: the files of architectures/ are the table.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/access.hpp>

namespace bankwise::banks {

/// The evidence for a rule, best first. `measured`: with hardware counters, by this project. `measured_by_others`: a
/// published measurement. `vendor`: a manual, source code or a statement by the vendor. `inferred`: no source.
enum class Evidence { measured, measured_by_others, vendor, inferred };
std::string_view to_string(Evidence evidence);

/// Memory banks. Address a lies in bank (a / bytes) mod count, in row a / row_bytes. In one pass a bank delivers what
/// it holds of one row. All are powers of two.
struct Banks {
  unsigned count = 32, bytes = 4, row_bytes = 128;

  bool operator==(const Banks&) const = default;
};

/// The lanes that the hardware serves together, one mask per lane group. Lanes of different lane groups never conflict.
struct LaneGroups {
  unsigned count = 1;
  std::array<std::uint64_t, 8> lanes{~std::uint64_t{0}};

  bool operator==(const LaneGroups&) const = default;
};

/// Two lanes share a lane group if, for each key, their numbers have the same parity of the bits in it. The last key is
/// the lowest bit of the lane group's number.
constexpr LaneGroups lane_groups_by(std::initializer_list<unsigned> keys) {
  LaneGroups lane_groups{1U << keys.size(), {}};
  for (unsigned lane = 0; lane < max_lanes; ++lane) {
    unsigned lane_group = 0;
    for (const unsigned key : keys) {
      unsigned parity = 0;
      for (unsigned bits = lane & key; bits != 0; bits &= bits - 1) parity ^= 1;
      lane_group = 2 * lane_group + parity;
    }
    lane_groups.lanes[lane_group] |= std::uint64_t{1} << lane;
  }
  return lane_groups;
}

/// Runs of 8, 16, 32 or 64 neighbouring lanes.
constexpr LaneGroups consecutive(unsigned lanes) {
  if (lanes == 8) return lane_groups_by({32, 16, 8});
  if (lanes == 16) return lane_groups_by({32, 16});
  return lanes == 32 ? lane_groups_by({32}) : lane_groups_by({});
}

/// How the lanes of one lane group queue. Passes are the most that any one bank has to deliver:
enum class Serving {
  words,          ///< distinct words: lanes of one word are served together, for any number of words simultaneously
  lanes,          ///< lanes: they queue, even for the same word
  addresses,      ///< distinct byte addresses: lanes of one word queue unless they want exactly the same bytes
  one_broadcast,  ///< each step serves all lanes of one word that the hardware chooses, and one lane of every other bank
  copies,         ///< lanes that any one lane meets in the bank of its source or of its destination, itself included
  lines,          ///< moves of a line of global memory to a line of shared memory: moves() in cost.cpp
};

/// How the passes of an instruction follow from those of its lane groups.
enum class Total {
  sum,
  worst,           ///< the largest: counted in ways, as the guide of compute capability 2.x does
  worst_plus_one,  ///< the largest plus one
};

using OperationSet = unsigned;  ///< bit o: Operation o
using WidthSet = unsigned;      ///< bit w: w bytes per lane

/// How one architecture serves some operations at some widths.
struct Rule {
  OperationSet operations = 0;
  WidthSet widths = 0;
  LaneGroups lane_groups = consecutive(32);
  Banks banks;
  Serving serving = Serving::words;
  Total total = Total::sum;
  /// Two neighbouring lane groups of a load merge into one if the lanes n and n^1, or the lanes n and n^2, have the
  /// same address wherever both are active: a condition on the whole warp.
  bool merges = false;
  unsigned request_bytes = 0;  ///< a wider access is split into consecutive requests of this size; 0: one request
  unsigned rounds = 1;         ///< passes per delivery of a bank
  Evidence evidence = Evidence::inferred;
  std::string_view source;   ///< where the rule comes from
  std::string_view refusal;  ///< if set: there is no number to give, for this reason

  // The same rule, but for one part. Clang 14 needs the template before its uses.
  template <class Part>
  constexpr Rule with(Part Rule::*part, Part value) const {
    Rule copy = *this;
    copy.*part = value;
    return copy;
  }
  constexpr Rule with_banks(Banks other) const { return with(&Rule::banks, other); }
  constexpr Rule served_by(Serving other) const { return with(&Rule::serving, other); }
  constexpr Rule with_total(Total other) const { return with(&Rule::total, other); }
  constexpr Rule with_merging() const { return with(&Rule::merges, true); }
  constexpr Rule split_into(unsigned bytes) const { return with(&Rule::request_bytes, bytes); }
  constexpr Rule in_rounds(unsigned other) const { return with(&Rule::rounds, other); }

  /// Whether each pass of a bank delivers one distinct word, or one lane's, whatever the addresses, and the lane groups
  /// add up: then a layout that keeps distinct words distinct changes nothing but their banks.
  constexpr bool only_banks_matter() const {
    return (serving == Serving::words || serving == Serving::lanes) && banks.bytes == 4 &&
           banks.row_bytes == banks.count * banks.bytes && total == Total::sum;
  }
};

// The capacity of cost().
inline constexpr unsigned max_banks = 64, max_lane_groups = 8;
inline constexpr unsigned max_units = 128;  ///< words, or whatever a bank delivers, for the lanes of one lane group

/// Bytes of one request of an access: all of it, unless the rule splits it.
constexpr unsigned request_bytes(const Rule& rule, unsigned width) {
  return rule.request_bytes != 0 && rule.request_bytes < width ? rule.request_bytes : width;
}

// What the table knows about a GPU besides the cost of an access.

/// A fact, or the reason why it is not known.
template <class Fact>
struct Known {
  std::optional<Fact> fact;
  std::string_view why_unknown{};
};

/// What a multiprocessor (compute unit) has for its blocks.
struct Multiprocessor {
  std::uint32_t shared;                          ///< bytes of shared memory for all resident blocks
  std::uint32_t per_block;                       ///< bytes that one block may have
  std::uint32_t reserved;                        ///< bytes that the system takes of each block's
  std::uint32_t unit;                            ///< bytes in which it is allocated
  std::optional<std::uint32_t> threads, blocks;  ///< at most; empty: not known

  bool operator==(const Multiprocessor&) const = default;
};

/// A GPU as it is sold, with the properties that programs read.
struct GpuModel {
  std::string_view name;
  int major, minor;  ///< compute capability
  int multiprocessors, clock_khz, memory_khz, bus_bits;
  unsigned memory_gib, l2_kib;
  Multiprocessor multiprocessor;
  /// The most that programs reached, in GB/s (10^9 bytes); `access_patterns --bandwidth` measures both.
  Known<double> l2_bandwidth{std::nullopt, "it has not been measured on this GPU"};
  Known<double> dram_bandwidth{std::nullopt, "it has not been measured on this GPU"};
};

/// Blocks of `threads` threads with `bytes` of shared memory that are resident at the same time, as far as shared
/// memory and threads limit them (registers may limit further). `threads` 0: not known.
std::uint32_t resident_blocks(const Multiprocessor& multiprocessor, std::uint64_t bytes, std::uint64_t threads);

/// The most bytes of shared memory with which as many blocks are resident as with `bytes`.
std::uint64_t bytes_with_same_occupancy(const Multiprocessor& multiprocessor, std::uint64_t bytes,
                                        std::uint64_t threads);

/// How global memory moves: in sectors, each as a whole. Both are powers of two.
struct Sectors {
  unsigned sector_bytes = 32, line_bytes = 128;
  Evidence evidence = Evidence::inferred;
  std::string_view source;
};

using EngineSet = unsigned;  ///< bit e: Engine e

/// How a copy engine cuts the rows of a copy. A piece ends where a cache line ends, of global or of shared memory. Its
/// clocks are:
enum class Pieces {
  none,            ///< not cut: all that counts are the bytes
  requests,        ///< one for its whole sectors of global memory, and one for each sector that it has only a part of
  sectors,         ///< one for each sector of global memory, and one more if it has only a part of one
  headed_sectors,  ///< one for each sector of global memory, and one more
};

/// How some engines read and write shared memory. None of them conflicts: an engine chooses the order of its bytes.
struct EngineRule {
  EngineSet engines = 0;
  unsigned pass_bytes = 0;          ///< that the banks serve in a pass; 0: it takes no pass from the accesses of warps
  double bytes_per_cycle = 0;       ///< the most
  unsigned instruction_cycles = 0;  ///< the least for one instruction
  Pieces pieces = Pieces::none;
  Evidence evidence = Evidence::inferred;
  std::string_view source;
};

/// A row of the table.
struct Architecture {
  std::string_view name;        ///< "sm_90"
  std::string_view aliases{};   ///< other names, and more GPUs, separated by blanks
  std::string_view gpus;        ///< "Hopper: H100, H200"; the GPUs after the colon are names, too
  unsigned warp = 32;           ///< lanes of a warp by default
  unsigned lanes = 32;          ///< lanes of a warp at most
  std::span<const Rule> rules;  ///< the first that has the operation and the width applies
  std::string_view note{};      ///< what to know before trusting the numbers
  Known<Multiprocessor> multiprocessor{};
  Known<std::span<const GpuModel>> models{};  ///< the first is the one that the emulator plays
  Known<Sectors> sectors{};                   ///< of global memory
  std::span<const EngineRule> engines{};      ///< an engine without a rule has no known cost
};

/// Whether cost() can handle it: powers of two within its capacity. The table is checked at compile time.
constexpr bool well_formed(const Architecture& architecture);

/// Whether the row lacks nothing: names, rules with a source or a refusal, and what is not known has a reason.
constexpr bool complete(const Architecture& architecture) {
  const auto& [multiprocessor, no_multiprocessor] = architecture.multiprocessor;
  const auto& [models, no_models] = architecture.models;
  const auto& [sectors, no_sectors] = architecture.sectors;
  return !architecture.name.empty() && !architecture.gpus.empty() && !architecture.rules.empty() &&
         std::all_of(architecture.rules.begin(), architecture.rules.end(),
                     [](const Rule& rule) { return rule.source.empty() != rule.refusal.empty(); }) &&
         multiprocessor.has_value() == no_multiprocessor.empty() && models.has_value() == no_models.empty() &&
         sectors.has_value() == no_sectors.empty() && (!sectors || !sectors->source.empty()) &&
         std::all_of(architecture.engines.begin(), architecture.engines.end(),
                     [](const EngineRule& rule) { return rule.bytes_per_cycle > 0 && !rule.source.empty(); }) &&
         (!models || (multiprocessor && !models->empty() && models->front().multiprocessor == *multiprocessor));
}

std::span<const Architecture> architectures();

/// Every name of a row: its own, the aliases, the GPUs, such as "rtx4090".
std::vector<std::string> names_of(const Architecture& architecture);

/// By one of its names, in any case, with or without blanks, "-" and "_": "RTX 4090", "rtx-4090". Null if there is
/// none.
const Architecture* find_architecture(std::string_view name);

/// A GPU by words of its name in sequence ("H200", "rtx-4090", "NVIDIA H100 80GB HBM3"), or the first of a compute
/// capability ("sm_86"). Null if the table has no such GPU.
const GpuModel* find_gpu(std::string_view name);

// --- Implementation of well_formed() ---

constexpr bool well_formed(const Banks& banks) {
  for (const unsigned value : {banks.count, banks.bytes, banks.row_bytes}) {
    if (value == 0 || (value & (value - 1)) != 0) return false;
  }
  return banks.count <= max_banks && banks.row_bytes >= banks.count * banks.bytes;
}

/// Whether there is room for each lane group, and for all, when each of the `lanes` lanes accesses `width` bytes.
constexpr bool fits(const Rule& rule, unsigned lanes, unsigned width) {
  const unsigned request = request_bytes(rule, width), bytes = rule.banks.bytes;
  if (bytes == 0 || !well_formed(rule.banks) || width % request != 0) return false;
  if (request > bytes && request % bytes != 0) return false;
  const unsigned units = (request + bytes - 1) / bytes;  // those of a lane
  unsigned lane_groups = 0;
  for (unsigned i = 0; i < rule.lane_groups.count; ++i) {
    unsigned served = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) served += unsigned(rule.lane_groups.lanes[i] >> lane & 1);
    if ((rule.merges ? 2 : 1) * served * units > max_units) return false;
    if (rule.serving == Serving::one_broadcast && (served > 16 || units != 1)) return false;
    if ((rule.serving == Serving::copies || rule.serving == Serving::lines) && (units != 1 || request != width))
      return false;
    lane_groups += served > 0 ? 1 : 0;
  }
  return lane_groups * (width / request) <= max_lane_groups;
}

/// Whether each lane is in exactly one lane group.
constexpr bool well_formed(const LaneGroups& lane_groups) {
  if (lane_groups.count == 0 || lane_groups.count > lane_groups.lanes.size()) return false;
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < lane_groups.count; ++i) {
    if ((seen & lane_groups.lanes[i]) != 0) return false;
    seen |= lane_groups.lanes[i];
  }
  return seen == ~std::uint64_t{0};
}

constexpr bool well_formed(const Rule& rule, unsigned lanes) {
  if (!rule.refusal.empty()) return true;
  if (!well_formed(rule.lane_groups) || (rule.merges && rule.lane_groups.count % 2 != 0)) return false;
  if (rule.rounds == 0 || (rule.serving == Serving::one_broadcast && rule.banks.count != 16)) return false;
  for (unsigned width = 1; width <= 16; ++width) {
    if ((rule.widths >> width & 1) != 0 && !fits(rule, lanes, width)) return false;
  }
  return true;
}

constexpr bool well_formed(const Architecture& architecture) {
  if (architecture.warp == 0 || architecture.warp > architecture.lanes || architecture.lanes > max_lanes) return false;
  return std::all_of(architecture.rules.begin(), architecture.rules.end(),
                     [&](const Rule& rule) { return well_formed(rule, architecture.lanes); });
}

}  // namespace bankwise::banks
