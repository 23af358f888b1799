// SPDX-License-Identifier: MIT
//
// The part of BlockRunner for asynchronous copies and for barriers other than that of the whole block.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/source_lines.hpp>

namespace bankwise::emulator {

// --- Asynchronous copies ---

void BlockRunner::start_copy(Lane& lane, const PendingCopy& copy) {
  lane.copies.push_back(copy);
  for (std::uint32_t at = copy.offset; at < copy.offset + copy.bytes; at += 4) {
    copied_words_[at / 4] = {lane.identity.rank, copy.pc};
  }
}

void BlockRunner::finish_copies(Lane& lane, unsigned last) {
  const auto first_kept = std::stable_partition(lane.copies.begin(), lane.copies.end(),
                                                [&](const PendingCopy& copy) { return copy.group <= last; });
  if (first_kept != lane.copies.begin()) shadow_.next_moment();
  for (auto copy = lane.copies.begin(); copy != first_kept; ++copy) {
    std::memcpy(storage_ + copy->offset, copy->content.data(), copy->bytes);
    for (std::uint32_t at = copy->offset; at < copy->offset + copy->bytes; at += 4) copied_words_.erase(at / 4);
    // The lane writes now. Accesses to bytes that are being copied have been diagnosed before.
    shadow_.touch({std::uint16_t(lane.identity.rank), std::uint16_t(lane.warp), lane.ordered, std::uint32_t(copy->pc),
                   lane.synchronized},
                  copy->offset, copy->bytes, Touch::write);
  }
  lane.copies.erase(lane.copies.begin(), first_kept);
}

/// Whether the lane accesses bytes that are being copied.
void BlockRunner::check_copies(const Lane& lane) {
  const PendingAccess& access = lane.access;
  for (std::uint32_t at = access.offset / 4; at <= (access.offset + access.bytes - 1) / 4; ++at) {
    const auto found = copied_words_.find(at);
    if (found == copied_words_.end()) continue;
    const Copier& copier = found->second;
    if (!is_news(Fault::race, lane.pc, copier.pc)) continue;
    report({Fault::race,
            lane.pc,
            {lane.identity.rank, copier.lane},
            fmt::format("accesses {}; lane {} copies there asynchronously at line {}, and has not waited for the copy",
                        place(access), copier.lane, site_of(copier.pc - 1).line),
            copier.pc});
  }
}

// --- Barrier objects ---

void BlockRunner::arrive_at(std::uintptr_t address, unsigned arrivals) {
  Rounds& rounds = rounds_[address];
  rounds.pending -= std::min(arrivals, rounds.pending);
  if (rounds.pending != 0) return;
  rounds.pending = rounds.expected;
  ++rounds.done;
  rounds.completed = shadow_.now();
  for (Lane& one : lanes_) {
    if (one.wait != Wait::round || one.value != address) continue;
    one.wait = Wait::ready;
    warps_[one.warp].keys[one.identity.lane] = key_at(one);
  }
}

void BlockRunner::diagnose_round(const Lane& waiting) {
  const Rounds& rounds = rounds_[waiting.value];
  end({Fault::barrier_not_reached,
       waiting.pc,
       {waiting.identity.rank},
       fmt::format("waits at a barrier object that lacks {} of {} arrivals, and no lane can continue", rounds.pending,
                   rounds.expected)});
}

void BlockRunner::open_grid_barrier(const Lane& waiting) {
  if (grid_->arrive_and_wait()) return;
  end({Fault::barrier_not_reached,
       waiting.pc,
       {waiting.identity.rank},
       "waits for all blocks of the grid, and another block has returned"});
}

}  // namespace bankwise::emulator
