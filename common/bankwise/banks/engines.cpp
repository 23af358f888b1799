#include <bankwise/banks/engines.hpp>

#include <algorithm>
#include <iterator>

namespace bankwise::banks {
namespace {

constexpr std::string_view engine_names[engine_count]{
    "wgmma",    "cp.async.bulk load", "cp.async.bulk store", "cp.async.bulk reduction", "cp.async.bulk copy", "st.bulk",
    "TMA load", "TMA store",          "TMA reduction"};

constexpr std::uint64_t line_bytes = 128, sector_bytes = 32;

/// Clocks of the bytes [begin, end) of a cache line of global memory.
unsigned piece_cycles(Pieces pieces, std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return 0;
  const std::uint64_t first = (begin + sector_bytes - 1) / sector_bytes, past = end / sector_bytes;  // whole sectors
  const bool is_part = begin % sector_bytes != 0 || end % sector_bytes != 0;
  if (pieces != Pieces::requests) {
    const auto sectors = unsigned((end + sector_bytes - 1) / sector_bytes - begin / sector_bytes);
    return sectors + (is_part || pieces == Pieces::headed_sectors ? 1 : 0);
  }
  if (first > past) return 1;  // inside a sector
  return unsigned(begin % sector_bytes != 0) + unsigned(first < past) + unsigned(end % sector_bytes != 0);
}

/// Clocks of a part of a row in a cache line of global memory, which begins at this offset of one in shared memory.
unsigned line_cycles(Pieces pieces, std::uint64_t begin, std::uint64_t end, std::uint64_t shared) {
  const std::uint64_t cut = std::min(end, begin + line_bytes - shared % line_bytes);
  return piece_cycles(pieces, begin, cut) + piece_cycles(pieces, cut, end);
}

double row_cycles(Pieces pieces, std::uint64_t bytes, std::uint64_t global, std::uint64_t shared) {
  const std::uint64_t begin = global % line_bytes, head = std::min(bytes, line_bytes - begin);
  const std::uint64_t rest = bytes - head, next = shared % line_bytes + head;
  return line_cycles(pieces, begin, begin + head, shared) +
         double(rest / line_bytes) * line_cycles(pieces, 0, line_bytes, next) +
         line_cycles(pieces, 0, rest % line_bytes, next);
}

/// Clocks of all rows. Their places in cache lines repeat after eight rows at most.
double rows_cycles(Pieces pieces, const EngineWork& work, const RowPlacement& placement) {
  constexpr std::uint64_t period = 8;
  const std::uint64_t bytes = work.row_bytes == 0 ? work.bytes : work.row_bytes;
  const std::uint64_t rows = bytes == 0 ? 0 : work.bytes / bytes;
  double cycles = 0;
  for (std::uint64_t row = 0; row < period; ++row) {
    const std::uint64_t times = rows / period + (row < rows % period ? 1 : 0);
    if (times == 0) break;
    const std::uint64_t shared = placement.shared_offset + row * placement.shared_pitch;
    cycles += double(times) * row_cycles(pieces, bytes, placement.global_offset, shared);
  }
  return cycles;
}

}  // namespace

std::string_view to_string(Engine engine) { return engine_names[int(engine)]; }

std::optional<Engine> engine_named(std::string_view name) {
  const auto* const entry = std::ranges::find(engine_names, name);
  if (entry == std::end(engine_names)) return std::nullopt;
  return Engine(entry - std::begin(engine_names));
}

std::optional<EngineCost> cost(const Architecture& architecture, const EngineWork& work,
                               const RowPlacement& placement) {
  const auto rule = std::ranges::find_if(
      architecture.engines, [&](const EngineRule& other) { return (other.engines >> int(work.engine) & 1) != 0; });
  if (rule == architecture.engines.end()) return std::nullopt;
  EngineCost cost;
  if (rule->pass_bytes != 0) {
    cost.passes = work.bytes / rule->pass_bytes + (work.bytes % rule->pass_bytes != 0 ? 1 : 0);
  }
  cost.cycles = std::max(double(work.bytes) / rule->bytes_per_cycle, double(rule->instruction_cycles));
  if (rule->pieces != Pieces::none) {
    cost.cycles = std::max(cost.cycles, rows_cycles(rule->pieces, work, placement));
  }
  return cost;
}

}  // namespace bankwise::banks
