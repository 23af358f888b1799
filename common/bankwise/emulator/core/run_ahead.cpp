#include <bankwise/emulator/core/run_ahead.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <bankwise/emulator/core/block_runner.hpp>

namespace bankwise::emulator {
namespace {

constexpr std::size_t max_steps = 4096;
constexpr unsigned max_attempts = 3, min_rest = 16, max_rest = 4096;

}  // namespace

RunAhead::RunAhead(RunningBlock& block, const SharedAccesses& accesses) : block_(block), accesses_(accesses) {
  // A lane that runs ahead allocates nothing.
  steps_.reserve(max_steps);
  made_.reserve(max_accesses);
  overwritten_.reserve(std::size_t{max_accesses} * banks::max_lanes);
}

bool RunAhead::operator()(const RunningWarp& warp, std::uint64_t group, std::uint64_t steps_left,
                          bool (*run)(Lane& lane)) {
  const Lane& first = block_.lane(warp, unsigned(std::countr_zero(group)));
  if (!Fiber::can_return || !first.access.is_plain || steps_left < 2 * Lane::max_notes) return false;
  Habit& habit = habits_[first.pc];
  if (habit.rest > 0) {
    --habit.rest;
    return false;
  }
  max_steps_ = std::min<std::uint64_t>(steps_left, max_steps - 1);
  limit_ = habit.limit;
  bool done = false;
  for (unsigned i = 0; i < max_attempts && limit_ > 1 && !done; ++i) done = attempt(warp, group, run);
  habit.limit = done ? limit_ : max_accesses;
  if (done && made_.size() > 1) {
    habit.failures = 0;
  } else {  // it has cost more than lock-step
    habit.rest = std::min(min_rest << std::min(habit.failures++, 16U), max_rest);
  }
  return done;
}

bool RunAhead::attempt(const RunningWarp& warp, std::uint64_t group, bool (*run)(Lane& lane)) {
  steps_.clear();
  made_.clear();
  overwritten_.clear();
  leads_ = true;
  std::uint64_t ran = 0;
  while (ran != group) {
    const auto i = unsigned(std::countr_zero(group & ~ran));
    Lane& lane = block_.lane(warp, i);
    Before& before = before_[i];
    lane.fiber.save(before.fiber);
    before.calls = lane.calls;
    before.access = lane.access;
    before.pc = lane.pc;
    before.part = lane.part;
    ran |= std::uint64_t{1} << i;
    const bool is_well = run_one(lane, run);
    const std::size_t made = made_by_lane();
    if (leads_) finish_leading(lane);
    if (is_well && made == made_.size() && made != 0) continue;
    limit_ = is_well || lane.wait == WaitReason::diverged ? unsigned(made) : 0;
    go_back(warp, ran);
    return false;
  }
  return true;
}

/// Returns false if the lane has failed.
bool RunAhead::run_one(Lane& lane, bool (*run)(Lane& lane)) {
  lane.ahead = this;
  rank_ = lane.identity.rank;
  lane_ = lane.identity.lane;
  step_ = leads_ ? &nowhere : steps_.data();
  access_ = made_.data();
  lane.noted = lane.next = 0;
  const bool is_well = make(lane, lane.pc) == Answer::made && run(lane);
  lane.ahead = nullptr;
  return is_well && lane.wait != WaitReason::diverged;
}

void RunAhead::diverge(Lane& lane) {
  for (;;) lane.runner->suspend(lane, WaitReason::diverged, 0);
}

/// What the first lane noted after its last access is not for the others.
void RunAhead::finish_leading(Lane& lane) {
  leads_ = false;
  if (made_.empty()) return;
  const std::size_t end = made_.back().step + 1;
  lane.noted = unsigned(steps_.size() - end);
  std::copy(steps_.begin() + std::ptrdiff_t(end), steps_.end(), lane.notes.begin());
  steps_.resize(end);
  steps_.push_back(nowhere);
}

bool RunAhead::lead(Lane& lane, LaneKey key) {
  steps_.push_back(key);
  // As many notes since its last access as a lane can have.
  if (steps_.size() - made_.back().step > Lane::max_notes) lane.runner->suspend(lane, WaitReason::full_notes, 0);
  return true;
}

/// The lane is not where the first one was next: only after all accesses it needs not be. Returns false.
bool RunAhead::end_of_way(Lane& lane) const {
  if (made_by_lane() != made_.size()) diverge(lane);
  return false;
}

void RunAhead::go_back(const RunningWarp& warp, std::uint64_t group) {
  for (auto bytes = overwritten_.rbegin(); bytes != overwritten_.rend(); ++bytes) {
    std::memcpy(block_.storage + bytes->offset, bytes->content.data(), bytes->bytes);
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
    lane.wait = WaitReason::access;
    lane.noted = lane.next = 0;
  });
  block_.shadow.undo_uses();
}

RunAhead::Answer RunAhead::make(Lane& lane, std::uintptr_t pc) {
  const PendingAccess& access = lane.access;
  const LaneKey step = key_of(lane, pc) | is_access;
  if (leads_) {
    if (made_.size() == limit_ || !access.is_plain || steps_.size() + 2 * Lane::max_notes > max_steps_) {
      return Answer::stops;
    }
    const ThreadLocalArray* const array = accesses_.array_of(access);
    if (array == nullptr || !accesses_.is_calm(lane, *array)) return Answer::stops;
    made_.push_back({{pc, access, {}},
                     unsigned(steps_.size()),
                     array,
                     block_.storage + array->offset,
                     accesses_.bytes_of(*array) - access.bytes});
    steps_.push_back(step);
    made_.back().offsets[lane_] = access.offset;
  } else {
    if (made_by_lane() == made_.size()) return Answer::stops;  // the first lane is before its next one, too
    if (*step_ != step || !accesses_.is_calm(lane, *access_->array)) return Answer::diverges;
    ++step_;
    access_++->offsets[lane_] = access.offset;
  }
  if (access.operation == banks::Operation::store) save(access.offset, access.bytes);
  return Answer::made;
}

}  // namespace bankwise::emulator
