// SPDX-License-Identifier: MIT
#include "bankwise/emulator/block_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "bankwise/emulator/control_flow.hpp"
#include "bankwise/emulator/source_lines.hpp"

namespace bankwise::emulator {
namespace {

constexpr unsigned turn_steps = 4096;  // of a warp, before the others get their turn: one may wait for another

template <class Visit>
void for_each_lane(std::uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(unsigned(std::countr_zero(mask)));
}

std::string_view verb(banks::Operation operation) {
  if (operation == banks::Operation::load) return "reads";
  return operation == banks::Operation::store ? "writes" : "updates";
}

Dim3 at(std::uint64_t linear, Dim3 size) {
  return {unsigned(linear % size.x), unsigned(linear / size.x % size.y), unsigned(linear / size.x / size.y)};
}

}  // namespace

thread_local constinit Lane* BlockRunner::current = nullptr;

BlockRunner::BlockRunner(const Launch& launch, const BoundKernel& kernel, const Stacks& stacks)
    : launch_(launch),
      kernel_(kernel),
      storage_(thread_local_storage()),
      layout_(shared_layout()),
      last_array_(layout_.arrays.data()),
      stacks_(stacks),
      lanes_(launch.block.count()),
      shadow_(layout_.bytes, launch.warp) {
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

/// What a lane does all its life: the kernel, again and again, once a block.
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
void BlockRunner::resume(Lane& lane) {
  lane.noted = lane.next = 0;
  current = &lane;
  lane.fiber.resume();
  if (failure_) diagnose(*failure_);
  if (thrown_) std::rethrow_exception(thrown_);
  if (lane.noted > 0) {
    warps_[lane.warp].keys[lane.identity.lane] = lane.notes[0];
  } else {
    arrive(lane);
  }
}

/// The warp has gone through the lane's next note.
void BlockRunner::advance(Lane& lane) {
  if (++lane.next < lane.noted) {
    warps_[lane.warp].keys[lane.identity.lane] = lane.notes[lane.next];
  } else {
    arrive(lane);
  }
}

/// The warp has come to where the lane is suspended.
void BlockRunner::arrive(Lane& lane) {
  if (lane.wait == Wait::full_notes) {
    resume(lane);
    return;
  }
  Warp& warp = warps_[lane.warp];
  warp.keys[lane.identity.lane] = lane.wait < Wait::meeting ? key_of(lane, lane.pc) : 0;
  warp.has_meetings |= lane.wait == Wait::meeting;
  if (lane.wait == Wait::barrier) ++at_barrier_;
  if (lane.wait == Wait::returned) ++returned_;
}

void BlockRunner::begin(std::uint64_t block, Recorder* recorder) {
  block_ = at(block, launch_.grid);
  recorder_ = recorder;
  level_ = 0;
  steps_ = 0;
  returned_ = at_barrier_ = 0;
  units_.clear();
  shadow_.begin_block();
  for (Warp& warp : warps_) {
    warp.has_meetings = false;
    for (unsigned i = 0; i < warp.count; ++i) {
      Lane& one = lane(warp, i);
      one.identity.block = block_;
      one.wait = Wait::ready;
      one.noted = one.next = 0;
      one.calls.clear();
      one.pc = 0;
      one.delivery = nullptr;
      one.ordered = 0;
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
  if (recorder_ != nullptr) recorder_->levels = level_ + 1;
}

/// Returns whether any lane moved.
bool BlockRunner::run_warp(Warp& warp) {
  bool moved = false;
  for (unsigned turn = 0; turn < turn_steps; ++turn) {
    const std::uint64_t group = choose(warp);
    if (group == 0) break;
    step(warp, group);
    if (warp.has_meetings) settle_meetings(warp);
    moved = true;
  }
  return moved;
}

/// The lanes that go on next, together; none if none can.
std::uint64_t BlockRunner::choose(const Warp& warp) {
  const auto* const end = warp.keys.begin() + warp.count;
  const auto* const some = std::find_if(warp.keys.begin(), end, [](Key key) { return key != 0; });
  if (some == end) return 0;
  const auto lanes_at = [&](Key key) {
    std::uint64_t lanes = 0;
    for (unsigned i = 0; i < warp.count; ++i) lanes |= std::uint64_t{warp.keys[i] == key} << i;
    return lanes;
  };
  const std::uint64_t group = lanes_at(*some);
  const std::uint64_t able = ~lanes_at(0) & (~std::uint64_t{0} >> (64 - warp.count));
  return group == able ? group : lanes_at(earliest(warp));
}

/// The key of the lanes that come first: the deepest in calls, and of those the earliest in the code.
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

void BlockRunner::step(Warp& warp, std::uint64_t group) {
  const Lane& any = lane(warp, unsigned(std::countr_zero(group)));
  const bool is_note = any.next < any.noted;
  if (++steps_ > launch_.step_limit) {
    diagnose({Fault::step_limit, is_note ? pc_of(any.notes[any.next]) : any.pc, ranks(warp, group),
              fmt::format("are not done after {} steps of the block, an endless loop it seems", launch_.step_limit)});
  }
  if (is_note) {
    const Key key = any.notes[any.next];
    if (recorder_ != nullptr && is_basic_block(key)) {
      recorder_->add_basic_block(pc_of(key) - 1, level_, unsigned(std::popcount(group)));
    }
    for_each_lane(group, [&](unsigned i) { advance(lane(warp, i)); });
    return;
  }
  group_ = group;
  if (any.wait == Wait::access) {
    access(warp, group);
  } else {
    for_each_lane(group, [&](unsigned i) { resume(lane(warp, i)); });
  }
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

void BlockRunner::diagnose(const Failure& failure) const {
  throw diagnosis(failure.fault, failure.pc == 0 ? Site{"?", 0, "?"} : site_of(failure.pc - 1), block_, failure.lanes,
                  function_at(std::uintptr_t(kernel_.entry)), failure.what);
}

// --- Accesses ---

std::uint32_t BlockRunner::bytes_of(const ThreadLocalArray& array) const {
  return array.dynamic ? std::uint32_t(launch_.dynamic_shared) : array.bytes;
}

/// Whether the whole access lies in an array.
bool BlockRunner::lies_in(const ThreadLocalArray& array, const PendingAccess& access) const {
  return access.offset >= array.offset && access.offset + access.bytes <= array.offset + bytes_of(array);
}

/// The array that an access lies in, or is nearest to, which is the one that was meant.
const ThreadLocalArray& BlockRunner::array_of(const PendingAccess& access) const {
  if (lies_in(*last_array_, access)) return *last_array_;
  const auto& arrays = layout_.arrays;
  const auto after = std::upper_bound(arrays.begin(), arrays.end(), access.offset,
                                      [](std::uint32_t offset, auto& array) { return offset < array.offset; });
  if (after == arrays.begin()) return *after;
  const auto before = std::prev(after);
  const std::uint32_t beyond = access.offset - std::min(access.offset, before->offset + bytes_of(*before));
  last_array_ = after == arrays.end() || beyond <= after->offset - access.offset ? &*before : &*after;
  return *last_array_;
}

/// "4 bytes at byte 1024 of part, which has 1024"
std::string BlockRunner::place(const PendingAccess& access) const {
  const ThreadLocalArray& array = array_of(access);
  return fmt::format("{} bytes at byte {} of {}, which has {}", access.bytes,
                     std::int64_t{access.offset} - array.offset, array.name, bytes_of(array));
}

void BlockRunner::check_place(const Lane& lane) const {
  const PendingAccess& access = lane.access;
  const ThreadLocalArray& array = array_of(access);
  const auto wrong = [&](Fault fault, std::string_view remark) {
    diagnose(
        {fault, lane.pc, {lane.identity.rank}, fmt::format("{} {}{}", verb(access.operation), place(access), remark)});
  };
  if (!lies_in(array, access)) wrong(Fault::out_of_bounds, "");
  if (access.as_aligned && (access.offset - array.offset) % access.bytes != 0) {
    wrong(Fault::misaligned, ", an address that its type may not have");
  }
}

/// Returns what is wrong if, and only if, the access changes what is there: two lanes may write the same.
std::optional<BlockRunner::Failure> BlockRunner::check(const Lane& lane) {
  const PendingAccess& access = lane.access;
  check_place(lane);
  const Toucher toucher{std::uint16_t(lane.identity.rank), std::uint16_t(lane.warp),
                        launch_.warp_synchronous ? shadow_.now() - 1 : lane.ordered, std::uint32_t(lane.pc)};
  const Touch how = access.operation == banks::Operation::load    ? Touch::read
                    : access.operation == banks::Operation::store ? Touch::write
                                                                  : Touch::atomic;
  const auto clash = shadow_.touch(toucher, access.offset, access.bytes, how);
  if (!clash) return std::nullopt;
  std::string what = fmt::format("{} {}", verb(access.operation), place(access));
  if (clash->unwritten) {
    diagnose({Fault::unwritten, lane.pc, {toucher.lane}, what + ", and no lane of the block has written them"});
  }
  const std::uintptr_t other_pc = lane.pc - toucher.pc + clash->other_pc;  // the lower half exchanged
  what += fmt::format("; lane {} {} there at line {}, and nothing orders the two", clash->other,
                      clash->other_wrote ? "writes" : "reads", site_of(other_pc - 1).line);
  const Failure race{Fault::race, lane.pc, {toucher.lane, clash->other}, what};
  if (!clash->both_write) diagnose(race);
  return race;
}

/// Bytes that the device accesses at once: all, or as many as the alignment of each lane's address allows.
unsigned BlockRunner::unit_of(const Warp& warp, std::uint64_t group, const Lane& first) {
  const PendingAccess& access = first.access;
  if (access.as_aligned) return access.bytes;
  const auto [known, is_new] = units_.try_emplace(first.pc, 16U);
  std::uint32_t bits = access.bytes | 16 | known->second;
  if (std::has_single_bit(access.bytes) && access.bytes > 1 && access.bytes <= 16) bits |= access.bytes / 2;
  for_each_lane(group, [&](unsigned i) {
    const PendingAccess& one = lanes_[warp.first + i].access;
    bits |= one.offset - array_of(one).offset;
  });
  known->second = bits & -bits;
  return known->second;
}

void BlockRunner::record(const Warp& warp, std::uint64_t group, unsigned unit) {
  const Lane& first = lanes_[warp.first + unsigned(std::countr_zero(group))];
  for (std::uint32_t part = 0; part < first.access.bytes; part += unit) {
    if (recorder_->accesses.size() >= launch_.access_limit) {
      diagnose(
          {Fault::access_limit,
           first.pc,
           {first.identity.rank},
           fmt::format("makes one access more than the {} of its block that are recorded; raise Launch::access_limit",
                       launch_.access_limit)});
    }
    const Access& recorded = recorder_->add_access(first.pc - 1, {.operation = first.access.operation,
                                                                  .width = unit,
                                                                  .warp = first.warp,
                                                                  .level = level_,
                                                                  .mask = group,
                                                                  .is_loop = first.access.is_loop});
    std::uint32_t* addresses = recorder_->addresses_of(recorded);
    for_each_lane(group, [&](unsigned i) { addresses[i] = lanes_[warp.first + i].access.offset + part; });
  }
}

void BlockRunner::access(Warp& warp, std::uint64_t group) {
  const Lane& first = lane(warp, unsigned(std::countr_zero(group)));
  shadow_.next_moment();
  if (recorder_ != nullptr) record(warp, group, unit_of(warp, group, first));
  for_each_lane(group, [&](unsigned i) {
    Lane& one = lane(warp, i);
    one.access_number = recorder_ != nullptr ? recorder_->accesses.size() : 0;
    const auto doubt = check(one);
    if (!doubt) {
      resume(one);
      return;
    }
    const std::byte* memory = storage_ + one.access.offset;
    const std::vector<std::byte> before(memory, memory + one.access.bytes);
    resume(one);
    if (!std::equal(before.begin(), before.end(), memory)) diagnose(*doubt);
  });
}

// --- Meetings ---

/// Lets those go whose meeting is complete.
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
  for_each_lane(came, [&](unsigned i) {
    Lane& one = lane(warp, i);
    delivery.values[i] = one.value;
    if (one.delivery != nullptr) --one.delivery->readers;
    one.delivery = &delivery;
    ++delivery.readers;
    one.met = came;
    if (one.meeting == WarpMeeting::sync) one.ordered = shadow_.now();
    one.wait = Wait::ready;
    warp.keys[i] = key_of(one, one.pc);
  });
}

void BlockRunner::diagnose_meeting(const Lane& waiting) {
  const Warp& warp = warps_[waiting.warp];
  std::string others;
  std::vector<unsigned> blamed{waiting.identity.rank};
  for (unsigned i = 0; i < warp.count; ++i) {
    const Lane& one = lanes_[warp.first + i];
    const bool same = one.wait == Wait::meeting && one.meeting == waiting.meeting && one.mask == waiting.mask;
    if ((waiting.mask >> i & 1) == 0 || one.wait == Wait::returned || same) continue;
    blamed.push_back(one.identity.rank);
    others = one.wait == Wait::barrier ? "wait at a barrier" : "are in another warp intrinsic, or have another mask";
  }
  diagnose({Fault::wrong_mask, waiting.pc, blamed,
            fmt::format("never meet: the first waits in a warp intrinsic with the mask 0x{:x}, which names the others; "
                        "they {}",
                        waiting.mask, others)});
}

/// Nothing moves: the barrier opens, or nothing ever will.
void BlockRunner::settle_barrier() {
  const Lane* waiting = nullptr;
  for (const Lane& one : lanes_) {
    if (one.wait == Wait::meeting) diagnose_meeting(one);
    if (one.wait == Wait::barrier && waiting == nullptr) waiting = &one;
  }
  if (returned_ > 0 && !launch_.returned_lanes_arrive) {
    diagnose({Fault::barrier_not_reached, waiting->pc, ranks_of(Wait::returned),
              "return without coming to this barrier, where others wait"});
  }
  unsigned sum = 0;
  for (const Lane& one : lanes_) {
    if (one.wait != Wait::barrier) continue;
    sum += one.value != 0 ? 1 : 0;
    if (one.pc == waiting->pc) continue;
    const Site here = site_of(waiting->pc - 1), there = site_of(one.pc - 1);
    if (here == there && here.line != 0) continue;  // one barrier, of which the compiler made two
    diagnose({Fault::barrier_not_reached,
              waiting->pc,
              {one.identity.rank},
              fmt::format("waits at another barrier, {}:{}, than those at this one", there.file, there.line)});
  }
  barrier_sum_ = sum;
  at_barrier_ = 0;
  ++level_;
  shadow_.begin_level();
  for (Warp& warp : warps_) {
    for (unsigned i = 0; i < warp.count; ++i) {
      Lane& one = lane(warp, i);
      if (one.wait != Wait::barrier) continue;
      one.wait = Wait::ready;
      warp.keys[i] = key_of(one, one.pc);
    }
  }
}

}  // namespace bankwise::emulator
