// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/block_runner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <bankwise/emulator/core/control_flow.hpp>
#include <bankwise/emulator/core/source_lines.hpp>

namespace bankwise::emulator {
namespace {

constexpr unsigned turn_steps = 4096;  // of a warp, before the other warps run: one may wait for another
constexpr unsigned starved_after = 1 << 16, starved_steps = 64;

Dim3 at(std::uint64_t linear, Dim3 size) {
  return {unsigned(linear % size.x), unsigned(linear / size.x % size.y), unsigned(linear / size.x / size.y)};
}

}  // namespace

thread_local constinit Lane* BlockRunner::current = nullptr;

// Of the linker.
extern "C" {
extern const char __executable_start;
extern const char _end;
}

bool is_of_program(const void* address) {
  const auto begin = std::uintptr_t(&__executable_start);
  return std::uintptr_t(address) - begin < std::uintptr_t(&_end) - begin;
}

BlockRunner::BlockRunner(const Launch& launch, const BoundKernel& kernel, const Stacks& stacks, GridBarrier* grid)
    : launch_(launch),
      kernel_(kernel),
      storage_(thread_local_storage()),
      layout_(shared_layout()),
      last_array_(layout_.arrays.data()),
      stacks_(stacks),
      lanes_(launch.block.count()),
      shadow_(layout_.bytes),
      grid_(grid),
      in_kernel_(std::uintptr_t(kernel.entry)),
      findings_(launch) {
  // Shared memory is never initialized: kernels find all arrays with constructors initialized.
  for (const std::uint32_t guard : layout_.guards) guards_.push_back(std::exchange(storage_[guard], std::byte{1}));
  const auto threads = unsigned(lanes_.size());
  for (unsigned first = 0; first < threads; first += launch.warp) {
    warps_.push_back({.first = first, .count = std::min(launch.warp, threads - first)});
  }
  for (unsigned i = 0; i < threads; ++i) {
    Lane& lane = lanes_[i];
    lane.runner = this;
    lane.warp = i / launch.warp;
    lane.identity = {.thread = at(i, launch.block),
                     .block_size = launch.block,
                     .grid = launch.grid,
                     .rank = i,
                     .lane = i % launch.warp,
                     .warp_size = launch.warp};
    lane.fiber.start(stacks_[i], Stacks::bytes, body, &lane);
  }
}

BlockRunner::~BlockRunner() {
  for (std::size_t i = 0; i < guards_.size(); ++i) storage_[layout_.guards[i]] = guards_[i];
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
    runner.suspend(lane, Wait::returned, 0);
  }
}

void BlockRunner::suspend(Lane& lane, Wait wait, std::uintptr_t pc) {
  lane.wait = wait;
  lane.pc = pc;
  current = nullptr;
  lane.fiber.suspend();
}

void BlockRunner::fail(Lane& lane, Fault fault, std::uintptr_t pc, const std::string& what) {
  failure_ = Failure{fault, pc, {lane.identity.rank}, what};
  for (;;) suspend(lane, Wait::returned, pc);
}

/// Lets a lane run until it suspends.
// Recursion: once each time that its notes are full.
void BlockRunner::resume(Lane& lane) {
  lane.noted = lane.next = 0;
  current = &lane;
  lane.fiber.resume();
  if (in_kernel_ == 0 && lane.noted > 0) in_kernel_ = pc_of(lane.notes[0]);
  if (failure_) end(*failure_);
  if (thrown_) std::rethrow_exception(thrown_);
  if (lane.noted > 0) {
    warps_[lane.warp].keys[lane.identity.lane] = lane.notes[0];
  } else {
    arrive(lane);
  }
}

/// The warp has processed the lane's next note.
void BlockRunner::advance(Lane& lane) {
  if (++lane.next < lane.noted) {
    warps_[lane.warp].keys[lane.identity.lane] = lane.notes[lane.next];
  } else {
    arrive(lane);
  }
}

/// The warp has reached the place where the lane is suspended.
void BlockRunner::arrive(Lane& lane) {
  if (lane.wait == Wait::full_notes) {
    resume(lane);
    return;
  }
  Warp& warp = warps_[lane.warp];
  warp.keys[lane.identity.lane] = lane.wait < Wait::meeting ? key_at(lane) : 0;
  warp.has_meetings |= lane.wait == Wait::meeting;
  if (lane.wait == Wait::returned) ++returned_;
}

