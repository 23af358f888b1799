// Copies of a tile: which lane has which element, and known costs.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/bankcheck/layouts/tiles.hpp"

using namespace bankwise;
using namespace bankwise::layouts;

namespace {

std::vector<LaneElements> instructions(const std::string& layout, const std::string& type, const std::string& copy,
                                       unsigned lanes = 32) {
  const Tile tile = cute_tile(layout, type);
  return instructions_of(tile, read_copy(copy, tile.element), lanes);
}

CopyCost cost(const std::string& layout, const std::string& type, const std::string& copy,
              const char* architecture = "sm_90") {
  const Tile tile = cute_tile(layout, type);
  return cost_of(*banks::find_architecture(architecture), tile, read_copy(copy, tile.element), tile.offsets);
}

std::string copy_refusal(const std::string& copy, const std::string& layout = "(8,64):(64,1)") {
  return sentence_of([&] { (void)instructions(layout, "half", copy); });
}

}  // namespace

TEST_CASE("layouts/copy/orders") {
  const auto rows = instructions("(4,64):(64,1)", "half", "load.4");  // pairs along rows
  CHECK(rows.size() == 4);
  CHECK(rows[1][3] == 64 + 2 * 3);
  const auto columns = instructions("(4,64):(64,1)", "half", "load.4 by column");
  CHECK(columns[0][5] == 64 + 2);
  const auto turned = instructions("(64,4):(1,64)", "half", "load.4");  // pairs along columns
  CHECK(turned[0][5] == 2 * 4 + 1);
  const auto fragments = instructions("(16,16):(16,1)", "half", "load.4 by (8,4):(4,1)");
  CHECK(fragments.size() == 4);
  CHECK(fragments[0][4 * 5 + 3] == 5 * 16 + 2 * 3);
  CHECK(fragments[1][0] == 8);
  CHECK(fragments[2][0] == 8 * 16);
  const auto wide = instructions("(16,16):(16,1)", "half", "load.4 by (16,8):(8,1)", 64);  // two warps of 64
  CHECK(wide.size() == 2);
  CHECK(wide[1][0] == 8 * 16);
}

TEST_CASE("layouts/copy/matrices") {
  const auto matrices = instructions("(16,64):(64,1)", "half", "ldmatrix.x4");
  CHECK(matrices.size() == 4);
  CHECK(matrices[0][9] == 9 * 64);
  CHECK(matrices[0][16] == 8);  // below come first, then the next 16 bytes
  CHECK(instructions("(64,16):(1,64)", "half", "ldmatrix.x2.trans")[0][9] == 9);
}

TEST_CASE("layouts/copy/covers_the_tile") {
  for (const char* text :
       {"load", "load by column", "store.16", "store.8 by column", "ldmatrix.x1", "ldmatrix.x4",
        "load.4 by (8,4):(4,1)", "load.4 by (5,3):(3,1)", "store by (7,3):(1,20)", "load by (1,33):(33,1)"}) {
    INFO(text);
    const Tile tile = cute_tile("(32,48):(48,1)");
    const Copy copy = read_copy(text, tile.element);
    std::vector<unsigned> seen(tile.offsets.size());
    for (const LaneElements& instruction : instructions_of(tile, copy, 32)) {
      CHECK(instruction.size() <= 32);
      for (const std::uint32_t first : instruction) {
        if (first == no_element) continue;
        for (unsigned i = 0; i < copy.width / tile.element; ++i) ++seen[first + i];
      }
    }
    CHECK(std::ranges::all_of(seen, [](unsigned times) { return times == 1; }));
  }
}

