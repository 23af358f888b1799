// The certificate against all linear layouts of small tiles, each built and priced by the bank model.
#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "tests/bankcheck/layouts/tiles.hpp"

using namespace bankwise;
using namespace bankwise::layouts;

namespace {

/// Rows of a square matrix over the field of two elements, as sets of columns.
using Matrix = std::vector<unsigned>;

unsigned rank_of(Matrix rows) {
  unsigned rank = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const auto pivot = std::find_if(rows.begin() + rank, rows.end(), [&](unsigned row) { return row >> bit & 1; });
    if (pivot == rows.end()) continue;
    std::iter_swap(rows.begin() + rank, pivot);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i != rank && (rows[i] >> bit & 1) != 0) rows[i] ^= rows[rank];
    }
    ++rank;
  }
  return rank;
}

/// The instructions of some copies, for pricing many layouts.
struct Instructions {
  const banks::Architecture& architecture = *banks::find_architecture("sm_90");
  const Tile& tile;
  std::uint32_t part;  ///< elements that stay together
  std::vector<std::pair<Copy, LaneElements>> list;

  Instructions(const Tile& of, const std::vector<Copy>& copies, std::uint32_t elements) : tile(of), part(elements) {
    for (const Copy& copy : copies) {
      for (const LaneElements& instruction : instructions_of(tile, copy, 32)) list.emplace_back(copy, instruction);
    }
  }

  /// Passes of the layout whose parts have the numbers M x.
  std::uint64_t passes(const Matrix& matrix) const {
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t place = 0; place < tile.offsets.size(); ++place) {
      std::uint32_t moved = 0;
      for (std::size_t bit = 0; bit < matrix.size(); ++bit)
        moved |= std::uint32_t(std::popcount(place / part & matrix[bit]) & 1) << bit;
      offsets.push_back((moved * part + place % part) * tile.element);
    }
    std::uint64_t passes = 0;
    for (const auto& [copy, instruction] : list) {
      std::array<std::uint32_t, 32> addresses{};
      std::uint64_t mask = 0;
      for (std::size_t lane = 0; lane < instruction.size(); ++lane) {
        if (instruction[lane] == no_element) continue;
        addresses[lane] = offsets[instruction[lane]];
        mask |= std::uint64_t{1} << lane;
      }
      const banks::Access access{copy.operation, copy.width, mask, addresses};
      passes += std::get<banks::Cost>(banks::cost(architecture, access)).passes;
    }
    return passes;
  }
};

/// The fewest passes of all linear layouts of a tile of 2^bits parts: all choices of the lowest rows, which select the
/// bank, each completed to an invertible matrix.
std::uint64_t fewest_by_force(const Tile& tile, const std::vector<Copy>& copies, std::uint32_t part, unsigned bits,
                              unsigned slot_bits) {
  const Instructions instructions(tile, copies, part);
  std::uint64_t fewest = ~std::uint64_t{0};
  const unsigned chosen = std::min(bits, slot_bits);
  for (std::uint64_t choice = 0; choice < std::uint64_t{1} << (bits * chosen); ++choice) {
    Matrix matrix;
    for (unsigned row = 0; row < chosen; ++row) matrix.push_back(unsigned(choice >> (row * bits)) & ((1U << bits) - 1));
    if (rank_of(matrix) < chosen) continue;
    for (unsigned bit = 0; bit < bits && matrix.size() < bits; ++bit) {
      matrix.push_back(1U << bit);
      if (rank_of(matrix) < matrix.size()) matrix.pop_back();
    }
    fewest = std::min(fewest, instructions.passes(matrix));
  }
  return fewest;
}

/// The byte offset of each element in the layout of the certificate's matrix.
std::vector<std::uint32_t> elements_of(const Certificate& certificate, const Tile& tile) {
  std::vector<std::uint32_t> offsets(tile.offsets.size());
  for (std::size_t place = 0; place < offsets.size(); ++place) {
    const std::uint64_t row = place / tile.columns, column = place % tile.columns;
    const std::uint64_t number = certificate.direction == Direction::along_row ? place : column * tile.rows + row;
    for (std::size_t bit = 0; bit < certificate.matrix.size(); ++bit) {
      offsets[place] |= std::uint32_t(std::popcount(number & certificate.matrix[bit]) & 1) << bit;
    }
    offsets[place] *= tile.element;
  }
  return offsets;
}

/// Checks the certificate against the bank model, and against its own layout.
Certificate checked(const Tile& tile, const std::vector<Copy>& copies, const char* name = "sm_90") {
  const banks::Architecture& architecture = *banks::find_architecture(name);
  const Certificate certificate = layouts::certificate(architecture, tile, copies);
  CHECK(certificate.any_layout <= passes_of(architecture, tile, copies, tile.offsets));
  if (!certificate.linear) return certificate;
  CHECK(certificate.any_layout <= *certificate.linear);
  std::vector<std::uint32_t> offsets = elements_of(certificate, tile);
  CHECK(passes_of(architecture, tile, copies, offsets) == *certificate.linear);
  std::ranges::sort(offsets);  // a layout of the same bytes
  for (std::uint32_t i = 0; i < offsets.size(); ++i) REQUIRE(offsets[i] == i * tile.element);
  return certificate;
}

