#include <bankwise/banks/sectors.hpp>

#include <algorithm>
#include <array>

#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/remote.hpp>

namespace bankwise::banks {
namespace {

/// The sizes of sectors and of cache lines, as powers of two.
struct Shifts {
  int sector, line;
};

/// What the units have in common that each lane touches if it touches one of each kind.
struct Differences {
  unsigned addresses = 1, sectors = 1, lines = 1;  ///< different ones, if the addresses are sorted
  bool is_sorted = true;
  std::uint32_t bits = 0;  ///< set in any address
};

Differences differences(std::span<const std::uint32_t> addresses, Shifts shifts) {
  Differences result;
  std::uint32_t before = addresses.front();
  for (const std::uint32_t address : addresses) {
    const std::uint32_t changed = address ^ before;
    result.addresses += changed != 0 ? 1 : 0;
    result.sectors += changed >> shifts.sector != 0 ? 1 : 0;
    result.lines += changed >> shifts.line != 0 ? 1 : 0;
    result.is_sorted &= before <= address;
    result.bits |= address;
    before = address;
  }
  return result;
}

/// Different units of 2^shift bytes that the bytes [first, past) of each lane's access touch.
unsigned units(std::span<const std::uint32_t> sorted, int shift, std::uint64_t first, std::uint64_t past) {
  std::uint64_t next = 0, different = 0;  // the first unit that no lane has touched
  for (const std::uint32_t address : sorted) {
    const std::uint64_t from = std::max((address + first) >> shift, next);
    next = std::max(next, ((address + past - 1) >> shift) + 1);
    different += next - std::min(from, next);
  }
  return unsigned(different);
}

bool is_atomic(Operation operation) {
  return operation == Operation::atomic || operation == Operation::atomic_inc || operation == Operation::atomic_cas;
}

}  // namespace

std::optional<SectorCost> sectors(const Architecture& architecture, const Access& access) {
  const auto& memory = architecture.sectors.fact;
  const auto last = unsigned(std::bit_width(access.mask));
  if (!memory || last > access.addresses.size() || last > architecture.lanes) return std::nullopt;
  if (access.mask == 0) return SectorCost{};
  std::array<std::uint32_t, max_lanes> copy;
  const auto active = unsigned(std::popcount(access.mask)), first = last - active;
  std::span<const std::uint32_t> addresses = access.addresses.subspan(first, active);
  if (unsigned(std::countr_zero(access.mask)) != first) {  // with inactive lanes between
    unsigned count = 0;
    for_each_lane(access.mask, [&](unsigned lane) { copy[count++] = access.addresses[lane]; });
    addresses = {copy.data(), count};
  }
  const Shifts shifts{std::countr_zero(memory->sector_bytes), std::countr_zero(memory->line_bytes)};
  Differences different = differences(addresses, shifts);
  if (!different.is_sorted) {
    if (addresses.data() != copy.data()) std::copy(addresses.begin(), addresses.end(), copy.begin());
    std::sort(copy.begin(), copy.begin() + active);
    addresses = {copy.data(), active};
    different = differences(addresses, shifts);
  }
  const auto ideal = [&](unsigned bytes) { return (bytes + memory->sector_bytes - 1) >> shifts.sector; };
  if (std::has_single_bit(access.width) && (different.bits & (access.width - 1)) == 0) {  // the usual case
    const unsigned bytes = different.addresses * access.width;
    return SectorCost{different.sectors, ideal(bytes), different.lines, bytes};
  }
  // Where shared memory has no instruction for 12 bytes, global memory has none, either.
  const Rule* rule = access.width == 12 ? find_rule(architecture, Operation::load, 12) : nullptr;
  const unsigned request = rule != nullptr ? request_bytes(*rule, access.width) : access.width;
  SectorCost cost;
  for (unsigned begin = 0; begin < access.width; begin += request) {
    const unsigned past = begin + request, bytes = units(addresses, 0, begin, past);
    cost.bytes += bytes;
    cost.ideal += ideal(bytes);
    cost.sectors += units(addresses, shifts.sector, begin, past);
    cost.lines += units(addresses, shifts.line, begin, past);
  }
  return cost;
}

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
