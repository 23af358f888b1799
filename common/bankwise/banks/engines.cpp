#include <bankwise/banks/engines.hpp>

#include <algorithm>
#include <iterator>

namespace bankwise::banks {
namespace {

constexpr std::string_view engine_names[engine_count]{
    "wgmma",    "cp.async.bulk load", "cp.async.bulk store", "cp.async.bulk reduction", "cp.async.bulk copy", "st.bulk",
    "TMA load", "TMA store",          "TMA reduction"};

}  // namespace

std::string_view to_string(Engine engine) { return engine_names[int(engine)]; }

std::optional<Engine> engine_named(std::string_view name) {
  const auto* const entry = std::ranges::find(engine_names, name);
  if (entry == std::end(engine_names)) return std::nullopt;
  return Engine(entry - std::begin(engine_names));
}

std::optional<EngineCost> cost(const Architecture& architecture, const EngineWork& work) {
  const auto rule = std::ranges::find_if(
      architecture.engines, [&](const EngineRule& other) { return (other.engines >> int(work.engine) & 1) != 0; });
  if (rule == architecture.engines.end()) return std::nullopt;
  EngineCost cost{.passes = work.bytes / rule->pass_bytes + (work.bytes % rule->pass_bytes != 0 ? 1 : 0)};
  cost.cycles = double(work.bytes) / rule->bytes_per_cycle;
  if (rule->rows_per_cycle != 0 && work.row_bytes != 0) {
    cost.cycles = std::max(cost.cycles, double(work.bytes) / work.row_bytes / rule->rows_per_cycle);
  }
  return cost;
}

}  // namespace bankwise::banks
