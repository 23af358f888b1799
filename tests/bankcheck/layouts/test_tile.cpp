// Layouts as texts: where they put each element, and what is no layout.
#include <random>
#include <string>
#include <vector>

#include "tests/bankcheck/layouts/tiles.hpp"

using namespace bankwise::layouts;

namespace {

using Numbers = std::vector<std::uint32_t>;

Tile triton_tile(const std::string& encoding, const std::string& shape, const std::string& type = "f16") {
  return read_tile({encoding, shape, "", type});
}

std::string tile_refusal(const std::string& layout, const std::string& shape = "", const std::string& strides = "",
                         const std::string& type = "half") {
  return sentence_of([&] { (void)read_tile({layout, shape, strides, type}); });
}

/// A mode of a random CuTe layout: sizes and strides of its parts.
struct Mode {
  std::vector<std::uint64_t> sizes, strides;
  std::uint64_t size() const {
    std::uint64_t product = 1;
    for (const std::uint64_t each : sizes) product *= each;
    return product;
  }
  std::string text(const std::vector<std::uint64_t>& numbers) const {
    std::string list;
    for (const std::uint64_t number : numbers) list += (list.empty() ? "" : ",") + std::to_string(number);
    return numbers.size() == 1 ? list : "(" + list + ")";
  }
  /// The coordinate as a number with mixed digits, the first digit lowest.
  std::uint64_t offset(std::uint64_t coordinate) const {
    std::uint64_t sum = 0, weight = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sum += coordinate / weight % sizes[i] * strides[i];
      weight *= sizes[i];
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("layouts/tile/cute") {
  const Tile tile = cute_tile("Swizzle<3,3,3> o (8,64):(64,1)");
  CHECK(tile.rows == 8);
  CHECK(tile.columns == 64);
  CHECK(tile.element == 2);
  CHECK(tile.bytes() == 1024);
  CHECK(tile.offsets[3 * 64 + 5] == 2 * (3 * 64 + (5 ^ 3 * 8)));
  CHECK(tile.plain[3 * 64 + 5] == 2 * (3 * 64 + 5));
  CHECK_FALSE(tile.repeats);
  CHECK(cute_tile("(4,8):(0,1)").repeats);
  const Tile staged = cute_tile("(8,(2,2),3):(4,(1,2),32)");  // what follows the rows are columns
  CHECK(staged.columns == 12);
  CHECK(staged.offsets[4] == 2 * 32);
  CHECK(cute_tile("32:33").rows == 1);
  CHECK(cute_tile("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "").offsets == tile.offsets);
}

TEST_CASE("layouts/tile/cute_random") {
  std::mt19937 random(7);
  const auto pick = [&](std::uint64_t least, std::uint64_t most) { return least + random() % (most - least + 1); };
  for (int i = 0; i < 2000; ++i) {
    Mode modes[2];
    for (Mode& mode : modes) {
      for (std::uint64_t parts = pick(1, 3); parts > 0; --parts) {
        mode.sizes.push_back(pick(1, 4));
        mode.strides.push_back(pick(0, 40));
      }
    }
    const auto bits = pick(0, 3), base = pick(0, 3), shift = pick(bits, 5);
    const std::string text = "Swizzle<" + std::to_string(bits) + "," + std::to_string(base) + "," +
                             std::to_string(shift) + "> o (" + modes[0].text(modes[0].sizes) + "," +
                             modes[1].text(modes[1].sizes) + "):(" + modes[0].text(modes[0].strides) + "," +
                             modes[1].text(modes[1].strides) + ")";
    INFO(text);
    const Tile tile = cute_tile(text, "int");
    REQUIRE(tile.rows == modes[0].size());
    REQUIRE(tile.columns == modes[1].size());
    Numbers expected;
    for (std::uint64_t row = 0; row < tile.rows; ++row) {
      for (std::uint64_t column = 0; column < tile.columns; ++column) {
        std::uint64_t offset = modes[0].offset(row) + modes[1].offset(column);
        for (std::uint64_t bit = base; bit < base + bits; ++bit)
          offset ^= (offset >> (bit + shift) & 1) << bit;  // bits that are read lie above those that change
        expected.push_back(std::uint32_t(offset));
      }
    }
    CHECK(numbers(tile) == expected);
  }
}

// The first two tables are those of Triton's own documentation of the encoding.
TEST_CASE("layouts/tile/triton_swizzled") {
  const std::string encoding = "#ttg.swizzled_shared<{vec=1, perPhase=2, maxPhase=4, order=[1,0]}>";
  CHECK(numbers(triton_tile(encoding, "4,4")) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14});
  CHECK(numbers(triton_tile("#shared = #triton_gpu.shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>",
                            "4x4")) == Numbers{0, 1, 2, 3, 5, 4, 7, 6, 8, 9, 10, 11, 13, 12, 15, 14});
  const Tile halves = triton_tile("#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[1,0]}>", "(64, 64)");
  CHECK(halves.offsets == cute_tile("Swizzle<3,3,3> o (64,64):(64,1)").offsets);
  CHECK(halves.plain == cute_tile("(64,64):(64,1)").offsets);
  const Tile turned = triton_tile("#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[0,1]}>", "64,64");
  CHECK(turned.offsets == cute_tile("Swizzle<3,3,3> o (64,64):(1,64)").offsets);
  const Tile narrow = triton_tile("#ttg.swizzled_shared<{vec=8, perPhase=2, maxPhase=4, order=[1,0]}>", "32,32");
  CHECK(narrow.offsets == cute_tile("Swizzle<2,3,3> o (32,32):(32,1)").offsets);
  // A phase past the end of a row starts again.
  CHECK(numbers(triton_tile("#ttg.swizzled_shared<{vec=2, perPhase=1, maxPhase=4, order=[1,0]}>", "4,4")) ==
        Numbers{0, 1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 11, 14, 15, 12, 13});
}

TEST_CASE("layouts/tile/triton_padded_and_tma") {
  const Tile padded = triton_tile("#ttg.padded_shared<[4:+2, 8:+1] {order = [1, 0], shape = [4, 4]}>", "");
  CHECK(numbers(padded) == Numbers{0, 1, 2, 3, 6, 7, 8, 9, 13, 14, 15, 16, 19, 20, 21, 22});
  CHECK(numbers(triton_tile("#ttg.padded_shared<[64:+8] {order = [1, 0]}>", "64,64")) ==
        numbers(cute_tile("(64,64):(72,1)")));
  const auto tma = [](int width, bool transposed, const char* shape) {
    return triton_tile("#ttg.nvmma_shared<{swizzlingByteWidth = " + std::to_string(width) +
                           ", transposed = " + (transposed ? "true" : "false") + ", elementBitWidth = 16}>",
                       shape, "");
  };
  CHECK(tma(128, false, "64,128").offsets ==
        cute_tile("Sw<3,4,3> o smem_ptr[16b](unset) o (64,(64,2)):(64,(1,4096))", "").offsets);
  CHECK(tma(64, false, "64,64").offsets ==
        cute_tile("Sw<2,4,3> o smem_ptr[16b](unset) o (64,(32,2)):(32,(1,2048))", "").offsets);
  CHECK(tma(32, true, "64,32").offsets ==
        cute_tile("Sw<1,4,3> o smem_ptr[16b](unset) o ((16,4),32):((1,512),16)", "").offsets);
  CHECK(tma(0, false, "16,16").offsets == cute_tile("(16,(8,2)):(8,(1,128))").offsets);
}

TEST_CASE("layouts/tile/numpy") {
  const Tile tile = read_tile({"", "(32, 48)", "(96, 2)", "bfloat16"});
  CHECK(tile.offsets == cute_tile("(32,48):(48,1)").offsets);
  CHECK(read_tile({"", "32,48", "", "float16"}).offsets == tile.offsets);
  CHECK(read_tile({"", "2,3,4", "48,16,4", "float"}).offsets == cute_tile("(2,(4,3)):(12,(1,4))", "float").offsets);
  CHECK(read_tile({"", "(64,)", "(8,)", "float32"}).offsets == cute_tile("64:2", "float").offsets);
}

TEST_CASE("layouts/tile/refusals") {
  check_sentence(tile_refusal(""), "needs a layout");
  check_sentence(tile_refusal("(8,64):(64,1"), "')'");
  check_sentence(tile_refusal("(8,64):(64,1)", "8,64"), "--shape is for");
  check_sentence(tile_refusal("", "(8,64"), "is no list of");
  check_sentence(tile_refusal("", "[8,64)"), "is no list of");
  check_sentence(tile_refusal("#ttg.\xff", "8,64"), "printable");
  check_sentence(tile_refusal("(8,64):(64,1)", "", "128,2"), "--strides is for");
  check_sentence(tile_refusal("(8,64):(64,1)", "", "", ""), "give --type");
  check_sentence(tile_refusal("(8,64):(64,1)", "", "", "quarter"), "no type of 1, 2, 4, 8 or 16 bytes");
  check_sentence(tile_refusal("smem_ptr[32b](unset) o (8,64):(64,1)"), "elements of 4 bytes");
  check_sentence(tile_refusal("(2048,2048):(2048,1)"), "more than 1048576 elements");
  check_sentence(tile_refusal("(8,64):(1000000,1)"), "more than 1048576 bytes");
  check_sentence(tile_refusal("", "8,64", "", ""), "needs --type");
  check_sentence(tile_refusal("", "8,-64"), "no list");
  check_sentence(tile_refusal("", "8,"), "no list");  // not a tuple of one
  check_sentence(tile_refusal("", "8,0"), "is 0");
  check_sentence(tile_refusal("", "1,1,1,1,1,1,1,1,1"), "no list of up to 8");
  check_sentence(tile_refusal("", "9999999999"), "no list");
  check_sentence(tile_refusal("", "1000000,1000000"), "more than 1048576 elements");
  check_sentence(tile_refusal("", "8,64", "128"), "the strides have 1");
  check_sentence(tile_refusal("", "8,64", "127,2"), "not a multiple");
  check_sentence(tile_refusal("", "8,64", "1000000,2"), "more than 1048576 bytes");
  const std::pair<const char*, const char*> encodings[]{
      {"#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[1,0]}", "'>'"},
      {"#ttg.swizzled_shared<{vec=3, perPhase=1, maxPhase=8, order=[1,0]}>", "no power of two"},
      {"#ttg.swizzled_shared<{vec=0, perPhase=1, maxPhase=8, order=[1,0]}>", "no power of two"},
      {"#ttg.swizzled_shared<{perPhase=1, maxPhase=8, order=[1,0]}>", "vec is missing"},
      {"#ttg.swizzled_shared<{vec=8, vec=8, perPhase=1, maxPhase=8}>", "two values"},
      {"#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[2,0]}>", "none of [1, 0] and [0, 1]"},
      {"#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, ordre=[1,0]}>", "'ordre' is not known"},
      {"#ttg.padded_shared<[0:+8] {order = [1, 0]}>", "interval of pads is 0"},
      {"#ttg.padded_shared<{order = [1, 0]}>", "intervals are missing"},
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 96, transposed = false, elementBitWidth = 16}>", "none of 0, 32"},
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = perhaps, elementBitWidth = 16}>", "true nor false"},
      {"#ttg.blocked<{sizePerThread = [1]}>", "none of swizzled_shared"},
      {"#", "'<'"},
  };
  for (const auto& [encoding, words] : encodings) check_sentence(tile_refusal(encoding, "64,64"), words);
  const char* swizzle = "#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[1,0]}>";
  check_sentence(tile_refusal(swizzle), "shape of the tensor is missing");
  check_sentence(tile_refusal(swizzle, "64,48"), "powers of two");
  check_sentence(tile_refusal("#ttg.nvmma_shared<{swizzlingByteWidth = 128, elementBitWidth = 16}>", "24,64"),
                 "powers of two");
  check_sentence(tile_refusal(swizzle, "4,64,64"), "more than two");
  check_sentence(tile_refusal("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>", "32,64"),
                 "not the one");
  check_sentence(tile_refusal("#ttg.swizzled_shared<{" + std::string(5000, 'x') + "}>", "64,64"), "longer");
}
