// CuTe layouts: what they map where, in all the forms in which people have them.
#include <set>
#include <string>
#include <vector>

#include "bankcheck/predict/predict.hpp"
#include "tests/bankcheck/sentences.hpp"

using namespace bankwise::predict;

namespace {

std::uint64_t at(const CuteLayout& layout, std::vector<std::uint64_t> coordinate) { return layout(coordinate); }

std::vector<std::uint64_t> offsets(const std::string& text) {
  const CuteLayout layout(text);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < layout.size(); ++i) all.push_back(at(layout, {i}));
  return all;
}

std::string layout_refusal(const std::string& text) {
  return sentence_of<ExpressionError>([&] { (void)CuteLayout(text); });
}

}  // namespace

TEST_CASE("predict/cute/coordinates") {
  const CuteLayout rows("(8,64):(64,1)");
  CHECK(rows.sizes() == std::vector<std::uint64_t>{8, 64});
  CHECK(rows.size() == 512);
  CHECK(rows.extent() == 512);
  CHECK(at(rows, {3, 5}) == 3 * 64 + 5);
  CHECK(at(rows, {3 + 8 * 5}) == 3 * 64 + 5);  // the first mode counts fastest
  const CuteLayout nested("((2,4),(8,2)):((1,16),(2,64))");
  CHECK(nested.sizes() == std::vector<std::uint64_t>{8, 16});
  CHECK(at(nested, {5, 9}) == 1 + 2 * 16 + 1 * 2 + 64);
  CHECK(at(CuteLayout("32:33"), {31}) == 31 * 33);
  CHECK(at(CuteLayout("(4,8):(0,1)"), {3, 7}) == 7);  // a stride of 0: a broadcast
  CHECK(CuteLayout("(4,8):(16,1)").extent() == 3 * 16 + 7 + 1);
}

TEST_CASE("predict/cute/swizzle") {
  const CuteLayout swizzled("Swizzle<3,3,3> o (8,64):(64,1)");
  CHECK(swizzled.is_swizzled());
  std::set<std::uint64_t> distinct;
  for (std::uint64_t row = 0; row < 8; ++row) {
    for (std::uint64_t column = 0; column < 64; ++column) {
      const std::uint64_t expected = row * 64 + ((column / 8 ^ row) * 8 + column % 8);  // chunks of 8 change places
      CHECK(at(swizzled, {row, column}) == expected);
      distinct.insert(at(swizzled, {row, column}));
    }
  }
  CHECK(distinct.size() == 512);
  // A negative shift moves low bits up, and an offset counts before the swizzle.
  CHECK(at(CuteLayout("Swizzle<2,0,-3> o 64:1"), {3}) == (3 ^ 3 << 3));
  CHECK(at(CuteLayout("Swizzle<1,0,1> o 2 o 8:1"), {0}) == (2 ^ 1));
  // On pointers the swizzle applies to bytes: 16-byte chunks of rows of 128 bytes.
  const CuteLayout bytes("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  CHECK(bytes.element_bytes() == 2);
  CHECK(at(bytes, {5, 17}) == at(swizzled, {5, 17}));
}

TEST_CASE("predict/cute/forms") {
  const auto expected = offsets("Swizzle<3,3,3> o (8,64):(64,1)");
  for (const char* text :
       {"Sw<3,3,3> o _0 o (_8,_64):(_64,_1)", "Swizzle<3, 3, 3> \xE2\x88\x98 (8, 64) : (64, 1);",
        "composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>, Stride<_64,_1>>{})",
        "composition(cute::Swizzle<3,3,3>{}, Int<0>{}, make_layout(make_shape(Int<8>{}, _64{}), make_stride(64, 1)))",
        "composition(Swizzle<3,3,3>{}, make_layout(make_shape(8, 64), LayoutRight{}))"}) {
    INFO(text);
    CHECK(offsets(text) == expected);
  }
  CHECK(offsets("Layout<Shape<_4,Shape<_2,_3>>>{}") == offsets("(4,(2,3)):(1,(4,8))"));
  CHECK(offsets("make_layout(make_shape(4, make_shape(2, 3)), GenRowMajor{})") == offsets("(4,(2,3)):(6,(3,1))"));
}

TEST_CASE("predict/cute/refusals") {
  const std::pair<const char*, const char*> cases[]{
      {"", "a list of numbers"},
      {"(8,64)", "':'"},
      {"(8,64):(64,1", "')'"},
      {"(8,64):(64)", "structure"},
      {"(8,(2,2)):(1,8)", "structure"},
      {"(8,0):(1,1)", "0"},
      {"Swizzle<3,3,2> o (8,64):(64,1)", "at least B"},
      {"Swizzle<3,30,3> o (8,64):(64,1)", "at most 31"},
      {"(99999999999):(1)", "above 2^31"},
      {"(2000000000,2000000000):(1,1)", "more than 2^31 elements"},
      {"(8,64):(64,1) o", "the end"},
      {"smem_ptr[3b](unset) o 8:1", "8 to 128 bits"},
  };
  for (const auto& [text, words] : cases) {
    INFO(text << " -> " << layout_refusal(text));
    CHECK_THAT(layout_refusal(text), has(words));
  }
  CHECK_THAT(layout_refusal(std::string(20, '(') + "1"), has("nested"));
  CHECK_THAT(layout_refusal(std::string(5000, '1')), has("longer"));
  const CuteLayout layout("(8,4):(4,1)");
  CHECK_THROWS_AS(at(layout, {8, 0}), ExpressionError);
  CHECK_THROWS_AS(at(layout, {32}), ExpressionError);
  CHECK_THROWS_AS(at(layout, {0, 0, 0}), ExpressionError);
  CHECK_THROWS_AS(at(CuteLayout("(2000000000):(2000000000)"), {1999999999}), ExpressionError);
}

TEST_CASE("predict/cute/looks_like") {
  for (const char* text : {"(8,64):(64,1)", "Swizzle<3,3,3> o 8:1", "Layout<Shape<_8>>{}", "make_layout(8)"}) {
    INFO(text);
    CHECK(looks_like_cute_layout(text));
  }
  for (const char* text : {"tid < 5 ? 8*tid : 3", "tile[tid][0]", "(tid % 8, tid / 8)", "S < 3", ""}) {
    INFO(text);
    CHECK_FALSE(looks_like_cute_layout(text));
  }
}
