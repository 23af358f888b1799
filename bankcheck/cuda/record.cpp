#include "bankcheck/cuda/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>
#include <utility>

#include "bankcheck/cuda/fields.hpp"

namespace bankwise::cuda {
namespace {

constexpr std::string_view head = "bankwise_cuda_record 3";

/// In the order of Kind.
constexpr std::string_view kinds[]{"load",         "store",         "atomic",       "async",         "ldmatrix",
                                   "stmatrix",     "remote_load",   "remote_store", "remote_atomic", "global_load",
                                   "global_store", "global_atomic", "global_copy",  "local_load",    "local_store"};

Kind parse_kind(std::string_view word) {
  const auto* const kind = std::find(std::begin(kinds), std::end(kinds), word);
  if (kind == std::end(kinds)) throw Wrong{fmt::format("there is no kind {}", support::in_quotes(word))};
  return Kind(kind - std::begin(kinds));
}

constexpr std::uint64_t any_offset = ~std::uint64_t{0};  // modulo 2^64, for a function outside of the kernel

template <class Access>
void take_access(Fields& fields, Access& access) {
  access.pc = fields.hex("program counter", any_offset);
  access.kind = parse_kind(fields.word("kind"));
  access.width = unsigned(fields.number("width", 32));
  access.flags = fields.bits("flags");
}

void take_launch(Fields& fields, RecordedKernel& kernel) {
  RecordedLaunches shape;
  for (auto& side : shape.grid) side = fields.id("grid");
  for (auto& side : shape.block) side = fields.number("block", 1024);
  shape.dynamic_shared = fields.number("number of bytes", 1 << 20);
  shape.launches = fields.number("number of launches");
  shape.watched_blocks = fields.number("number of blocks");
  kernel.shapes.push_back(shape);
}

/// The bits of a copy's address are those of pack_copy() (injection/device_table.hpp).
constexpr std::uint32_t copy_zeros = 1U << 21;

std::uint32_t source_of(std::uint32_t address, unsigned width) {
  if ((address & copy_zeros) != 0) return banks::no_source;
  return 4 * (address >> (width == 16 ? 22 : 27));
}

void take_pattern(Fields& fields, RecordedKernel& kernel) {
  RecordedPattern pattern;
  take_access(fields, pattern);
  pattern.mask = fields.bits("mask");
  pattern.count = fields.number("count");
  pattern.addresses.resize(32 - std::size_t(std::countl_zero(pattern.mask)));
  const bool copies = pattern.kind == Kind::async;
  const bool all_bits = is_global(pattern.kind) || is_remote(pattern.kind);
  if (copies) pattern.sources.resize(pattern.addresses.size());
  // Addresses of the block's own shared memory have its rank in a cluster of at most 16 blocks, from bit 24 on.
  constexpr std::uint32_t max_address = (1U << 28) - 1, own_address = (1U << 24) - 1;
  for (std::uint32_t mask = pattern.mask; mask != 0; mask &= mask - 1) {
    const auto lane = std::size_t(std::countr_zero(mask));
    const auto address = std::uint32_t(fields.hex("address", copies || all_bits ? ~std::uint32_t{0} : max_address));
    pattern.addresses[lane] = all_bits ? address : address & (copies ? copy_zeros - 1 : own_address);
    if (copies) pattern.sources[lane] = source_of(address, pattern.width);
  }
  kernel.patterns.push_back(std::move(pattern));
}

void take_cost(Fields& fields, RecordedKernel& kernel) {
  RecordedCost cost;
  take_access(fields, cost);
  cost.lanes = unsigned(fields.number("number of lanes", 32));
  constexpr std::uint64_t max_passes = 64;  // of copies past the L1 cache, which may take 32 for zeros
  for (unsigned* passes : {&cost.ideal, &cost.passes, &cost.lane_passes}) {
    *passes = unsigned(fields.number("number of passes", max_passes));
  }
  if (cost.passes < cost.ideal || cost.lane_passes < cost.passes) throw Wrong{"passes contradict each other"};
  if ((is_global(cost.kind) || is_remote(cost.kind)) && (cost.ideal == 0 || cost.lane_passes > cost.lanes)) {
    throw Wrong{"lines, sectors and lanes contradict each other"};
  }
  cost.count = fields.number("count");
  kernel.costs.push_back(cost);
}

RecordedKernel& kernel_in(ProcessRecord& record, Fields& fields) {
  const auto id = fields.id("kernel");
  const auto at = record.kernels.find(id);
  if (at == record.kernels.end()) throw Wrong{fmt::format("there is no kernel {} before it", id)};
  return at->second;
}

void take_bulk(Fields& fields, RecordedKernel& kernel) {
  BulkCopies copies;
  copies.pc = fields.hex("program counter", any_offset);
  copies.kind = fields.word("kind");
  copies.count = fields.number("count");
  constexpr std::size_t max_words = 32;
  while (!fields.at_end() && copies.words.size() < max_words) copies.words.push_back(fields.bits("word"));
  kernel.bulk.push_back(std::move(copies));
}

/// A line of the file.
bool take_record_line(ProcessRecord& record, std::string_view kind, Fields& fields) {
  if (kind == "process") {
    record.process = fields.number("process");
    fields.number("parent process");
  } else if (kind == "memory") {
    const std::string_view spaces = fields.word("memory spaces");
    const auto watched = support::MemorySpaces::parse(spaces);
    if (!watched) throw Wrong{fmt::format("{} are no memory spaces", support::in_quotes(spaces))};
    record.memory = *watched;
  } else if (kind == "device") {
    Device& device = record.devices[fields.id("device")];
    device.major = unsigned(fields.number("compute capability", 1000));
    device.minor = unsigned(fields.number("compute capability", 1000));
    device.name = fields.rest();
  } else if (kind == "module") {
    const auto id = fields.id("module"), device = fields.id("device");
    fields.number("number of bytes");
    record.modules[id].device = device;
  } else if (kind == "kernel") {
    RecordedKernel& kernel = record.kernels[fields.id("kernel")];
    kernel.module = fields.id("module");
    fields.hex("program counter", any_offset);
    kernel.bytes = fields.hex("number of bytes");
    kernel.name = fields.rest();
  } else if (kind == "launch") {
    take_launch(fields, kernel_in(record, fields));
  } else if (kind == "pattern") {
    take_pattern(fields, kernel_in(record, fields));
  } else if (kind == "cost") {
    take_cost(fields, kernel_in(record, fields));
  } else if (kind == "lost") {
    RecordedKernel& losing = kernel_in(record, fields);
    const std::string_view memory = fields.word("memory space");
    if (memory != "shared" && memory != "global")
      throw Wrong{fmt::format("{} is no memory space", support::in_quotes(memory))};
    (memory == "shared" ? losing.lost : losing.global_lost) += fields.number("number of accesses");
  } else if (kind == "bulk") {
    take_bulk(fields, kernel_in(record, fields));
  } else {
    return false;
  }
  return true;
}

}  // namespace

ProcessRecord read_record(const std::filesystem::path& path) {
  auto record = read_lines<ProcessRecord>(path, head, "record", take_record_line);
  for (auto& [id, module] : record.modules) {
    module.cubin = std::filesystem::path(path).replace_extension(fmt::format("{}.cubin", id));
  }
  return record;
}

}  // namespace bankwise::cuda
