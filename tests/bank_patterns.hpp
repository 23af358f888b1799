// Accesses in the notation of the texts about bank conflicts: a formula of the lane.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise::banks {

/// The byte offset of a lane.
using ByteOf = std::function<std::uint32_t(unsigned lane)>;

/// The lanes [0, count).
constexpr std::uint64_t first_lanes(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// The cost of the lanes of `mask` on the architecture called `name`. Error: std::runtime_error if it has no cost
/// there.
inline Cost cost_of(std::string_view name, Operation operation, unsigned width, std::uint64_t mask,
                    const ByteOf& byte_of) {
  const Architecture* architecture = find_architecture(name);
  if (architecture == nullptr) throw std::runtime_error("no architecture " + std::string(name));
  std::vector<std::uint32_t> addresses(max_lanes);
  for (unsigned lane = 0; lane < max_lanes; ++lane) addresses[lane] = mask >> lane & 1 ? byte_of(lane) : 0;
  const Access access{operation, width, mask, addresses};
  const auto outcome = cost(*architecture, access);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    throw std::runtime_error(sentence(*architecture, access, *refusal));
  }
  return std::get<Cost>(outcome);
}

/// Of a whole warp (wavefront).
inline Cost cost_of(std::string_view name, Operation operation, unsigned width, const ByteOf& byte_of) {
  const Architecture* architecture = find_architecture(name);
  return cost_of(name, operation, width, first_lanes(architecture == nullptr ? 0 : architecture->warp), byte_of);
}

}  // namespace bankwise::banks