TEST_CASE("layouts/copy/known_costs") {
  // CUTLASS' swizzled tile of halves: free for ldmatrix and for 16-byte stores; without the swizzle 8 ways.
  for (const char* copy : {"ldmatrix.x4", "ldmatrix.x1", "store.16", "stmatrix.x4"}) {
    INFO(copy);
    CHECK(cost("Swizzle<3,3,3> o (64,64):(64,1)", "half", copy).conflicts == 0);
    CHECK(cost("Swizzle<3,3,3> o (64,64):(64,1)", "half", copy).passes == 64);
  }
  const CopyCost plain = cost("(64,64):(64,1)", "half", "ldmatrix.x4");
  CHECK(plain.passes == 8 * plain.ideal);
  CHECK(plain.worst.cost.passes == 32);
  // A column of words: 32 ways, and with a pad none.
  CHECK(cost("(32,32):(32,1)", "float", "load by column").passes == 32 * 32);
  CHECK(cost("(32,32):(33,1)", "float", "load by column").conflicts == 0);
  CHECK(cost("Swizzle<2,0,5> o (32,32):(32,1)", "float", "load by column").passes == 8 * 32);
  // Only some instructions conflict: the worst is found.
  const CopyCost mixed = cost("(32,(2,2)):(1,(1024,32))", "float", "load.4");
  CHECK(mixed.instructions == 4);
  CHECK(mixed.conflicts > 0);
  CHECK(cost("(64,128):(128,1)", "half", "load.8 by column", "gfx942").instructions == 32);  // 64 lanes
}

TEST_CASE("layouts/copy/best_layouts") {
  const auto best = [](const std::string& layout, const std::string& type, const std::vector<std::string>& texts) {
    const Tile tile = cute_tile(layout, type);
    return best_layouts({banks::find_architecture("sm_90")}, tile, copies_of(texts, tile.element)).candidates;
  };
  const auto halves = best("Swizzle<1,3,3> o (64,64):(64,1)", "half", {"ldmatrix.x4", "store.16"});
  REQUIRE(halves.size() == 3);
  CHECK(halves[0].passes[0] == 64 * 9);  // without the swizzle
  CHECK(halves[1].name == "Swizzle<3, 3, 3>");
  CHECK(halves[1].index == "tile[row][column ^ (row & 7) * 8]");
  CHECK(halves[1].passes[0] == 128);
  CHECK(halves[2].bytes == 64 * 144);
  CHECK(best("Sw<1,4,3> o smem_ptr[16b](unset) o (64,64):(64,1)", "", {"ldmatrix.x4"})[1].name == "Swizzle<3, 4, 3>");
  CHECK(best("(64,64):(1,64)", "half", {"ldmatrix.x4"})[1].index == "tile[column][row ^ (column & 7) * 8]");
  CHECK(best("(8,8):(0,1)", "half", {"load"}).empty());  // elements that share bytes stay where they are
}

TEST_CASE("layouts/copy/refusals") {
  check_sentence(copy_refusal(""), "none of load, store");
  check_sentence(copy_refusal("ldmatrix"), "none of load, store");
  check_sentence(copy_refusal("ldmatrix.x3"), "none of load, store");
  check_sentence(copy_refusal("load.3"), "none of load, store");
  check_sentence(copy_refusal("load.16.trans"), "none of load, store");
  check_sentence(copy_refusal("atomic"), "none of load, store");
  check_sentence(copy_refusal("load.1"), "less than an element");
  check_sentence(copy_refusal("load by diagonal"), "a list of numbers");
  check_sentence(copy_refusal("load by (8,4):(4,0)"), "thread 0 has two places");
  check_sentence(copy_refusal("load by (2048,1):(1,1)"), "at most 1024 threads");
  check_sentence(copy_refusal("load by (2,1):(5000,1)"), "no thread 5000");
  check_sentence(copy_refusal("ldmatrix.x4 by row"), "say themselves");
  check_sentence(copy_refusal("ldmatrix.x4", "(8,24):(24,1)"), "4 matrices");
  check_sentence(copy_refusal("ldmatrix.x1", "(4,64):(64,1)"), "1 matrix");
  check_sentence(copy_refusal("load.16", "(8,64):(65,1)"), "lie together");
  check_sentence(copy_refusal("load.16", "(8,60):(60,1)"), "lie together");
  check_sentence(copy_refusal("load.16", "Swizzle<3,0,3> o (8,64):(64,1)"), "lie together");
  const auto on_amd = [] { (void)cost("(8,64):(64,1)", "half", "ldmatrix.x4", "gfx942"); };
  check_sentence(sentence_of(on_amd), "gfx942 has no 16-byte ldmatrix.x4");
}