/// A layout of 2^bits threads in 2^down rows that permutes the bits of their numbers, and perhaps adds a lower bit to
/// the highest one: then the lanes that are served together differ in sums of bits.
std::string mixed_threads(std::mt19937& random, unsigned bits, unsigned down) {
  std::vector<unsigned> order(bits);
  for (unsigned i = 0; i < bits; ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  std::string shape, stride;
  for (unsigned i = 0; i < bits; ++i) {
    const std::string open = i == 0 || i == down ? "(" : "";
    const std::string close = i + 1 == down || i + 1 == bits ? ")" : "";
    const std::string comma = i == 0 ? "" : ",";
    shape += comma + open + "2" + close;
    stride += comma + open + std::to_string(1U << order[i]) + close;
  }
  const unsigned shift = unsigned(random()) % bits;
  const std::string swizzle =
      shift == 0 ? "" : "Swizzle<1," + std::to_string(bits - 1 - shift) + ",-" + std::to_string(shift) + "> o ";
  return swizzle + "(" + shape + "):(" + stride + ")";
}

}  // namespace

TEST_CASE("layouts/certificate/all_matrices") {
  // 16 elements of 16 bytes: a lane group has 8 of them, and the banks 8 slots. Each order of threads gives one
  // subspace; with many of them no layout serves all.
  std::mt19937 random(3);
  unsigned unavoidable = 0;
  const Tile tile = cute_tile("(4,4):(4,1)", "float4");
  for (int i = 0; i < 40; ++i) {
    std::vector<std::string> texts;
    for (unsigned copies = 1 + random() % 6; copies > 0; --copies)
      texts.push_back("load by " + mixed_threads(random, 4, 2));
    const std::vector<Copy> copies = copies_of(texts, tile.element);
    const Certificate certificate = checked(tile, copies);
    REQUIRE(certificate.linear);
    CHECK(*certificate.linear == fewest_by_force(tile, copies, 1, 4, 3));
    unavoidable += *certificate.linear > certificate.any_layout ? 1 : 0;
  }
  CHECK(unavoidable >= 3);
}

TEST_CASE("layouts/certificate/words_in_parts") {
  // Reads of 16 bytes keep four words together, so that a column of words has only eight slots.
  std::mt19937 random(4);
  const Tile tile = cute_tile("(4,16):(16,1)", "float");
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> texts{"load.16", "load by column"};
    for (unsigned copies = random() % 3; copies > 0; --copies)
      texts.push_back("load by " + mixed_threads(random, 5, 1 + unsigned(random() % 2)));
    const std::vector<Copy> copies = copies_of(texts, tile.element);
    const Certificate certificate = checked(tile, copies);
    REQUIRE(certificate.linear);
    CHECK(*certificate.linear == fewest_by_force(tile, copies, 4, 4, 3));
  }
  const Tile high = cute_tile("(32,16):(16,1)", "float");
  const std::vector<Copy> copies = copies_of({"load.16", "load by column"}, 4);
  CHECK(checked(high, copies).any_layout == 16 + 16 * 4);
  CHECK(checked(high, copies_of({"load", "load by column"}, 4)).any_layout == 16 + 16);
}

TEST_CASE("layouts/certificate/known_layouts") {
  // The transpose of 16 x 32 words: the usual XOR has two ways, and a linear layout has none.
  const Tile transpose = cute_tile("Swizzle<4,0,5> o (16,32):(32,1)", "float");
  CHECK(checked(transpose, copies_of({"store", "load by column"}, 4)).linear == 32);
  const Tile halves = cute_tile("(64,64):(64,1)");
  CHECK(checked(halves, copies_of({"ldmatrix.x4", "store.16"}, 2)).linear == 128);
  CHECK(checked(cute_tile("(64,64):(1,64)"), copies_of({"ldmatrix.x4"}, 2)).linear == 64);
  CHECK(checked(halves, copies_of({"load by column", "load"}, 2)).linear == 64 * 2 * 2);  // two words of halves a lane
  CHECK(checked(halves, copies_of({"load.8 by column"}, 2), "gfx942").linear == 64);
  CHECK(checked(halves, copies_of({"load.16 by column"}, 2), "gfx950").linear == 32);
  CHECK(checked(cute_tile("(2,4):(4,1)", "float"), copies_of({"load"}, 4)).linear == 1);
  // Eight lanes differ in all bits but one: that of the row, that of the column, and their sum. A vector outside of all
  // three subspaces does not exist, so one copy conflicts.
  const Certificate three =
      checked(cute_tile("(4,4):(4,1)", "float4"),
              copies_of({"load by row", "load by column", "load by Swizzle<1,1,-2> o (4,4):(4,1)"}, 16));
  CHECK(three.any_layout == 6);
  CHECK(three.linear == 8);
}

TEST_CASE("layouts/certificate/unknown") {
  const std::vector<Copy> by_column = copies_of({"load by column"}, 4);
  const auto why = [&](const char* layout, const char* architecture) {
    const Certificate certificate = checked(cute_tile(layout, "float"), by_column, architecture);
    CHECK_FALSE(certificate.linear);
    return certificate.why;
  };
  CHECK_THAT(why("(32,33):(33,1)", "sm_90"), has("powers of two"));
  CHECK_THAT(why("(32,32):(0,1)", "sm_90"), has("share bytes"));
  CHECK_THAT(why("(32,32):(32,1)", "sm_13"), has("rules of sm_13"));
  CHECK_THAT(why("(32,32):(32,1)", "sm_30"), has("rules of sm_30"));
  const Tile tile = cute_tile("(32,32):(32,1)", "float");
  const Certificate odd = checked(tile, copies_of({"load by (3,5):(5,1)"}, 4));
  CHECK_THAT(odd.why, has("no subspace"));
  CHECK(odd.any_layout == 11 * 7);
  const Tile torn = cute_tile("(8,8):(1,16)", "char");
  CHECK(checked(torn, copies_of({"load"}, 1)).any_layout > 0);
  CHECK_THAT(checked(cute_tile("(8,8):(2,16)", "char"), copies_of({"load"}, 1)).why, has("separates"));
}
