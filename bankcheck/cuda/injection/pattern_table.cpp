#include "bankcheck/cuda/injection/pattern_table.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace bankwise::cuda {
namespace {

/// Memory of a key and its counts.
constexpr std::uint64_t KEY_BYTES = sizeof(std::uint64_t) * (1 + COUNT_SHARDS);
/// Half as many entries as slots: so few probes are enough.
constexpr std::uint64_t SLOTS_PER_ENTRY = 2;
/// Memory of an entry.
constexpr std::uint64_t ENTRY_BYTES = sizeof(PatternEntry) + SLOTS_PER_ENTRY * KEY_BYTES;
constexpr std::uint64_t FIXED_BYTES =
    sizeof(TableHeader) + 2 * SPARE_ENTRIES * sizeof(PatternEntry) + LAUNCH_SLOTS * sizeof(LaunchSlot);
constexpr std::uint64_t MIN_BYTES = std::uint64_t(8) << 20;
static_assert(FIXED_BYTES + (MIN_COST_ENTRIES + 1) * ENTRY_BYTES < MIN_BYTES);

void check(const SanitizerApi& api, const char* call, SanitizerResult result) {
  if (result != SANITIZER_SUCCESS) throw std::runtime_error(failure(api, call, result));
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(std::uintptr_t(address)); }

/// The layout of a table of about `bytes`; at least 8 MB, since the spare entries and the launch slots have a fixed
/// size.
TableLayout table_layout(std::uint64_t bytes) {
  const std::uint64_t entries = (std::max(bytes, MIN_BYTES) - FIXED_BYTES) / ENTRY_BYTES;
  TableLayout layout;
  // The smaller is the one whose entries for costs fit.
  layout.capacity = std::uint32_t(std::min({entries - MIN_COST_ENTRIES, entries * 8 / 9, std::uint64_t(1) << 28}));
  const std::uint32_t costs = cost_entries(layout.capacity);
  layout.slots = std::uint32_t(SLOTS_PER_ENTRY) * (layout.capacity + costs);
  layout.counts = sizeof(TableHeader) + layout.slots * sizeof(std::uint64_t);
  layout.entries = layout.counts + std::uint64_t(layout.slots) * COUNT_SHARDS * sizeof(std::uint64_t);
  layout.costs = layout.entries + (std::uint64_t(layout.capacity) + SPARE_ENTRIES) * sizeof(PatternEntry);
  layout.launch_slots = layout.costs + (std::uint64_t(costs) + SPARE_ENTRIES) * sizeof(PatternEntry);
  layout.bytes = layout.launch_slots + LAUNCH_SLOTS * sizeof(LaunchSlot);
  return layout;
}

}  // namespace

std::uint64_t make_touched(const SanitizerApi& api, CUcontext context, std::uint64_t bytes,
                           Sanitizer_StreamHandle stream) {
  const std::uint64_t words = std::bit_floor(std::min(bytes, std::uint64_t(1) << 30) / sizeof(std::uint32_t));
  if (words == 0) return 0;
  void* memory = nullptr;
  check(api, "sanitizerAlloc", api.alloc(context, &memory, words * sizeof(std::uint32_t)));
  check(api, "sanitizerMemset", api.memset(memory, 0, words * sizeof(std::uint32_t), stream));
  check(api, "sanitizerStreamSynchronize", api.stream_synchronize(stream));
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return address % 256 == 0 ? address | unsigned(std::countr_zero(words)) : 0;
}

PatternTable::PatternTable(const SanitizerApi& api, CUcontext context, std::uint64_t bytes, std::uint64_t touched,
                           Sanitizer_StreamHandle stream)
    : api_(api), layout_(table_layout(bytes)), touched_(touched) {
  void* memory = nullptr;
  check(api_, "sanitizerAlloc", api_.alloc(context, &memory, layout_.bytes));
  address_ = reinterpret_cast<std::uintptr_t>(memory);
  check(api_, "sanitizerAllocHost", api_.alloc_host(context, &memory, sizeof(std::uint32_t)));
  fill_ = static_cast<std::uint32_t*>(memory);
  clear(stream);
}

