#include <bankwise/emulator/core/meetings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {

void Meetings::settle(RunningWarp& warp) {
  warp.has_news = false;
  std::uint64_t waiting = 0, alive = 0;
  for (unsigned i = 0; i < warp.count; ++i) {
    const Lane& lane = block_.lane(warp, i);
    const bool has_arrived = lane.next == lane.noted;  // else it has run ahead of its warp
    waiting |= std::uint64_t{has_arrived && lane.wait == WaitReason::meeting} << i;
    alive |= std::uint64_t{lane.wait != WaitReason::returned} << i;
  }
  while (waiting != 0) {
    const Lane& asking = block_.lane(warp, unsigned(std::countr_zero(waiting)));
    std::uint64_t came = 0;
    for_each_lane(waiting, [&](unsigned i) {
      const Lane& lane = block_.lane(warp, i);
      came |= std::uint64_t{lane.meeting == asking.meeting && lane.mask == asking.mask} << i;
    });
    if ((asking.mask & alive & ~came) == 0) deliver(warp, came);
    waiting &= ~came;
  }
}

void Meetings::deliver(RunningWarp& warp, std::uint64_t came) {
  auto free = std::ranges::find_if(warp.deliveries, [](auto& delivery) { return delivery->readers == 0; });
  if (free == warp.deliveries.end()) {
    warp.deliveries.push_back(std::make_unique<Delivery>());
    free = std::prev(warp.deliveries.end());
  }
  Delivery& delivery = **free;
  const Lane& any = block_.lane(warp, unsigned(std::countr_zero(came)));
  if (any.meeting == WarpMeeting::sync && block_.recorder != nullptr) block_.recorder->fence(any.warp);
  Moment synchronized = 0;
  Moments acquired;
  for_each_lane(came, [&](unsigned i) {
    synchronized = std::max(synchronized, block_.lane(warp, i).synchronized);
    raise(acquired, block_.lane(warp, i).acquired);
  });
  for_each_lane(came, [&](unsigned i) {
    Lane& lane = block_.lane(warp, i);
    delivery.values[i] = lane.value;
    if (lane.delivery != nullptr) --lane.delivery->readers;
    lane.delivery = &delivery;
    ++delivery.readers;
    lane.met = came;
    if (lane.meeting == WarpMeeting::sync) {
      lane.ordered = block_.shadow.now();
      lane.synchronized = synchronized;
      lane.acquired = acquired;
    }
    block_.release(lane);
  });
}

/// A meeting that some of the lanes in its mask never come to: those that came go on without them.
void Meetings::end_without_others(const Lane& waiting) {
  RunningWarp& warp = block_.warps[waiting.warp];
  std::string_view others;
  std::vector<unsigned> blamed{waiting.identity.rank};
  std::uint64_t came = 0;
  for (unsigned i = 0; i < warp.count; ++i) {
    const Lane& lane = block_.lane(warp, i);
    const bool same = lane.wait == WaitReason::meeting && lane.meeting == waiting.meeting && lane.mask == waiting.mask;
    came |= std::uint64_t{same} << i;
    if ((waiting.mask >> i & 1) == 0 || lane.wait == WaitReason::returned || same) continue;
    blamed.push_back(lane.identity.rank);
    others =
        lane.wait == WaitReason::barrier ? "wait at a barrier" : "are in another warp intrinsic, or have another mask";
  }
  if (faults_.is_news(Fault::wrong_mask, waiting.pc)) {
    faults_.report(
        {Fault::wrong_mask, waiting.pc, blamed,
         fmt::format("never meet: the mask 0x{:x} of a warp intrinsic names all of them; the first thread waits there, "
                     "and the others {}",
                     waiting.mask, others)});
  }
  deliver(warp, came);
}

