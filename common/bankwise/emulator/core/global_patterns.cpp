#include <bankwise/emulator/core/global_patterns.hpp>

#include <algorithm>
#include <bit>
#include <optional>

#include <bankwise/emulator/core/program_symbols.hpp>
#include <bankwise/trace/warps.hpp>

namespace bankwise::emulator {
namespace {

bool have_same_sectors(const banks::Architecture& a, const banks::Architecture& b) {
  const auto &one = a.sectors.fact, &other = b.sectors.fact;
  return one && other && one->sector_bytes == other->sector_bytes && one->line_bytes == other->line_bytes;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

constexpr unsigned sector_bits = 5;
constexpr std::uint32_t sector_bytes = 1U << sector_bits;

/// The same in each run of the program, wherever the loader has put it.
std::uint64_t hash_of(const GlobalPatterns::Access& access, const std::uint32_t* addresses, unsigned lanes) {
  static const std::uintptr_t program = loaded_program().dlpi_addr;
  std::uint64_t hash = mixed(access.pc - program, access.mask);
  hash = mixed(hash, std::uint64_t(access.operation) << 8 | access.width);
  for (unsigned lane = 0; lane < lanes; lane += 2) {
    const std::uint64_t next = lane + 1 < lanes ? addresses[lane + 1] : 0;
    hash = mixed(hash, next << 32 | addresses[lane]);
  }
  return mixed(hash, lanes);
}

/// Where the sectors end that the lanes touch one after another; 0: they leave some out, or do not ascend.
std::uint32_t dense_end(const GlobalPatterns::Access& access, const std::uint32_t* addresses) {
  const std::uint32_t first = addresses[std::countr_zero(access.mask)];
  std::uint32_t end = first / sector_bytes * sector_bytes;
  bool is_dense = true;
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint32_t begin = addresses[lane] / sector_bytes * sector_bytes;
    is_dense = is_dense && begin >= first / sector_bytes * sector_bytes && begin <= end;
    end = std::max(end, (addresses[lane] + access.width - 1) / sector_bytes * sector_bytes + sector_bytes);
  });
  return is_dense ? end : 0;
}

}  // namespace

bool GlobalPatterns::add_again(const Access& access, std::uint64_t begin, const std::uint32_t* offsets,
                               const trace::Occurrence& when) {
  const auto first = unsigned(std::countr_zero(access.mask));
  const std::uint32_t number = latest_kept(access, begin + offsets[first]);
  if (number == 0) return false;
  Kept& known = kept_[number - 1];
  if (known.access != access) return false;
  const std::uint32_t distance = offsets[first] - known.addresses[first];
  std::uint32_t differences = 0;
  const auto lanes = unsigned(std::bit_width(access.mask));
  constexpr unsigned row = 8;  // which the compiler compares at once
  if (std::popcount(access.mask) == int(lanes) && lanes % row == 0) {
    std::array<std::uint32_t, row> differ{};
    for (unsigned at = 0; at < lanes; at += row) {
      for (unsigned i = 0; i < row; ++i) differ[i] |= offsets[at + i] - known.addresses[at + i] - distance;
    }
    for (const std::uint32_t lane : differ) differences |= lane;
  } else {
    banks::for_each_lane(access.mask,
                         [&](unsigned lane) { differences |= offsets[lane] - known.addresses[lane] - distance; });
  }
  if (differences != 0) return false;
  ++known.count;
  known.first = std::min(known.first, when);
  if (known.dense_end != 0) {
    const std::uint64_t base = begin + offsets[first] - known.addresses[first];
    touch_sectors(access, (begin + offsets[first]) >> sector_bits, (base + known.dense_end - 1) >> sector_bits);
  } else {
    touch(access, [&](unsigned lane) { return begin + offsets[lane]; });
  }
  return true;
}

void GlobalPatterns::add(const Access& access, const std::uint64_t* addresses, const trace::Occurrence& when) {
  touch(access, [&](unsigned lane) { return addresses[lane]; });
  const unsigned lanes = banks::max_lanes - unsigned(std::countl_zero(access.mask));
  Kept pattern;  // not cleared first
  pattern.count = 1;
  pattern.access = access;
  pattern.first = when;
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    low = std::min(low, addresses[lane]);
    high = std::max(high, addresses[lane]);
  });
  constexpr std::uint64_t near = std::uint64_t{1} << 24;
  std::fill_n(pattern.addresses.begin(), (lanes + 1) / 2 * 2, 0);
  pattern.dense_end = 0;
  if (high - low < near) {  // no gap to shorten
    low = low / line * line;
    banks::for_each_lane(access.mask,
                         [&](unsigned lane) { pattern.addresses[lane] = std::uint32_t(addresses[lane] - low); });
    pattern.dense_end = dense_end(access, pattern.addresses.data());
  } else {
    std::ranges::copy(trace::relative_to_line(access.mask, addresses), pattern.addresses.begin());
  }
  std::uint32_t& latest = latest_kept(access, addresses[std::countr_zero(access.mask)]);
  if (latest != 0 && is_same(kept_[latest - 1], pattern, lanes)) return count(kept_[latest - 1], pattern);
  pattern.hash = hash_of(access, pattern.addresses.data(), lanes);
  latest = add(pattern);
}

bool GlobalPatterns::is_same(const Kept& a, const Kept& b, unsigned lanes) {
  return a.access == b.access && std::equal(a.addresses.begin(), a.addresses.begin() + lanes, b.addresses.begin());
}

