// The instructions that an index adds, as fit prices them and as nvcc compiles it for sm_90.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bankcheck/cuda/cubin/elf.hpp"
#include "bankcheck/fit/index.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"
#include "tests/skipping_main.hpp"

#ifndef NVCC
#define NVCC ""
#endif

std::string reason_to_skip() {
  if (std::string(NVCC).empty()) return "nvcc was not found when this was built";
  return std::system("'" NVCC "' --version >/dev/null 2>&1") == 0 ? "" : "nvcc does not run";
}

namespace {

using namespace bankwise;
using namespace bankwise::fit;

struct PricedIndex {
  Change change;
  ArrayShape shape;
};

/// A kernel that stores one word of an element whose indices are variables.
std::string kernel_of(std::size_t number, const PricedIndex& priced) {
  const ArrayShape& shape = priced.shape;
  const auto form = *form_of(priced.change, shape);
  std::vector<std::string> lengths;
  for (const std::uint64_t length : shape.lengths) lengths.push_back(std::to_string(length));
  std::string dimensions;
  for (const std::string& length : dimension_texts(priced.change, shape, form, lengths)) {
    dimensions += fmt::format("[{}]", length);
  }
  return fmt::format(
      "extern \"C\" __global__ void k{}(const uint4* in) {{\n"
      "  __shared__ element<{}> tile{};\n  const uint4 word = in[threadIdx.x];\n"
      "  const unsigned z = word.x, y = word.y, x = word.z, i = word.z;\n"
      "  asm volatile(\"st.shared.u32 [%0], %1;\" :: \"r\"(address(&tile{})), \"r\"(word.w + z + y + x + i));\n}}\n",
      number, shape.element, dimensions, index_text(priced.change, shape, form, subscript_names(shape.lengths.size())));
}

/// The instructions of each kernel, up to its end.
std::vector<int> compiled(const std::vector<PricedIndex>& indices) {
  const ScratchDirectory scratch;
  const std::string source = (scratch.path() / "k.cu").string(), cubin = (scratch.path() / "k.cubin").string();
  std::ofstream file(source);
  file << "template <unsigned bytes> struct alignas(bytes) element { unsigned char byte[bytes]; };\n"
          "__device__ unsigned address(const void* at) { return unsigned(__cvta_generic_to_shared(at)); }\n";
  for (std::size_t k = 0; k < indices.size(); ++k) file << kernel_of(k, indices[k]);
  file.close();
  const Outcome outcome =
      in_shell("'" NVCC "'", fmt::format("-std=c++17 -cubin -arch=sm_90 -o '{}' '{}'", cubin, source));
  INFO(outcome.err << text_of(source));
  REQUIRE(outcome.code == 0);
  const std::string bytes = text_of(cubin);
  const cuda::Elf elf = cuda::parse_elf(bytes);
  std::vector<int> counts;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const cuda::Section* section = cuda::section_named(elf, fmt::format(".text.k{}", k));
    REQUIRE(section != nullptr);
    constexpr std::size_t instruction_bytes = 16;
    constexpr unsigned exit = 0x94D, opcode_mask = 0xFFF;  // the lowest twelve bits
    int count = 0;
    for (std::size_t at = 0; at + instruction_bytes <= section->bytes.size(); at += instruction_bytes, ++count) {
      const auto byte = [&](std::size_t b) { return unsigned(static_cast<unsigned char>(section->bytes[at + b])); };
      if (((byte(0) | byte(1) << 8U) & opcode_mask) == exit) break;
    }
    counts.push_back(count);
  }
  return counts;
}

/// What nvcc adds for each index beyond that of the array as it is.
std::vector<int> added(const std::vector<PricedIndex>& indices) {
  std::vector<PricedIndex> all = indices;
  for (const PricedIndex& priced : indices) all.push_back({{}, priced.shape});
  const std::vector<int> counts = compiled(all);
  std::vector<int> differences;
  for (std::size_t k = 0; k < indices.size(); ++k) differences.push_back(counts[k] - counts[k + indices.size()]);
  return differences;
}

Change pads(Pad first, Pad second = {}) { return {{}, {first, second}}; }

