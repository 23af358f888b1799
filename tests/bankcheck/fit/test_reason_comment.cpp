#include "bankcheck/fit/edits.hpp"
#include "tests/bankcheck/fit/declared.hpp"

namespace {

using namespace bankwise::fit;

/// The source with the comment for a change of its array t.
std::string commented(const std::string& text, const Change& change, const ArrayShape& shape = {4, {32, 32}},
                      const ConflictFacts& facts = {}) {
  const auto comment = reason_comment(text, declared(text, {.name = "t"}), change, shape, facts);
  return comment ? edited(text, {*comment}) : text;
}

TEST_CASE("fit/reason_comment/texts", "[fit]") {
  const auto of_change = [](const std::string& dimensions, const Change& change, const ArrayShape& shape) {
    const std::string text = "__shared__ float t" + dimensions + ";";
    const std::string after = commented(text, change, shape, {.stride = shape.row_bytes() - shape.element});
    return after.starts_with(text) ? after.substr(text.size()) : "  " + after.substr(0, after.find('\n'));
  };
  const ArrayShape square{4, {32, 32}}, line{4, {512}}, long_line{4, {2048}}, doubles{8, {32, 32}};
  CHECK(of_change("[32][32]", padded(128, 4), square) == "  // odd pitch: lanes of a column fall into different banks");
  CHECK(of_change("[16][16]", padded(64, 4), {4, {16, 16}}) ==
        "  // odd pitch: lanes of a column fall into different banks");
  CHECK(of_change("[32][33 + 1]", padded(136, 4), {4, {32, 34}}) ==
        "  // odd pitch: lanes of a column fall into different banks");
  CHECK(of_change("[17][17]", padded(68, 4), {4, {17, 17}}) ==
        "  // padded rows: lanes of a diagonal fall into different banks");
  CHECK(of_change("[32][32]", padded(256, 8), doubles) ==
        "  // odd pitch: lanes of a column fall into different banks");
  CHECK(of_change("[4][6][32]", padded(768, 128), {4, {4, 6, 32}}) ==
        "  // padded planes: their rows fall into different banks");
  CHECK(of_change("[4][6][32]", {{}, {Pad{128, 4}, Pad{768, 132}}}, {4, {4, 6, 32}}) ==
        "  // padded: fewer bank conflicts");
  CHECK(of_change("[512]", padded(128, 4), line) == "  // padded: lanes 16 words apart fall into different banks");
  CHECK(of_change("[2048]", padded(128, 8), long_line) == "  // padded: fewer bank conflicts");
  CHECK(of_change("[32][32]", swizzle, square) == "  // swizzled: lanes of a column fall into different banks");
  CHECK(of_change("[2048]", {{64, 4, 3}, {}}, long_line) == "  // swizzled: fewer bank conflicts");
  CHECK(of_change("[32][32]", {{128, 5, 2}, {Pad{128, 4}, Pad{}}}, square) ==
        "  // padded and swizzled: fewer bank conflicts");
}

TEST_CASE("fit/reason_comment/no_claim_of_banks", "[fit]") {
  // Rows that already begin in all banks: a column gains nothing, and the comment does not say so.
  const auto comment = [](std::uint64_t columns, const Change& change, const ConflictFacts& facts) {
    const std::string text = "__shared__ float t[32][" + std::to_string(columns) + "];";
    return commented(text, change, {4, {32, columns}}, facts).substr(text.size());
  };
  CHECK(comment(33, padded(132, 4), {.stride = 128}) ==
        "  // padded rows: lanes of a diagonal fall into different banks");
  CHECK(comment(33, padded(132, 4), {.stride = 64}) == "  // padded rows: fewer bank conflicts");
  CHECK(comment(34, padded(136, 8), {.removed = true}) == "  // padded rows: no bank conflicts");
  CHECK(comment(33, {.rows = {132, 128}}, {.removed = true}) == "  // shorter rows: no bank conflicts");
}

TEST_CASE("fit/reason_comment/shorter_rows", "[fit]") {
  const std::string text = "__shared__ float t[16][17];";
  const auto comment = [&](const Change& change) { return commented(text, change, {4, {16, 17}}).substr(text.size()); };
  CHECK(comment({.rows = {68, 64}}) == "  // shorter rows: neighbouring rows fall into different banks");
  CHECK(comment({.swizzle = {64, 4, 2}, .rows = {68, 64}}) ==
        "  // swizzled: lanes of a column fall into different banks");
}

TEST_CASE("fit/reason_comment/distance_of_lanes", "[fit]") {
  const std::string text = "__shared__ float t[512];";
  const auto comment = [&](std::uint64_t stride) {
    return commented(text, padded(128, 4), {4, {512}}, {128, stride}).substr(text.size());
  };
  CHECK(comment(64) == "  // padded: lanes 16 words apart fall into different banks");
  CHECK(comment(128) == "  // padded: lanes 32 words apart fall into different banks");
  CHECK(comment(4) == comment(0));  // these gain nothing
}

TEST_CASE("fit/reason_comment/places", "[fit]") {
  const std::string line = "  __shared__ float t[32][32];",
                    comment = "// swizzled: lanes of a column fall into different banks";
  CHECK(commented("{\n" + line + "\r\n}", swizzle) == "{\n" + line + "  " + comment + "\r\n}");
  CHECK(commented("{\n" + line + "  // tile\r\n}", swizzle) == "{\n  " + comment + "\r\n" + line + "  // tile\r\n}");
  CHECK(commented("/* a */ {\n" + line + "\n}", swizzle) ==
        "/* a */ {\n" + line + "  /* swizzled: lanes of a column fall into different banks */\n}");
  CHECK_THAT(commented("{\n  __shared__ float t[32]\n      [32];\n}", swizzle), has("[32];  " + comment));
  const std::string full = "  __shared__ " + std::string(60, 'T') + " t[32][32];";
  CHECK(commented("{\n" + full + "\n}", swizzle) == "{\n  " + comment + "\n" + full + "\n}");
}

TEST_CASE("fit/reason_comment/none", "[fit]") {
  for (const std::string text :
       {"{ __shared__ float t[32][32], u[2];\n}", "{ __shared__ float u[2], t[32][32];\n}",
        "#define T __shared__ float t[32][32];\n", "{\\\n __shared__ float t[32][32];\\\n}",
        "void f() { __shared__ float t[32][32]; t[0][0] = 1; }\n", "kernel void f(local float* t) { t[0] = 1; }\n"}) {
    CAPTURE(text);
    if (find_declaration(text, {.name = "t"})) CHECK(commented(text, swizzle) == text);
  }
}

}  // namespace
