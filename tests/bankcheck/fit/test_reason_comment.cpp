#include "bankcheck/fit/reason_comment.hpp"
#include "tests/bankcheck/fit/declared.hpp"

namespace {

using namespace bankwise::fit;

const Change swizzle{{128, 5, 2}, {}};
Change padded(std::uint32_t every, std::uint32_t bytes) { return {{}, {Pad{every, bytes}, Pad{}}}; }

/// The source with the comment for a change of its array t.
std::string commented(const std::string& text, const Change& change, const ArrayShape& shape = {4, {32, 32}}) {
  const auto comment = reason_comment(text, declared(text, {.name = "t"}), change, shape);
  return comment ? edited(text, {*comment}) : text;
}

TEST_CASE("fit/reason_comment/texts", "[fit]") {
  const auto of_change = [](const std::string& dimensions, const Change& change, const ArrayShape& shape) {
    const std::string text = "__shared__ float t" + dimensions + ";";
    return commented(text, change, shape).substr(text.size());
  };
  CHECK(of_change("[32][32]", padded(128, 4), {4, {32, 32}}) == "  // +1 avoids bank conflicts between rows");
  CHECK(of_change("[32][32 + 1]", padded(132, 4), {4, {32, 33}}) == "  // +2 avoids bank conflicts between rows");
  CHECK(of_change("[32][33]", {.rows = {132, 128}}, {4, {32, 33}}) ==
        "  // this length avoids bank conflicts between rows");
  CHECK(of_change("[4][6][32]", padded(768, 128), {4, {4, 6, 32}}) == "  // +1 avoids bank conflicts between planes");
  CHECK(of_change("[4][6][32]", {{}, {Pad{128, 4}, Pad{768, 132}}}, {4, {4, 6, 32}}) ==
        "  // padded to avoid bank conflicts");
  CHECK(of_change("[512]", padded(128, 4), {4, {512}}) == "  // one more element after every 32 avoids bank conflicts");
  CHECK(of_change("[512]", padded(128, 8), {4, {512}}) == "  // 2 more elements after every 32 avoid bank conflicts");
  CHECK(of_change("[32][32]", swizzle, {4, {32, 32}}) == "  // swizzled to avoid bank conflicts");
  CHECK(of_change("[32][32]", {{128, 5, 2}, {Pad{128, 4}, Pad{}}}, {4, {32, 32}}) ==
        "  // padded and swizzled to avoid bank conflicts");
}

TEST_CASE("fit/reason_comment/places", "[fit]") {
  const std::string line = "  __shared__ float t[32][32];", comment = "// swizzled to avoid bank conflicts";
  CHECK(commented("{\n" + line + "\r\n}", swizzle) == "{\n" + line + "  " + comment + "\r\n}");
  CHECK(commented("{\n" + line + "  // tile\r\n}", swizzle) == "{\n  " + comment + "\r\n" + line + "  // tile\r\n}");
  CHECK(commented("/* a */ {\n" + line + "\n}", swizzle) ==
        "/* a */ {\n" + line + "  /* swizzled to avoid bank conflicts */\n}");
  const std::string two_lines = "{\n  __shared__ float t[32]\n      [32];\n}";
  CHECK(commented(two_lines, swizzle).find("[32];  " + comment) != std::string::npos);
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
