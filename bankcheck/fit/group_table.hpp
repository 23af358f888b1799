// SPDX-License-Identifier: MIT
//
// Internal to bankcheck/fit: lane groups while they are collected.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace bankwise::fit {

/// Lane groups with the same blocks in the same slots are one.
struct GroupTable {
  struct Group {
    std::size_t begin = 0;
    unsigned blocks = 0, shift = 2, slots = 32;
    std::uint32_t bound = 1, now = 1;  // fewest passes, and those of the identity
  };
  std::size_t architectures = 1;
  std::vector<std::uint32_t> pool;  // the sorted blocks of all groups
  std::vector<Group> groups;
  std::vector<std::uint64_t> weights;                                   // by group and architecture
  std::vector<std::uint32_t> table = std::vector<std::uint32_t>(1024);  // 1 + index of a group
  std::map<std::uint32_t, std::uint64_t> strides;                       // by distance: how many passes it costs

  static std::uint64_t hash_of(const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots) {
    std::uint64_t hash = shift * 64 + slots;
    for (const std::uint32_t block : blocks) hash = std::rotl((hash ^ block) * 0x9E3779B97F4A7C15, 29);
    return hash ^ hash >> 32;
  }
  bool same(const Group& group, const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots) const {
    return group.blocks == blocks.size() && group.shift == shift && group.slots == slots &&
           std::equal(blocks.begin(), blocks.end(), pool.begin() + std::ptrdiff_t(group.begin));
  }
  void grow() {
    std::vector<std::uint32_t> larger(2 * table.size());
    table.swap(larger);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Group& group = groups[i];
      const auto begin = pool.begin() + std::ptrdiff_t(group.begin);
      const std::vector<std::uint32_t> blocks(begin, begin + group.blocks);
      free_slot(hash_of(blocks, group.shift, group.slots)) = std::uint32_t(i + 1);
    }
  }
  std::uint32_t& free_slot(std::uint64_t hash) {
    std::size_t at = hash % table.size();
    while (table[at] != 0) at = (at + 1) % table.size();
    return table[at];
  }
  Group& find_or_add(const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots, std::size_t& index) {
    const std::uint64_t hash = hash_of(blocks, shift, slots);
    std::size_t at = hash % table.size();
    for (; table[at] != 0; at = (at + 1) % table.size()) {
      index = table[at] - 1;
      if (same(groups[index], blocks, shift, slots)) return groups[index];
    }
    index = groups.size();
    table[at] = std::uint32_t(index + 1);
    groups.push_back({pool.size(), unsigned(blocks.size()), shift, slots});
    pool.insert(pool.end(), blocks.begin(), blocks.end());
    weights.resize(weights.size() + architectures);
    if (2 * groups.size() > table.size()) grow();
    return groups.back();
  }
};

}  // namespace bankwise::fit
