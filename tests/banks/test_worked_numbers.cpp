// Worked numbers from the texts about bank conflicts, one test case per text or table. The name gives the reliability
// of the text; "copy" means a copy of the vendor's text.
#include <numeric>

#include "tests/bank_patterns.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::ByteOf;
using banks::first_lanes;

namespace {

constexpr auto load = banks::Operation::load;
constexpr auto store = banks::Operation::store;

struct Row {
  const char* what;
  banks::Operation operation;
  unsigned width;
  ByteOf byte_of;
  unsigned passes, conflicts;
  std::uint64_t mask = 0;  ///< 0: the whole warp
};

void check(const char* architecture, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(architecture << ", " << to_string(row.operation) << " of " << row.width << " bytes: " << row.what);
    const auto cost = row.mask == 0 ? banks::cost_of(architecture, row.operation, row.width, row.byte_of)
                                    : banks::cost_of(architecture, row.operation, row.width, row.mask, row.byte_of);
    CHECK(cost.passes == row.passes);
    CHECK(cost.conflicts == row.conflicts);
  }
}

/// Word (or byte, or vector) s * t.
ByteOf stride(unsigned bytes) {
  return [bytes](unsigned t) { return bytes * t; };
}

using Strides = std::vector<std::pair<unsigned, unsigned>>;  ///< in words, and their passes

/// Of the passes, `free` are no conflicts.
void check_strides(const char* architecture, unsigned free, const Strides& strides) {
  for (const auto& [words, passes] : strides) {
    check(architecture, {{"stride", load, 4, stride(4 * words), passes, passes - free}});
  }
}

/// One lane at a distance of so many bytes from all others.
ByteOf away(unsigned lane, unsigned bytes) {
  return [=](unsigned t) { return t == lane ? bytes : 0; };
}

std::uint64_t lanes(unsigned a, unsigned b) { return std::uint64_t{1} << a | std::uint64_t{1} << b; }

}  // namespace

TEST_CASE("banks/worked_numbers/cc_1") {
  struct Steps {
    const char* what;
    ByteOf byte_of;
    unsigned width, least, most;
    unsigned active = 16;  ///< the text counts the steps of a half-warp, so 16 lanes, unless it says otherwise
  };
  const auto words = [](auto word_of) { return [word_of](unsigned t) { return 4 * unsigned(word_of(t)); }; };
  const Steps rows[]{
      {"base + t", [](unsigned t) { return 4 * (5 + t); }, 4, 1, 1},
      {"2t", stride(8), 4, 2, 2},
      {"2t + 1", [](unsigned t) { return 8 * t + 4; }, 4, 2, 2},
      {"4t", stride(16), 4, 4, 4},
      {"8t", stride(32), 4, 8, 8},
      {"16t", stride(64), 4, 16, 16},
      {"17t", stride(68), 4, 1, 1},
      {"3", [](unsigned) { return 12; }, 4, 1, 1},
      {"char[t]", stride(1), 1, 4, 4},
      {"char[4t]", stride(4), 1, 1, 1},
      {"short[t]", stride(2), 2, 2, 2},
      {"short[2t]", stride(4), 2, 1, 1},
      {"t mod 8", words([](unsigned t) { return t % 8; }), 4, 2, 2},
      {"lanes 0-7 word 0, lanes 8-15 word 16", words([](unsigned t) { return t < 8 ? 0 : 16; }), 4, 2, 2},
      {"lanes 0-7 word 5, lanes 8-15 words 6..13", words([](unsigned t) { return t < 8 ? 5 : t - 2; }), 4, 1, 2},
      {"lanes 0-3 word 0, lanes 4-7 word 1, lanes 8-15 words 2..9",
       words([](unsigned t) { return t < 8 ? t / 4 : t - 6; }), 4, 2, 3},
      {"four lanes: words 0, 0, 16, 1", words([](unsigned t) { return t == 2 ? 16 : t / 3; }), 4, 2, 3, 4},
      {"double[t], whole warp: 2 requests x 2 halves x 2 steps", stride(8), 8, 8, 8, 32},
      {"float4[t], whole warp: 4 x 2 x 4", stride(16), 16, 32, 32, 32},
      {"struct of three floats, whole warp: three requests of stride 3", stride(12), 12, 6, 6, 32},
      {"struct of two floats, whole warp", stride(8), 8, 8, 8, 32},
      {"17 (t / 16) + t mod 16, whole warp", words([](unsigned t) { return 17 * (t / 16) + t % 16; }), 4, 2, 2, 32},
  };
  for (const Steps& row : rows) {
    INFO(row.what);
    const auto cost = banks::cost_of("sm_13", load, row.width, first_lanes(row.active), row.byte_of);
    CHECK(cost.passes == row.least);
    CHECK(cost.passes_max == row.most);
  }
  for (unsigned s = 1; s <= 40; ++s) {
    INFO("stride " << s);
    CHECK(banks::cost_of("sm_13", load, 4, first_lanes(16), stride(4 * s)).passes_max == std::gcd(s, 16U));
  }
  // Stores.
  check("sm_13", {{"one word", store, 4, stride(0), 1, 0, first_lanes(16)},
                  {"char[t]", store, 1, stride(1), 4, 3, first_lanes(16)},
                  {"short[t]", store, 2, stride(2), 2, 1, first_lanes(16)},
                  {"t mod 8", store, 4, [](unsigned t) { return 4 * (t % 8); }, 1, 0, first_lanes(16)},
                  {"17 (t / 16) + t mod 16", store, 4, [](unsigned t) { return 4 * (17 * (t / 16) + t % 16); }, 2, 0}});
}