std::pair<std::uint64_t, LaunchSlot*> PatternTable::launch_slot(const LaunchKey& key, std::uint32_t kernel,
                                                                std::uint32_t threshold) {
  const auto address = [this](std::uint32_t slot) {
    return address_ + layout_.launch_slots + slot * sizeof(LaunchSlot);
  };
  if (const auto found = slots_.find(key); found != slots_.end()) return {address(found->second), nullptr};
  const auto slot = std::uint32_t(slots_.size());
  if (slot >= LAUNCH_SLOTS) return {0, nullptr};
  slots_.emplace(key, slot);
  LaunchSlot& contents = slot_contents_.emplace_back();
  contents.header = address_;
  contents.entries = address_ + layout_.entries;
  contents.fill = reinterpret_cast<std::uintptr_t>(fill_);
  contents.touched = touched_;
  contents.lost = contents.global_lost = 0;
  contents.slots = layout_.slots;
  contents.capacity = layout_.capacity;
  contents.kernel = kernel;
  contents.threshold = threshold;
  return {address(slot), &contents};
}

TableContents PatternTable::read(Sanitizer_StreamHandle stream) {
  TableContents contents;
  TableHeader header{};
  copy_out(&header, 0, sizeof(header), stream);
  const std::uint64_t patterns = std::min(header.used, layout_.capacity + SPARE_ENTRIES);
  const std::uint64_t costs = std::min(header.costs_used, cost_entries(layout_.capacity) + SPARE_ENTRIES);
  if (patterns + costs > 0) {
    std::vector<PatternEntry> entries(patterns + costs);
    if (patterns > 0) copy_out(entries.data(), layout_.entries, patterns * sizeof(PatternEntry), stream);
    if (costs > 0) copy_out(entries.data() + patterns, layout_.costs, costs * sizeof(PatternEntry), stream);
    std::vector<std::uint64_t> counts(std::size_t(layout_.slots) * COUNT_SHARDS);
    copy_out(counts.data(), layout_.counts, counts.size() * sizeof(std::uint64_t), stream);
    contents.entries.reserve(entries.size());
    for (const PatternEntry& entry : entries) {
      std::uint64_t count = 0;
      for (std::uint64_t shard = 0; shard < COUNT_SHARDS && entry.slot < layout_.slots; ++shard) {
        count += counts[shard * layout_.slots + entry.slot];
      }
      if (count > 0) contents.entries.push_back({entry, count});
    }
  }
  std::vector<LaunchSlot> slots(slots_.size());
  if (!slots.empty()) copy_out(slots.data(), layout_.launch_slots, slots.size() * sizeof(LaunchSlot), stream);
  for (const LaunchSlot& slot : slots) {
    if (slot.lost > 0) contents.lost[slot.kernel] += slot.lost;
    if (slot.global_lost > 0) contents.global_lost[slot.kernel] += slot.global_lost;
  }
  return contents;
}

void PatternTable::clear(Sanitizer_StreamHandle stream) {
  set_zero(0, layout_.entries, stream);  // header, keys and counts
  set_zero(layout_.launch_slots, LAUNCH_SLOTS * sizeof(LaunchSlot), stream);
  check(api_, "sanitizerStreamSynchronize", api_.stream_synchronize(stream));
  slots_.clear();
  slot_contents_.clear();
  *static_cast<volatile std::uint32_t*>(fill_) = 0;
}

void PatternTable::copy_out(void* to, std::uint64_t offset, std::uint64_t bytes, Sanitizer_StreamHandle stream) {
  check(api_, "sanitizerMemcpyDeviceToHost", api_.memcpy_device_to_host(to, pointer(address_ + offset), bytes, stream));
}

void PatternTable::set_zero(std::uint64_t offset, std::uint64_t bytes, Sanitizer_StreamHandle stream) {
  check(api_, "sanitizerMemset", api_.memset(pointer(address_ + offset), 0, bytes, stream));
}

}  // namespace bankwise::cuda
