// SPDX-License-Identifier: MIT
#include <bankwise/emulator/recorder.hpp>

#include <algorithm>
#include <bit>
#include <map>

#include <bankwise/emulator/shared_memory.hpp>
#include <bankwise/emulator/source_lines.hpp>

namespace bankwise::emulator {

using banks::for_each_lane;

std::uint32_t Recorder::site(std::uintptr_t pc) {
  const auto [found, is_new] = sites_.try_emplace(pc, std::uint32_t(pcs.size()));
  if (is_new) pcs.push_back(pc);
  return found->second;
}

Access& Recorder::add_access(std::uintptr_t pc, Access access) {
  access.site = site(pc);
  access.block = block_;
  access.addresses = addresses.size();
  addresses.resize(addresses.size() + warp_);
  return accesses.emplace_back(access);
}

void Recorder::add_basic_block(std::uintptr_t pc, std::uint32_t level, unsigned lanes) {
  const std::uint32_t where = site(pc);
  const auto [found, is_new] = blocks_.try_emplace(std::uint64_t{level} << 32 | where, basic_blocks.size());
  if (is_new) basic_blocks.push_back({block_, level, where, 0, 0});
  BasicBlock& block = basic_blocks[found->second];
  ++block.issued;
  block.lanes += lanes;
}

namespace {

/// Arrays of different functions never meet in a launch, so those that the launch used are laid out anew: one after the
/// other, each at a multiple of 128 bytes.
class NewLayout {
 public:
  explicit NewLayout(Trace& trace) : trace_(trace), numbers_(shared_layout().arrays.size(), unused) {}

  void use(std::uint32_t offset) { numbers_[index(offset)] = 0; }

  void lay_out(std::uint32_t dynamic_bytes) {
    std::uint32_t end = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] == unused) continue;
      const ThreadLocalArray& array = shared_layout().arrays[i];
      numbers_[i] = std::uint32_t(trace_.arrays.size());
      trace_.arrays.push_back({array.name, end, array.dynamic ? dynamic_bytes : array.bytes});
      end += (trace_.arrays.back().bytes + 127) / 128 * 128;
    }
  }

  std::uint32_t number(std::uint32_t offset) const { return numbers_[index(offset)]; }
  std::uint32_t address(std::uint32_t offset) const {
    const std::size_t i = index(offset);
    return trace_.arrays[numbers_[i]].offset + offset - shared_layout().arrays[i].offset;
  }

 private:
  static constexpr std::uint32_t unused = ~0U;

  std::size_t index(std::uint32_t offset) const {
    const auto& arrays = shared_layout().arrays;
    const auto holds = [&](std::size_t i) {
      return offset >= arrays[i].offset && (i + 1 == arrays.size() || offset < arrays[i + 1].offset);
    };
    if (holds(last_)) return last_;
    const auto after =
        std::upper_bound(arrays.begin(), arrays.end(), offset, [](auto at, auto& array) { return at < array.offset; });
    return last_ = std::size_t(after - arrays.begin()) - 1;
  }

  Trace& trace_;
  std::vector<std::uint32_t> numbers_;  // of each of the program's arrays
  mutable std::size_t last_ = 0;
};

}  // namespace

Trace merge(const std::vector<Recorder>& records, const Launch& launch) {
  const unsigned warp = launch.warp;
  Trace trace;
  trace.warp = warp;
  std::map<std::uintptr_t, std::uint32_t> sites;
  NewLayout layout(trace);
  for (const Recorder& record : records) {
    trace.blocks.push_back(record.block());
    trace.levels = std::max(trace.levels, record.levels);
    for (const Access& access : record.accesses) {
      for_each_lane(access.mask, [&](unsigned lane) { layout.use(record.addresses[access.addresses + lane]); });
    }
  }
  layout.lay_out(std::uint32_t(launch.dynamic_shared));
  for (const Recorder& record : records) {
    std::vector<std::uint32_t> site_of_record;
    for (const std::uintptr_t pc : record.pcs) {
      const auto [found, is_new] = sites.try_emplace(pc, std::uint32_t(trace.sites.size()));
      if (is_new) trace.sites.push_back(launch.source_lines ? site_of(pc) : Site{"?", 0, "?"});
      site_of_record.push_back(found->second);
    }
    for (Access access : record.accesses) {
      const std::uint32_t* offsets = &record.addresses[access.addresses];
      access.site = site_of_record[access.site];
      access.addresses = trace.addresses.size();
      access.array = layout.number(offsets[std::countr_zero(access.mask)]);
      trace.addresses.resize(trace.addresses.size() + warp);
      for_each_lane(access.mask,
                    [&](unsigned lane) { trace.addresses[access.addresses + lane] = layout.address(offsets[lane]); });
      trace.accesses.push_back(access);
    }
    for (BasicBlock block : record.basic_blocks) {
      block.site = site_of_record[block.site];
      trace.basic_blocks.push_back(block);
    }
  }
  return trace;
}

}  // namespace bankwise::emulator
