#include <bankwise/emulator/core/shared_accesses.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {
namespace {

std::string_view verb(banks::Operation operation) {
  const TouchKind how = touch_of(operation);
  return how == TouchKind::read ? "reads" : how == TouchKind::write ? "writes" : "updates";
}

}  // namespace

// --- Asynchronous copies ---

void AsynchronousCopies::start(Lane& lane, const PendingCopy& copy) {
  lane.copies.push_back(copy);
  for (std::uint32_t at = copy.offset; at < copy.offset + copy.bytes; at += 4) {
    copied_words_[at / 4] = {lane.identity.rank, copy.pc};
  }
}

void AsynchronousCopies::finish(Lane& lane, unsigned last) {
  const auto first_kept = std::stable_partition(lane.copies.begin(), lane.copies.end(),
                                                [&](const PendingCopy& copy) { return copy.group <= last; });
  if (first_kept != lane.copies.begin()) block_.shadow.next_moment();
  for (auto copy = lane.copies.begin(); copy != first_kept; ++copy) {
    std::memcpy(block_.storage + copy->offset, copy->content.data(), copy->bytes);
    for (std::uint32_t at = copy->offset; at < copy->offset + copy->bytes; at += 4) copied_words_.erase(at / 4);
    // The lane writes now. Accesses to bytes that are being copied have been diagnosed before.
    block_.shadow.touch(block_.toucher(lane, copy->pc), copy->offset, copy->bytes, TouchKind::write);
  }
  lane.copies.erase(lane.copies.begin(), first_kept);
}

/// The access of a lane must not touch bytes that are being copied.
template <class Place>
void AsynchronousCopies::check(const Lane& lane, Place place) {
  const PendingAccess& access = lane.access;
  for (std::uint32_t at = access.offset / 4; at <= (access.offset + access.bytes - 1) / 4; ++at) {
    const auto entry = copied_words_.find(at);
    if (entry == copied_words_.end()) continue;
    const Copier& copier = entry->second;
    if (!faults_.is_news(Fault::race, lane.pc, copier.pc)) continue;
    faults_.report(
        {Fault::race,
         lane.pc,
         {lane.identity.rank, copier.lane},
         fmt::format("accesses {}; thread {} copies there asynchronously at line {}, and has not waited for the copy",
                     place(), copier.lane, site_of(copier.pc - 1).line),
         copier.pc});
  }
}

// --- Accesses ---

void SharedAccesses::begin_block() {
  copies.begin_block();
  units_.clear();
}

std::uint64_t SharedAccesses::begin(const RunningWarp& warp, std::uint64_t group) {
  block_.shadow.next_moment();
  if (block_.recorder == nullptr) return 0;
  const Lane& first = block_.lane(warp, unsigned(std::countr_zero(group)));
  WarpAccess access{first.pc, first.access, {}};
  for_each_lane(group, [&](unsigned i) { access.offsets[i] = block_.lane(warp, i).access.offset; });
  return record(warp, group, access);
}

void SharedAccesses::add(const RunningWarp& warp, std::uint64_t group, const WarpAccess& access) {
  block_.shadow.next_moment();
  if (block_.recorder != nullptr) record(warp, group, access);
  remember(warp, group, access);
}

void SharedAccesses::remember(const RunningWarp& warp, std::uint64_t group, const WarpAccess& access) {
  array_near(access.first);  // for place()
  block_.shadow.add({.mask = group,
                     .pc = std::uint32_t(access.pc),
                     .bytes = access.first.bytes,
                     .first_lane = std::uint16_t(warp.first),
                     .warp = std::uint16_t(warp.first / block_.launch.warp),
                     .how = touch_of(access.first)},
                    access.offsets.data());
}