void BlockRunner::begin(std::uint64_t block, Recorder* recorder) {
  block_number_ = block;
  block_ = at(block, launch_.grid);
  recorder_ = recorder;
  level_ = 0;
  steps_ = 0;
  returned_ = 0;
  units_.clear();
  rounds_.clear();
  copied_words_.clear();
  shadow_.begin_block();
  for (Warp& warp : warps_) {
    warp.has_meetings = false;
    warp.steps = warp.last_atomic = 0;
    warp.moved.fill(0);
    for (const auto& delivery : warp.deliveries) delivery->readers = 0;
    for (unsigned i = 0; i < warp.count; ++i) {
      Lane& one = lane(warp, i);
      one.identity.block = block_;
      one.wait = Wait::ready;
      one.noted = one.next = 0;
      one.calls.clear();
      one.pc = 0;
      one.delivery = nullptr;
      one.ordered = one.synchronized = 0;
      one.part = 0;
      one.waits_for_grid = false;
      one.copies.clear();
      one.copy_group = 0;
      warp.keys[i] = key_of(one, 0);
    }
  }
}

void BlockRunner::run(std::uint64_t block, Recorder* recorder) {
  begin(block, recorder);
  while (returned_ < lanes_.size()) {
    bool moved = false;
    for (Warp& warp : warps_) moved |= run_warp(warp);
    if (!moved) settle_barrier();
  }
  if (recorder_ != nullptr) recorder_->finish(level_ + 1);
}

/// Returns whether any lane moved.
bool BlockRunner::run_warp(Warp& warp) {
  bool moved = false;
  for (unsigned turn = 0; turn < turn_steps;) {
    const std::uint64_t group = choose(warp);
    if (group == 0) break;
    turn += step(warp, group);
    if (warp.has_meetings) settle_meetings(warp);
    moved = true;
  }
  if (moved) let_starved_go(warp);
  return moved;
}

/// Lanes that spin until another lane releases a lock may be at an earlier place than that lane, and would spin
/// forever. So a lane that has waited for long while the others executed atomics runs alone for a few steps. Without
/// atomics no lane spins; a waiting lane then waits for a long loop to end.
void BlockRunner::let_starved_go(Warp& warp) {
  if (warp.steps < starved_after || warp.last_atomic + turn_steps < warp.steps) return;
  for (unsigned starved = 0; starved < warp.count; ++starved) {
    if (warp.keys[starved] == 0 || warp.moved[starved] + starved_after > warp.steps) continue;
    for (unsigned i = 0; i < starved_steps && warp.keys[starved] != 0; ++i) {
      step(warp, lanes_at(warp, warp.keys[starved]));
      if (warp.has_meetings) settle_meetings(warp);
    }
    return;
  }
}

std::uint64_t BlockRunner::all_lanes(const Warp& warp) {
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a warp has lanes
  return ~std::uint64_t{0} >> (64 - warp.count);
}

std::uint64_t BlockRunner::lanes_at(const Warp& warp, Key key) {
  std::uint64_t lanes = 0;
  for (unsigned i = 0; i < warp.count; ++i) lanes |= std::uint64_t{warp.keys[i] == key} << i;
  return lanes;
}

/// The lanes that execute the next step, together; none if none can.
std::uint64_t BlockRunner::choose(const Warp& warp) {
  const auto* const end = warp.keys.begin() + warp.count;
  Key different = 0;
  for (unsigned i = 0; i < warp.count; ++i) different |= warp.keys[i] ^ warp.keys[0];
  if (different == 0) return warp.keys[0] == 0 ? 0 : all_lanes(warp);  // the usual case
  const auto* const some = std::find_if(warp.keys.begin(), end, [](Key key) { return key != 0; });
  if (some == end) return 0;
  const std::uint64_t group = lanes_at(warp, *some);
  const std::uint64_t waiting = lanes_at(warp, 0);
  return std::popcount(group | waiting) == int(warp.count) ? group : lanes_at(warp, earliest(warp));
}

/// The key of the lanes that run first: the deepest in calls, and of those the earliest in the code.
Key BlockRunner::earliest(const Warp& warp) {
  const auto place_of = [&](Key key) -> const std::pair<Key, std::uint64_t>& {
    const auto [found, is_new] = places_.try_emplace(key);
    if (is_new) found->second = {~(key >> 48), place_in_order(pc_of(key) - 1)};
    return found->second;
  };
  Key first = 0;
  std::pair<Key, std::uint64_t> place;
  for (unsigned i = 0; i < warp.count; ++i) {
    const Key key = warp.keys[i];
    if (key == 0 || key == first) continue;
    const auto& one = place_of(key);
    if (first != 0 && one >= place) continue;
    first = key;
    place = one;
  }
  return first;
}

