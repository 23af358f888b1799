#include <bankwise/emulator/core/block.hpp>

#include <algorithm>

namespace bankwise::emulator {

Dim3 position(std::uint64_t linear, Dim3 size) {
  return {unsigned(linear % size.x), unsigned(linear / size.x % size.y), unsigned(linear / size.x / size.y)};
}

RunningBlock::RunningBlock(const Launch& launch_, const void* entry)
    : launch(launch_),
      storage(thread_local_storage()),
      layout(shared_layout()),
      lanes(launch.block.count()),
      shadow(layout.bytes),
      in_kernel(std::uintptr_t(entry)) {
  const auto threads = unsigned(lanes.size());
  for (unsigned first = 0; first < threads; first += launch.warp) {
    warps.push_back({.first = first, .count = std::min(launch.warp, threads - first)});
  }
  for (unsigned i = 0; i < threads; ++i) {
    lanes[i].warp = i / launch.warp;
    lanes[i].number = i % launch.warp;
    lanes[i].bit = std::uint64_t{1} << lanes[i].number;
    lanes[i].identity = {.thread = position(i, launch.block),
                         .block_size = launch.block,
                         .grid = launch.grid,
                         .rank = i,
                         .lane = i % launch.warp,
                         .warp_size = launch.warp};
  }
}

void RunningBlock::begin(std::uint64_t number_, BlockSeries* recorder_) {
  number = number_;
  index = position(number, launch.grid);
  recorder = recorder_;
  level = 0;
  returned = syncs = 0;
  flags.clear();
  shadow.begin_block();
  for (RunningWarp& warp : warps) {
    warp.has_news = false;
    warp.steps = warp.last_atomic = 0;
    warp.moved.fill(0);
    for (const auto& delivery : warp.deliveries) delivery->readers = 0;
  }
  for (Lane& lane : lanes) {
    lane.identity.block = index;
    lane.noted = lane.next = 0;
    lane.calls.clear();
    lane.set_depth();
    lane.pc = 0;
    lane.delivery = nullptr;
    lane.ordered = lane.synchronized = lane.fenced = 0;
    lane.acquired.clear();
    lane.part = 0;
    lane.waits_for_grid = false;
    lane.copies.clear();
    lane.copy_group = 0;
    lane.store.bytes = 0;
    lane.store.lock = nullptr;
    lane.global.clear();
    lane.next_global = 0;
    lane.joint_run = 0;
    release(lane);
  }
}

std::vector<unsigned> RunningBlock::ranks(const RunningWarp& warp, std::uint64_t group) const {
  std::vector<unsigned> ranks;
  for_each_lane(group, [&](unsigned i) { ranks.push_back(warp.first + i); });
  return ranks;
}

std::vector<unsigned> RunningBlock::ranks_that(WaitReason wait) const {
  std::vector<unsigned> ranks;
  for (const Lane& lane : lanes) {
    if (lane.wait == wait) ranks.push_back(lane.identity.rank);
  }
  return ranks;
}

}  // namespace bankwise::emulator
