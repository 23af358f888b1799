// Tiles and copies of the tests, from the texts that users type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include "bankcheck/layouts/layouts.hpp"
#include "tests/bankcheck/sentences.hpp"

namespace bankwise::layouts {

inline Tile cute_tile(const std::string& layout, const std::string& type = "half") {
  return read_tile({layout, "", "", type});
}

/// The offsets of elements in elements, row by row.
inline std::vector<std::uint32_t> numbers(const Tile& tile) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t offset : tile.offsets) numbers.push_back(offset / tile.element);
  return numbers;
}

inline std::vector<Copy> copies_of(const std::vector<std::string>& texts, unsigned element) {
  std::vector<Copy> copies;
  for (const std::string& text : texts) copies.push_back(read_copy(text, element));
  return copies;
}

inline std::uint64_t passes_of(const banks::Architecture& architecture, const Tile& tile,
                               const std::vector<Copy>& copies, const std::vector<std::uint32_t>& offsets) {
  std::uint64_t passes = 0;
  for (const Copy& copy : copies) passes += cost_of(architecture, tile, copy, offsets).passes;
  return passes;
}

}  // namespace bankwise::layouts