bool SharedAccesses::are_calm(const RunningWarp& warp, std::uint64_t group) {
  if (block_.shadow.is_close()) return false;
  const Lane& first = block_.lane(warp, unsigned(std::countr_zero(group)));
  const ThreadLocalArray* const array = array_of(first.access);
  bool calm = array != nullptr && !copies.any();
  WarpAccess access{first.pc, first.access, {}};
  for_each_lane(group, [&](unsigned i) {
    const Lane& lane = block_.lane(warp, i);
    access.offsets[i] = lane.access.offset;
    calm = calm && lane.access.bytes == first.access.bytes && is_calm(lane, *array);
  });
  if (calm) {
    remember(warp, group, access);
  } else {
    block_.shadow.look_closely();
  }
  return calm;
}

const ThreadLocalArray* SharedAccesses::array_of(const PendingAccess& access) const {
  const auto& arrays = block_.layout.arrays;
  const auto after = std::ranges::upper_bound(arrays, access.offset, {}, &ThreadLocalArray::offset);
  if (after == arrays.begin() || !lies_in(*std::prev(after), access)) return nullptr;
  return &*std::prev(after);
}

/// The array that contains an access or is nearest to it, which is probably the intended one.
const ThreadLocalArray& SharedAccesses::array_near(const PendingAccess& access) {
  if (lies_in(*last_array_, access)) return *last_array_;
  const auto& arrays = block_.layout.arrays;
  const auto after = std::ranges::upper_bound(arrays, access.offset, {}, &ThreadLocalArray::offset);
  if (after == arrays.begin()) return *after;
  const auto before = std::prev(after);
  const std::uint32_t beyond = access.offset - std::min(access.offset, before->offset + bytes_of(*before));
  last_array_ = after == arrays.end() || beyond <= after->offset - access.offset ? &*before : &*after;
  return *last_array_;
}

/// "4 bytes at byte 1024 of part, which has 1024 bytes"
std::string SharedAccesses::place(const PendingAccess& access) {
  const ThreadLocalArray& array = array_near(access);
  return fmt::format("{} bytes at byte {} of {}, which has {} bytes", access.bytes,
                     std::int64_t{access.offset} - array.offset, array.name, bytes_of(array));
}

void SharedAccesses::check_place(const Lane& lane) {
  const PendingAccess& access = lane.access;
  const ThreadLocalArray& array = array_near(access);
  const auto fault = [&](Fault kind, std::string_view after) {
    return fault_of(lane, kind, fmt::format("{} {}{}", verb(access.operation), place(access), after));
  };
  if (!lies_in(array, access)) {
    // Between two arrays there is memory that nothing uses; an access that reaches further must not happen.
    const auto& arrays = block_.layout.arrays;
    const auto next = std::ranges::upper_bound(arrays, access.offset, {}, &ThreadLocalArray::offset);
    const std::uint32_t limit = next == arrays.end() ? block_.layout.bytes : next->offset;
    if (access.offset + access.bytes > limit) faults_.end(fault(Fault::out_of_bounds, ""));
    if (faults_.is_news(Fault::out_of_bounds, lane.pc)) faults_.report(fault(Fault::out_of_bounds, ""));
  }
  if (!access.is_aligned_at(access.offset - array.offset)) {
    faults_.end(fault(Fault::misaligned, ", misaligned for its type"));
  }
}

void SharedAccesses::report_clash(const Lane& lane, std::uintptr_t lane_pc, const PendingAccess& access,
                                  const Clash& clash) {
  const Fault fault = clash.unwritten ? Fault::unwritten : clash.same_instruction ? Fault::lanes_collide : Fault::race;
  const auto pc = std::uint32_t(lane_pc);
  const std::uintptr_t other_pc = fault == Fault::race ? lane_pc - pc + clash.other_pc : 0;  // lower half replaced
  const bool within_warp = fault == Fault::race && block_.lanes[clash.other].warp == lane.warp;
  if (!faults_.is_news(fault, lane_pc, other_pc, within_warp)) return;
  const std::string_view other = clash.other_wrote ? "writes" : "reads";
  const std::string after =
      fault == Fault::unwritten ? ", and no thread of the block has written them"
      : fault == Fault::lanes_collide
          ? fmt::format("; thread {} writes another value there in the same instruction, and one of them remains",
                        clash.other)
          : fmt::format("; thread {} {} there at line {}, and nothing orders the two", clash.other, other,
                        site_of(other_pc - 1).line);
  LaneFault found{fault,
                  lane_pc,
                  {lane.identity.rank},
                  fmt::format("{} {}{}", verb(access.operation), place(access), after),
                  other_pc};
  if (!clash.unwritten) found.lanes.push_back(clash.other);
  found.within_warp = within_warp;
  if (within_warp) found.silenced_by = trace::warp_synchronous_switch;
  faults_.report(found);
}