/// All lanes that can continue have made the same notes since they were suspended: one step processes them.
/// Returns their number, or 0 if the notes differ.
unsigned BlockRunner::step_all(Warp& warp, std::uint64_t group, const Lane& any) {
  const unsigned count = any.noted;
  if (count < 2 || steps_ + count > launch_.step_limit) return 0;
  bool same = true;
  for_each_lane(group, [&](unsigned i) {
    const Lane& one = lane(warp, i);
    same = same && one.next == 0 && one.noted == count &&
           std::memcmp(one.notes.data(), any.notes.data(), count * sizeof(Key)) == 0;
  });
  if (!same) return 0;
  for (unsigned k = 0; recorder_ != nullptr && k < count; ++k) {
    if (!is_basic_block(any.notes[k])) continue;
    recorder_->add_basic_block(pc_of(any.notes[k]) - 1, level_, unsigned(std::popcount(group)));
  }
  steps_ += count;
  warp.steps += count;
  for_each_lane(group, [&](unsigned i) {
    warp.moved[i] = warp.steps;
    Lane& one = lane(warp, i);
    one.next = count;
    arrive(one);
  });
  return count;
}

/// Returns the number of steps.
unsigned BlockRunner::step(Warp& warp, std::uint64_t group) {
  const Lane& any = lane(warp, unsigned(std::countr_zero(group)));
  const bool is_note = any.next < any.noted;
  if (is_note && any.next == 0 && (lanes_at(warp, 0) | group) == all_lanes(warp)) {
    if (const unsigned steps = step_all(warp, group, any); steps > 0) return steps;
  }
  if (++steps_ > launch_.step_limit) {
    end({Fault::step_limit, is_note ? pc_of(any.notes[any.next]) : any.pc, ranks(warp, group),
         fmt::format("are not done after {} steps of the block, most likely an endless loop", launch_.step_limit)});
  }
  ++warp.steps;
  for_each_lane(group, [&](unsigned i) { warp.moved[i] = warp.steps; });
  if (is_note) {
    const Key key = any.notes[any.next];
    if (recorder_ != nullptr && is_basic_block(key)) {
      recorder_->add_basic_block(pc_of(key) - 1, level_, unsigned(std::popcount(group)));
    }
    for_each_lane(group, [&](unsigned i) { advance(lane(warp, i)); });
    return 1;
  }
  group_ = group;
  if (any.wait == Wait::access) {
    access(warp, group);
  } else {
    for_each_lane(group, [&](unsigned i) { resume(lane(warp, i)); });
  }
  return 1;
}

std::vector<unsigned> BlockRunner::ranks(const Warp& warp, std::uint64_t group) const {
  std::vector<unsigned> ranks;
  for_each_lane(group, [&](unsigned i) { ranks.push_back(warp.first + i); });
  return ranks;
}

std::vector<unsigned> BlockRunner::ranks_of(Wait wait) const {
  std::vector<unsigned> ranks;
  for (const Lane& lane : lanes_) {
    if (lane.wait == wait) ranks.push_back(lane.identity.rank);
  }
  return ranks;
}

std::string BlockRunner::text_of(const Failure& failure) const {
  return sentence_about(failure.fault, block_, failure.lanes, function_at(in_kernel_), failure.what,
                        failure.silenced_by);
}

void BlockRunner::end(const Failure& failure) {
  const auto [pc, other] = std::pair(failure.pc - (failure.pc != 0), failure.other_pc - (failure.other_pc != 0));
  if (launch_.fatal) {
    throw diagnosis(failure.fault, pc == 0 ? trace::Site{.file = "?", .function = "?"} : site_of(pc), block_,
                    failure.lanes, text_of(failure));
  }
  const FaultPlace place{failure.fault, pc, other, true};
  if (findings_.is_news(place)) {
    findings_.add(place, block_number_, failure.lanes.front() / launch_.warp, text_of(failure));
  }
  throw LaunchEnded();
}

void BlockRunner::report(const Failure& failure) {
  if (launch_.fatal) end(failure);
  const FaultPlace place{failure.fault, failure.pc - (failure.pc != 0), failure.other_pc - (failure.other_pc != 0),
                         false};
  findings_.add(place, block_number_, failure.lanes.front() / launch_.warp, text_of(failure));
}

}  // namespace bankwise::emulator