void GlobalPatterns::count(Kept& known, const Kept& pattern) {
  known.count += pattern.count;
  known.first = std::min(known.first, pattern.first);
}

std::uint32_t GlobalPatterns::add(const Kept& pattern) {
  if (std::countl_zero(pattern.hash) < int(level_)) {
    cost(pattern);
    return 0;
  }
  if (slots_.empty()) slots_.resize(std::bit_ceil(4 * max_patterns_ + 4));
  const unsigned lanes = banks::max_lanes - unsigned(std::countl_zero(pattern.access.mask));
  std::size_t slot = pattern.hash % slots_.size();
  for (; slots_[slot] != 0; slot = (slot + 1) % slots_.size()) {
    Kept& known = kept_[slots_[slot] - 1];
    if (known.hash != pattern.hash || !is_same(known, pattern, lanes)) continue;
    count(known, pattern);
    return slots_[slot];
  }
  kept_.push_back(pattern);
  slots_[slot] = std::uint32_t(kept_.size());
  if (kept_.size() <= max_patterns_) return slots_[slot];
  while (kept_.size() > max_patterns_) raise_level();
  return 0;
}

void GlobalPatterns::raise_level() {
  ++level_;
  for (const Kept& pattern : std::exchange(kept_, {})) {
    std::countl_zero(pattern.hash) < int(level_) ? cost(pattern) : kept_.push_back(pattern);
  }
  std::ranges::fill(slots_, 0);
  latest_kept_ = {};
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    std::size_t slot = kept_[i].hash % slots_.size();
    while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
    slots_[slot] = std::uint32_t(i + 1);
  }
}

void GlobalPatterns::cost(const Kept& pattern) {
  const auto& [pc, mask, operation, width] = pattern.access;
  std::optional<banks::SectorCost> cost;
  if (architecture_ != nullptr) cost = banks::sectors(*architecture_, {operation, width, mask, pattern.addresses});
  excess_[{pc, operation, width}].add(mask, cost ? &*cost : nullptr, pattern.count);
}

GlobalPatterns::Sectors& GlobalPatterns::sectors_at(std::uint64_t number) {
  auto& [known, sectors] = latest_[number % latest_.size()];
  if (sectors != nullptr && known == number) return *sectors;
  auto& entry = sectors_[number];
  if (entry == nullptr) entry = std::make_unique<Sectors>();
  known = number;
  sectors = entry.get();
  return *sectors;
}

template <class AddressOf>
void GlobalPatterns::touch(const Access& access, AddressOf address_of) {
  std::uint64_t last = ~std::uint64_t{0};
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t address = address_of(lane);
    const std::uint64_t begin = address >> sector_bits, end = (address + access.width - 1) >> sector_bits;
    if (begin == last && end == last) return;
    touch_sectors(access, begin, end);
    last = end;
  });
}

void GlobalPatterns::touch_sectors(const Access& access, std::uint64_t first, std::uint64_t last) {
  const bool reads = access.operation != banks::Operation::store;
  const bool writes = access.operation == banks::Operation::store || access.operation == banks::Operation::atomic;
  for (std::uint64_t sector = first; sector <= last; ++sector) {
    Sectors& sectors = sectors_at(sector >> (region_bits - sector_bits));
    const std::uint64_t bit = std::uint64_t{1} << sector % 64;
    const std::size_t word = sector / 64 % sectors.read.size();
    if (reads) sectors.read[word] |= bit;
    if (writes) sectors.written[word] |= bit;
  }
}

void GlobalPatterns::add(const GlobalPatterns& other) {
  while (level_ < other.level_) raise_level();
  for (const Kept& pattern : other.kept_) add(pattern);
  for (const auto& [key, tally] : other.excess_) excess_[key].add(tally);
  for (const auto& [number, bits] : other.sectors_) {
    Sectors& sectors = sectors_at(number);
    for (std::size_t word = 0; word < sectors.read.size(); ++word) {
      sectors.read[word] |= bits->read[word];
      sectors.written[word] |= bits->written[word];
    }
  }
}

void GlobalPatterns::put_into(trace::Builder& builder,
                              const std::function<std::uint32_t(std::uintptr_t)>& site_of) const {
  builder.trace().watches_global = true;
  for (const Kept& kept : kept_) {
    trace::Pattern pattern{.site = site_of(kept.access.pc),
                           .operation = kept.access.operation,
                           .width = kept.access.width,
                           .mask = kept.access.mask,
                           .addresses = {kept.addresses.begin(), kept.addresses.end()},
                           .count = kept.count,
                           .first = kept.first};
    normalize(pattern);
    builder.add_global(pattern);
  }
  for (const auto& [key, tally] : excess_) {
    const auto& [pc, operation, width] = key;
    builder.trace().global_excess_accesses += tally.accesses;
    for (const banks::Architecture& architecture : banks::architectures()) {
      if (warps_in(builder.trace(), architecture) == 0) continue;
      trace::GlobalExcess excess{site_of(pc), operation, width, std::string(architecture.name), tally.accesses, tally};
      if (architecture_ == nullptr || !have_same_sectors(architecture, *architecture_)) {
        excess.tally = {.accesses = tally.accesses, .lanes = tally.lanes, .unknown = tally.accesses};
      }
      builder.add(excess);
    }
  }
  for (const auto& [number, bits] : sectors_) {
    for (const std::uint64_t word : bits->read) builder.trace().sectors_read += unsigned(std::popcount(word));
    for (const std::uint64_t word : bits->written) builder.trace().sectors_written += unsigned(std::popcount(word));
  }
}

}  // namespace bankwise::emulator
