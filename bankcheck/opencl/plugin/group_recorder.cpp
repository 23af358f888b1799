// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/group_recorder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <bankwise/banks/cost.hpp>

namespace bankwise::opencl {
namespace {

/// Bytes that a GPU moves at once: the most that the alignment allows, as its compiler must split the rest.
unsigned unit_of(unsigned bytes, unsigned alignment) {
  const unsigned bits = bytes | alignment | 16;
  return bits & -bits;
}

/// A vector of three lies in the room of four, all of which a GPU moves.
unsigned moved_bytes(unsigned bytes, unsigned alignment) {
  return alignment >= std::bit_ceil(bytes) ? std::bit_ceil(bytes) : bytes;
}

template <class Map, class Key>
auto& found_or_new(Map& map, const Key& key) {
  return map.try_emplace(key).first->second;
}

}  // namespace

GroupRecorder::GroupRecorder(std::vector<const banks::Architecture*> architectures)
    : architectures_(std::move(architectures)), sums_(architectures_.size()) {}

void GroupRecorder::begin(std::uint64_t group, std::vector<LocalArray> arrays) {
  group_ = group;
  level_ = 0;
  arrays_ = std::move(arrays);
  left_out_ = 0;
  sums_.assign(architectures_.size(), {});
  forget_rows();
}

void GroupRecorder::forget_rows() {
  all_rows_ -= rows_.size();
  rows_.clear();
  index_.clear();
  paths_.clear();
  next_row_ = 0;
}

GroupRecorder::Row* GroupRecorder::row_of(unsigned lane, std::uint32_t path, const LaneAccess& access) {
  Key key{access.instruction, path, 0, access.bytes, access.operation};
  const std::uint64_t bit = std::uint64_t{1} << lane;
  if (next_row_ < rows_.size() && rows_[next_row_].key == key && (rows_[next_row_].mask & bit) == 0) {
    return &rows_[next_row_++];
  }
  for (;; ++key.again) {
    const auto [found, is_new] = index_.try_emplace(key, rows_.size());
    if (is_new) {
      if (all_rows_++ >= max_rows) {
        --all_rows_;
        index_.erase(found);
        return nullptr;
      }
      rows_.push_back({.key = key});
    }
    if ((rows_[found->second].mask & bit) != 0) continue;
    next_row_ = found->second + 1;
    return &rows_[found->second];
  }
}

void GroupRecorder::access(unsigned lane, LanePath& path, const LaneAccess& access) {
  if (lane / banks::max_lanes != chunk_) {
    flush();
    chunk_ = lane / banks::max_lanes;
  }
  lane %= banks::max_lanes;
  Row* row = row_of(lane, path.number(paths_), access);
  if (row == nullptr) {
    ++left_out_;
    return;
  }
  row->mask |= std::uint64_t{1} << lane;
  row->addresses[lane] = arrays_[access.array].begin + access.offset;
  row->arrays[lane] = std::uint16_t(access.array);
}

void GroupRecorder::barrier() {
  flush();
  ++level_;
}

void GroupRecorder::flush() {
  for (std::size_t i = 0; i < architectures_.size(); ++i) {
    Sums& sums = sums_[i];
    if (sums.levels.size() <= level_) sums.levels.resize(level_ + 1);
    add_warps(*architectures_[i], sums);
  }
  forget_rows();
}

void GroupRecorder::add_warps(const banks::Architecture& architecture, Sums& sums) {
  LevelTally& level = sums.levels[level_];
  const std::uint64_t whole = ~std::uint64_t{0} >> (banks::max_lanes - architecture.warp);
  for (unsigned first = 0; first < banks::max_lanes; first += architecture.warp) {
    std::uint64_t lanes = 0;
    for (const Row& row : rows_) {
      const std::uint64_t mask = row.mask >> first & whole;
      if (mask != 0) add_access(architecture, sums, row, first, mask);
      lanes |= mask;
    }
    level.active_lanes += unsigned(std::popcount(lanes));
    level.issued_warps += lanes != 0 ? 1 : 0;
  }
}

void GroupRecorder::add_access(const banks::Architecture& architecture, Sums& sums, const Row& row, unsigned first,
                               std::uint64_t mask) {
  const Key& key = row.key;
  const unsigned bytes = moved_bytes(key.bytes, key.instruction->alignment);
  const unsigned unit = unit_of(bytes, key.instruction->alignment);
  const unsigned last = banks::max_lanes - unsigned(std::countl_zero(mask));
  const std::uint16_t array = row.arrays[first + unsigned(std::countr_zero(mask))];
  bool mixed = false;
  banks::for_each_lane(mask, [&](unsigned lane) { mixed |= row.arrays[first + lane] != array; });

  LineTally& line = found_or_new(sums.lines, LineKey{key.instruction, key.operation, unit, array});
  std::array<std::uint32_t, banks::max_lanes> addresses{};
  for (unsigned part = 0; part < bytes; part += unit) {
    for (unsigned lane = 0; lane < last; ++lane) addresses[lane] = row.addresses[first + lane] + part;
    const banks::Access access{key.operation, unit, mask, std::span(addresses).first(last)};
    const auto answer = banks::cost(architecture, access);
    const auto* cost = std::get_if<banks::Cost>(&answer);
    line.tally.add(mask, cost);
    sums.levels[level_].tally.add(mask, cost);
    line.mixed += mixed ? 1 : 0;
    if (cost == nullptr) {
      auto& all = sums.unknown;
      std::string why = banks::sentence(architecture, access, std::get<banks::Refusal>(answer));
      if (std::find(all.begin(), all.end(), why) == all.end()) all.push_back(std::move(why));
    } else if (cost->conflicts > 0 && (!line.worst || cost->conflicts > line.worst->conflicts)) {
      const unsigned warp = (chunk_ * banks::max_lanes + first) / architecture.warp;
      keep_worse(line.worst,
                 {cost->conflicts, group_, level_, warp, mask, {access.addresses.begin(), access.addresses.end()}});
    }
  }
}

void GroupRecorder::end(Launch& launch) {
  flush();
  Launch own{.launches = 0, .work_groups = 1, .left_out = left_out_};
  for (std::size_t i = 0; i < architectures_.size(); ++i) {
    ArchitectureTally tally{
        std::string(architectures_[i]->name), architectures_[i]->warp, {}, sums_[i].levels, sums_[i].unknown};
    for (auto& [key, line] : sums_[i].lines) {
      const auto& [instruction, operation, width, array] = key;
      line.place = instruction->place;
      line.array = arrays_[array].name;
      line.operation = operation;
      line.width = width;
      tally.lines.push_back(std::move(line));
    }
    own.tallies.push_back(std::move(tally));
  }
  add(launch, own);
}

}  // namespace bankwise::opencl
