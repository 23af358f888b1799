// The second model of global memory: sets of the sectors, the cache lines and the bytes that the lanes touch.
#include <map>

#include "slow_banks.hpp"

namespace bankwise::slow {
namespace {

struct Sizes {
  unsigned sector, line;
};

const std::map<std::string_view, Sizes> sizes{{"sm_30", {32, 128}},    {"sm_30_eight_byte", {32, 128}},
                                              {"sm_50", {32, 128}},    {"sm_60", {32, 128}},
                                              {"sm_70", {32, 128}},    {"sm_75", {32, 128}},
                                              {"sm_80", {32, 128}},    {"sm_89", {32, 128}},
                                              {"sm_90", {32, 128}},    {"sm_100", {32, 128}},
                                              {"sm_120", {32, 128}},   {"gcn", {64, 64}},
                                              {"gfx908", {64, 64}},    {"gfx90a", {64, 128}},
                                              {"gfx942", {128, 128}},  {"gfx950", {128, 128}},
                                              {"gfx1030", {128, 128}}, {"gfx1100", {128, 128}},
                                              {"gfx1201", {128, 128}}, {"intel_xe", {64, 64}}};

}  // namespace

SlowSectors sectors(std::string_view architecture, unsigned width, std::uint64_t mask,
                    const std::vector<std::uint32_t>& addresses) {
  const auto found = sizes.find(architecture);
  if (found == sizes.end()) return {.refused = true};
  const bool in_three = architecture.starts_with("sm_") && width == 12;
  SlowSectors sum;
  for (unsigned begin = 0; begin < width; begin += in_three ? 4 : width) {
    std::set<std::uint64_t> bytes, sectors, lines;
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (std::uint64_t byte = begin; byte < begin + (in_three ? 4 : width); ++byte) {
        bytes.insert(addresses[lane] + byte);
        sectors.insert((addresses[lane] + byte) / found->second.sector);
        lines.insert((addresses[lane] + byte) / found->second.line);
      }
    }
    sum.sectors += unsigned(sectors.size());
    sum.lines += unsigned(lines.size());
    sum.bytes += unsigned(bytes.size());
    unsigned least = 0;
    while (least * found->second.sector < bytes.size()) ++least;
    sum.ideal += least;
  }
  return sum;
}

}  // namespace bankwise::slow
