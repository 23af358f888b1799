#include <bankwise/emulator/core/merging.hpp>

#include <algorithm>
#include <bit>
#include <optional>

namespace bankwise::emulator {
namespace {

using banks::Operation;
using trace::Pattern;

constexpr std::size_t max_bytes = 512;  // loaded values in a lane's registers, of which it has 1020 bytes
constexpr std::size_t max_last = 16;    // instructions that are compared with a later one
constexpr unsigned max_width = 16;

/// The address of the first active lane.
std::uint32_t first_address(const Pattern& pattern) {
  return pattern.addresses[unsigned(std::countr_zero(pattern.mask))];
}

/// The largest of 16 and 8 bytes in which all lanes have the same offset; 0 if there is none.
unsigned common_block(const Pattern& pattern) {
  std::uint32_t different = 0;
  banks::for_each_lane(pattern.mask,
                       [&](unsigned lane) { different |= pattern.addresses[lane] ^ first_address(pattern); });
  return different % 16 == 0 ? 16 : different % 8 == 0 ? 8 : 0;
}

std::uint64_t hash_of(const Pattern& pattern, unsigned size, unsigned offset) {
  std::uint64_t hash = pattern.mask * 31 + size;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    hash = std::rotl((hash ^ (pattern.addresses[lane] - offset)) * 0x9E3779B97F4A7C15, 29);
  });
  return hash;
}

/// Whether the addresses of b are those of a, `distance` bytes later, with the same lanes.
bool are_apart(const Pattern& a, const Pattern& b, std::int64_t distance) {
  if (a.mask != b.mask) return false;
  bool same_distance = true;
  banks::for_each_lane(
      a.mask, [&](unsigned lane) { same_distance &= b.addresses[lane] - std::int64_t{a.addresses[lane]} == distance; });
  return same_distance;
}

/// Whether the addresses are those of a sum of at most three digits of the lane number, each times a constant: then
/// neighbouring lanes are at most three different distances apart. A compiler knows more about such an index than about
/// one from memory, or from __brev().
bool is_regular(const Pattern& pattern) {
  constexpr std::size_t digits = 3;
  std::vector<std::int64_t> distances;
  std::uint64_t pairs = pattern.mask & pattern.mask >> 1;  // lanes whose next lane is active, too
  banks::for_each_lane(pairs, [&](unsigned lane) {
    const std::int64_t distance = std::int64_t{pattern.addresses[lane + 1]} - pattern.addresses[lane];
    if (distances.size() <= digits && std::find(distances.begin(), distances.end(), distance) == distances.end()) {
      distances.push_back(distance);
    }
  });
  return distances.size() <= digits;
}

/// Whether b lies in the same aligned block as a, if it is that close.
bool share_a_block(const Pattern& a, const Pattern& b, std::int64_t distance) {
  if (distance <= -std::int64_t{max_width} || distance >= std::int64_t{max_width}) return true;
  const unsigned size = common_block(a);
  return size > 0 && are_apart(a, b, distance) && first_address(a) / size == first_address(b) / size;
}

std::uintptr_t pattern_pc(const trace::KernelTrace& block, std::uint32_t pattern) {
  return std::uintptr_t(*block.sites[block.patterns[pattern].site].pc);
}

}  // namespace

void Merging::add(const std::vector<Pattern>& patterns, const std::vector<trace::Site>& sites, unsigned warp_number,
                  std::uint32_t number, bool may_change) {
  Warp& warp = warps_[warp_number];
  const Pattern& access = patterns[number];
  if (warp.level != access.level) fence(warp_number);
  warp.level = access.level;
  if (!access.lane_arrays.empty()) {
    fence(warp_number);
    return;
  }
  // A load is not moved across a store to its array, which may change the word, and the other way round.
  const bool plain = may_change && (access.operation == Operation::load || access.operation == Operation::store);
  for (std::size_t i = warp.groups.size(); i-- > 0;) {
    const Pattern& other = patterns[warp.groups[i].first];
    if (other.array == access.array && (!plain || other.operation != access.operation)) close(warp, i);
  }
  if (!plain) return;
  compare(warp, patterns, number, std::uintptr_t(*sites[access.site].pc));

  const unsigned size = std::max(common_block(access), access.width);
  const unsigned offset = first_address(access) % size;
  const std::uint64_t hash = hash_of(access, size, offset);
  const unsigned bytes = ((1U << access.width) - 1) << offset;
  bool is_new = true;
  for (auto group = warp.groups.rbegin(); group != warp.groups.rend(); ++group) {
    const Pattern& first = patterns[group->first];
    if (group->hash != hash || group->size != size || first.array != access.array ||
        !are_apart(first, access, std::int64_t{offset} - group->offset)) {
      continue;
    }
    if ((group->covered & bytes) == bytes) {
      const auto covers = [&](std::uint32_t member) {
        const auto at = patterns[member].addresses[unsigned(std::countr_zero(access.mask))] % size;
        return at <= offset && offset < at + patterns[member].width;
      };
      ++repeated_[{*std::find_if(group->members.begin(), group->members.end(), covers), number}];
      return;
    }
    if ((group->covered & bytes) == 0) {  // if they overlap, the new one begins another group
      group->members.push_back(number);
      group->covered |= bytes;
      is_new = false;
    }
    break;
  }
  if (is_new) warp.groups.push_back({number, size, offset, hash, bytes, {number}});
  warp.bytes += access.width;
  while (warp.bytes > max_bytes) close(warp, 0);
}