TEST_CASE("fit/prices/equal_nvcc", "[fit]") {
  const ArrayShape line{4, {1024}}, square{4, {32, 32}}, narrow{4, {16, 17}}, deep{4, {4, 6, 32}};
  const std::vector<std::pair<PricedIndex, unsigned>> table{
      {{pads({128, 4}), square}, 0},                       // [y][x] in rows of 33
      {{{{}, {}, {68, 64}}, narrow}, 0},                   // rows of 16
      {{{{}, {}, {68, 80}}, narrow}, 0},                   // rows of 20
      {{{{128, 5, 2}, {}}, square}, 1},                    // x ^ y: LOP3
      {{{{128, 3, 2}, {}}, square}, 1},                    // x ^ (y & 7): LOP3
      {{{{128, 3, 4}, {}}, square}, 2},                    // x ^ (y & 7) * 4: SHL, LOP3
      {{{{256, 2, 2}, {}}, square}, 2},                    // x ^ ((y >> 1) & 3): SHF, LOP3
      {{{{256, 3, 3}, {}}, square}, 1},                    // x ^ ((y >> 1) & 7) * 2: the shifts cancel
      {{{{64, 4, 2}, {}, {68, 64}}, narrow}, 1},           // rows of 16, x ^ y
      {{{{64, 4, 2}, {{{64, 4}}}, {68, 64}}, narrow}, 1},  // x ^ y in rows of 17
      {{{{768, 1, 2}, {}}, deep}, 1},                      // x ^ (z & 1)
      {{{{128, 2, 2, 768}, {}}, deep}, 1},                 // x ^ (y & 3)
      {{{{128, 3, 2}, {}}, deep}, 2},                      // x ^ (z * 6 + y & 7): IMAD, LOP3
      {{{{384, 3, 2}, {}}, deep}, 4},                      // x ^ ((z * 6 + y) / 3 & 7)
      {{{{384, 3, 2}, {}}, square}, 3},                    // x ^ (y / 3 & 7)
      {{{{128, 5, 2}, {}}, line}, 2},                      // i ^ ((i >> 5) & 31): SHF, LOP3
      {{{{192, 3, 2}, {}}, line}, 3},                      // i ^ (i / 48 & 7): IMAD.WIDE, SHF, LOP3
      {{pads({128, 4}), line}, 1},                         // i + (i >> 5): LEA.HI
      {{pads({128, 24}), line}, 2},                        // i + (i >> 5) * 6: SHF, IMAD
      {{pads({128, 32}), line}, 3},                        // i + (i >> 5) * 8: SHF, LOP3, IADD
      {{pads({192, 4}), line}, 2},                         // i + i / 48
      {{pads({192, 12}), line}, 3},                        // i + i / 48 * 3
      {{pads({192, 8}), line}, 4},                         // i + i / 48 * 2
      {{pads({128, 4}, {4096, 4}), line}, 2},
      {{pads({128, 4}, {4096, 8}), line}, 4},
      {{pads({128, 16}, {4096, 8}), line}, 5},  // IADD3
      {{{{64, 4, 2}, {{{64, 8}}}}, line}, 3},   // the XOR and the pad share i >> 4
      {{{{64, 3, 2}, {{{128, 24}}}}, line}, 4},
      {{{{64, 3, 2}, {{{128, 32}}}}, line}, 5},
  };
  std::vector<PricedIndex> indices;
  for (const auto& [index, price] : table) indices.push_back(index);
  const std::vector<int> counted = added(indices);
  for (std::size_t k = 0; k < table.size(); ++k) {
    const auto& [change, shape] = indices[k];
    INFO(to_text(change) << " of an array in " << shape.lengths.size() << " dimensions");
    REQUIRE(form_of(change, shape).has_value());
    CHECK(index_instructions(change, shape) == table[k].second);
    CHECK(counted[k] == int(table[k].second));
  }
}

TEST_CASE("fit/prices/near_nvcc_for_any_change", "[fit]") {
  std::mt19937 random(17);
  const std::vector<ArrayShape> shapes{{4, {1024}},    {8, {512}},      {4, {32, 32}},  {4, {16, 17}},
                                       {16, {16, 16}}, {4, {4, 6, 32}}, {8, {3, 8, 16}}};
  std::vector<PricedIndex> indices;
  for (int i = 0; i < 300; ++i) {
    const ArrayShape& shape = shapes[std::size_t(i) % shapes.size()];
    FamilyBounds bounds{.granule = std::uint32_t(shape.element), .alignment = std::uint32_t(shape.element)};
    bounds.strides = {96, 272};
    std::uint64_t pitch = shape.element;
    for (std::size_t d = shape.lengths.size(); d-- > 1;) bounds.pitches.push_back(pitch *= shape.lengths[d]);
    bounds.extent = pitch * shape.lengths[0];
    if (shape.lengths.size() > 1) bounds.used_row = std::uint32_t(bounds.pitches[0] - 2 * shape.element);
    const Family changes = family(bounds);
    const auto& list = i % 2 == 0 ? changes.combinations : changes.singles;
    const Change change = list[random() % list.size()];
    const auto form = form_of(change, shape);
    const bool is_written = form && *form != IndexForm::none && *form != IndexForm::elements;
    if (is_written && change.bytes_of(bounds.extent) <= 32768) indices.push_back({change, shape});
  }
  const std::vector<int> counted = added(indices);
  std::size_t equal = 0, near = 0;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const int price = int(index_instructions(indices[k].change, indices[k].shape));
    INFO(kernel_of(k, indices[k]) << "price " << price << ", nvcc " << counted[k]);
    CHECK(std::abs(counted[k] - price) <= 2);
    near += std::abs(counted[k] - price) <= 1 ? 1 : 0;
    equal += counted[k] == price ? 1 : 0;
  }
  INFO(equal << " equal, and " << near << " nearly equal of " << indices.size());
  CHECK(indices.size() > 200);
  CHECK(20 * near >= 19 * indices.size());
  CHECK(5 * equal >= 4 * indices.size());
}

}  // namespace
