#include <bankwise/emulator/core/run_ahead.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <bankwise/emulator/core/block_runner.hpp>

namespace bankwise::emulator {
namespace {

constexpr std::size_t max_steps = 4096;
constexpr unsigned max_attempts = 3, min_rest = 16, max_rest = 4096, trial_after = 16;

/// At a plain access, or after a barrier. After wmma a lane may write to another one's stack.
bool can_begin(const Lane& lane) {
  if (lane.wait == WaitReason::access) return lane.access.is_plain;
  return lane.wait == WaitReason::released && lane.pc != 0 && lane.meeting != WarpMeeting::matrix;
}

}  // namespace

RunAhead::RunAhead(RunningBlock& block, SharedAccesses& accesses, GlobalAccesses& global, const Stacks& stacks)
    : block_(block), accesses_(accesses), global_(global), stacks_(stacks) {
  // A lane that runs ahead allocates nothing.
  steps_.reserve(max_steps);
  made_.reserve(Limit().accesses);
  overwritten_ = std::make_unique_for_overwrite<Overwritten[]>(std::size_t{Limit().accesses} * block.launch.warp);
}

bool RunAhead::operator()(const RunningWarp& warp, std::uint64_t group, std::uint64_t steps_left) {
  const Lane& first = block_.lane(warp, unsigned(std::countr_zero(group)));
  if (!Fiber::can_return || steps_left < 2 * Lane::max_notes || !can_begin(first)) return false;
  Habit& habit = habits_[first.pc];
  if (habit.rest > 0) {
    --habit.rest;
    return false;
  }
  from_ = first.wait;
  bool can_all = true;
  for_each_lane(group, [&](unsigned i) {
    const Lane& lane = block_.lane(warp, i);
    can_all = can_all && lane.wait == from_ && can_begin(lane);
  });
  if (!can_all) return false;
  max_steps_ = std::min<std::uint64_t>(steps_left, max_steps - 1);
  limit_ = habit.limit;
  bool done = false;
  for (unsigned i = 0; i < max_attempts && limit_.accesses > 1 && !done; ++i) done = attempt(warp, group);
  const bool is_limited = done && (block_.shadow.is_folded() || habit.trials++ % trial_after != 0);
  habit.limit = is_limited ? limit_ : Limit();
  if (done && made_.size() > 1) {
    habit.failures = 0;
  } else {  // it has cost more than lock-step
    habit.rest = std::min(min_rest << std::min(habit.failures++, 16U), max_rest);
  }
  return done;
}

bool RunAhead::attempt(const RunningWarp& warp, std::uint64_t group) {
  steps_.clear();
  made_.clear();
  overwritten_count_ = 0;
  leads_ = true;
  is_foreign_ = false;
  loads_at_last_ = 0;
  std::uint64_t ran = 0;
  while (ran != group) {
    const auto i = unsigned(std::countr_zero(group & ~ran));
    Lane& lane = block_.lane(warp, i);
    save(lane, before_[i]);
    ran |= std::uint64_t{1} << i;
    prefetch(warp, group & ~ran);
    const bool is_well = run_one(lane);
    const std::size_t made = made_by_lane();
    if (leads_) finish_leading(lane);
    if (is_well && made == made_.size() && (made != 0 || from_ == WaitReason::released)) continue;
    limit_.accesses = is_well || lane.wait == WaitReason::diverged ? unsigned(made) : 0;
    if (is_foreign_ && limit_.accesses > 0) --limit_.accesses;  // up to the access before
    go_back(warp, ran);
    return false;
  }
  if (is_in_order(warp, group)) return true;
  limit_.loads = loads_at_last_;
  go_back(warp, ran);
  return false;
}

/// The lanes' memory that will soon be needed: the cache has not kept it since the last time.
void RunAhead::prefetch(const RunningWarp& warp, std::uint64_t lanes) const {
  if (lanes == 0) return;
  block_.lane(warp, unsigned(std::countr_zero(lanes))).fiber.prefetch();
  lanes &= lanes - 1;
  if (lanes == 0) return;
  const auto* const after = reinterpret_cast<const std::byte*>(&block_.lane(warp, unsigned(std::countr_zero(lanes))));
  constexpr std::size_t line = 64, lines = 4;
  for (std::size_t i = 0; i < lines; ++i) __builtin_prefetch(after + i * line);
}

void RunAhead::save(Lane& lane, Before& before) {
  lane.fiber.save(before.fiber);
  before.calls = lane.calls;
  before.access = lane.access;
  before.pc = lane.pc;
  before.part = lane.part;
}

/// Whether no lane has loaded after its last access what another one of them is about to store.
bool RunAhead::is_in_order(const RunningWarp& warp, std::uint64_t group) {
  bool stores = false;
  for_each_lane(group, [&](unsigned i) { stores |= block_.lane(warp, i).wait == WaitReason::in_order; });
  return !stores || !global_.has_joint(warp, last_end());
}

/// Returns false if the lane has failed.
[[gnu::always_inline]] inline bool RunAhead::run_one(Lane& lane) {
  lane.ahead = this;
  rank_ = lane.identity.rank;
  lane_ = lane.identity.lane;
  stack_ = stacks_[rank_];
  loads_ = 0;
  step_ = leads_ ? &nowhere : steps_.data();
  access_ = made_.data();
  global_.begin_ahead(lane, leads_);
  lane.noted = lane.next = 0;
  const bool is_well =
      (from_ == WaitReason::released || make(lane, lane.pc) == Answer::made) && lane.runner->run_lane(lane);
  lane.ahead = nullptr;
  return is_well && lane.wait != WaitReason::diverged;
}

void RunAhead::diverge(Lane& lane) {
  for (;;) lane.runner->suspend(lane, WaitReason::diverged, 0);
}

/// What the first lane noted after its last access is not for the others.
void RunAhead::finish_leading(Lane& lane) {
  leads_ = false;
  const std::size_t end = last_end();
  lane.noted = unsigned(steps_.size() - end);
  std::copy(steps_.begin() + std::ptrdiff_t(end), steps_.end(), lane.notes.begin());
  steps_.resize(end);
  steps_.push_back(nowhere);
}

bool RunAhead::lead(Lane& lane, LaneKey key) {
  steps_.push_back(key);
  // As many notes since its last access as a lane can have.
  if (steps_.size() - last_end() == Lane::max_notes) lane.runner->suspend(lane, WaitReason::full_notes, 0);
  return true;
}

/// The lane is not where the first one was next: only after all accesses it needs not be. Returns false.
bool RunAhead::end_of_way(Lane& lane) const {
  if (made_by_lane() != made_.size()) diverge(lane);
  return false;
}

void RunAhead::go_back(const RunningWarp& warp, std::uint64_t group) {
  while (overwritten_count_ > 0) {
    const Overwritten& last = overwritten_[--overwritten_count_];
    std::memcpy(block_.storage + last.offset, last.content.data(), last.bytes);
  }
  for_each_lane(group, [&](unsigned i) {
    Lane& lane = block_.lane(warp, i);
    const Before& before = before_[i];
    lane.fiber.return_to(before.fiber);
    lane.calls = before.calls;
    lane.set_depth();
    lane.access = before.access;
    lane.pc = before.pc;
    lane.part = before.part;
    lane.wait = from_;
    lane.noted = lane.next = 0;
  });
  block_.shadow.undo_uses();
  global_.forget_ahead(warp);
}

RunAhead::Answer RunAhead::make(Lane& lane, std::uintptr_t pc) {
  const PendingAccess& access = lane.access;
  const LaneKey step = key_of(lane, pc) | is_access;
  if (leads_) {
    if (made_.size() == limit_.accesses || !access.is_plain || steps_.size() + 2 * Lane::max_notes > max_steps_) {
      return Answer::stops;
    }
    const ThreadLocalArray* const array = accesses_.array_of(access);
    if (array == nullptr || !accesses_.is_calm(lane, *array)) return Answer::stops;
    Access& made = made_.emplace_back();
    made.pc = pc;
    made.first = access;
    made.step = unsigned(steps_.size());
    made.array = array;
    made.array_offset = array->offset;
    made.begin = block_.storage + array->offset;
    made.last = accesses_.bytes_of(*array) - access.bytes;
    made.offsets[lane_] = access.offset;
    steps_.push_back(step);
    loads_at_last_ = loads_;
  } else {
    if (made_by_lane() == made_.size()) return Answer::stops;  // the first lane is before its next one, too
    if (*step_ != step || !accesses_.is_calm(lane, *access_->array)) return Answer::diverges;
    ++step_;
    access_++->offsets[lane_] = access.offset;
  }
  if (access.operation == banks::Operation::store) save(access.offset, access.bytes);
  return Answer::made;
}

bool RunAhead::access_other(Lane& lane, const LoggedAccess& access, bool is_volatile) {
  const auto* const address = reinterpret_cast<const void*>(access.address);
  if (access.address - std::uintptr_t(stack_) < Stacks::bytes) return true;
  if (stacks_.contains(address)) {
    is_foreign_ = true;
    diverge(lane);
  }
  if (access.operation == banks::Operation::load && !is_volatile && load(lane, access)) return true;
  if (!global_memory.contains(address)) {
    const OffLane off;
    if (GlobalAccesses::is_constant(address)) return true;
  }
  lane.runner->stay_in_order(lane);
  return false;
}

bool RunAhead::load(Lane& lane, const LoggedAccess& access) {
  const auto* const address = reinterpret_cast<const void*>(access.address);
  if (block_.launch.fatal || loads_ >= limit_.loads || !global_memory.contains(address) ||
      !global_memory.is_valid(address, access.bytes)) {
    return false;
  }
  LoggedAccess load = access;
  load.noted = std::uint16_t(made_steps(lane));
  if (!global_.load_ahead(lane, load)) return false;
  ++loads_;
  return true;
}

unsigned RunAhead::finish(const RunningWarp& warp, std::uint64_t group) {
  const auto count = unsigned(steps_.size() - 1);
  const auto set_next = [&](unsigned step) {
    for_each_lane(group, [&](unsigned i) { block_.lane(warp, i).next = step; });
  };
  auto next = made_.begin();
  for (unsigned k = 0; k < count; ++k) {
    if (global_.is_due(warp, k)) {
      set_next(k);
      global_.perform(warp, group);
    }
    if (next != made_.end() && next->step == k) {
      accesses_.add(warp, group, *next++);
    } else if (block_.recorder != nullptr && is_basic_block(steps_[k])) {
      block_.recorder->add_basic_block(pc_of(steps_[k]) - 1, block_.level, unsigned(std::popcount(group)));
    }
  }
  set_next(0);
  global_.forget_steps(warp, count);
  return count;
}

}  // namespace bankwise::emulator