TEST_CASE("banks/worked_numbers/cc_2") {
  // The text counts ways: passes are ways, and conflicts are all ways except the first.
  struct Ways {
    const char* what;
    unsigned width, bytes, ways;  // lane t is at bytes * t
  };
  const Ways rows[]{
      {"char[t]", 1, 1, 1},
      {"short[t]", 2, 2, 1},
      {"double[t]", 8, 8, 1},
      {"float2 at 16 bytes", 8, 16, 2},
      {"double column of [32][32]", 8, 256, 16},
      {"double column of [32][33]", 8, 264, 1},
      {"float4[t]", 16, 16, 2},
      {"float4 at 32 bytes", 16, 32, 3},
      {"float4, all the same", 16, 0, 2},
  };
  for (const Ways& row : rows) check("sm_20", {{row.what, load, row.width, stride(row.bytes), row.ways, row.ways - 1}});
  const Strides strides{{0, 1},  {1, 1},  {2, 2},   {3, 1},   {4, 4},  {6, 2},  {8, 8},
                        {10, 2}, {12, 4}, {16, 16}, {32, 32}, {33, 1}, {48, 16}};
  check_strides("sm_20", 1, strides);
  check("sm_20", {{"96 bits are three requests", load, 12, stride(12), 3, 0},
                  {"stores to one word", store, 4, stride(0), 1, 0}});
}

TEST_CASE("banks/worked_numbers/cc_3") {
  struct Stride {
    unsigned words, four_bytes, eight_bytes, compute_2;
  };
  constexpr Stride rows[]{{1, 1, 1, 1},   {2, 1, 1, 2},     {3, 1, 2, 1},  {4, 2, 2, 4},    {8, 4, 4, 8},
                          {16, 8, 8, 16}, {32, 16, 16, 32}, {33, 1, 1, 1}, {64, 32, 32, 32}};
  for (const Stride& row : rows) {
    INFO("stride " << row.words);
    const ByteOf byte_of = stride(4 * row.words);
    CHECK(banks::cost_of("sm_30", load, 4, byte_of).passes == row.four_bytes);
    CHECK(banks::cost_of("sm_30_eight_byte", load, 4, byte_of).passes == row.eight_bytes);
    CHECK(banks::cost_of("sm_20", load, 4, byte_of).passes == row.compute_2);
    CHECK(banks::cost_of("sm_50", load, 4, byte_of).passes == row.compute_2);
  }
  const std::uint64_t two = lanes(0, 1);
  check("sm_30", {{"words 0 and 32", load, 4, away(1, 128), 1, 0, two},
                  {"words 32 and 64", load, 4, [](unsigned t) { return 128 + 128 * t; }, 2, 1, two},
                  {"words 0 and 64", load, 4, away(1, 256), 2, 1, two},
                  {"double[t]", load, 8, stride(8), 1, 0},
                  {"double column of [32][32]", load, 8, stride(256), 32, 31},
                  {"double column of [32][33]", load, 8, stride(264), 2, 1}});
  check("sm_30_eight_byte", {{"words 0 and 32", load, 4, away(1, 128), 1, 0, two},
                             {"words 0 and 64", load, 4, away(1, 256), 2, 1, two},
                             {"double[t]", load, 8, stride(8), 1, 0},
                             {"double column of [32][32]", load, 8, stride(256), 32, 31},
                             {"double column of [32][33]", load, 8, stride(264), 1, 0}});
  for (const char* name : {"sm_30", "sm_30_eight_byte"}) check(name, {{"float4[t]", load, 16, stride(16), 2, 0}});
}

