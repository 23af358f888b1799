// The table: the rows of all families. A new GPU is a row in its family's file; tests compare each with a second model.
#include <bankwise/banks/architecture.hpp>

#include <algorithm>
#include <array>
#include <tuple>

#include <bankwise/banks/architectures/amd.hpp>
#include <bankwise/banks/architectures/intel.hpp>
#include <bankwise/banks/architectures/nvidia.hpp>
#include <bankwise/banks/architectures/nvidia_1_to_3.hpp>

namespace bankwise::banks {
namespace {

constexpr auto table = std::apply([](auto... row) { return std::array{row...}; },
                                  std::tuple_cat(std::to_array(rows::nvidia_1_to_3), std::to_array(rows::nvidia),
                                                 std::to_array(rows::amd), std::to_array(rows::intel)));
static_assert(std::all_of(table.begin(), table.end(), [](auto& row) { return well_formed(row) && complete(row); }));

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool has_alias(std::string_view aliases, std::string_view name) {
  while (!aliases.empty()) {
    const auto end = std::min(aliases.find(' '), aliases.size());
    if (same_name(aliases.substr(0, end), name)) return true;
    aliases.remove_prefix(std::min(end + 1, aliases.size()));
  }
  return false;
}

}  // namespace

std::span<const Architecture> architectures() { return table; }

std::string_view to_string(Evidence evidence) {
  constexpr std::string_view names[]{"measured here", "measured by others", "vendor", "inferred"};
  return names[int(evidence)];
}

const Architecture* find_architecture(std::string_view name) {
  // sm_90a and sm_100f name features of the compiler, not another memory.
  if (same_name(name.substr(0, 3), "sm_") && name.find_last_of("aAfF") == name.size() - 1) name.remove_suffix(1);
  const auto row = std::find_if(table.begin(), table.end(), [&](const Architecture& architecture) {
    return same_name(architecture.name, name) || has_alias(architecture.aliases, name);
  });
  return row == table.end() ? nullptr : &*row;
}

std::uint32_t resident_blocks(const Multiprocessor& multiprocessor, std::uint64_t bytes, std::uint64_t threads) {
  const auto& [shared, per_block, reserved, unit, max_threads, max_blocks] = multiprocessor;
  if (bytes > per_block) return 0;
  const std::uint64_t taken = (bytes + reserved + unit - 1) / unit * unit;
  std::uint64_t blocks = shared / std::max<std::uint64_t>(taken, 1);
  if (max_blocks) blocks = std::min<std::uint64_t>(blocks, *max_blocks);
  if (max_threads && threads > 0) blocks = std::min(blocks, *max_threads / threads);
  return std::uint32_t(blocks);
}

std::uint64_t bytes_with_same_occupancy(const Multiprocessor& multiprocessor, std::uint64_t bytes,
                                        std::uint64_t threads) {
  const std::uint32_t blocks = resident_blocks(multiprocessor, bytes, threads);
  if (blocks == 0) return bytes;
  const std::uint64_t each = multiprocessor.shared / blocks / multiprocessor.unit * multiprocessor.unit;
  return std::clamp<std::uint64_t>(each - multiprocessor.reserved, bytes, multiprocessor.per_block);
}

}  // namespace bankwise::banks
