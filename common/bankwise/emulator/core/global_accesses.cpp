#include <bankwise/emulator/core/global_accesses.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {
namespace {

banks::Operation global_operation(banks::Operation operation) {
  using enum banks::Operation;
  return operation == atomic_inc || operation == atomic_cas ? atomic : operation;
}

using ConstantRanges = std::map<std::uintptr_t, std::uintptr_t>;

/// Names of the variables in constant memory, one after another, which bankcheck adds to the sources.
extern "C" {
extern const char __start_bankwise_constants[] __attribute__((weak));
extern const char __stop_bankwise_constants[] __attribute__((weak));
}

/// What cannot be written, and the variables in constant memory: begin and end of each range.
ConstantRanges constants_of_program() {
  ConstantRanges ranges;
  const dl_phdr_info program = loaded_program();
  for (const auto& segment : std::span(program.dlpi_phdr, program.dlpi_phnum)) {
    const std::uintptr_t begin = program.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0) ranges.emplace(begin, begin + segment.p_memsz);
  }
  std::set<std::string_view> names;
  for (const char* name = __start_bankwise_constants; name < __stop_bankwise_constants;) {
    const std::string_view constant = name;
    names.insert(constant);
    name += constant.size() + 1;
  }
  if (names.empty()) return ranges;
  for_each_symbol([&](const Elf64_Sym& symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) return;
    const std::string plain = plain_name(name);
    if (!names.contains(std::string_view(plain).substr(plain.rfind(':') + 1))) return;
    const std::uintptr_t begin = program.dlpi_addr + symbol.st_value;
    ranges.emplace(begin, begin + symbol.st_size);
  });
  return ranges;
}

}  // namespace

void GlobalAccesses::begin_block() {
  watches_ = block_.recorder != nullptr && block_.launch.global_patterns > 0;
  if (!watches_) return;
  accesses_ = 0;
  units_.clear();
  pending_.assign(block_.warps.size(), 0);
}

/// Constants are another memory on a GPU, and those of the compiler are in the code there.
bool GlobalAccesses::is_constant(const void* address) {
  if (!is_of_program(address)) return false;
  static const ConstantRanges constants = constants_of_program();
  const auto after = constants.upper_bound(std::uintptr_t(address));
  return after != constants.begin() && std::uintptr_t(address) < std::prev(after)->second;
}

void GlobalAccesses::take(const RunningWarp& warp, std::uint64_t group) {
  std::size_t& pending = pending_[warp.first / block_.launch.warp];
  const auto next_of = [](const Lane& lane) -> const LoggedAccess* {
    if (lane.next_global == lane.global.size()) return nullptr;
    const LoggedAccess& next = lane.global[lane.next_global];
    return next.noted == lane.next ? &next : nullptr;
  };
  // Lanes that have made the same notes have made the same accesses, unless a function of the emulator made them.
  while (group != 0) {
    Lane& any = block_.lane(warp, unsigned(std::countr_zero(group)));
    const LoggedAccess* const first = next_of(any);
    if (first == nullptr) {
      group &= group - 1;
      continue;
    }
    const LoggedAccess access = *first;
    std::uint64_t mask = 0;
    for_each_lane(group, [&](unsigned i) {
      Lane& lane = block_.lane(warp, i);
      const LoggedAccess* const next = next_of(lane);
      if (next == nullptr || next->pc != access.pc || next->bytes != access.bytes) return;
      lanes_[i] = next->address;
      mask |= std::uint64_t{1} << i;
      ++lane.next_global;
    });
    pending -= unsigned(std::popcount(mask));
    record(any.warp, access, mask);
  }
}

/// As SharedAccesses::unit().
unsigned GlobalAccesses::unit(const LoggedAccess& access, std::uint64_t mask) {
  if (access.as_aligned && access.bytes <= 16) return access.bytes;
  const auto [known, is_new] = units_.try_emplace(access.pc, 16U);
  std::uint64_t bits = access.bytes | 16 | known->second;
  if (std::has_single_bit(access.bytes) && access.bytes > 1 && access.bytes <= 16) bits |= access.bytes / 2;
  for_each_lane(mask, [&](unsigned i) { bits |= lanes_[i]; });
  return known->second = unsigned(bits & -bits);
}

void GlobalAccesses::record(unsigned warp, const LoggedAccess& access, std::uint64_t mask) {
  const unsigned unit = this->unit(access, mask);
  for (std::uint32_t part = 0; part < access.bytes; part += unit) {
    patterns_.add({access.pc - 1, mask, global_operation(access.operation), std::uint8_t(unit)}, lanes_.data(),
                  {block_.number, warp, 0, accesses_++});
    for_each_lane(mask, [&](unsigned i) { lanes_[i] += unit; });
  }
}

}  // namespace bankwise::emulator