void SharedAccesses::pass_flag(Lane& lane) {
  const auto known = block_.flags.find(lane.access.offset);
  if (known == block_.flags.end() && lane.fenced == 0) return;
  Moments& flag = known == block_.flags.end() ? block_.flags[lane.access.offset] : known->second;
  raise(lane.acquired, flag);
  if (lane.access.operation == banks::Operation::load) return;
  if (lane.access.operation == banks::Operation::store) flag.clear();  // a later operation does not read what was there
  if (lane.fenced == 0) return;
  raise(flag, lane.acquired);
  flag.resize(std::max<std::size_t>(flag.size(), lane.warp + 1));
  flag[lane.warp] = std::max(flag[lane.warp], lane.fenced);
}

std::optional<Clash> SharedAccesses::check(const Lane& lane) {
  const PendingAccess& access = lane.access;
  check_place(lane);
  if (copies.any()) copies.check(lane, [&] { return place(access); });
  const TouchKind how = touch_of(access);
  Toucher toucher = block_.toucher(lane, lane.pc);
  if (block_.launch.warp_synchronous) toucher.ordered = block_.shadow.now() - 1;
  const auto clash = block_.shadow.touch(toucher, access.offset, access.bytes, how);
  if (!clash || clash->both_write) return clash;
  report_clash(lane, lane.pc, access, *clash);
  return std::nullopt;
}

/// Bytes that the device accesses in one instruction: all, or as many as the alignment of each lane's address allows.
/// nvcc knows where arrays begin, so what the type promises does not matter.
unsigned SharedAccesses::unit(std::uint64_t group, const WarpAccess& access) {
  PendingAccess lanes = access.first;
  if (lanes.alignment == 0) return lanes.bytes;
  const auto [known, is_new] = units_.try_emplace(access.pc, 16U);
  std::uint32_t bits = lanes.bytes | 16 | known->second;
  for_each_lane(group, [&](unsigned i) {
    lanes.offset = access.offsets[i];
    bits |= lanes.offset - array_near(lanes).offset;
  });
  known->second = bits & -bits;
  return known->second;
}

/// Returns the number of the last recorded access, for BlockRecorder::result_used().
std::uint64_t SharedAccesses::record(const RunningWarp& warp, std::uint64_t group, const WarpAccess& made) {
  const unsigned unit = this->unit(group, made);
  const Lane& first = block_.lane(warp, unsigned(std::countr_zero(group)));
  std::uint64_t number = 0;
  trace::Pattern& access = pattern_;
  access.operation = made.first.operation;
  access.width = unit;
  access.level = block_.level;
  access.mask = group;
  access.is_loop = made.first.is_loop;
  for (std::uint32_t part = 0; part < made.first.bytes; part += unit) {
    if (block_.launch.record_order && block_.recorder->accesses() >= block_.launch.access_limit) {
      faults_.end(fault_of(
          first, Fault::access_limit,
          fmt::format("makes more than the {} accesses per block that are recorded", block_.launch.access_limit)));
    }
    access.addresses.resize(warp.count);
    for_each_lane(group, [&](unsigned i) { access.addresses[i] = made.offsets[i] + part; });
    access.sources.clear();
    if (is_copy(access.operation)) {
      access.sources.resize(warp.count);
      for_each_lane(group, [&](unsigned i) { access.sources[i] = block_.lane(warp, i).access.source; });
    }
    number = block_.recorder->add_access(made.pc - 1, first.warp, access, made.first.is_volatile);
  }
  return number;
}

}  // namespace bankwise::emulator