namespace {

constexpr const char* compute_5_and_later[]{"sm_50", "sm_60", "sm_70",  "sm_75", "sm_80",
                                            "sm_89", "sm_90", "sm_100", "sm_120"};

/// Vectors of so many bytes.
ByteOf vectors(unsigned bytes, const ByteOf& index_of) {
  return [=](unsigned t) { return bytes * index_of(t); };
}

}  // namespace

TEST_CASE("banks/worked_numbers/vector_loads") {
  const auto pairs = [](unsigned t) { return 2 * (t / 8) + t / 2 % 2; };
  const auto mixed = [=](unsigned t) { return t < 16 ? pairs(t) : 2 * (t / 8) + t % 2; };
  const auto apart = [](unsigned t) { return 4 * (t / 16) + t % 16 / 8 + 8 * (t % 8 / 4); };
  const std::vector<Row> rows{
      {"A64-1", load, 8, stride(8), 2, 0},
      {"A64-2", load, 8, vectors(8, [](unsigned t) { return t / 2; }), 1, 0},
      {"A128-1", load, 16, vectors(16, [](unsigned) { return 4; }), 2, 0, lanes(15, 16)},
      {"A128-2", load, 16, vectors(16, [](unsigned) { return 4; }), 1, 0, lanes(0, 15)},
      {"A128-3", load, 16, vectors(16, pairs), 2, 0},
      {"A128-4", load, 16, vectors(16, mixed), 4, 0},
      {"A128-5", load, 16, vectors(16, apart), 4, 2},
  };
  for (const char* name : compute_5_and_later) check(name, rows);
  const unsigned first_of_five[]{0, 8, 1, 9, 4, 12, 5, 13};  // as the text lists it: each for four lanes
  for (unsigned t = 0; t < 32; ++t) CHECK(apart(t) == first_of_five[t / 4]);
  // Merging on Maxwell.
  check("sm_50", {{"A: floor(t/2) mod 8", load, 16, vectors(16, [](unsigned t) { return t / 2 % 8; }), 2, 0},
                  {"B: 2 bit4 + bit0", load, 16, vectors(16, [](unsigned t) { return t / 16 * 2 + t % 2; }), 2, 0},
                  {"t mod 8", load, 16, vectors(16, [](unsigned t) { return t % 8; }), 4, 0},
                  {"floor(t/8)", load, 16, vectors(16, [](unsigned t) { return t / 8; }), 2, 0}});
}

TEST_CASE("banks/worked_numbers/cc_5_and_later") {
  const std::vector<Row> rows{
      {"char[t]", load, 1, stride(1), 1, 0},
      {"short[t]", load, 2, stride(2), 1, 0},
      {"half column of a [32][32] tile", load, 2, stride(64), 16, 15},
      {"float column of [32][32]", load, 4, stride(128), 32, 31},
      {"float column of [32][33]", load, 4, stride(132), 1, 0},
      {"double column of [32][32]", load, 8, stride(256), 32, 30},
      {"double column of [32][33]", load, 8, stride(264), 2, 0},
      {"float2[t]", load, 8, stride(8), 2, 0},
      {"float2[0]", load, 8, stride(0), 1, 0},
      {"float2[16 floor(t/2)]", load, 8, [](unsigned t) { return 128 * (t / 2); }, 16, 15},
      {"float4[t]", load, 16, stride(16), 4, 0},
      {"float4[0]", load, 16, stride(0), 2, 0},
      {"float4[floor(t/2)]", load, 16, [](unsigned t) { return 16 * (t / 2); }, 2, 0},
      {"float4 at byte 16 (t mod 4)", load, 16, [](unsigned t) { return 16 * (t % 4); }, 4, 0},
      {"float4 at byte 128 t", load, 16, stride(128), 32, 28},
      {"float4 at byte 144 t", load, 16, stride(144), 4, 0},
      {"lanes 0-7 only, contiguous", load, 16, stride(16), 1, 0, first_lanes(8)},
      {"lanes 0 and 31, different addresses", load, 16, stride(16), 2, 0, lanes(0, 31)},
      {"contiguous", store, 8, stride(8), 2, 0},
      {"contiguous", store, 16, stride(16), 4, 0},
      {"16 floor(t/2): stores never merge", store, 16, [](unsigned t) { return 16 * (t / 2); }, 4, 0},
  };
  const Strides strides{{0, 1},  {1, 1},   {2, 2},  {3, 1}, {4, 4},  {8, 8},  {16, 16},
                        {31, 1}, {32, 32}, {33, 1}, {6, 2}, {12, 4}, {24, 8}, {48, 16}};
  for (const char* name : compute_5_and_later) {
    check(name, rows);
    check_strides(name, 1, strides);
  }
}

