// SPDX-License-Identifier: MIT
//
// What CUDA's functions need from the emulator beyond lane.hpp: accesses that the instrumentation does not see,
// asynchronous copies, barrier objects, and functions of a whole warp. `caller` is the return address in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/core/lane.hpp>

namespace bankwise::emulator {

/// Several accesses or meetings of one call have different numbers, from 0, in the order in which the call makes them.
/// Lanes that are in the same part of the same call run together. Ends with part 0.
class Parts {
 public:
  Parts() noexcept;
  ~Parts();
  Parts(const Parts&) = delete;
  void next() noexcept;
  void set(int part) noexcept;
};

/// Lanes that reach this call together continue together; what follows is ordered with the accesses of other lanes.
void meet_at_place(const void* caller) noexcept;

/// Before a load, a store, or a matrix operation: records it if the address is in shared memory.
void before_access(banks::Operation operation, const void* address, std::size_t bytes, const void* caller) noexcept;

/// A 32-bit address of PTX's state space .shared, and back.
std::uint32_t to_shared_address(const void* address) noexcept;
std::byte* from_shared_address(std::uint32_t address) noexcept;
bool is_shared(const void* address) noexcept;

// --- Asynchronous copies, as cp.async ---

/// 4, 8 or 16 bytes, of which `given` are copied and the rest become 0.
void start_copy(void* to, const void* from, unsigned bytes, unsigned given, const void* caller) noexcept;
/// Ends a group of copies.
void commit_copies() noexcept;
/// Waits for all groups except the latest `open`.
void wait_for_copies(unsigned open, const void* caller) noexcept;
/// Waits for all copies, in groups or not.
void wait_for_all_copies(const void* caller) noexcept;

// --- Barrier objects, as mbarrier. The object's address identifies it; its bytes are not used ---

void init_rounds(const void* object, unsigned expected, const void* caller) noexcept;
void end_rounds(const void* object) noexcept;
/// Returns the number of the round in which it arrives. `expected_change` becomes part of all later rounds.
std::uint64_t arrive(const void* object, unsigned arrivals, unsigned drops, const void* caller) noexcept;
bool is_round_done(const void* object, std::uint64_t round, const void* caller) noexcept;
void wait_for_round(const void* object, std::uint64_t round, const void* caller) noexcept;
/// The number of rounds so far.
std::uint64_t rounds_done(const void* object, const void* caller) noexcept;
/// Waits for so many lanes of the block at the barrier of that number.
void meet_named(unsigned number, unsigned lanes, bool only_arrives, const void* caller) noexcept;

// --- The grid ---

bool is_cooperative() noexcept;
void meet_grid(const void* caller) noexcept;

/// All lanes of the warp (of the caller's half of 64 lanes) meet with an operand each; `work` runs once, with the
/// operands by lane, null for lanes that have returned. It may write to all of them.
void together(void* operand, void (*work)(void* const operands[32], const void* data), const void* data,
              const void* caller) noexcept;

}  // namespace bankwise::emulator
