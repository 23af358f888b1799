#include <bankwise/banks/remote.hpp>

#include <algorithm>
#include <array>

namespace bankwise::banks {
namespace {

bool is_atomic(Operation operation) {
  return operation == Operation::atomic || operation == Operation::atomic_inc || operation == Operation::atomic_cas;
}

}  // namespace

std::optional<SectorCost> remote_sectors(const Architecture& architecture, const Access& access) {
  auto cost = sectors(architecture, access);
  if (!cost || !is_atomic(access.operation)) return cost;
  std::array<std::uint32_t, max_lanes> words;
  unsigned count = 0;
  for_each_lane(access.mask, [&](unsigned lane) { words[count++] = access.addresses[lane]; });
  std::sort(words.begin(), words.begin() + count);
  const int shift = std::countr_zero(architecture.sectors.fact->sector_bytes);
  cost->sectors = 0;
  unsigned sharing = 0, most = 0;  // lanes on this word so far, and the most on a word of its sector
  for (unsigned i = 0; i < count; ++i) {
    if (i > 0 && words[i] >> shift != words[i - 1] >> shift) most = 0;
    sharing = i > 0 && words[i] == words[i - 1] ? sharing + 1 : 1;
    if (sharing <= most) continue;
    ++most;
    ++cost->sectors;
  }
  return cost;
}

}  // namespace bankwise::banks