void Merging::close(Warp& warp, std::size_t number) {
  Group& group = warp.groups[number];
  if (group.members.size() > 1) ++merged_[std::move(group.members)];
  warp.bytes -= unsigned(std::popcount(group.covered));
  warp.groups.erase(warp.groups.begin() + std::ptrdiff_t(number));
}

void Merging::fence(unsigned warp_number) {
  Warp& warp = warps_[warp_number];
  while (!warp.groups.empty()) close(warp, warp.groups.size() - 1);
  warp.last.clear();
  for (const auto& [pc, times] : warp.executions) {
    Instruction& instruction = instructions_[pc];
    if (instruction.executions == 0) instruction.executions = times;
    instruction.repeats_regularly &= instruction.executions == times;
  }
  warp.executions.clear();
}

/// Compares the addresses with those of earlier instructions in the code. A distance that varies is one that the
/// compiler does not know, although two executions of the instructions may be neighbours.
void Merging::compare(Warp& warp, const std::vector<Pattern>& patterns, std::uint32_t number, std::uintptr_t pc) {
  const Pattern& access = patterns[number];
  ++warp.executions[pc];
  Instruction& instruction = instructions_[pc];
  instruction.is_regular = instruction.is_regular && is_regular(access);
  for (Last& last : warp.last) {
    const Pattern& other = patterns[last.pattern];
    if (last.pc >= pc || other.array != access.array || other.operation != access.operation) continue;
    if (std::find(last.compared.begin(), last.compared.end(), pc) != last.compared.end()) continue;
    last.compared.push_back(pc);
    const auto lane = unsigned(std::countr_zero(access.mask));
    if ((other.mask >> lane & 1) == 0) continue;
    const std::int64_t bytes = std::int64_t{access.addresses[lane]} - other.addresses[lane];
    Distance& distance = distances_.try_emplace({last.pc, pc}, Distance{bytes, true}).first->second;
    distance.is_fixed = distance.is_fixed && distance.bytes == bytes && share_a_block(other, access, bytes);
  }
  std::erase_if(warp.last, [&](const Last& last) { return last.pc == pc; });
  warp.last.push_back({number, pc, {}});
  if (warp.last.size() > max_last) warp.last.pop_front();
}

bool Merging::is_fixed(std::uintptr_t a, std::uintptr_t b) const {
  const auto distance = distances_.find({a, b});
  return distance == distances_.end() || distance->second.is_fixed;
}

bool Merging::may_merge(const trace::KernelTrace& block, const Members& members) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uintptr_t pc = pattern_pc(block, members[i]);
    const Instruction& instruction = instructions_.at(pc);
    if (!instruction.is_regular) return false;
    if (i == 0) continue;
    const std::uintptr_t before = pattern_pc(block, members[i - 1]);
    // Otherwise it is from the next iteration of a loop.
    if (before < pc ? !is_fixed(before, pc) : !instruction.repeats_regularly) return false;
  }
  return true;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): it halves in itself
std::optional<std::vector<Pattern>> Merging::finish(const trace::KernelTrace& block) {
  for (unsigned warp = 0; warp < warps_.size(); ++warp) fence(warp);
  std::vector<Pattern> patterns = block.patterns;
  bool has_changed = false;
  const auto drop = [&](std::uint32_t pattern, std::uint64_t times) {
    patterns[pattern].count -= times;
    has_changed = true;
  };
  for (const auto& [pair, times] : repeated_) {
    if (is_fixed(pattern_pc(block, pair.first), pattern_pc(block, pair.second))) drop(pair.second, times);
  }
  for (const auto& merged : merged_) {
    const Members& members = merged.first;
    if (!may_merge(block, members)) continue;
    // Merges what lies in `size` bytes from `begin` on, if it fills them; otherwise tries each half.
    const auto merge = [&, times = merged.second](auto& self, unsigned begin, unsigned size) -> void {
      Members inside;
      unsigned bytes = 0;
      for (const std::uint32_t member : members) {
        const Pattern& pattern = block.patterns[member];
        const unsigned at = first_address(pattern) % max_width;
        if (at < begin || at >= begin + size) continue;
        inside.push_back(member);
        bytes += pattern.width;
      }
      if (inside.size() < 2) return;
      if (bytes < size) {
        self(self, begin, size / 2);
        self(self, begin + size / 2, size / 2);
        return;
      }
      Pattern wide = block.patterns[inside.front()];
      const unsigned at = first_address(wide) % max_width;
      banks::for_each_lane(wide.mask, [&](unsigned lane) { wide.addresses[lane] -= at - begin; });
      wide.width = size;
      wide.count = times;
      patterns.push_back(std::move(wide));
      for (const std::uint32_t member : inside) drop(member, times);
    };
    merge(merge, 0, max_width);
  }
  if (!has_changed) return std::nullopt;
  return patterns;
}

}  // namespace bankwise::emulator
