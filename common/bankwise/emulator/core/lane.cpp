// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/lane.hpp>

#include <fmt/format.h>

#include <bankwise/emulator/core/block_runner.hpp>

namespace bankwise::emulator {
namespace {

Lane& running() noexcept {
  return *BlockRunner::current;
}

}  // namespace

bool on_lane() noexcept {
  return BlockRunner::current != nullptr;
}

const LaneIdentity& this_lane() noexcept {
  return running().identity;
}

unsigned meet_block(std::uint64_t value, const void* caller) noexcept {
  Lane& lane = running();
  lane.value = value;
  lane.runner->suspend(lane, Wait::barrier, std::uintptr_t(caller));
  return lane.runner->barrier_sum();
}

Meeting meet_warp(WarpMeeting kind, std::uint64_t mask, std::uint64_t value, const void* caller) noexcept {
  Lane& lane = running();
  if ((mask >> lane.identity.lane & 1) == 0) {
    lane.runner->report_from(lane, Fault::wrong_mask, std::uintptr_t(caller), [&] {
      return fmt::format(
          "calls a warp intrinsic with the mask 0x{:x}, which leaves out the lane itself, lane {} of "
          "its warp",
          mask, lane.identity.lane);
    });
  }
  lane.meeting = kind;
  lane.mask = mask;
  lane.value = value;
  lane.runner->suspend(lane, Wait::meeting, std::uintptr_t(caller));
  return {lane.met, lane.delivery->values.data()};
}

std::uint64_t active_lanes(const void* caller) noexcept {
  Lane& lane = running();
  lane.runner->suspend(lane, Wait::ready, std::uintptr_t(caller));
  return lane.runner->group();
}

std::uint64_t before_atomic(banks::Operation operation, bool is_loop, void* address, std::size_t bytes,
                            const void* caller) noexcept {
  Lane& lane = running();
  lane.runner->note_atomic(lane);
  if (!lane.runner->is_shared(address)) {
    if (!global_memory.contains(address)) lane.runner->note_other_memory(address);
    return 0;
  }
  lane.access = {operation, lane.runner->offset_of(address), std::uint32_t(bytes), true, is_loop};
  lane.runner->suspend(lane, Wait::access, std::uintptr_t(caller));
  return lane.access_number;
}

void result_used(std::uint64_t number) noexcept {
  Recorder* recorder = running().runner->recorder();
  if (recorder != nullptr) recorder->result_used(number);
}

long long steps(const void* caller) noexcept {
  Lane& lane = running();
  lane.runner->suspend(lane, Wait::ready, std::uintptr_t(caller));
  return (long long)(lane.runner->steps());
}

void trap(const char* why, const void* caller) noexcept {
  Lane& lane = running();
  lane.runner->fail(lane, Fault::trap, std::uintptr_t(caller), fmt::format("stops: {}", why));
}

}  // namespace bankwise::emulator
