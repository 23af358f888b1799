#include <array>
#include <set>

#include "bankcheck/cuda/resolve_parts.hpp"

namespace bankwise::cuda {
namespace {

using banks::Operation;
using trace::SectorMemory;

/// In memories that cost sectors, and in local memory.
Operation sector_operation(Kind kind) {
  switch (kind) {
    case Kind::global_atomic:
    case Kind::remote_atomic: return Operation::atomic;
    case Kind::global_store:
    case Kind::remote_store:
    case Kind::local_store: return Operation::store;
    case Kind::global_copy: return Operation::cp_async;
    default: return Operation::load;
  }
}

constexpr unsigned gpu_sector = 32;        // bytes
constexpr unsigned max_sector_width = 16;  // of a trace; from compute capability 10.0, lanes can load 32 bytes

SectorMemory memory_of(Kind kind) { return is_remote(kind) ? SectorMemory::remote : SectorMemory::global; }

trace::Pattern sector_pattern(const RecordedPattern& recorded, std::uint32_t site) {
  trace::Pattern pattern{.site = site,
                         .operation = sector_operation(recorded.kind),
                         .width = recorded.width,
                         .mask = recorded.mask,
                         .addresses = recorded.addresses,
                         .count = recorded.count};
  if (is_remote(recorded.kind)) return pattern;
  constexpr std::uint64_t base = std::uint64_t{1} << 32;  // more than any distance below
  std::array<std::uint64_t, 32> addresses{};
  for (std::size_t lane = 0; lane < recorded.addresses.size(); ++lane) {
    addresses[lane] = base + std::uint64_t(std::int64_t{std::int32_t(recorded.addresses[lane])});
  }
  pattern.addresses = trace::relative_to_line(recorded.mask, addresses.data());
  return pattern;
}

/// Sectors and lines as the patch counts them (injection/warp_cost.cuh).
bool has_sectors_of_gpu(const banks::Architecture& architecture) {
  const auto& sectors = architecture.sectors.fact;
  return sectors && sectors->sector_bytes == gpu_sector && sectors->line_bytes == 128 && architecture.warp == 32;
}

/// What accesses cost that the GPU has costed.
banks::SectorTally sector_tally_of(const RecordedCost& cost) {
  const std::uint64_t bytes = std::uint64_t{cost.lane_passes} * cost.width;
  return {.accesses = cost.count,
          .lanes = cost.count * cost.lanes,
          .sectors = cost.count * cost.passes,
          .ideal = cost.count * ((bytes + gpu_sector - 1) / gpu_sector),
          .lines = cost.count * cost.ideal,
          .bytes = cost.count * bytes};
}

/// Accesses whose sectors are known but not their addresses: excess on all architectures with such sectors.
void add_excess(const banks::SectorTally& tally, SectorMemory memory, trace::GlobalExcess excess, const Code& code,
                const std::vector<const banks::Architecture*>& architectures, trace::Builder& builder) {
  builder.trace().*trace::sector_members[std::size_t(memory)].excess_accesses += tally.accesses;
  excess.accesses = tally.accesses;
  excess.tally = tally;
  std::set<const banks::Architecture*> costed(architectures.begin(), architectures.end());
  if (code.architecture != nullptr) costed.insert(code.architecture);
  for (const banks::Architecture* architecture : costed) {
    if (!has_sectors_of_gpu(*architecture)) continue;
    excess.architecture = architecture->name;
    builder.add(excess, memory);
  }
}

/// Counts of sectors, and copies of many bytes.
void add_bulk(const RecordedKernel& kernel, const Code& code,
              const std::vector<const banks::Architecture*>& architectures, trace::Builder& builder) {
  trace::KernelTrace& trace = builder.trace();
  for (const BulkCopies& copies : kernel.bulk) {
    if (copies.kind == "sectors_read") {
      trace.sectors_read += copies.count;
    } else if (copies.kind == "sectors_written") {
      trace.sectors_written += copies.count;
    } else if (const auto moved = sectors_of(copies)) {
      add_excess(
          moved->tally, SectorMemory::global,
          {.site = builder.site(site_of(code, copies.pc)), .operation = moved->operation, .width = max_sector_width},
          code, architectures, builder);
    } else if (is_global(copies)) {
      trace.global_left_out += copies.count;
    }
  }
}

}  // namespace

void add_sectors(const RecordedKernel& kernel, const Code& code, support::MemorySpaces memory,
                 const std::vector<const banks::Architecture*>& architectures, trace::Builder& builder) {
  trace::KernelTrace& trace = builder.trace();
  const auto leave_out = [&](Kind kind, std::uint64_t count) {
    (is_remote(kind) ? trace.left_out[std::string(trace::remote_memory)] : trace.global_left_out) += count;
  };
  const auto is_watched = [&](Kind kind) {
    return is_remote(kind) ? memory.shared : memory.global && (is_global(kind) || is_local(kind));
  };
  for (const RecordedPattern& recorded : kernel.patterns) {
    if (!is_watched(recorded.kind)) continue;
    if (recorded.mask == 0 || recorded.width > max_sector_width) {
      leave_out(recorded.kind, recorded.count);
    } else {
      builder.add_global(sector_pattern(recorded, builder.site(site_of(code, recorded.pc))), memory_of(recorded.kind));
    }
  }
  for (const RecordedCost& cost : kernel.costs) {
    if (!is_watched(cost.kind)) continue;
    if (is_local(cost.kind)) {
      builder.add(trace::LocalAccesses{.site = builder.site(site_of(code, cost.pc)),
                                       .operation = sector_operation(cost.kind),
                                       .width = std::min(cost.width, max_sector_width),
                                       .accesses = cost.count,
                                       .lanes = cost.count * cost.lanes});
    } else if (cost.width > max_sector_width) {
      leave_out(cost.kind, cost.count);
    } else {
      add_excess(
          sector_tally_of(cost), memory_of(cost.kind),
          {.site = builder.site(site_of(code, cost.pc)), .operation = sector_operation(cost.kind), .width = cost.width},
          code, architectures, builder);
    }
  }
  if (!memory.global) return;
  add_bulk(kernel, code, architectures, builder);
  trace.global_left_out += kernel.global_lost + code.unseen.loads + code.unseen.stores;  // at least
}

}  // namespace bankwise::cuda