void Meetings::settle_barrier() {
  for (const Lane& lane : block_.lanes) {
    if (lane.wait == WaitReason::round) {
      const Rounds& rounds = rounds_[lane.value];
      faults_.end(
          fault_of(lane, Fault::barrier_not_reached,
                   fmt::format("waits at a barrier object that lacks {} of {} arrivals, and no thread can continue",
                               rounds.pending, rounds.expected)));
    }
    if (lane.wait != WaitReason::meeting) continue;
    end_without_others(lane);
    return;
  }
  const auto waiting = std::ranges::find(block_.lanes, WaitReason::barrier, &Lane::wait);
  if (block_.returned > 0 && !block_.launch.returned_lanes_arrive &&
      faults_.is_news(Fault::barrier_not_reached, waiting->pc)) {
    faults_.report({Fault::barrier_not_reached, waiting->pc, block_.ranks_that(WaitReason::returned),
                    "return without reaching this barrier, at which other threads wait", 0,
                    trace::returned_lanes_switch});
  }
  check_places();
  if (waiting->waits_for_grid && !grid_->arrive_and_wait()) {
    faults_.end(fault_of(*waiting, Fault::barrier_not_reached,
                         "waits for all blocks of the grid, and another block has returned"));
  }
  open_barrier();
}

/// Whether two return addresses are of one barrier in the source, which the compiler may have duplicated.
bool Meetings::same_place(std::uintptr_t a, std::uintptr_t b) {
  if (a == b) return true;
  const auto [entry, is_new] = same_places_.try_emplace({a, b}, false);
  if (is_new) {
    const trace::Site here = site_of(a - 1);
    entry->second = here.line != 0 && here == site_of(b - 1);
  }
  return entry->second;
}

/// bar.sync counts arrivals, so warps may wait for each other at different barriers; the lanes of one warp may not.
void Meetings::check_places() {
  const Lane* first = nullptr;          // the first lane of the block that waits
  const Lane* first_of_warp = nullptr;  // the first lane of the warp that waits
  const auto elsewhere = [](const Lane& lane) {
    const trace::Site there = site_of(lane.pc - 1);
    return fmt::format("{}:{}", there.file, there.line);
  };
  for (const Lane& lane : block_.lanes) {
    if (lane.wait != WaitReason::barrier) continue;
    if (first == nullptr) first = &lane;
    if (first_of_warp == nullptr || first_of_warp->warp != lane.warp) {
      first_of_warp = &lane;
      if (same_place(first->pc, lane.pc) || !faults_.is_news(Fault::barriers_differ, first->pc, lane.pc)) continue;
      faults_.report(fault_of(*first, Fault::barriers_differ,
                              fmt::format("waits here while warp {} waits at {}, and the barrier opens for both",
                                          lane.warp, elsewhere(lane)),
                              lane.pc));
    } else if (!same_place(first_of_warp->pc, lane.pc) &&
               faults_.is_news(Fault::barrier_not_reached, first_of_warp->pc, lane.pc)) {
      faults_.report({Fault::barrier_not_reached,
                      first_of_warp->pc,
                      {lane.identity.rank},
                      fmt::format("waits at another barrier, {}, than thread {} of the same warp at this one",
                                  elsewhere(lane), first_of_warp->identity.rank),
                      lane.pc});
    }
  }
}

void Meetings::open_barrier() {
  barrier_sum_ = 0;
  ++block_.level;
  block_.shadow.begin_level();
  block_.flags.clear();  // the barrier orders all that they do
  for (Lane& lane : block_.lanes) {
    lane.fenced = 0;
    if (lane.wait != WaitReason::barrier) continue;
    if (lane.value != 0) ++barrier_sum_;
    lane.waits_for_grid = false;
    block_.release(lane);
  }
}

void Meetings::arrive_at(std::uintptr_t address, unsigned arrivals) {
  Rounds& rounds = rounds_[address];
  rounds.pending -= std::min(arrivals, rounds.pending);
  if (rounds.pending != 0) return;
  rounds.pending = rounds.expected;
  ++rounds.done;
  rounds.completed = block_.shadow.now();
  for (Lane& lane : block_.lanes) {
    if (lane.wait == WaitReason::round && lane.value == address) block_.release(lane);
  }
}

}  // namespace bankwise::emulator
