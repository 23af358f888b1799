// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/emulate.hpp>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: what one traced block did, before sites and arrays have their names. Addresses are
/// offsets into thread-local storage, sites program counters.
class Recorder {
 public:
  Recorder(unsigned warp, std::uint64_t block) : warp_(warp), block_(block) {}

  /// Returns the access, whose addresses are all 0; valid until the next call.
  Access& add_access(std::uintptr_t pc, Access access);
  std::uint32_t* addresses_of(const Access& access) { return &addresses[access.addresses]; }
  void add_basic_block(std::uintptr_t pc, std::uint32_t level, unsigned lanes);

  std::uint64_t block() const { return block_; }

  std::vector<Access> accesses;  ///< Access::site is an index into `pcs`
  std::vector<std::uint32_t> addresses;
  std::vector<std::uintptr_t> pcs;
  std::vector<BasicBlock> basic_blocks;
  std::uint32_t levels = 0;

 private:
  std::uint32_t site(std::uintptr_t pc);

  unsigned warp_;
  std::uint64_t block_;
  std::unordered_map<std::uintptr_t, std::uint32_t> sites_;
  std::unordered_map<std::uint64_t, std::size_t> blocks_;  // by level and site
};

/// Puts the records of a launch together; the Trace's kernel, grid and block are left to the caller.
Trace merge(const std::vector<Recorder>& records, const Launch& launch);

}  // namespace bankwise::emulator
