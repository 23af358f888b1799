// SPDX-License-Identifier: MIT
//
// The part of BlockRunner that lets lanes meet, in warp intrinsics and at barriers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/source_lines.hpp>

namespace bankwise::emulator {

/// Releases the lanes whose meeting is complete.
void BlockRunner::settle_meetings(Warp& warp) {
  std::uint64_t waiting = 0, alive = 0;
  for (unsigned i = 0; i < warp.count; ++i) {
    const Wait wait = lane(warp, i).wait;
    waiting |= std::uint64_t{wait == Wait::meeting} << i;
    alive |= std::uint64_t{wait != Wait::returned} << i;
  }
  warp.has_meetings = waiting != 0;
  while (waiting != 0) {
    const Lane& asking = lane(warp, unsigned(std::countr_zero(waiting)));
    std::uint64_t came = 0;
    for_each_lane(waiting, [&](unsigned i) {
      const Lane& one = lane(warp, i);
      came |= std::uint64_t{one.meeting == asking.meeting && one.mask == asking.mask} << i;
    });
    if ((asking.mask & alive & ~came) == 0) deliver(warp, came);
    waiting &= ~came;
  }
}

void BlockRunner::deliver(Warp& warp, std::uint64_t came) {
  auto free = std::find_if(warp.deliveries.begin(), warp.deliveries.end(), [](auto& one) { return one->readers == 0; });
  if (free == warp.deliveries.end()) {
    warp.deliveries.push_back(std::make_unique<Delivery>());
    free = std::prev(warp.deliveries.end());
  }
  Delivery& delivery = **free;
  const Lane& any = lane(warp, unsigned(std::countr_zero(came)));
  if (any.meeting == WarpMeeting::sync && recorder_ != nullptr) recorder_->fence(any.warp);
  for_each_lane(came, [&](unsigned i) {
    Lane& one = lane(warp, i);
    delivery.values[i] = one.value;
    if (one.delivery != nullptr) --one.delivery->readers;
    one.delivery = &delivery;
    ++delivery.readers;
    one.met = came;
    if (one.meeting == WarpMeeting::sync) one.ordered = shadow_.now();
    one.wait = Wait::ready;
    warp.keys[i] = key_at(one);
  });
}

/// A meeting that some of the lanes in its mask never come to: those that came go on without them.
void BlockRunner::end_meeting(const Lane& waiting) {
  Warp& warp = warps_[waiting.warp];
  std::string others;
  std::vector<unsigned> blamed{waiting.identity.rank};
  std::uint64_t came = 0;
  for (unsigned i = 0; i < warp.count; ++i) {
    const Lane& one = lanes_[warp.first + i];
    const bool same = one.wait == Wait::meeting && one.meeting == waiting.meeting && one.mask == waiting.mask;
    came |= std::uint64_t{same} << i;
    if ((waiting.mask >> i & 1) == 0 || one.wait == Wait::returned || same) continue;
    blamed.push_back(one.identity.rank);
    others = one.wait == Wait::barrier ? "wait at a barrier" : "are in another warp intrinsic, or have another mask";
  }
  if (is_news(Fault::wrong_mask, waiting.pc)) {
    report(
        {Fault::wrong_mask, waiting.pc, blamed,
         fmt::format("never meet: the mask 0x{:x} of a warp intrinsic names all of them; the first lane waits there, "
                     "and the others {}",
                     waiting.mask, others)});
  }
  deliver(warp, came);
}

/// No lane can move: a meeting ends without some of its lanes, or the barrier opens.
void BlockRunner::settle_barrier() {
  for (const Lane& one : lanes_) {
    if (one.wait == Wait::round) diagnose_round(one);
    if (one.wait != Wait::meeting) continue;
    end_meeting(one);
    return;
  }
  const auto waiting =
      std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& one) { return one.wait == Wait::barrier; });
  if (returned_ > 0 && !launch_.returned_lanes_arrive && is_news(Fault::barrier_not_reached, waiting->pc)) {
    report({Fault::barrier_not_reached, waiting->pc, ranks_of(Wait::returned),
            "return without reaching this barrier, at which other lanes wait", 0, trace::returned_lanes_switch});
  }
  check_places_of_barrier();
  open_barrier();
}

/// Whether two return addresses are of one barrier in the source, which the compiler may have duplicated.
bool BlockRunner::same_place(std::uintptr_t a, std::uintptr_t b) {
  if (a == b) return true;
  const auto [found, is_new] = same_places_.try_emplace({a, b}, false);
  if (is_new) {
    const trace::Site here = site_of(a - 1);
    found->second = here.line != 0 && here == site_of(b - 1);
  }
  return found->second;
}

/// The device counts arrivals, so warps may wait for each other at different barriers: bar.sync defines it. The lanes
/// of one warp must wait at the same one.
void BlockRunner::check_places_of_barrier() {
  const Lane* first = nullptr;          // of the block
  const Lane* first_of_warp = nullptr;  // that waits
  const auto elsewhere = [](const Lane& one) {
    const trace::Site there = site_of(one.pc - 1);
    return fmt::format("{}:{}", there.file, there.line);
  };
  for (const Lane& one : lanes_) {
    if (one.wait != Wait::barrier) continue;
    if (first == nullptr) first = &one;
    if (first_of_warp == nullptr || first_of_warp->warp != one.warp) {
      first_of_warp = &one;
      if (same_place(first->pc, one.pc) || !is_news(Fault::barriers_differ, first->pc, one.pc)) continue;
      report({Fault::barriers_differ,
              first->pc,
              {first->identity.rank},
              fmt::format("waits here while warp {} waits at {}, and the barrier opens for both", one.warp,
                          elsewhere(one)),
              one.pc});
    } else if (!same_place(first_of_warp->pc, one.pc) &&
               is_news(Fault::barrier_not_reached, first_of_warp->pc, one.pc)) {
      report({Fault::barrier_not_reached,
              first_of_warp->pc,
              {one.identity.rank},
              fmt::format("waits at another barrier, {}, than lane {} of the same warp at this one", elsewhere(one),
                          first_of_warp->identity.rank),
              one.pc});
    }
  }
  const auto grid =
      std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& one) { return one.wait == Wait::barrier; });
  if (grid->waits_for_grid) open_grid_barrier(*grid);
}

void BlockRunner::open_barrier() {
  unsigned sum = 0;
  for (const Lane& one : lanes_) sum += one.wait == Wait::barrier && one.value != 0 ? 1 : 0;
  barrier_sum_ = sum;
  ++level_;
  shadow_.begin_level();
  for (Warp& warp : warps_) {
    for (unsigned i = 0; i < warp.count; ++i) {
      Lane& one = lane(warp, i);
      if (one.wait != Wait::barrier) continue;
      one.wait = Wait::ready;
      one.waits_for_grid = false;
      warp.keys[i] = key_at(one);
    }
  }
}

}  // namespace bankwise::emulator
