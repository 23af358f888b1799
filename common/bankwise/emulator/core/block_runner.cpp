#include <bankwise/emulator/core/block_runner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <bankwise/emulator/core/control_flow.hpp>

namespace bankwise::emulator {
namespace {

constexpr unsigned turn_steps = 4096;  // steps of a warp before the others run, for which it may wait
constexpr unsigned starved_after = 1 << 16, starved_steps = 64;

std::uint64_t all_lanes(const RunningWarp& warp) {
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a warp has lanes
  return ~std::uint64_t{0} >> (64 - warp.count);
}

std::uint64_t lanes_at(const RunningWarp& warp, LaneKey key) {
  std::uint64_t lanes = 0;
  for (unsigned i = 0; i < warp.count; ++i) lanes |= std::uint64_t{warp.keys[i] == key} << i;
  return lanes;
}

}  // namespace

// Said again: g++ forgets it in what follows the definition in a unity build.
[[gnu::tls_model("initial-exec")]] thread_local constinit Lane* BlockRunner::current = nullptr;

BlockRunner::BlockRunner(const Launch& launch, const BoundKernel& kernel, const Stacks& stacks, GridBarrier* grid,
                         unsigned epoch)
    : kernel_(kernel),
      stacks_(stacks),
      block_(launch, kernel.entry),
      faults_(launch, block_),
      accesses_(block_, faults_),
      ahead_(block_, accesses_, global_, stacks),
      meetings_(block_, faults_, grid),
      races_(block_, epoch),
      global_(block_, races_) {
  // Shared memory is never initialized: kernels find all arrays with constructors initialized.
  for (const std::uint32_t guard : block_.layout.guards) {
    guards_.push_back(std::exchange(block_.storage[guard], std::byte{1}));
  }
  for (Lane& lane : block_.lanes) {
    lane.runner = this;
    // Not all at the same distance from a page, where they would share the few places that a cache has for it.
    const std::size_t unused = lane.identity.rank % 16 * 704;
    lane.fiber.start(stacks_[lane.identity.rank], Stacks::bytes - unused, body, &lane);
  }
}

BlockRunner::~BlockRunner() {
  for (std::size_t i = 0; i < guards_.size(); ++i) block_.storage[block_.layout.guards[i]] = guards_[i];
}

/// The function of a lane's fiber: runs the kernel once for each block.
void BlockRunner::body(void* data) {
  auto& lane = *static_cast<Lane*>(data);
  BlockRunner& runner = *lane.runner;
  for (;;) {
    try {
      runner.kernel_.call(runner.kernel_.arguments);
    } catch (...) {
      runner.thrown_ = std::current_exception();
    }
    runner.suspend(lane, WaitReason::returned, 0);
  }
}

void BlockRunner::suspend(Lane& lane, WaitReason wait, std::uintptr_t pc) {
  races_.settle(lane);
  lane.wait = wait;
  lane.pc = pc;
  current = nullptr;
  lane.fiber.suspend();
}

void BlockRunner::fail(Lane& lane, Fault fault, std::uintptr_t pc, std::string_view text) {
  if (lane.ahead != nullptr) RunAhead::diverge(lane);  // it fails again in lock-step
  const OffLane off;
  failure_ = LaneFault{fault, pc, {lane.identity.rank}, std::string(text)};
  for (;;) suspend(lane, WaitReason::returned, pc);
}

void BlockRunner::report_invalid(Lane& lane, const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
  const OffLane off;
  const auto text = [&] { return global_memory.sentence_about(address, bytes, writes); };
  if (!global_memory.make_usable(address, bytes)) fail(lane, Fault::invalid_address, pc, text());
  report_from(lane, Fault::invalid_address, pc, 0, text);
}

void BlockRunner::report_from(Lane& lane, Fault fault, std::uintptr_t pc, std::uintptr_t other_pc,
                              const std::function<std::string()>& text) {
  const OffLane off;
  if (!faults_.is_news(fault, pc, other_pc)) return;
  note_kernel(lane);
  if (block_.launch.fatal) fail(lane, fault, pc, text());
  faults_.report({fault, pc, {lane.identity.rank}, text(), other_pc});
}

/// Lets a lane run until it suspends.
// Inlined where many lanes run one after another: a return from here would go elsewhere than the processor expects
// (Fiber::resume).
[[gnu::always_inline]] inline void BlockRunner::run_in_order(Lane& lane) {
  if (lane.next_global == lane.global.size()) lane.global.clear(), lane.next_global = 0;
  global_.begin_run(lane);
  current = &lane;
  lane.fiber.resume();
}

// Recursion: once each time that its notes are full.
[[gnu::always_inline]] inline void BlockRunner::resume(Lane& lane) {
  lane.noted = lane.next = 0;
  run_in_order(lane);
  settle_in(lane);
}

/// The lane has run until it suspended.
void BlockRunner::settle_in(Lane& lane) {
  note_kernel(lane);
  if (failure_) faults_.end(*failure_);
  if (thrown_) std::rethrow_exception(thrown_);
  block_.warps[lane.warp].has_news |= lane.wait == WaitReason::returned;
  advance(lane);
}

/// The warp has processed the lane's notes before `next`; if these are all, it is where the lane is suspended.
void BlockRunner::advance(Lane& lane) {
  RunningWarp& warp = block_.warps[lane.warp];
  if (lane.next < lane.noted) {
    warp.keys[lane.identity.lane] = lane.notes[lane.next];
    return;
  }
  if (lane.wait == WaitReason::full_notes) {
    resume(lane);
    return;
  }
  warp.keys[lane.identity.lane] = lane.wait < WaitReason::meeting ? key_at(lane) : 0;
  warp.has_news |= lane.wait == WaitReason::meeting;
  if (lane.wait == WaitReason::returned) ++block_.returned;
}

void BlockRunner::run(std::uint64_t number, BlockSeries* recorder) {
  block_.begin(number, recorder);
  accesses_.begin_block();
  global_.begin_block();
  races_.begin_block();
  meetings_.begin_block();
  steps_ = 0;
  while (block_.returned < block_.lanes.size()) {
    bool moved = false;
    for (RunningWarp& warp : block_.warps) moved |= run_warp(warp);
    if (!moved) meetings_.settle_barrier();
  }
  if (recorder != nullptr) recorder->finish(block_.level + 1);
}

/// Returns whether any lane moved.
bool BlockRunner::run_warp(RunningWarp& warp) {
  const auto* const stop = block_.launch.stop;
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw LaunchEnded();
  bool moved = false;
  for (unsigned turn = 0; turn < turn_steps;) {
    const Choice choice = choose(warp);
    if (choice.lanes == 0) break;
    turn += step(warp, choice, turn);
    if (warp.has_news) meetings_.settle(warp);
    moved = true;
  }
  if (moved) let_starved_go(warp);
  return moved;
}

/// Lanes that spin until another lane releases a lock may be at an earlier place than that lane, and would spin
/// forever. So a lane that has waited for long while the others executed atomics runs alone for a few steps. Without
/// atomics no lane spins; a waiting lane then waits for a long loop to end.
void BlockRunner::let_starved_go(RunningWarp& warp) {
  if (warp.steps < starved_after || warp.last_atomic + turn_steps < warp.steps) return;
  for (unsigned starved = 0; starved < warp.count; ++starved) {
    if (warp.keys[starved] == 0 || warp.moved[starved] + starved_after > warp.steps) continue;
    for (unsigned i = 0; i < starved_steps && warp.keys[starved] != 0; ++i) {
      step(warp, {lanes_at(warp, warp.keys[starved]), {}}, turn_steps);
      if (warp.has_news) meetings_.settle(warp);
    }
    return;
  }
}

/// The lanes that execute the next step, together; none if none can.
BlockRunner::Choice BlockRunner::choose(const RunningWarp& warp) {
  const auto* const end = warp.keys.begin() + warp.count;
  LaneKey different = 0;
  for (unsigned i = 0; i < warp.count; ++i) different |= warp.keys[i] ^ warp.keys[0];
  if (different == 0) return {warp.keys[0] == 0 ? 0 : all_lanes(warp)};  // the usual case
  const auto* const some = std::find_if(warp.keys.begin(), end, [](LaneKey key) { return key != 0; });
  if (some == end) return {};
  const std::uint64_t group = lanes_at(warp, *some);
  const std::uint64_t waiting = lanes_at(warp, 0);
  return std::popcount(group | waiting) == int(warp.count) ? Choice{group} : earliest(warp);
}

/// The lanes that run first: the deepest in calls, and of those the earliest in the code.
BlockRunner::Choice BlockRunner::earliest(const RunningWarp& warp) {
  Choice choice;
  LaneKey first = 0;
  Place first_place = last_place;
  for (unsigned i = 0; i < warp.count; ++i) {
    const LaneKey key = warp.keys[i];
    if (key == 0) continue;
    if (key != first) {
      const Place place = place_of(key);
      if (first != 0 && place >= first_place) {
        choice.next = std::min(choice.next, place);
        continue;
      }
      if (first != 0) choice.next = std::min(choice.next, first_place);
      first = key;
      first_place = place;
      choice.lanes = 0;
    }
    choice.lanes |= std::uint64_t{1} << i;
  }
  return choice;
}

BlockRunner::Place BlockRunner::place_of(LaneKey key) {
  auto& [known, place] = places_[(key ^ key >> 12) % places_.size()];
  if (known != key) {
    place = {~(key >> 48), place_in_order(pc_of(key) - 1)};
    known = key;
  }
  return place;
}

/// All lanes that can continue have made the same notes since they were suspended: one step processes them.
/// Returns their number, or 0 if the notes differ.
unsigned BlockRunner::step_all(RunningWarp& warp, std::uint64_t group, const Lane& any) {
  const unsigned count = any.noted;
  if (count < 2 || steps_ + count > block_.launch.step_limit) return 0;
  bool same = true;
  for_each_lane(group, [&](unsigned i) {
    const Lane& lane = block_.lane(warp, i);
    same = same && lane.next == 0 && lane.noted == count &&
           std::memcmp(lane.notes.data(), any.notes.data(), count * sizeof(LaneKey)) == 0;
  });
  if (!same) return 0;
  const auto together = unsigned(std::popcount(group));
  for (unsigned k = 0; block_.recorder != nullptr && k < count; ++k) {
    if (!is_basic_block(any.notes[k])) continue;
    block_.recorder->add_basic_block(pc_of(any.notes[k]) - 1, block_.level, together);
  }
  steps_ += count;
  warp.steps += count;
  for (unsigned k = 1; k < count; ++k) {
    if (!global_.is_due(warp, k)) continue;
    if (!global_.has_alone(warp)) {
      global_.make_together(warp, group, k);
      continue;
    }
    for_each_lane(group, [&](unsigned i) { block_.lane(warp, i).next = k; });
    global_.perform(warp, group);
  }
  for_each_lane(group, [&](unsigned i) {
    warp.moved[i] = warp.steps;
    Lane& lane = block_.lane(warp, i);
    lane.next = count;
    advance(lane);
  });
  global_.perform(warp, group);
  return count;
}

/// The chosen lanes process notes while they stay together and before all others, except the last that any of them has.
/// Returns how many.
unsigned BlockRunner::step_some(RunningWarp& warp, const Choice& choice, const Lane& any, unsigned most) {
  most = unsigned(std::min<std::uint64_t>(most, block_.launch.step_limit - steps_));
  const auto together = unsigned(std::popcount(choice.lanes));
  const auto stay_together = [&] {
    const LaneKey key = any.notes[any.next + 1];
    bool same = choice.next == last_place || place_of(key) < choice.next;
    for_each_lane(choice.lanes, [&](unsigned i) {
      const Lane& lane = block_.lane(warp, i);
      same = same && lane.next + 1 < lane.noted && lane.notes[lane.next + 1] == key;
    });
    return same;
  };
  unsigned count = 0;
  while (count < most && any.next + 1 < any.noted && stay_together()) {
    const LaneKey key = any.notes[any.next];
    if (block_.recorder != nullptr && is_basic_block(key)) {
      block_.recorder->add_basic_block(pc_of(key) - 1, block_.level, together);
    }
    for_each_lane(choice.lanes, [&](unsigned i) { ++block_.lane(warp, i).next; });
    global_.perform(warp, choice.lanes);
    ++count;
  }
  if (count == 0) return 0;
  steps_ += count;
  warp.steps += count;
  for_each_lane(choice.lanes, [&](unsigned i) {
    warp.moved[i] = warp.steps;
    warp.keys[i] = any.notes[any.next];
  });
  return count;
}

/// Returns the number of steps. `turn`: those before in this turn of the warp.
unsigned BlockRunner::step(RunningWarp& warp, const Choice& choice, unsigned turn) {
  const std::uint64_t group = choice.lanes;
  const Lane& any = block_.lane(warp, unsigned(std::countr_zero(group)));
  const bool is_note = any.next < any.noted;
  if (is_note && any.next == 0 && (lanes_at(warp, 0) | group) == all_lanes(warp)) {
    if (const unsigned steps = step_all(warp, group, any); steps > 0) return steps;
  }
  if (is_note && turn < turn_steps) {
    if (const unsigned steps = step_some(warp, choice, any, turn_steps - turn); steps > 0) return steps;
  }
  if (++steps_ > block_.launch.step_limit) {
    faults_.end({Fault::step_limit, is_note ? pc_of(any.notes[any.next]) : any.pc, block_.ranks(warp, group),
                 fmt::format("are not done after {} steps of the block, most likely an endless loop",
                             block_.launch.step_limit)});
  }
  ++warp.steps;
  for_each_lane(group, [&](unsigned i) { warp.moved[i] = warp.steps; });
  if (is_note) {
    const LaneKey key = any.notes[any.next];
    if (block_.recorder != nullptr && is_basic_block(key)) {
      block_.recorder->add_basic_block(pc_of(key) - 1, block_.level, unsigned(std::popcount(group)));
    }
    for_each_lane(group, [&](unsigned i) {
      Lane& lane = block_.lane(warp, i);
      ++lane.next;
      advance(lane);
    });
    global_.perform(warp, group);
    return 1;
  }
  group_ = group;
  unsigned steps = 1;
  const bool is_access = any.wait == WaitReason::access;
  if (may_run_ahead(warp, group) &&
      ahead_(warp, group, std::min<std::uint64_t>(turn_steps - turn, block_.launch.step_limit - steps_))) {
    steps = ahead_.finish(warp, group) + unsigned{!is_access};
    steps_ += steps - 1;
    warp.steps += steps - 1;
    finish_ahead(warp, group);
  } else if (!is_access) {
    for_each_lane(group, [&](unsigned i) { resume(block_.lane(warp, i)); });
  } else {
    access(warp, group);
  }
  global_.perform(warp, group);
  return steps;
}

bool BlockRunner::may_run_ahead(const RunningWarp& warp, std::uint64_t group) const {
  return lanes_may_run_ahead && (lanes_at(warp, 0) | group) == all_lanes(warp) && !block_.launch.record_order &&
         block_.in_kernel != 0 && !block_.shadow.is_close() && !accesses_.copies.any() && !global_.is_pending(warp);
}

/// Lanes have run ahead, and all is recorded. Those that did not get to where they suspend do so.
void BlockRunner::finish_ahead(RunningWarp& warp, std::uint64_t group) {
  for_each_lane(group, [&](unsigned i) {
    warp.moved[i] = warp.steps;
    Lane& lane = block_.lane(warp, i);
    lane.access_number = 0;
    if (lane.wait == WaitReason::in_order) run_in_order(lane);
    settle_in(lane);
  });
}

/// The lanes of `group` perform the access at which they are suspended.
void BlockRunner::access(RunningWarp& warp, std::uint64_t group) {
  const std::uint64_t number = accesses_.begin(warp, group);
  const bool are_calm = accesses_.are_calm(warp, group);
  for_each_lane(group, [&](unsigned i) {
    Lane& lane = block_.lane(warp, i);
    lane.access_number = number;
    if (lane.access.is_atomic) accesses_.pass_flag(lane);
    const auto clash = are_calm || accesses_.is_clean(lane) ? std::nullopt : accesses_.check(lane);
    if (!clash) {
      resume(lane);
      return;
    }
    const PendingAccess access = lane.access;
    const std::uintptr_t pc = lane.pc;
    const std::byte* memory = block_.storage + access.offset;
    const std::vector<std::byte> before(memory, memory + access.bytes);
    resume(lane);
    if (!std::equal(before.begin(), before.end(), memory)) accesses_.report_clash(lane, pc, access, *clash);
  });
}

}  // namespace bankwise::emulator
