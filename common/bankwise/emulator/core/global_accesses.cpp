#include <bankwise/emulator/core/global_accesses.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <bankwise/emulator/core/control_flow.hpp>
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
  joins_ = !block_.launch.fatal && (watches_ || races_.watches());  // a fatal fault stops at its access
  accesses_ = 0;
  units_.clear();
  pending_.assign(block_.warps.size(), 0);
  logs_.resize(block_.warps.size());
  for (WarpLog& log : logs_) log.count = log.made = log.run = 0;
}

void GlobalAccesses::begin_run(Lane& lane) {
  leads_ = lane.checks_later = false;
  lane.joint = &nothing_;
  lane.note_limit = Lane::max_notes;
  if (!joins_) return;
  WarpLog& log = logs_[lane.warp];
  if (lane.joint_run != log.run && log.level == block_.level) {
    follow(lane, log);
  } else if (log.made == log.count) {
    lead(lane, log);
  }
}

void GlobalAccesses::begin_ahead(Lane& lane, bool leads) {
  lane.note_limit = Lane::max_notes;
  leads ? lead(lane, logs_[lane.warp]) : follow(lane, logs_[lane.warp]);
}

void GlobalAccesses::lead(Lane& lane, WarpLog& log) {
  if (log.accesses == nullptr) {
    log.accesses = std::make_unique_for_overwrite<JointAccess[]>(WarpLog::max_accesses + 1);
  }
  log.count = log.made = 0;
  log.accesses[0].pc = 0;
  log.level = block_.level;
  log.syncs = block_.syncs;
  log.notes = Lane::max_notes;
  lane.joint_run = ++log.run;
  lane.joint = &nothing_;
  leads_ = lane.checks_later = true;
  leads_from_ = 0;
}

void GlobalAccesses::follow(Lane& lane, WarpLog& log) {
  log.made = 0;
  lane.joint_run = log.run;
  lane.joint = log.accesses.get();
  leads_ = false;
  lane.checks_later = log.syncs == block_.syncs;
  lane.note_limit = log.notes;
}

/// The joint access that is this one; null: there is none. What follows up to the next note comes after it.
JointAccess* GlobalAccesses::join(Lane& lane, const LoggedAccess& access) {
  JointAccess*& next = lane.joint;
  while (next->pc != 0 && next->noted < access.noted) ++next;
  JointAccess* joint = nullptr;
  if (next->pc == access.pc && next->noted == access.noted && next->bytes == access.bytes &&
      next->operation == access.operation && access.address - next->begin <= next->last) {
    joint = next++;
  } else {
    joint = add(lane, access);
  }
  if (joint != nullptr) {
    joint->offsets[lane.number] = std::uint32_t(access.address - joint->begin);
    joint->lanes |= lane.bit;
    return joint;
  }
  while (next->pc != 0 && next->noted == access.noted) ++next;
  leads_from_ = access.noted + 1U;
  return nullptr;
}

/// The next one for those that will follow; null: they cannot.
JointAccess* GlobalAccesses::add(Lane& lane, const LoggedAccess& access) {
  const auto* const address = reinterpret_cast<const void*>(access.address);
  constexpr std::size_t max_bytes = std::numeric_limits<std::uint8_t>::max();
  if (!leads_ || access.noted < leads_from_ || access.bytes > max_bytes || !global_memory.contains(address)) {
    return nullptr;
  }
  const GlobalMemory::Range& owner = global_memory.allocations[global_memory.number_at(address)];
  constexpr std::size_t max_owner = std::size_t{1} << 31;  // GlobalPatterns::add_again() subtracts offsets
  WarpLog& log = logs_[lane.warp];
  if (log.count == WarpLog::max_accesses || !global_memory.is_valid(address, access.bytes) || owner.bytes > max_owner ||
      owner.begin % GlobalPatterns::line != 0) {
    return nullptr;
  }
  JointAccess& joint = log.accesses[log.count++];
  if (log.count == WarpLog::enough) log.notes = lane.note_limit = access.noted + 1U;
  log.accesses[log.count].pc = 0;
  joint.pc = access.pc;
  joint.begin = owner.begin;
  joint.last = owner.bytes - access.bytes;
  joint.lanes = joint.unchecked = 0;
  joint.touch = races_.touch_at(lane, access.pc);
  joint.noted = access.noted;
  joint.bytes = std::uint8_t(access.bytes);
  joint.operation = access.operation;
  joint.alignment = access.alignment;
  return &joint;
}

void GlobalAccesses::check_now(const Lane& lane) {
  const WarpLog& log = logs_[lane.warp];
  for (std::size_t i = log.made; i < log.count; ++i) {
    JointAccess& joint = log.accesses[i];
    const std::uint64_t unchecked = std::exchange(joint.unchecked, 0);
    joint.lanes |= unchecked;
    races_.check_loads(block_.warps[lane.warp], joint, unchecked);
  }
}

void GlobalAccesses::forget_ahead(const RunningWarp& warp) {
  WarpLog& log = logs_[number_of(warp)];
  log.count = log.made = 0;
}

void GlobalAccesses::forget_steps(const RunningWarp& warp, std::size_t steps) {
  const WarpLog& log = logs_[number_of(warp)];
  for (std::size_t i = log.made; i < log.count; ++i) log.accesses[i].noted -= std::uint16_t(steps);
}

/// Constants are another memory on a GPU, and those of the compiler are in the code there.
bool GlobalAccesses::is_constant(const void* address) {
  if (!is_of_program(address)) return false;
  static const ConstantRanges constants = constants_of_program();
  const auto after = constants.upper_bound(std::uintptr_t(address));
  return after != constants.begin() && std::uintptr_t(address) < std::prev(after)->second;
}

