#include <bankwise/emulator/core/lane.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <bankwise/emulator/core/block_runner.hpp>

namespace bankwise::emulator {
namespace {

Lane& running() noexcept { return *BlockRunner::current; }

/// The running lane, which does what other lanes may see.
Lane& in_order() noexcept {
  Lane& lane = running();
  lane.runner->stay_in_order(lane);
  return lane;
}

/// Lanes that reach the call together continue together.
Lane& pass(const void* caller) noexcept {
  Lane& lane = running();
  lane.runner->suspend(lane, WaitReason::ready, std::uintptr_t(caller));
  return lane;
}

/// Returns false if the address is not in shared memory.
bool access(const PendingAccess& access, const void* address, const void* caller) noexcept {
  Lane& lane = running();
  if (!lane.runner->is_shared(address)) {
    lane.runner->stay_in_order(lane);
    const bool writes = access.operation != banks::Operation::load;
    lane.runner->log_access(lane, access.operation, address, access.bytes, access.alignment, std::uintptr_t(caller));
    lane.runner->is_in_allocation(lane, address, access.bytes, writes, std::uintptr_t(caller));
    const std::uint8_t more = access.operation == banks::Operation::store ? 0 : GlobalMemory::reads;
    lane.runner->note_use(address, GlobalMemory::synchronizes | more);
    lane.runner->note_sync(lane);  // an atomic, or an instruction whose memory order is not known here
    return false;
  }
  lane.access = access;
  lane.access.offset = lane.runner->offset_of(address);
  lane.runner->suspend(lane, WaitReason::access, std::uintptr_t(caller));
  return true;
}

Rounds& rounds_at(const void* object) noexcept { return running().runner->meetings().rounds(std::uintptr_t(object)); }

Rounds& initialized(const void* object, const void* caller) noexcept {
  Lane& lane = running();
  if (!lane.runner->meetings().has_rounds(std::uintptr_t(object))) {
    lane.runner->fail(lane, Fault::unwritten, std::uintptr_t(caller),
                      "uses a barrier object that no thread of the block has initialized");
  }
  return rounds_at(object);
}

}  // namespace

bool on_lane() noexcept { return BlockRunner::current != nullptr; }

void stay_in_order() noexcept {
  if (on_lane()) in_order();
}

const LaneIdentity& this_lane() noexcept { return running().identity; }

unsigned meet_block(std::uint64_t value, const void* caller) noexcept {
  Lane& lane = running();
  lane.value = value;
  lane.runner->suspend(lane, WaitReason::barrier, std::uintptr_t(caller));
  return lane.runner->meetings().barrier_sum();
}

Meeting meet_warp(WarpMeeting kind, std::uint64_t mask, std::uint64_t value, const void* caller) noexcept {
  Lane& lane = running();
  if ((mask >> lane.identity.lane & 1) == 0) {
    lane.runner->stay_in_order(lane);
    lane.runner->report_from(lane, Fault::wrong_mask, std::uintptr_t(caller), 0, [&] {
      return fmt::format(
          "calls a warp intrinsic with the mask 0x{:x}, which leaves out the lane itself, lane {} of its warp", mask,
          lane.identity.lane);
    });
  }
  lane.meeting = kind;
  lane.mask = mask;
  lane.value = value;
  lane.runner->suspend(lane, WaitReason::meeting, std::uintptr_t(caller));
  return {lane.met, lane.delivery->values.data()};
}

std::uint64_t active_lanes(const void* caller) noexcept { return pass(caller).runner->group(); }

std::uint64_t before_atomic(banks::Operation operation, bool is_loop, void* address, std::size_t bytes,
                            const void* caller, bool releases) noexcept {
  Lane& lane = in_order();
  lane.runner->note_atomic(lane);
  if (releases) lane.fenced = lane.runner->block().shadow.now();
  return access({.operation = operation, .bytes = std::uint32_t(bytes), .is_loop = is_loop, .is_atomic = true}, address,
                caller)
             ? lane.access_number
             : 0;
}

void result_used(std::uint64_t number) noexcept {
  BlockSeries* recorder = in_order().runner->block().recorder;
  const OffLane off;
  if (recorder != nullptr) recorder->result_used(number);
}

long long steps(const void* caller) noexcept { return (long long)(pass(caller).runner->steps()); }

void trap(const char* why, const void* caller) noexcept {
  Lane& lane = in_order();
  const OffLane off;
  lane.runner->fail(lane, Fault::trap, std::uintptr_t(caller), fmt::format("stops: {}", why));
}

Parts::Parts() noexcept { running().part = 0; }
Parts::~Parts() { running().part = 0; }
void Parts::next() noexcept { ++running().part; }
void Parts::set(int part) noexcept { running().part = unsigned(part); }

void fence() noexcept {
  Lane& lane = in_order();
  lane.runner->note_sync(lane);
  lane.fenced = lane.runner->block().shadow.now();
}

void meet_at_place(const void* caller) noexcept { pass(caller); }

bool is_shared(const void* address) noexcept { return running().runner->is_shared(address); }
// The first array is at 0, as on a GPU.
std::uint32_t to_shared_address(const void* address) noexcept {
  return running().runner->offset_of(address) - shared_layout().arrays.front().offset;
}
std::byte* from_shared_address(std::uint32_t address) noexcept {
  return running().runner->block().storage + std::uint32_t(address + shared_layout().arrays.front().offset);
}

void before_access(banks::Operation operation, const void* address, std::size_t bytes, const void* caller,
                   bool is_volatile) noexcept {
  access({.operation = operation, .bytes = std::uint32_t(bytes), .is_volatile = is_volatile}, address, caller);
}

// --- Asynchronous copies ---

void start_copy(void* to, const void* from, unsigned bytes, unsigned given, bool past_l1, const void* caller) noexcept {
  Lane& lane = in_order();
  PendingCopy copy{.bytes = bytes, .pc = std::uintptr_t(caller), .group = lane.copy_group};
  lane.runner->note_use(from, GlobalMemory::reads);
  if (!global_memory.contains(from)) lane.runner->note_other_memory(from, false);
  if (given != 0) std::memcpy(copy.content.data(), from, std::min(given, bytes));
  if (!lane.runner->is_shared(to)) {
    lane.runner->is_in_allocation(lane, to, bytes, true, copy.pc);
    std::memcpy(to, copy.content.data(), bytes);
    return;
  }
  if (given != 0) lane.runner->log_access(lane, banks::Operation::cp_async, from, bytes, 0, copy.pc);
  copy.offset = lane.runner->offset_of(to);
  const auto source = given != 0 ? std::uint32_t(std::uintptr_t(from)) : banks::no_source;
  const auto operation = past_l1 ? banks::Operation::cp_async_cg : banks::Operation::cp_async;
  access({.operation = operation, .bytes = bytes, .source = source}, to, caller);
  lane.runner->copies().start(lane, copy);
}

void commit_copies() noexcept { ++in_order().copy_group; }

void wait_for_copies(unsigned open, const void* caller) noexcept {
  Lane& lane = pass(caller);
  // Groups before the current one are closed.
  if (lane.copy_group > open) lane.runner->copies().finish(lane, lane.copy_group - open - 1);
}

void wait_for_all_copies(const void* caller) noexcept {
  Lane& lane = pass(caller);
  lane.runner->copies().finish(lane, lane.copy_group);
}

// --- Barrier objects ---

void init_rounds(const void* object, unsigned expected, const void* caller) noexcept {
  pass(caller);
  rounds_at(object) = {.expected = expected, .pending = expected};
}

void end_rounds(const void* object) noexcept {
  stay_in_order();
  rounds_at(object) = {};
}

std::uint64_t arrive(const void* object, unsigned arrivals, unsigned drops, const void* caller) noexcept {
  Lane& lane = pass(caller);
  Rounds& rounds = initialized(object, caller);
  const std::uint64_t round = rounds.done;
  rounds.expected -= std::min(drops, rounds.expected);
  lane.runner->note_sync(lane);
  lane.runner->meetings().arrive_at(std::uintptr_t(object), arrivals);
  return round;
}

bool is_round_done(const void* object, std::uint64_t round, const void* caller) noexcept {
  Lane& lane = in_order();
  lane.runner->note_atomic(lane);  // lanes may spin here
  lane.runner->note_sync(pass(caller));
  const Rounds& rounds = initialized(object, caller);
  if (rounds.done <= round) return false;
  lane.synchronized = rounds.completed;
  return true;
}

std::uint64_t rounds_done(const void* object, const void* caller) noexcept {
  stay_in_order();
  return initialized(object, caller).done;
}

void wait_for_round(const void* object, std::uint64_t round, const void* caller) noexcept {
  Lane& lane = running();
  if (is_round_done(object, round, caller)) return;
  lane.value = std::uintptr_t(object);
  lane.runner->suspend(lane, WaitReason::round, std::uintptr_t(caller));
  lane.synchronized = initialized(object, caller).completed;
}

void meet_named(unsigned number, unsigned lanes, bool only_arrives, const void* caller) noexcept {
  // No object lies at these addresses.
  const auto* const object = reinterpret_cast<const void*>(std::uintptr_t(number) + 1);
  Lane& lane = pass(caller);
  Rounds& rounds = rounds_at(object);
  if (rounds.pending == rounds.expected) rounds.expected = rounds.pending = lanes;
  const std::uint64_t round = rounds.done;
  lane.runner->note_sync(lane);
  lane.runner->meetings().arrive_at(std::uintptr_t(object), 1);
  if (!only_arrives) wait_for_round(object, round, caller);
}

// --- The grid ---

bool is_cooperative() noexcept { return running().runner->meetings().has_grid(); }

void meet_grid(const void* caller) noexcept {
  Lane& lane = in_order();
  if (!is_cooperative()) {
    lane.runner->fail(lane, Fault::trap, std::uintptr_t(caller), "synchronizes a grid whose launch is not cooperative");
  }
  lane.runner->note_sync(lane);
  lane.waits_for_grid = true;
  lane.value = 0;
  lane.runner->suspend(lane, WaitReason::barrier, std::uintptr_t(caller));
}

// --- A whole warp ---

void together(void* operand, void (*work)(void* const operands[32], const void* data), const void* data,
              const void* caller) noexcept {
  struct Ticket {
    void* operand;
    bool done;
  } ticket{operand, false};
  const Lane& lane = running();
  const unsigned lanes = lane.identity.warp_size, half = lane.identity.lane & 32;
  const std::uint64_t warp_mask = lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
  const Meeting meeting =
      meet_warp(WarpMeeting::matrix, std::uint64_t{0xFFFFFFFF} << half & warp_mask, std::uintptr_t(&ticket), caller);
  // The first lane to continue works for all: the others' operands lie on their stacks, in this call.
  if (ticket.done) return;
  std::array<void*, 32> operands{};
  for (unsigned i = 0; i < 32; ++i) {
    if ((meeting.mask >> (half + i) & 1) == 0) continue;
    auto* const other = reinterpret_cast<Ticket*>(meeting.values[half + i]);
    operands[i] = other->operand;
    other->done = true;
  }
  work(operands.data(), data);
}

}  // namespace bankwise::emulator
