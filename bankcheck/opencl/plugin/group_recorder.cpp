#include "bankcheck/opencl/plugin/group_recorder.hpp"

namespace bankwise::opencl {
namespace {

/// How a GPU makes an access.
struct Moved {
  unsigned bytes;  ///< a vector of three elements occupies four, and a GPU moves all four
  unsigned unit;   ///< bytes per access: the most that the alignment allows; a GPU's compiler splits wider ones
};
Moved moved_by(unsigned bytes, unsigned alignment) {
  if (alignment >= std::bit_ceil(bytes)) bytes = std::bit_ceil(bytes);
  const unsigned bits = bytes | alignment | 16;
  return {bytes, bits & -bits};
}

trace::Array declared(const LocalArray& array) {
  std::uint64_t elements = 1;
  for (const std::uint32_t length : array.lengths) elements *= length;
  const bool is_known = !array.lengths.empty() && elements > 0 && array.bytes > 0 && array.bytes % elements == 0;
  if (!is_known) return {array.name, array.begin, array.bytes};
  return {array.name, array.begin, array.bytes, std::uint32_t(array.bytes / elements), array.lengths};
}

}  // namespace

GroupRecorder::GroupRecorder(trace::Bound bound, TouchedSectors* touched)
    : builder_({.warp = banks::max_lanes, .splits = true}, std::move(bound)) {
  if (touched != nullptr) touched_.emplace(*touched);
}

void GroupRecorder::begin(std::uint64_t group, const std::vector<LocalArray>& arrays) {
  group_ = group;
  level_ = 0;
  accesses_ = global_accesses_ = 0;
  arrays_.clear();
  begins_.clear();
  for (const LocalArray& array : arrays) {
    arrays_.push_back(builder_.array(declared(array)));
    begins_.push_back(array.begin);
  }
  forget_rows();
}

void GroupRecorder::forget_rows() {
  all_rows -= rows_.size();
  rows_.clear();
  index_.clear();
  paths_.clear();
  next_row_ = 0;
}

GroupRecorder::Row* GroupRecorder::row_of(unsigned lane, std::uint32_t path, const LaneAccess& access) {
  Key key{access.instruction, path, 0, access.bytes, access.operation, access.array == LaneAccess::global};
  const std::uint64_t bit = std::uint64_t{1} << lane;
  if (next_row_ < rows_.size() && rows_[next_row_].key == key && (rows_[next_row_].mask & bit) == 0) {
    return &rows_[next_row_++];
  }
  for (;; ++key.again) {
    const auto [row, is_new] = index_.try_emplace(key, rows_.size());
    if (is_new) {
      if (all_rows++ >= max_rows) {
        --all_rows;
        index_.erase(row);
        return nullptr;
      }
      rows_.push_back({.key = key});
    }
    if ((rows_[row->second].mask & bit) != 0) continue;
    next_row_ = row->second + 1;
    return &rows_[row->second];
  }
}

void GroupRecorder::access(unsigned lane, LanePath& path, const LaneAccess& access) {
  if (lane / banks::max_lanes != chunk_) {
    flush();
    chunk_ = lane / banks::max_lanes;
  }
  lane %= banks::max_lanes;
  Row* row = row_of(lane, path.number(paths_), access);
  const bool is_global = access.array == LaneAccess::global;
  if (row == nullptr) {
    trace::KernelTrace& trace = builder_.trace();
    ++(is_global ? trace.global_left_out : trace.left_out["too many between two barriers"]);
    return;
  }
  row->mask |= std::uint64_t{1} << lane;
  row->addresses[lane] =
      is_global ? access.offset : std::uint64_t{access.array} << 32 | (begins_[access.array] + access.offset);
}

void GroupRecorder::barrier() {
  flush();
  ++level_;
}

void GroupRecorder::flush() {
  std::uint64_t lanes = 0;
  for (const Row& row : rows_) {
    if (row.key.is_global) {
      add_global(row);
    } else {
      add(row);
      lanes |= row.mask;
    }
  }
  if (lanes != 0) builder_.add(trace::Participants{level_, lanes, 1});
  forget_rows();
}

std::uint32_t GroupRecorder::site_of(const Instruction* instruction) {
  const auto [number, is_new] = sites_.try_emplace(instruction, 0);
  if (is_new) number->second = builder_.site(instruction->site);
  return number->second;
}

void GroupRecorder::add(const Row& row) {
  const Key& key = row.key;
  const Moved moved = moved_by(key.bytes, key.instruction->alignment);
  const unsigned last = banks::max_lanes - unsigned(std::countl_zero(row.mask));
  const auto array_of = [&](unsigned lane) { return std::uint32_t(row.addresses[lane] >> 32); };
  const std::uint32_t array = array_of(unsigned(std::countr_zero(row.mask)));
  bool mixed = false;
  banks::for_each_lane(row.mask, [&](unsigned lane) { mixed |= array_of(lane) != array; });

  pattern_.site = site_of(key.instruction);
  pattern_.array = arrays_[array];
  // The plugin's mark of an atomic on 64 bits that is no exchange: NVIDIA's compiler makes it a loop.
  pattern_.is_loop = key.operation == banks::Operation::atomic_inc && moved.unit == 8;
  pattern_.operation = pattern_.is_loop ? banks::Operation::atomic : key.operation;
  pattern_.width = moved.unit;
  pattern_.level = level_;
  pattern_.mask = row.mask;
  pattern_.count = 1;
  pattern_.lane_arrays.assign(mixed ? last : 0, 0);
  if (mixed) {
    banks::for_each_lane(row.mask, [&](unsigned lane) { pattern_.lane_arrays[lane] = arrays_[array_of(lane)]; });
  }
  for (unsigned part = 0; part < moved.bytes; part += moved.unit) {
    pattern_.addresses.assign(last, 0);
    banks::for_each_lane(row.mask,
                         [&](unsigned lane) { pattern_.addresses[lane] = std::uint32_t(row.addresses[lane]) + part; });
    pattern_.first = {group_, chunk_, 0, accesses_++};
    builder_.add(pattern_);
  }
}

void GroupRecorder::add_global(const Row& row) {
  const Key& key = row.key;
  const Moved moved = moved_by(key.bytes, key.instruction->alignment);
  const bool is_store = key.operation == banks::Operation::store;
  std::uint64_t touched = ~std::uint64_t{0};  // the last sector
  banks::for_each_lane(row.mask, [&](unsigned lane) {
    const std::uint64_t first = row.addresses[lane], last = first + moved.bytes - 1;
    if (first / TouchedSectors::sector_bytes == touched && last / TouchedSectors::sector_bytes == touched) return;
    touched_->touch(first, moved.bytes, is_store);
    touched = last / TouchedSectors::sector_bytes;
  });
  trace::Pattern& pattern = global_pattern_;
  pattern.site = site_of(key.instruction);
  pattern.operation = key.operation;
  pattern.width = moved.unit;
  pattern.mask = row.mask;
  pattern.count = 1;
  std::array<std::uint64_t, banks::max_lanes> addresses = row.addresses;
  for (unsigned part = 0; part < moved.bytes; part += moved.unit) {
    pattern.addresses = trace::relative_to_line(row.mask, addresses.data());
    pattern.first = {group_, chunk_, 0, global_accesses_++};
    builder_.add_global(pattern);
    banks::for_each_lane(row.mask, [&](unsigned lane) { addresses[lane] += moved.unit; });
  }
}

void GroupRecorder::end() {
  flush();
  auto& trace = builder_.trace();
  ++trace.blocks;
  trace.levels = std::max(trace.levels, std::min(level_ + 1, trace::max_levels));
}

}  // namespace bankwise::opencl
