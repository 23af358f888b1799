// The table: the rows of all families. A new GPU is a row in its family's file; tests compare each with a second model.
#include <bankwise/banks/architecture.hpp>

#include <algorithm>
#include <array>
#include <tuple>

#include <bankwise/banks/architectures/amd.hpp>
#include <bankwise/banks/architectures/intel.hpp>
#include <bankwise/banks/architectures/nvidia.hpp>

namespace bankwise::banks {
namespace {

constexpr auto table = std::apply([](auto... row) { return std::array{row...}; },
                                  std::tuple_cat(std::to_array(rows::nvidia_1_to_3), std::to_array(rows::nvidia),
                                                 std::to_array(rows::amd), std::to_array(rows::intel)));
static_assert(std::all_of(table.begin(), table.end(), [](auto& row) { return well_formed(row) && complete(row); }));

/// A name as names are compared: in lower case, without what people leave out.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    result += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  }
  return result;
}

/// The parts of a list.
std::vector<std::string_view> parts_of(std::string_view list, std::string_view mark) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const auto end = std::min(list.find(mark), list.size());
    parts.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + mark.size(), list.size()));
  }
  return parts;
}

}  // namespace

std::span<const Architecture> architectures() { return table; }

std::string_view to_string(Evidence evidence) {
  constexpr std::string_view names[]{"measured here", "measured by others", "vendor", "inferred"};
  return names[int(evidence)];
}

std::vector<std::string> names_of(const Architecture& architecture) {
  std::vector<std::string> names{std::string(architecture.name)};
  for (const std::string_view alias : parts_of(architecture.aliases, " ")) names.emplace_back(alias);
  if (const auto colon = architecture.gpus.find(": "); colon != std::string_view::npos) {
    for (const std::string_view gpu : parts_of(architecture.gpus.substr(colon + 2), ", ")) names.push_back(plain(gpu));
  }
  return names;
}

const Architecture* find_architecture(std::string_view name) {
  std::string wanted = plain(name);
  // sm_90a and sm_100f name features of the compiler, not another memory.
  if (wanted.starts_with("sm") && wanted.find_last_of("af") == wanted.size() - 1) wanted.pop_back();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Architecture& architecture) {
    const std::vector<std::string> names = names_of(architecture);
    return std::any_of(names.begin(), names.end(), [&](const std::string& each) { return plain(each) == wanted; });
  });
  return row == table.end() ? nullptr : &*row;
}

const GpuModel* find_gpu(std::string_view name) {
  std::string wanted = plain(name);
  const bool is_capability = wanted.starts_with("sm");
  if (is_capability && wanted.find_last_of("af") == wanted.size() - 1) wanted.pop_back();
  const auto has_name = [&](const GpuModel& gpu) {
    if (is_capability) return wanted == "sm" + std::to_string(gpu.major) + std::to_string(gpu.minor);
    std::string words(gpu.name);
    std::replace(words.begin(), words.end(), '-', ' ');
    for (std::size_t at = 0; at != std::string::npos; at = words.find(' ', at)) {
      at += words[at] == ' ' ? 1 : 0;
      for (std::size_t end = at; end < words.size(); end = std::min(words.find(' ', end + 1), words.size())) {
        if (end > at && plain(words.substr(at, end - at)) == wanted) return true;
      }
      if (plain(words.substr(at)) == wanted) return true;
    }
    return false;
  };
  for (const Architecture& architecture : table) {
    if (!architecture.models.fact) continue;
    const auto gpu = std::ranges::find_if(*architecture.models.fact, has_name);
    if (gpu != architecture.models.fact->end()) return &*gpu;
  }
  return nullptr;
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