void GlobalAccesses::make(const RunningWarp& warp, JointAccess& joint, std::uint64_t lanes) {
  races_.check_loads(warp, joint, joint.unchecked & lanes);
  joint.lanes &= ~lanes;
  joint.unchecked &= ~lanes;
}

void GlobalAccesses::make_together(const RunningWarp& warp, std::uint64_t group, unsigned notes) {
  WarpLog& log = logs_[number_of(warp)];
  for (std::size_t i = log.made; i < log.count && log.accesses[i].noted <= notes; ++i) {
    JointAccess& joint = log.accesses[i];
    const std::uint64_t lanes = joint.open() & group;
    if (lanes == 0) continue;
    make(warp, joint, lanes);
    if (watches_) record(number_of(warp), joint, lanes);
  }
  log.forget_made();
}

void GlobalAccesses::take(const RunningWarp& warp, std::uint64_t group) {
  const std::size_t number = number_of(warp);
  const unsigned notes = block_.lane(warp, unsigned(std::countr_zero(group))).next;
  const auto own = [](const Lane& lane) -> const LoggedAccess* {
    if (lane.next_global == lane.global.size()) return nullptr;
    const LoggedAccess& next = lane.global[lane.next_global];
    return next.noted == lane.next ? &next : nullptr;
  };
  bool are_together = true;
  for_each_lane(group, [&](unsigned i) {
    const Lane& lane = block_.lane(warp, i);
    are_together = are_together && lane.next == notes && own(lane) == nullptr;
  });
  if (are_together) return make_together(warp, group, notes);
  WarpLog& log = logs_[number];
  for (std::size_t i = log.count; i-- > log.made;) {
    JointAccess& joint = log.accesses[i];
    std::uint64_t lanes = 0;
    for_each_lane(joint.open() & group,
                  [&](unsigned k) { lanes |= std::uint64_t{block_.lane(warp, k).next == joint.noted} << k; });
    if (lanes == 0) continue;
    make(warp, joint, lanes);
    if (watches_) split(warp, joint, lanes);
  }
  log.forget_made();
  // Lanes that have made the same notes have made the same accesses, unless a function of the emulator made them.
  while (group != 0) {
    Lane& any = block_.lane(warp, unsigned(std::countr_zero(group)));
    const LoggedAccess* const first = own(any);
    if (first == nullptr) {
      group &= group - 1;
      continue;
    }
    const LoggedAccess access = *first;
    std::uint64_t mask = 0;
    for_each_lane(group, [&](unsigned i) {
      Lane& lane = block_.lane(warp, i);
      const LoggedAccess* const next = own(lane);
      if (next == nullptr || next->pc != access.pc || next->bytes != access.bytes) return;
      lanes_[i] = next->address;
      mask |= std::uint64_t{1} << i;
      ++lane.next_global;
    });
    pending_[number] -= unsigned(std::popcount(mask));
    record(any.warp, access, mask);
  }
}

/// A joint access becomes the next one of each lane.
void GlobalAccesses::split(const RunningWarp& warp, const JointAccess& joint, std::uint64_t lanes) {
  for_each_lane(lanes, [&](unsigned i) {
    Lane& lane = block_.lane(warp, i);
    lane.global.insert(lane.global.begin() + std::ptrdiff_t(lane.next_global), joint.of_lane(i));
  });
  pending_[number_of(warp)] += unsigned(std::popcount(lanes));
}

void GlobalAccesses::record(unsigned warp, const JointAccess& joint, std::uint64_t lanes) {
  const LoggedAccess access = joint.of_lane(unsigned(std::countr_zero(lanes)));
  // Never one of an access that is split: no pattern has the width of all of it.
  if (patterns_.add_again({access.pc - 1, lanes, global_operation(access.operation), joint.bytes}, joint.begin,
                          joint.offsets.data(), {block_.number, warp, 0, accesses_})) {
    ++accesses_;
    return;
  }
  for_each_lane(lanes, [&](unsigned i) { lanes_[i] = joint.begin + joint.offsets[i]; });
  record(warp, access, lanes);
}

/// What the type of an access of more bytes promises, up to 16, as far as it is known: mostly 4 if it is no more than
/// 16 bytes long, and as many as 8 if it is longer. AMD's compilers need no alignment.
unsigned GlobalAccesses::promised_alignment(const LoggedAccess& access) const {
  if (patterns_.are_of_amd()) return 16;
  if (access.alignment > 1) return access.alignment;
  const bool writes = access.operation == banks::Operation::store;
  if (access.bytes > 16) return copied_alignment(access.pc, writes) == 16 ? 16 : 8;
  return std::has_single_bit(access.bytes) ? std::clamp(access.bytes / 2, 1U, 4U) : 16;
}

/// As SharedAccesses::unit(), but nvcc knows of the addresses only what the type promises.
unsigned GlobalAccesses::unit(const LoggedAccess& access, std::uint64_t mask) {
  if (access.alignment == 0 && access.bytes <= 16) {
    std::uint64_t bits = 0;
    for_each_lane(mask, [&](unsigned i) { bits |= lanes_[i]; });
    return access.bytes == 16 && bits % 16 == 8 ? 8 : access.bytes;
  }
  const auto [known, is_new] = units_.try_emplace(access.pc, 0U);
  if (is_new) known->second = promised_alignment(access);
  std::uint64_t bits = access.bytes | known->second;
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