TEST_CASE("banks/worked_numbers/hd5870") {
  // The text gives extra cycles: the conflicts, on top of one pass for each half of the wavefront.
  constexpr unsigned strides[][2]{{1, 0},  {3, 0},  {2, 2},  {4, 6},  {8, 14},  {16, 30}, {32, 62}, {6, 2},  {10, 2},
                                  {14, 2}, {12, 6}, {20, 6}, {28, 6}, {24, 14}, {40, 14}, {48, 30}, {64, 62}};
  for (const auto& [words, extra] : strides) {
    check("hd5870", {{"stride", load, 4, stride(4 * words), extra + 2, extra}});
  }
  for (unsigned s = 1; s <= 128; ++s) {
    INFO("stride " << s);
    CHECK(banks::cost_of("hd5870", load, 4, stride(4 * s)).conflicts == 2 * (std::gcd(s, 32U) - 1));
  }
  check("hd5870", {{"one component of uint4", load, 4, stride(16), 8, 6},
                   {"one word of a 20-byte struct", load, 4, stride(20), 2, 0},
                   {"one word of a 32-byte struct", load, 4, stride(32), 16, 14}});
  // The text also works out 64-bit reads at 20 bytes; they are misaligned, so they have no cost here.
  check("hd5870", {{"float2[t]", load, 8, stride(8), 4, 0},
                   {"8 bytes of float4[t]", load, 8, stride(16), 8, 4},
                   {"float4[t]: two such reads", load, 16, stride(16), 16, 8}});
}

TEST_CASE("banks/worked_numbers/amd_12_bytes") {
  for (const char* name : {"gfx942", "gfx950"}) {
    check(name, {{"array", load, 12, stride(12), 16, 8}, {"at 16 bytes", load, 12, stride(16), 8, 0}});
  }
  // In eight consecutive lanes both are free of conflicts.
  check("gfx942", {{"array", store, 12, stride(12), 8, 0}});
  check("gfx1201", {{"array", load, 12, stride(12), 8, 0, first_lanes(64)},
                    {"at 16 bytes", load, 12, stride(16), 8, 0, first_lanes(64)}});
}

TEST_CASE("banks/worked_numbers/mi300x_strides") {
  struct Measured {
    unsigned width, stride[8], conflicts[8];
  };
  constexpr Measured rows[]{{4, {4, 8, 16, 32, 64, 128, 256, 512}, {0, 2, 6, 14, 30, 62, 62, 62}},
                            {8, {8, 16, 32, 64, 128, 256, 512}, {0, 4, 12, 28, 60, 60, 60}},
                            {16, {16, 32, 64, 128, 256, 512}, {0, 8, 24, 56, 56, 56}}};
  unsigned cells = 0;
  for (const Measured& row : rows) {
    for (unsigned i = 0; i < 8 && row.stride[i] != 0; ++i, ++cells) {
      const unsigned free = 2 * row.width / 4;
      check("gfx942", {{"stride", load, row.width, stride(row.stride[i]), free + row.conflicts[i], row.conflicts[i]}});
    }
  }
  CHECK(cells == 21);
}

namespace {

/// A tile of 16 rows, read in 16-byte columns.
ByteOf tile(unsigned pitch, bool swizzled = false) {
  return [=](unsigned l) { return l % 16 * pitch + 16 * (swizzled ? l / 16 ^ l % 8 : l / 16); };
}

struct Two {
  const char* what;
  banks::Operation operation;
  unsigned width;
  ByteOf byte_of;
  unsigned gfx942[2], gfx950[2];  ///< passes, conflicts
  std::uint64_t mask = 0;
};

}  // namespace

