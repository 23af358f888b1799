// SPDX-License-Identifier: MIT
//
// The part of BlockRunner that checks and records accesses to shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/source_lines.hpp>

namespace bankwise::emulator {
namespace {

Touch touch_of(banks::Operation operation) {
  using banks::Operation;
  switch (operation) {
    case Operation::load:
    case Operation::ldmatrix_x1:
    case Operation::ldmatrix_x2:
    case Operation::ldmatrix_x4:
      return Touch::read;
    case Operation::store:
    case Operation::stmatrix_x1:
    case Operation::stmatrix_x2:
    case Operation::stmatrix_x4:
    case Operation::cp_async:
      return Touch::write;
    case Operation::atomic:
    case Operation::atomic_inc:
    case Operation::atomic_cas:
      break;
  }
  return Touch::atomic;
}

std::string_view verb(banks::Operation operation) {
  switch (touch_of(operation)) {
    case Touch::read:
      return "reads";
    case Touch::write:
      return "writes";
    case Touch::atomic:
      break;
  }
  return "updates";
}

}  // namespace

inline std::uint32_t BlockRunner::bytes_of(const ThreadLocalArray& array) const {
  return array.dynamic ? std::uint32_t(launch_.dynamic_shared) : array.bytes;
}

/// Whether the whole access lies in an array.
inline bool BlockRunner::lies_in(const ThreadLocalArray& array, const PendingAccess& access) const {
  return access.offset >= array.offset && access.offset + access.bytes <= array.offset + bytes_of(array);
}

/// The array that contains an access or is nearest to it, which is probably the intended one.
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

/// "4 bytes at byte 1024 of part, which has 1024 bytes"
std::string BlockRunner::place(const PendingAccess& access) const {
  const ThreadLocalArray& array = array_of(access);
  return fmt::format("{} bytes at byte {} of {}, which has {} bytes", access.bytes,
                     std::int64_t{access.offset} - array.offset, array.name, bytes_of(array));
}

void BlockRunner::check_place(const Lane& lane) {
  const PendingAccess& access = lane.access;
  const ThreadLocalArray& array = array_of(access);
  if (!lies_in(array, access)) {
    // Between two arrays there is memory that nothing uses; an access that reaches further must not happen.
    const auto& arrays = layout_.arrays;
    const auto next = std::find_if(arrays.begin(), arrays.end(),
                                   [&](const ThreadLocalArray& one) { return one.offset > access.offset; });
    const std::uint32_t limit = next == arrays.end() ? layout_.bytes : next->offset;
    const auto what = [&] { return fmt::format("{} {}", verb(access.operation), place(access)); };
    if (access.offset + access.bytes > limit) end({Fault::out_of_bounds, lane.pc, {lane.identity.rank}, what(), 0, {}});
    if (is_news(Fault::out_of_bounds, lane.pc)) {
      report({Fault::out_of_bounds, lane.pc, {lane.identity.rank}, what()});
    }
  }
  // Types with an alignment have a power of two of bytes.
  if (access.as_aligned && ((access.offset - array.offset) & (access.bytes - 1)) != 0) {
    end({Fault::misaligned,
         lane.pc,
         {lane.identity.rank},
         fmt::format("{} {}, misaligned for its type", verb(access.operation), place(access))});
  }
}

void BlockRunner::report_clash(const Lane& lane, std::uintptr_t lane_pc, const PendingAccess& access,
                               const Clash& clash) {
  const Fault fault = clash.unwritten ? Fault::unwritten : clash.same_instruction ? Fault::lanes_collide : Fault::race;
  const auto pc = std::uint32_t(lane_pc);
  const std::uintptr_t other_pc = fault == Fault::race ? lane_pc - pc + clash.other_pc : 0;  // lower half replaced
  if (!is_news(fault, lane_pc, other_pc)) return;
  const unsigned rank = lane.identity.rank;
  std::string what = fmt::format("{} {}", verb(access.operation), place(access));
  if (fault == Fault::unwritten) {
    report({fault, lane_pc, {rank}, what + ", and no lane of the block has written them"});
    return;
  }
  if (fault == Fault::lanes_collide) {
    what += fmt::format("; lane {} writes another value there in the same instruction, and one of them remains",
                        clash.other);
    report({fault, lane_pc, {rank, clash.other}, what});
    return;
  }
  what += fmt::format("; lane {} {} there at line {}, and nothing orders the two", clash.other,
                      clash.other_wrote ? "writes" : "reads", site_of(other_pc - 1).line);
  const bool in_warp = lanes_[clash.other].warp == lane.warp;
  report({fault,
          lane_pc,
          {rank, clash.other},
          what,
          other_pc,
          in_warp ? trace::warp_synchronous_switch : trace::row_of(fault).silenced_by});
}

/// The fast test for the usual access. Returns false if check() has to look.
inline bool BlockRunner::is_clean(const Lane& lane) {
  const PendingAccess& access = lane.access;
  return copied_words_.empty() && lies_in(*last_array_, access) &&
         (!access.as_aligned || ((access.offset - last_array_->offset) & (access.bytes - 1)) == 0) &&
         shadow_.touch_cleanly(std::uint16_t(lane.identity.rank), std::uint16_t(lane.warp), std::uint32_t(lane.pc),
                               access.offset, access.bytes, touch_of(access.operation));
}

/// Returns a doubt if, and only if, the access is a fault should it change the content: two lanes may write the same
/// value.
std::optional<BlockRunner::Doubt> BlockRunner::check(const Lane& lane) {
  const PendingAccess& access = lane.access;
  check_place(lane);
  if (!copied_words_.empty()) check_copies(lane);
  const Toucher toucher{std::uint16_t(lane.identity.rank), std::uint16_t(lane.warp),
                        launch_.warp_synchronous ? shadow_.now() - 1 : lane.ordered, std::uint32_t(lane.pc),
                        lane.synchronized};
  const Touch how = touch_of(access.operation);
  const auto clash = shadow_.touch(toucher, access.offset, access.bytes, how);
  if (!clash || clash->both_write) return clash;
  report_clash(lane, lane.pc, access, *clash);
  return std::nullopt;
}

/// Bytes that the device accesses in one instruction: all, or as many as the alignment of each lane's address allows.
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

/// Returns the number of the last recorded access, for Recorder::result_used().
std::uint64_t BlockRunner::record(const Warp& warp, std::uint64_t group, unsigned unit) {
  const Lane& first = lanes_[warp.first + unsigned(std::countr_zero(group))];
  std::uint64_t number = 0;
  trace::Pattern& access = pattern_;
  access.operation = first.access.operation;
  access.width = unit;
  access.level = level_;
  access.mask = group;
  access.is_loop = first.access.is_loop;
  for (std::uint32_t part = 0; part < first.access.bytes; part += unit) {
    if (launch_.record_order && recorder_->accesses() >= launch_.access_limit) {
      end({Fault::access_limit,
           first.pc,
           {first.identity.rank},
           fmt::format("makes more than the {} accesses per block that are recorded", launch_.access_limit)});
    }
    access.addresses.resize(warp.count);
    for_each_lane(group, [&](unsigned i) { access.addresses[i] = lanes_[warp.first + i].access.offset + part; });
    access.sources.clear();
    if (is_copy(access.operation)) {
      access.sources.resize(warp.count);
      for_each_lane(group, [&](unsigned i) { access.sources[i] = lanes_[warp.first + i].access.source; });
    }
    number = recorder_->add_access(first.pc - 1, first.warp, access, first.access.is_volatile);
  }
  return number;
}

void BlockRunner::access(Warp& warp, std::uint64_t group) {
  const Lane& first = lane(warp, unsigned(std::countr_zero(group)));
  shadow_.next_moment();
  const std::uint64_t number = recorder_ != nullptr ? record(warp, group, unit_of(warp, group, first)) : 0;
  for_each_lane(group, [&](unsigned i) {
    Lane& one = lane(warp, i);
    one.access_number = number;
    if (is_clean(one)) {
      resume(one);
      return;
    }
    const auto doubt = check(one);
    if (!doubt) {
      resume(one);
      return;
    }
    const PendingAccess done = one.access;
    const std::uintptr_t pc = one.pc;
    const std::byte* memory = storage_ + done.offset;
    const std::vector<std::byte> before(memory, memory + done.bytes);
    resume(one);
    if (!std::equal(before.begin(), before.end(), memory)) report_clash(one, pc, done, *doubt);
  });
}

}  // namespace bankwise::emulator
