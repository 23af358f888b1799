// Arrays of one dimension whose indices have rows: when that is certain, and what is written then.
#include "bankcheck/fit/edits.hpp"
#include "tests/bankcheck/fit/declared.hpp"

namespace {

using namespace bankwise::fit;

/// The pitch that is found in an array t of 256 words, with blocks of 16 x 16 threads; 0: none.
std::uint64_t pitch_of(const std::string& body, const std::string& head = "") {
  const std::string text = head +
                           "#define P 16\n__global__ void k(int n, float* out) {\n  __shared__ float t[P * P];\n"
                           "  int x = threadIdx.x, y = threadIdx.y;\n  " +
                           body + "\n}\n";
  return declared(text, {.name = "t", .element = 4, .lengths = {256}, .block = {16, 16, 1}}).pitch;
}

TEST_CASE("fit/flat_rows/certain_columns", "[fit]") {
  CHECK(pitch_of("t[y * P + x] = 0;") == 16);
  CHECK(pitch_of("t[P * y + threadIdx.x] = t[(y + n) * 16 + 3];") == 16);
  CHECK(pitch_of("t[(n * P + y) * P + x] = t[x];") == 16);
  CHECK(pitch_of("for (int i = 0; i < P; ++i) t[y * P + i] = t[i * P + x];") == 16);
  CHECK(pitch_of("for (int i = P - 1; i >= 0; i--) t[y * P + i] = 0;") == 16);
  CHECK(pitch_of("for (int i = 0; i < P; i += 4) t[y * P + i + 3] = 0;") == 16);
  CHECK(pitch_of("for (int i = 0; i < P; i += 4) t[y * P + i + 4] = 0;") == 0);
  CHECK(pitch_of("for (int i = 0; i < P; i += n) t[y * P + i + 3] = 0;") == 0);
  CHECK(pitch_of("for (int i = 1; i < P; i += 4) t[y * P + i + 3] = 0;") == 0);  // 13 + 3
  CHECK(pitch_of("for (int i = 1; i < P; i *= 2) t[y * P + i] = 0;") == 16);
  CHECK(pitch_of("for (unsigned i = P >> 1; i > 0; i >>= 1) t[y * P + i] = 0;") == 16);
  CHECK(pitch_of("int i; for (i = 0; i < x; i++) t[y * P + i] = 0; for (i = x; i < 16; ++i) t[i * P + i] = 0;") == 16);
  CHECK(pitch_of("int i = n % 16u; if (n >= 0) t[y * P + i] = 0;") == 0);  // n may be negative at its place
  CHECK(pitch_of("t[y * P + (n & 15)] = t[y * P + min(x, 3)];") == 16);
  CHECK(pitch_of("t[y * P + (x ^ y)] = t[y * P + (x << 1 & 15)];") == 16);
  CHECK(pitch_of("if (x < P - 1) t[y * P + x + 1] = 0;") == 16);
  CHECK(pitch_of("if (x > 0 && n > 3) t[y * P + x - 1] = 0;") == 16);
  CHECK(pitch_of("if (x == 0) t[y * P] = 0; else t[y * P + x - 1] = 1;") == 0);  // x != 0 is no comparison it knows
  CHECK(pitch_of("int c; if (x < 8) { c = x; } else { c = x - 8; } t[y * P + c + 8] = 0;") == 16);
  CHECK(pitch_of("t[y * P + (int)threadIdx.x] = t[y * P + int(x)];") == 16);
  CHECK(pitch_of("t[y * P + x] = t[y * P + 16];") == 16);  // the next row
  CHECK(pitch_of("t[y * 32 + 2 * x] = t[n * 32 + 1];") == 32);
  CHECK(pitch_of("t[(int)(y + n) * P + x] = t[y * P + (int)(x)];") == 16);
  CHECK(pitch_of("t[y * P + x / 2 % 8 * 2] = t[x];") == 16);
}

TEST_CASE("fit/flat_rows/compared_variables", "[fit]") {
  const std::string column = "int c = x + 15 - y; t[y * P + c] = 0;";
  CHECK(pitch_of("if (x <= y) { " + column + " }") == 16);
  CHECK(pitch_of("if (y > x && n) { int c = 15 - y + x; t[y * P + c] = 0; }") == 16);
  CHECK(pitch_of(column) == 0);
  CHECK(pitch_of("if (x >= y) { " + column + " }") == 0);
  CHECK(pitch_of("if (x <= y) {} else { " + column + " }") == 0);
  CHECK(pitch_of("if (x <= y || n) { " + column + " }") == 0);
  CHECK(pitch_of("if (x <= y) { y = 0; " + column + " }") == 0);
  CHECK(pitch_of("if (x <= y + 1) { " + column + " }") == 0);
  CHECK(pitch_of("if (x <= y) { int c = x + 16 - y; t[y * P + c] = 0; }") == 0);
}

TEST_CASE("fit/flat_rows/macros", "[fit]") {
  const std::string at = "#define AT(i, j) t[j + i * P]\n";
  CHECK(pitch_of("AT(y, x) = AT((y + n), 3);", at) == 16);
  CHECK(pitch_of("AT(y, x - 0) = AT(0, (n & 15));", "#define AT(i, j) t[P * i + j]\n") == 16);
  CHECK(pitch_of("AT(y, x + 1) = 0;", at) == 0);
  CHECK(pitch_of("AT(y, x) = 0; AT(y, n) = 1;", at) == 0);
  CHECK(pitch_of("AT(y, x) = t[3];", at) == 0);   // not through the macro
  CHECK(pitch_of("AT(y + 1, x) = 0;", at) == 0);  // j + y + 1 * P
  CHECK(pitch_of("AT(y, x & 3) = 0;", at) == 0);  // x & (3 + y * P)
  CHECK(pitch_of("AT(y, x) = 0;", "#define AT(i, j) t[j - i * P]\n") == 0);
  CHECK(pitch_of("AT(y, x) = 0;", "#define AT(i, j) t[j + i * P] + 1\n") == 0);
  CHECK(pitch_of("AT(y, x) = 0;", "#define AT(i, j) t[i + i * P]\n") == 0);
  CHECK(pitch_of("AT(y, x) = 0;", at + "#define FIRST AT(0, 0)\n") == 0);
}

TEST_CASE("fit/flat_rows/macros_of_indices", "[fit]") {
  const std::string at = "#define AT(row, col, ld) ((row) * (ld) + (col))\n";
  CHECK(pitch_of("t[AT(y, x, P)] = t[AT(y + n, x & 3, 16)];", at) == 16);
  CHECK(pitch_of("t[AT3(2, y, 8, x)] = 0;", "#define AT3(a, b, c, x) ((a) * (b) * (c) + (x))\n") == 0);
  CHECK(pitch_of("t[AT(y, x + 1, P)] = 0;", at) == 0);
  CHECK(pitch_of("t[AT(y, x, n)] = 0;", at) == 0);
  CHECK(pitch_of("t[AT(y, x, P)] = 0;", "#define AT(row, col, ld) (row * ld + col)\n") == 16);
  CHECK(pitch_of("t[AT(y + 1, x, P)] = 0;", "#define AT(row, col, ld) (row * ld + col)\n") == 0);  // y + 1 * P
  CHECK(pitch_of("t[AT(y, x, P)] = 0;", "#define AT(row, col, ld) ((row) * (ld) - (col))\n") == 0);
  CHECK(pitch_of("t[AT(y, x, P)] = 0;", at + at) == 0);  // another definition may be that of the other branch
}

TEST_CASE("fit/flat_rows/columns_that_may_leave_their_row", "[fit]") {
  CHECK(pitch_of("t[y * P + x + 1] = 0;") == 0);
  CHECK(pitch_of("t[y * P + x - 1] = 0;") == 0);
  CHECK(pitch_of("t[y * P + x] = t[n];") == 0);
  CHECK(pitch_of("t[y * P + n] = 0;") == 0);
  CHECK(pitch_of("for (int i = 0; i <= P; ++i) t[y * P + i] = 0;") == 0);
  CHECK(pitch_of("for (int i = 0; i < P; ++i) { t[y * P + i] = 0; i += n; }") == 0);
  CHECK(pitch_of("for (int i = n; i < P; ++i) t[y * P + i] = 0;") == 0);
  CHECK(pitch_of("for (int i = 0; i < P || n; ++i) t[y * P + i] = 0;") == 0);
  CHECK(pitch_of("for (int i = 0; i < P; --i) t[y * P + i] = 0;") == 0);
  CHECK(pitch_of("for (int i = 0; i < P; ++i) {} int i = n; t[y * P + i] = 0;") == 0);
  CHECK(pitch_of("x = n; t[y * P + x] = 0;") == 0);
  CHECK(pitch_of("x += 1; t[y * P + x] = 0;") == 0);
  CHECK(pitch_of("x++; t[y * P + x] = 0;") == 0);
  CHECK(pitch_of("set(&x); t[y * P + x] = 0;") == 0);
  CHECK(pitch_of("set(x); t[y * P + x] = 0;", "__device__ void set(int& to) { to = 99; }\n") == 0);
  CHECK(pitch_of("int& other = x; t[y * P + x] = 0;") == 0);
  CHECK(pitch_of("if (x < 8) { x = n; t[y * P + x] = 0; }") == 0);
  CHECK(pitch_of("auto f = [&](int x) { t[y * P + x] = 0; };") == 0);
  CHECK(pitch_of("t[y * n + x] = 0;") == 0);
  CHECK(pitch_of("t[y << 4 | x] = 0;") == 0);
  CHECK(pitch_of("t[y * P + x / 2 & 255] = 0;") == 0);  // & of the whole sum
  CHECK(pitch_of("t[y * P + p->x] = 0;") == 0);
  CHECK(pitch_of("use(t); t[y * P + x] = 0;") == 0);
  // Without the block nothing is known of threads, and a macro of another branch is not that of the compiler.
  const std::string text =
      "__global__ void k() {\n  __shared__ float t[256];\n  t[threadIdx.y * 16 + threadIdx.x] = 0;\n}\n";
  const auto with_block = [&](std::array<std::uint64_t, 3> block, const std::string& source) {
    return declared(source, {.name = "t", .element = 4, .lengths = {256}, .block = block}).pitch;
  };
  CHECK(with_block({16, 16, 1}, text) == 16);
  CHECK(with_block({32, 8, 1}, text) == 0);
  CHECK(with_block({0, 0, 0}, text) == 0);
  CHECK(with_block({16, 16, 1}, text.substr(0, text.rfind('}')) + "t[") == 0);  // a truncated source
  std::string macro = text;
  macro.replace(macro.find("256"), 3, "P * P");
  CHECK(with_block({16, 16, 1}, macro) == 16);  // its value follows from the length
  CHECK(with_block({16, 16, 1}, "#define P 8\n" + macro) == 0);
}

TEST_CASE("fit/flat_rows/edits", "[fit]") {
  const auto changed = [](const std::string& length, const std::string& body, const Change& change,
                          const std::string& head = "") {
    const std::string text = head + "__global__ void k() {\n  __shared__ float t[" + length +
                             "];\n  int x = threadIdx.x;\n  " + body + "\n}\n";
    const Declaration declaration =
        declared(text, {.name = "t", .element = 4, .lengths = {256}, .kernel = "k<16>", .block = {16, 16, 1}});
    REQUIRE(declaration.pitch == 16);
    const auto edits = edits_of(text, declaration, change, {4, {16, 16}});
    if (const auto* why = std::get_if<std::string>(&edits)) return *why;
    const std::string after = edited(text, std::get<std::vector<Edit>>(edits));
    const std::size_t begin = after.find("t["), end = after.find("\n}");
    return after.substr(begin, after.find(";", begin) - begin) + " | " +
           after.substr(after.find("threadIdx.x;") + 15, end - after.find("threadIdx.x;") - 15);
  };
  const Change longer{{}, {Pad{64, 4}, Pad{}}}, swizzle{{64, 4, 2}, {}}, every32{{}, {Pad{128, 4}, Pad{}}};
  const std::string named = "#define P 16\n", sum = "#define Q 15\n";
  CHECK(changed("P * P", "t[y * P + x] = t[P * y + 3 + x % 8];", longer, named) ==
        "t[P * (P + 1)] | t[y * (P + 1) + x] = t[(P + 1) * y + 3 + x % 8];");
  CHECK(changed("256", "t[y * 16 + x] = t[x];", longer) == "t[16 * 17] | t[y * 17 + x] = t[x];");
  CHECK(changed("(Q + 1)*(Q+1)", "t[y * (Q + 1) + x] = 0;", longer, sum) ==
        "t[(Q + 1)*(Q + 2)] | t[y * (Q + 2) + x] = 0;");
  CHECK(changed("P << 4", "t[y * P + x] = 0;", longer, named) == "t[(P << 4) / P * (P + 1)] | t[y * (P + 1) + x] = 0;");
  CHECK(changed("P * P", "t[(y + 1) * P + x] = t[x];", swizzle, named) ==
        "t[P * P] | t[(y + 1) * P + (x ^ (y + 1))] = t[0 * P + x];");
  CHECK(changed("P * P", "t[y * P + x] = 0;", every32, named) ==
        "t[P * P + P * P / 32] | t[y * P + x + ((y * P + x) >> 5)] = 0;");
  const Change every8{{}, {Pad{32, 4}, Pad{}}};  // inside the rows
  CHECK(changed("P * P", "t[y * P + x] = 0;", every8, named) == "t[P * (P + 2)] | t[y * (P + 2) + x + (x >> 3)] = 0;");
  CHECK(changed("P * P", "t[y * P + x] = 0;", every8, "template <int P>\n") ==
        "t[P * P + P * P / 8] | t[y * P + x + ((y * P + x) >> 3)] = 0;");
  CHECK(changed("P * P", "t[y * P + x] = 0;", longer, "template <int P>\n") ==
        "t[P * (P + 1)] | t[y * (P + 1) + x] = 0;");
  CHECK(changed("P * P", "t[y * P + x] = 0;", swizzle, "template <int P>\n") ==
        "line 3: the length of a row depends on template parameters; change the index by hand");
  const std::string constants =
      "#define P 16\n__global__ void k() {\n  __shared__ float t[P * P];\n  t[threadIdx.y * P + threadIdx.x] = 0;\n}\n";
  const auto edits =
      edits_of(constants, declared(constants, {.name = "t", .block = {16, 16, 1}}), swizzle, {4, {16, 16}});
  REQUIRE(std::holds_alternative<std::vector<Edit>>(edits));
  CHECK_THAT(edited(constants, std::get<std::vector<Edit>>(edits)), has("  static_assert(P == 16, "));
}

/// The body of a kernel whose rows become a word longer, with blocks of 16 x 16 threads; "" if it has no rows.
std::string body_with_longer_rows(const std::string& body, const std::string& length = "R * P",
                                  std::array<std::uint64_t, 3> only_block = {16, 16, 1}) {
  const std::string head = "#define R 16\n#define P 16\n__global__ void k(float* g, int n) {\n  __shared__ float t[";
  const std::string names = "];\n  const int x = threadIdx.x, y = threadIdx.y;\n  ";
  const std::string text = head + length + names + body + "\n}\n";
  const SoughtArray sought{.name = "t", .element = 4, .lengths = {256}, .block = {16, 16, 1}, .only_block = only_block};
  const Declaration declaration = declared(text, sought);
  if (declaration.pitch != 16) return "";
  const auto edits = edits_of(text, declaration, padded(64, 4), {4, {16, 16}});
  REQUIRE(std::holds_alternative<std::vector<Edit>>(edits));
  const std::string after = edited(text, std::get<std::vector<Edit>>(edits));
  CHECK_THAT(after, has("t[R * (P + 1)]"));
  const std::size_t begin = after.find(names.substr(2)) + names.size() - 2;
  return after.substr(begin, after.size() - 3 - begin);
}

TEST_CASE("fit/flat_rows/indices_in_variables", "[fit]") {
  CHECK(body_with_longer_rows("const int at = y * P + x; t[at] = g[at]; t[x * P + y] = 0;") ==
        "const int at = y * P + x; t[at + y] = g[at]; t[x * (P + 1) + y] = 0;");
  CHECK(body_with_longer_rows("const int at = y * P + x; t[at] = t[P + at];") ==
        "const int at = y * (P + 1) + x; t[at] = t[(P + 1) + at];");
  CHECK(body_with_longer_rows("int at = (y + n) * P + x; g[at] = t[at];") ==
        "int at = (y + n) * P + x; g[at] = t[at + (y + n)];");
  // A pitch in several factors, known of this run: the length has a constant for it.
  CHECK(body_with_longer_rows("int at = x + blockDim.x * y; t[at] = 0;") ==
        "int at = x + (blockDim.x + 1) * y; t[at] = 0;");
  CHECK(body_with_longer_rows("int at = 2 * y * (blockDim.x / 2) + x; t[at] = t[at + 16 * n];") ==
        "int at = y * (2 * (blockDim.x / 2) + 1) + x; t[at] = t[at + 17 * n];");
  CHECK(body_with_longer_rows("t[2 * y * (blockDim.x / 2) + x] = 0;") == "t[y * (2 * (blockDim.x / 2) + 1) + x] = 0;");
}

TEST_CASE("fit/flat_rows/variables_without_rows", "[fit]") {
  CHECK(body_with_longer_rows("int at = y * P + x; at += 1; t[at] = 0;").empty());
  CHECK(body_with_longer_rows("int r = y; int at = r * P + x; r = 0; t[at] = 0;").empty());  // r is another row then
  CHECK(body_with_longer_rows("int at = y * P + n; t[at] = 0;").empty());                    // n may be anything
  CHECK(body_with_longer_rows("unsigned char at = y * P + x; t[at] = 0;").empty());          // 271 does not fit
  CHECK(body_with_longer_rows("{ int at = 0; } int at = y * P + x; t[at] = 0;").empty());    // which of them?
  CHECK(body_with_longer_rows("int at = x + blockDim.x * y; t[at] = 0;", "R * P", {0, 16, 1}).empty());
  CHECK(body_with_longer_rows("int at = x + blockDim.x * y; t[at] = 0;", "256")
            .empty());  // 256 / blockDim.x is no constant
}

// Two buffers: the last dimension has rows.
TEST_CASE("fit/flat_rows/planes", "[fit]") {
  const std::string at = "#define AT(row, col, ld) ((row) * (ld) + (col))\n#define M 16\n#define K 8\n";
  const auto source = [&](const std::string& length, const std::string& body) {
    return at + "__global__ void k(int p) {\n  __shared__ float t[2][" + length +
           "];\n  int x = threadIdx.x, y = threadIdx.y;\n  " + body + "\n}\n";
  };
  const auto declaration = [&](const std::string& text) {
    return declared(text, {.name = "t", .element = 4, .lengths = {2, 128}, .block = {16, 8, 1}});
  };
  const auto pitch = [&](const std::string& length, const std::string& body) {
    return declaration(source(length, body)).pitch;
  };
  const std::string uses = "t[p][AT(y, x, M)] = t[p ^ 1][x * 0 + y * M];";
  CHECK(pitch("M * K", uses) == 16);
  CHECK(pitch("K * M", uses) == 16);
  CHECK(pitch("M * K", "t[p][y * 16 + x] = 0;") == 0);  // another name, perhaps by chance
  CHECK(pitch("128", "t[p][y * 16 + x] = 0;") == 0);    // perhaps no rows, but steps
  CHECK(pitch("M * K", "t[p][AT(y, x + 1, M)] = 0;") == 0);
  const auto changed = [&](const Change& change, const std::string& body) {
    const std::string text = source("M * K", body);
    const auto edits = edits_of(text, declaration(text), change, {4, {2, 8, 16}});
    if (const auto* why = std::get_if<std::string>(&edits)) return *why;
    const std::string after = edited(text, std::get<std::vector<Edit>>(edits));
    const std::size_t begin = after.find("t[2]"), use = after.find("t[p]");
    return after.substr(begin, after.find(";", begin) - begin) + " | " + after.substr(use, after.find("\n", use) - use);
  };
  CHECK(changed({{}, {Pad{64, 16}, Pad{}}}, "t[p][AT(y, x, M)] = t[p ^ 1][y * M + 3];") ==
        "t[2][(M + 4) * K] | t[p][AT(y, x, (M + 4))] = t[p ^ 1][y * (M + 4) + 3];");
  CHECK(changed({{64, 3, 2}, {}}, "t[p][AT(y, x, M)] = 0;") == "t[2][M * K] | t[p][y * M + (x ^ y)] = 0;");
  CHECK(changed({{}, {Pad{128, 4}, Pad{}}}, "t[p][AT(y, x, M)] = 0;") ==
        "t[2][M * K + M * K / 32] | t[p][(AT(y, x, M)) + ((AT(y, x, M)) >> 5)] = 0;");
}

TEST_CASE("fit/flat_rows/name_of_a_pitch_in_many_indices", "[fit]") {
  const auto changed = [](const std::string& body, const std::string& head = "") {
    const std::string text =
        head + "#define P 16\n__global__ void k() {\n  __shared__ float t[P * P];\n  int x = threadIdx.x;\n  " + body +
        "\n}\n";
    const auto edits =
        edits_of(text, declared(text, {.name = "t", .block = {16, 16, 1}}), {{}, {Pad{64, 4}, Pad{}}}, {4, {16, 16}});
    REQUIRE(std::holds_alternative<std::vector<Edit>>(edits));
    return edited(text, std::get<std::vector<Edit>>(edits));
  };
  const std::string three = "t[P * x] = t[x * P + 1] = t[x * P + 2] = 0;", four = three + " t[x * P + 3] = 0;";
  const std::string after = changed(four);
  CHECK_THAT(after, has("{\n  constexpr int t_pitch = P + 1;\n  __shared__ float t[P * t_pitch];\n"));
  CHECK_THAT(after, has("t[t_pitch * x] = t[x * t_pitch + 1] = t[x * t_pitch + 2] = 0; t[x * t_pitch + 3] = 0;"));
  CHECK_THAT(changed(three), has("t[P * (P + 1)];\n"));
  CHECK_THAT(changed(four, "int t_pitch;\n"), has("t[P * (P + 1)];\n"));
  std::string numbers = four;
  for (char& c : numbers) c = c == 'P' ? '7' : c;
  const std::string text =
      "#define N 7\n__global__ void k() {\n  __shared__ float t[(N * 14) / 2];\n"
      "  int x = threadIdx.x;\n  " +
      numbers + "\n}\n";
  const auto edits =
      edits_of(text, declared(text, {.name = "t", .block = {7, 7, 1}}), {{}, {Pad{28, 4}, Pad{}}}, {4, {7, 7}});
  REQUIRE(std::holds_alternative<std::vector<Edit>>(edits));
  CHECK_THAT(edited(text, std::get<std::vector<Edit>>(edits)), has("constexpr int t_pitch = 7 + 1;"));
}

}  // namespace
