#include <bankwise/banks/sectors.hpp>

#include <algorithm>
#include <array>

namespace bankwise::banks {

std::optional<SectorCost> sectors(const Architecture& architecture, const Access& access) {
  const auto& memory = architecture.sectors.fact;
  const auto last = unsigned(std::bit_width(access.mask));
  if (!memory || last > access.addresses.size() || last > architecture.lanes) return std::nullopt;
  std::array<std::uint32_t, max_lanes> sorted;
  unsigned count = 0;
  for_each_lane(access.mask, [&](unsigned lane) { sorted[count++] = access.addresses[lane]; });
  std::sort(sorted.begin(), sorted.begin() + count);
  SectorCost cost;
  // From low to high addresses: each lane adds what lies beyond the lanes before it.
  std::uint64_t end = 0, next_sector = 0, next_line = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t first = std::max<std::uint64_t>(sorted[i], end), past = std::uint64_t{sorted[i]} + access.width;
    if (past <= first) continue;
    const auto beyond = [&](std::uint64_t& next, unsigned size) {
      const std::uint64_t from = std::max(first / size, next);
      next = (past - 1) / size + 1;
      return unsigned(next - std::min(from, next));
    };
    cost.bytes += unsigned(past - first);
    cost.sectors += beyond(next_sector, memory->sector_bytes);
    cost.lines += beyond(next_line, memory->line_bytes);
    end = past;
  }
  cost.ideal = (cost.bytes + memory->sector_bytes - 1) / memory->sector_bytes;
  return cost;
}

}  // namespace bankwise::banks
