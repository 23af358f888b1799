#include "bankcheck/cuda/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
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

constexpr std::uint64_t any_id = std::numeric_limits<std::uint32_t>::max();

template <class Access>
void take_access(Fields& fields, Access& access) {
  // An offset modulo 2^64 for a function outside of the kernel.
  access.pc = fields.hex("program counter", std::numeric_limits<std::uint64_t>::max());
  access.kind = parse_kind(fields.word("kind"));
  access.width = unsigned(fields.number("width", 32));
  access.flags = std::uint32_t(fields.hex("flags", std::numeric_limits<std::uint32_t>::max()));
}

void take_launch(Fields& fields, RecordedKernel& kernel) {
  RecordedLaunches shape;
  for (auto& side : shape.grid) side = fields.number("grid", std::numeric_limits<std::uint32_t>::max());
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
  pattern.mask = std::uint32_t(fields.hex("mask", std::numeric_limits<std::uint32_t>::max()));
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

class RecordReader {
 public:
  explicit RecordReader(const std::filesystem::path& file) : file_(file) {}

  void take(Fields& fields) {
    const std::string_view record_kind = fields.word("kind of record");
    if (record_kind == "process") {
      record.process = fields.number("process");
      fields.number("parent process");
    } else if (record_kind == "memory") {
      const std::string_view spaces = fields.word("memory spaces");
      const auto watched = support::MemorySpaces::parse(spaces);
      if (!watched) throw Wrong{fmt::format("{} are no memory spaces", support::in_quotes(spaces))};
      record.memory = *watched;
    } else if (record_kind == "device") {
      Device& device = record.devices[unsigned(fields.number("device", any_id))];
      device.major = unsigned(fields.number("compute capability", 1000));
      device.minor = unsigned(fields.number("compute capability", 1000));
      device.name = fields.rest();
    } else if (record_kind == "module") {
      const auto id = unsigned(fields.number("module", any_id));
      const auto device = unsigned(fields.number("device", any_id));
      fields.number("number of bytes");
      record.modules[id] = {device, std::filesystem::path(file_).replace_extension(fmt::format("{}.cubin", id))};
    } else if (record_kind == "kernel") {
      const auto id = unsigned(fields.number("kernel", any_id));
      RecordedKernel& kernel = record.kernels[id];
      kernel.module = unsigned(fields.number("module", any_id));
      fields.hex("program counter", std::numeric_limits<std::uint64_t>::max());
      kernel.bytes = fields.hex("number of bytes");
      kernel.name = fields.rest();
    } else if (record_kind == "launch") {
      take_launch(fields, kernel(fields));
    } else if (record_kind == "pattern") {
      take_pattern(fields, kernel(fields));
    } else if (record_kind == "cost") {
      take_cost(fields, kernel(fields));
    } else if (record_kind == "lost") {
      RecordedKernel& losing = kernel(fields);
      const std::string_view memory = fields.word("memory space");
      if (memory != "shared" && memory != "global")
        throw Wrong{fmt::format("{} is no memory space", support::in_quotes(memory))};
      (memory == "shared" ? losing.lost : losing.global_lost) += fields.number("number of accesses");
    } else if (record_kind == "bulk") {
      RecordedKernel& copying = kernel(fields);
      BulkCopies copies;
      copies.pc = fields.hex("program counter", std::numeric_limits<std::uint64_t>::max());
      copies.kind = fields.word("kind");
      copies.count = fields.number("count");
      constexpr std::size_t max_words = 32;
      while (!fields.at_end() && copies.words.size() < max_words) {
        copies.words.push_back(std::uint32_t(fields.hex("word", std::numeric_limits<std::uint32_t>::max())));
      }
      copying.bulk.push_back(std::move(copies));
    } else if (record_kind == "error") {
      record.errors.push_back(fields.rest());
    } else if (record_kind == "end") {
      record.ended = true;
    } else {
      throw Wrong{fmt::format("there is no record {}", support::in_quotes(record_kind))};
    }
  }

  ProcessRecord record;

 private:
  RecordedKernel& kernel(Fields& fields) {
    const auto id = unsigned(fields.number("kernel", any_id));
    const auto at = record.kernels.find(id);
    if (at == record.kernels.end()) throw Wrong{fmt::format("there is no kernel {} before it", id)};
    return at->second;
  }

  std::filesystem::path file_;
};

}  // namespace

ProcessRecord read_record(const std::filesystem::path& path) {
  RecordReader reader(path);
  ProcessRecord& record = reader.record;
  read_lines(path, head, "record", record.process, record.errors, [&](Fields& fields) {
    reader.take(fields);
    return !record.ended;
  });
  return std::move(record);
}

}  // namespace bankwise::cuda