TEST_CASE("banks/worked_numbers/cdna_3_and_4") {
  const Two rows[]{
      {"8l", load, 8, stride(8), {4, 0}, {2, 0}},
      {"16l", load, 8, stride(16), {8, 4}, {4, 2}},
      {"32l", load, 8, stride(32), {16, 12}, {8, 6}},
      {"128l", load, 8, stride(128), {64, 60}, {32, 30}},
      {"256l", load, 8, stride(256), {64, 60}, {64, 62}},
      {"8l", store, 8, stride(8), {4, 0}, {4, 0}},
      {"16l", store, 8, stride(16), {8, 4}, {8, 4}},
      {"256l", store, 8, stride(256), {64, 60}, {64, 60}},
      {"16l", load, 16, stride(16), {8, 0}, {4, 0}},
      {"32l", load, 16, stride(32), {16, 8}, {8, 4}},
      {"128l", load, 16, stride(128), {64, 56}, {32, 28}},
      {"256l", load, 16, stride(256), {64, 56}, {64, 60}},
      {"16l", store, 16, stride(16), {8, 0}, {8, 0}},
      {"32l", store, 16, stride(32), {16, 8}, {16, 8}},
      {"256l", store, 16, stride(256), {64, 56}, {64, 56}},
      {"tile of pitch 64", load, 16, tile(64), {16, 8}, {8, 4}},
      {"tile of pitch 128", load, 16, tile(128), {32, 24}, {16, 12}},
      {"tile of pitch 144", load, 16, tile(144), {16, 8}, {8, 4}},
      {"tile of pitch 256", load, 16, tile(256), {32, 24}, {32, 28}},
      {"tile of pitch 272", load, 16, tile(272), {16, 8}, {8, 4}},
      {"tile of pitch 128, column xor (l mod 8)", load, 16, tile(128, true), {8, 0}, {4, 0}},
      {"lanes 0 and 1, 128 apart", load, 16, away(1, 128), {2, 1}, {1, 0}, lanes(0, 1)},
      {"lanes 0 and 4, 128 apart", load, 16, away(4, 128), {2, 0}, {2, 0}, lanes(0, 4)},
      {"lanes 0 and 20, 128 apart", load, 16, away(20, 128), {2, 1}, {1, 0}, lanes(0, 20)},
      {"lanes 0 and 4, 128 apart", store, 16, away(4, 128), {2, 1}, {2, 1}, lanes(0, 4)},
      {"lanes 0 and 20, 128 apart", store, 16, away(20, 128), {2, 0}, {2, 0}, lanes(0, 20)},
      {"lanes 0 and 12, 256 apart", load, 16, away(12, 256), {2, 0}, {2, 1}, lanes(0, 12)},
      {"lanes 0 and 4, 256 apart", load, 16, away(4, 256), {2, 0}, {2, 0}, lanes(0, 4)},
      {"one address", load, 4, stride(0), {2, 0}, {2, 0}},
      {"one address", load, 16, stride(0), {8, 0}, {4, 0}},
  };
  for (const Two& row : rows) {
    check("gfx942", {{row.what, row.operation, row.width, row.byte_of, row.gfx942[0], row.gfx942[1], row.mask}});
    check("gfx950", {{row.what, row.operation, row.width, row.byte_of, row.gfx950[0], row.gfx950[1], row.mask}});
  }
  check_strides("gfx950", 2, {{1, 2}, {2, 4}, {16, 32}, {32, 64}, {64, 64}});
}

TEST_CASE("banks/worked_numbers/rdna_3_and_4") {
  for (const char* name : {"gfx1100", "gfx1201"}) {
    check(name, {{"4l", load, 4, stride(4), 1, 0},
                 {"8l", load, 4, stride(8), 2, 1},
                 {"64l", load, 4, stride(64), 16, 15},
                 {"128l", load, 4, stride(128), 32, 31},
                 {"8l", load, 8, stride(8), 2, 0},
                 {"16l", load, 8, stride(16), 4, 2},
                 {"128l", load, 8, stride(128), 32, 30},
                 {"16l", load, 16, stride(16), 4, 0},
                 {"32l", load, 16, stride(32), 8, 4},
                 {"128l", load, 16, stride(128), 32, 28}});
  }
  check("gfx1100", {{"lanes 0 and 4, 128 apart", load, 16, away(4, 128), 2, 0, lanes(0, 4)},
                    {"lanes 0 and 20, 128 apart", load, 16, away(20, 128), 2, 1, lanes(0, 20)}});
  check("gfx1201", {{"lanes 0 and 4, 128 apart", load, 16, away(4, 128), 2, 1, lanes(0, 4)},
                    {"lanes 0 and 20, 128 apart", load, 16, away(20, 128), 2, 0, lanes(0, 20)}});
}

TEST_CASE("banks/worked_numbers/intel_xe") {
  // The text gives passes; a warp of 32 lanes is served in two lane groups.
  check_strides("intel_xe", 2, {{1, 2}, {2, 4}, {4, 8}, {8, 16}, {16, 32}, {17, 2}});
  check("intel_xe", {{"one word", load, 4, stride(0), 2, 0}, {"one word", store, 4, stride(0), 32, 30}});
}
