#include "bankcheck/fit/edits.hpp"
#include "tests/bankcheck/fit/declared.hpp"

namespace {

using namespace bankwise::fit;
using Edits = std::vector<Edit>;

/// The source after the change of its array t, or why there is none.
std::string changed(const std::string& text, const Change& change, const ArrayShape& shape,
                    const SoughtArray& sought = {.name = "t"}) {
  const auto edits = edits_of(text, declared(text, sought), change, shape);
  if (const auto* why = std::get_if<std::string>(&edits)) return *why;
  return edited(text, std::get<Edits>(edits));
}

TEST_CASE("fit/edits/all_uses", "[fit]") {
  const std::string& source = source_with_tiles;
  const Declaration tile = declared(source, {.name = "tile", .bytes = 4096});
  const ArrayShape shape{4, {32, 32}};
  const auto pad = edits_of(source, tile, padded(128, 4), shape);
  REQUIRE(std::holds_alternative<Edits>(pad));
  std::string expected = source;
  expected.replace(expected.find("tile[TILE][TILE]"), 16, "tile[TILE][TILE + 1]");
  CHECK(edited(source, std::get<Edits>(pad)) == expected);
  const auto changed_tile = edits_of(source, tile, swizzle, shape);
  REQUIRE(std::holds_alternative<Edits>(changed_tile));
  expected = source;
  expected.insert(expected.find("  extern"), "  static_assert(TILE == 32, \"tile is laid out for these lengths\");\n");
  expected.replace(expected.find("tile[y][x]"), 10, "tile[y][x ^ y]");
  expected.replace(expected.find("tile[x][y + 0]"), 14, "tile[x][(y + 0) ^ x]");
  CHECK(edited(source, std::get<Edits>(changed_tile)) == expected);
}

TEST_CASE("fit/edits/lengths_that_an_xor_needs", "[fit]") {
  const std::string text = "#define H 64\n#define W 32\nvoid k() {\n  __shared__ float t[H][W];\n  t[y][x] = 1;\n}\n";
  CHECK_THAT(changed(text, {{128, 3, 2}, {}}, {4, {64, 32}}), has("static_assert(W % 8 == 0, "));
  const std::string square = "#define W 32\nvoid k() {\n  __shared__ float t[W][W + 0];\n  t[y][x] = t[y][0];\n}\n";
  const std::string after = changed(square, swizzle, {4, {32, 32}});
  CHECK_THAT(after, has("static_assert(W == 32, "));  // x ^ y has no mask
  CHECK_THAT(after, has("  t[y][x ^ y] = t[y][y];"));
}

TEST_CASE("fit/edits/constants_that_stay", "[fit]") {
  const auto after = [](const std::string& index, const std::string& head = "") {
    const std::string text = "const int LAST = 256;\n" + head +
                             "void k(int n) {\n  __shared__ float t[LAST + 1];\n  t[n] = 1;\n  t[" + index +
                             "] = 2;\n}\n";
    return changed(text, {{128, 3, 2}, {}}, {4, {257}});
  };
  const std::string text = after("LAST");
  CHECK_THAT(text, has("t[LAST + 1];"));  // the last block is not whole, but nothing leaves it
  CHECK_THAT(text, has("t[n ^ ((n >> 5) & 7)] = 1;\n  t[LAST] = 2;"));
  CHECK_THAT(after("LAST - 1"), !has("t[LAST - 1]"));
  CHECK_THAT(after("LAST * 1 + threadIdx.x"), !has("t[LAST * 1 + threadIdx.x]"));
  CHECK_THAT(after("n"), !has("t[n] "));
  CHECK_THAT(after("LAST", "void f() { const int n = 32; }\n"), !has("t[n] "));
  CHECK_THAT(changed("void k() {\n  __shared__ float t[250];\n  t[i] = 1;\n}\n", {{128, 3, 2}, {}}, {4, {250}}),
             has("t[(250 + 7) / 8 * 8]"));
}

TEST_CASE("fit/edits/order_of_rows", "[fit]") {
  const std::string text = "void k() {\n  __shared__ float t[H][16];\n  t[y + 1][x] = t[0][x];\n}\n";
  const std::string head = "#define H 8\n";
  CHECK(changed(head + text, {{128, 1, 6}, {}}, {4, {8, 16}}) ==
        head +
            "void k() {\n  __shared__ float t[H][16];\n"
            "  static_assert(H % 2 == 0, \"t is laid out in blocks of 2\");\n"
            "  t[(y + 1) ^ (((y + 1) >> 1) & 1)][x] = t[0][x];\n}\n");
}

TEST_CASE("fit/edits/only_what_changes", "[fit]") {
  const std::string text = "void k() {\n  __shared__ float t[64];\n  t[0] = t[31];\n  t[32] = 1;\n}\n";
  const auto edits = edits_of(text, declared(text, {.name = "t"}), padded(128, 4), {4, {64}});
  CHECK(std::get<Edits>(edits).size() == 2);  // the length, and t[33]
}

TEST_CASE("fit/edits/hunks_are_whole_lines", "[fit]") {
  const std::string text = "a b\nc\nd\n\ne f";
  CHECK(hunks_of(text, {}).empty());
  const auto hunks = hunks_of(text, {{11, 12, "F\nG"}, {2, 3, "B"}, {0, 1, "A"}, {4, 5, "C"}});
  REQUIRE(hunks.size() == 2);
  CHECK(hunks[0].line == 1);
  CHECK(hunks[0].before == "a b\nc");
  CHECK(hunks[0].after == "A B\nC");
  CHECK(hunks[1].line == 5);
  CHECK(hunks[1].before == "e f");
  CHECK(hunks[1].after == "e F\nG");
}

TEST_CASE("fit/edits/lines_that_stay_are_in_no_hunk", "[fit]") {
  const auto around = hunks_of("a\nb\nc\n", {{2, 2, "A\n"}, {3, 3, "\nB"}});  // a A b B c
  REQUIRE(around.size() == 2);
  CHECK(around[0].line == 2);
  CHECK(around[1].line == 3);
  CHECK((around[0].removed == 0 && around[1].removed == 0));
  CHECK((around[0].after == "A" && around[1].after == "B"));
  const auto between = hunks_of("a\nb\nc\n", {{0, 1, "A"}, {2, 3, "b"}, {4, 5, "C\nD"}});  // A b C D
  REQUIRE(between.size() == 2);
  CHECK((between[0].before == "a" && between[1].before == "c"));
  CHECK((between[0].after == "A" && between[1].after == "C\nD"));
  CHECK(between[1].line == 3);
  const auto shorter = hunks_of("a\nb\nc\nd\ne\n", {{0, 1, "a"}, {2, 4, ""}, {6, 7, "d"}});  // a c d e
  REQUIRE(shorter.size() == 1);
  CHECK((shorter[0].removed == 2 && shorter[0].before == "b\nc" && shorter[0].after == "c"));
  CHECK(hunks_of("a\nb", {{0, 3, "a"}})[0].after == "a");
  CHECK(hunks_of("a\nb\n", {{0, 1, "a"}}).empty());
}

TEST_CASE("fit/edits/refusals", "[fit]") {
  const auto why = [](const std::string& body, const Change& change) {
    const std::string text = "__global__ void k() {\n  __shared__ float t[32][32];\n  " + body + "\n}\n";
    const auto edits = edits_of(text, declared(text, {.name = "t"}), change, {4, {32, 32}});
    return std::holds_alternative<std::string>(edits) ? std::get<std::string>(edits) : "";
  };
  CHECK(why("t[0][1] = t[i == 3][2];", swizzle).empty());
  CHECK(why("atomicAdd(&t[0][1], 2);", swizzle).empty());
  CHECK(why("x = y & t[0][1];", swizzle).empty());
  CHECK(why("float* p = t[0];", padded(128, 4)) ==
        "line 3: the array is used without all of its 2 indices; index its elements there");
  CHECK(why("f(&t[0][1]);", padded(128, 4)) ==
        "line 3: the address of an element is taken; index the array where the element is used");
  const std::string address = "line 3: the address of an element is taken; index the array where the element is used";
  CHECK(why("x = p && &t[0][1] != p;", swizzle) == address);
  CHECK(why("x = p &&&t[0][1];", swizzle) == address);
  CHECK(why("x = (unsigned long)&t[0][1];", swizzle) == address);
  CHECK(why("using Address = long; x = (Address)&t[0][1];", swizzle) == address);
  CHECK(why("typedef unsigned* Words; x = (Words)&t[0][1];", swizzle) == address);
  CHECK(why("atomicAdd(&t[0][0] + x, 1);", swizzle) == address);
  CHECK(why("x = *reinterpret_cast<float*>(&t[0][0] + y);", swizzle) == address);
  CHECK(why("x = __cvta_generic_to_shared(&t[0][0] + y);", swizzle) == address);
  CHECK(why("x = *reinterpret_cast<float*>(&t[0][y]) + y;", swizzle).empty());
  CHECK(why("x = *(float*)&t[0][y] + y;", swizzle).empty());
  CHECK(why("x = get(*reinterpret_cast<Tile*>(&t[0][y]));", swizzle) == address);
  CHECK(why("x = (*(Tile*)&t[0][y]).v[3];", swizzle) == address);
  CHECK(why("x = *(float**)&t[0][y];", swizzle) == address);
  CHECK(why("x = *reinterpret_cast<const volatile unsigned int*>(&t[0][y]);", swizzle).empty());
  CHECK(why("x = *(std::uint32_t*)&t[0][y];", swizzle).empty());
  CHECK(why("atomicCAS(&t[0][x + y], 1, 2);", swizzle).empty());
  CHECK(why("atomicAdd_block(&t[0][x], 1); atom_inc(&t[0][x]);", swizzle).empty());
  CHECK(why("atomic_fetch_add_explicit(&t[0][x], 1, memory_order_relaxed);", swizzle).empty());
  CHECK(why("atomic_add4(&t[0][x], 1);", swizzle) == address);
  CHECK(why("atomicAddAll(&t[0][x], 1);", swizzle) == address);
  CHECK(why("x = p &&t[0][1];", swizzle).empty());
  CHECK(why("x = (mask)&t[0][1];", swizzle).empty());
  CHECK(why("x = f(int(mask) & t[0][1]);", swizzle).empty());
  const std::string side_effect = "line 3: the index has a side effect; write it to a variable first";
  CHECK(why("t[i++][1] = 0;", swizzle) == side_effect);
  CHECK(why("t[i += 2][1] = 0;", swizzle) == side_effect);
  CHECK(why("t[0][atomicMax(&n, 2)] = 0;", swizzle) == side_effect);
  CHECK(why("t[i <<= 1][1] = 0;", swizzle) == side_effect);
  CHECK(why("t[i >>= 1][1] = 0;", swizzle) == side_effect);
  CHECK(why("t[0][next(&n)] = 0;", swizzle) == side_effect);
  CHECK(why("t[0][a && next && &n] = 0;", swizzle) == side_effect);
  CHECK(why("t[0][a &&&n] = 0;", swizzle) == side_effect);
  CHECK(why("t[0][(size_t)&n] = 0;", swizzle) == side_effect);
  CHECK(why("t[i <= 3 && i >= 1][j & 1] = 0;", swizzle).empty());
  CHECK(why("t[i &&j][(j)&1] = 0;", swizzle).empty());
  const std::string directive =
      "line 3: a preprocessor directive is inside the index; write the index to a variable first";
  CHECK(why("t[0][i\n#if A\n + 1\n#endif\n] = 0;", swizzle) == directive);
  CHECK(why("t[0][\n#\ni] = 0;", swizzle) == directive);
  CHECK(why("t[0]\n#\n[i] = 0;", swizzle) == directive);
  CHECK(why("t[i++][1] = 0;", padded(128, 4)).empty());
  CHECK(why("t[int(t[0][0])][1] = 0;", swizzle) ==
        "line 3: the index reads the array itself; read that element into a variable first");
  CHECK(why("", padded(4, 4)) == "line 2: its elements must become longer; add a member to float");
  const std::string dynamic = "__global__ void k() {\n  extern __shared__ float t[];\n  t[0] = 1;\n}\n";
  CHECK(changed(dynamic, padded(128, 4), {4, {1024}}, {.name = "t", .bytes = 4096}) ==
        "line 2: the launch gives the bytes of this array, and must give it more; change both by hand");
  const std::string macro = "#define AT(y, x) t[y][x]\n__shared__ float t[32][32];\nfloat f() { return AT(1, 2); }\n";
  CHECK(changed(macro, swizzle, {4, {32, 32}}) ==
        "#define AT(y, x) t[(y)][(x) ^ (y)]\n__shared__ float t[32][32];\nfloat f() { return AT(1, 2); }\n");
  CHECK_THAT(changed(macro, padded(128, 4), {4, {32, 32}}), has("t[32][32 + 1]"));
  CHECK(changed("void k() {\n  __shared__ float t[32][32];\n  t[y][x] = 0;\n  AT(y, x) = 1;\n}\n", swizzle,
                {4, {32, 32}}, {.name = "t", .lines = {3, 4}}) ==
        "line 4: the array is used, but not by its name; change the index by hand there");
  const std::string unknown = "__shared__ float t[N][M];\n";
  CHECK(changed(unknown, swizzle, {4, {1024}}) == "line 1: N is not known; change the indices by hand");
}

TEST_CASE("fit/edits/indices", "[fit]") {
  const auto index = [](const std::string& before, const Change& change) {
    const std::string head =
        "#define SUM a + b\n#define ROW(y) y\n#define at(y) (y) + (1)\n__shared__ float t[32][32];\nvoid f() { x = t";
    const std::string text = changed(head + before + "; }\n", change, {4, {32, 32}});
    const std::size_t begin = head.size();
    return text.substr(begin, text.rfind(';') - begin);
  };
  CHECK(index("[threadIdx.y][threadIdx.x]", swizzle) == "[threadIdx.y][threadIdx.x ^ threadIdx.y]");
  CHECK(index("[row[k]][get_local_id(0)]", swizzle) == "[row[k]][get_local_id(0) ^ row[k]]");
  CHECK(index("[(y + 1)][(x)]", swizzle) == "[y + 1][(x) ^ (y + 1)]");
  CHECK(index("[(y, 1)][x]", swizzle) == "[(y, 1)][x ^ (y, 1)]");
  CHECK(index("[0][x]", swizzle) == "[0][x]");
  CHECK(index("[010][x]", swizzle) == "[010][x ^ 010]");
  CHECK(index("[3][4]", swizzle) == "[3][7]");
  CHECK(index("[ROW(y)][p->x]", swizzle) == "[ROW(y)][p->x ^ (ROW(y))]");
  CHECK(index("[SUM][x]", swizzle) == "[(SUM)][x ^ (SUM)]");
  CHECK(index("[at(y)][x]", swizzle) == "[at(y)][x ^ at(y)]");
  CHECK(index("[y\f][x // a\n // b\n]", swizzle) == "[y][x ^ y /* a */ /* b */]");
  CHECK(index("[(a) + (b)][x]", swizzle) == "[(a) + (b)][x ^ ((a) + (b))]");
  CHECK(index("[y /* row */][x // column\n ]", swizzle) == "[y][x ^ y /* row */ /* column */]");
  CHECK(index("[/* row */ y] /* and */ [x]", swizzle) == "[y][x ^ y /* row */ /* and */]");
}

TEST_CASE("fit/edits/calls_in_an_index", "[fit]") {
  const auto index = [](const std::string& head, const std::string& call) {
    const std::string text = "__global__ void k() {\n  __shared__ float t[64];\n  t[" + call + "] = 1;\n}\n" + head;
    return changed(text, padded(128, 4), {4, {64}});
  };
  const auto refusal = [](const std::string& name) {
    return "line 3: the index calls " + name + ", which may have a side effect; write the index to a variable first";
  };
  CHECK(index("", "next(i)") == refusal("next"));
  CHECK(index("int next(int& i) { return i += 32; }", "next(i)") == refusal("next"));
  CHECK(index("int next(int i) { static int n = 1; return n++ + i; }", "next(i)") == refusal("next"));
  CHECK(index("int next(int i) { return other(i); }", "next(i)") == refusal("next"));
  CHECK(index("struct S { int pop() { return --top; } };", "s.pop()") == refusal("pop"));
  CHECK(index("struct S { int pop() { return --top; } };", "s->pop()") == refusal("pop"));
  CHECK(index("", "__hip_atomic_load(p)") == refusal("__hip_atomic_load"));
  CHECK(index("", "next<3>(i)") == refusal("next"));
  CHECK(index("", "(*next)(i)") == refusal("a function"));
  CHECK(index("const auto at = [&](int i) { return ++n; };", "at(i)") == refusal("at"));
  const auto is_written_twice = [&](const std::string& head, const std::string& call) {
    return index(head, call).find("  t[" + call + " + (" + call + " >> 5)] = 1;") != std::string::npos;
  };
  CHECK(is_written_twice("int row(int i) { const int r = i / 8; return r * 8; }", "row(i)"));
  CHECK(is_written_twice("const auto row = [](int i) -> int { return i == 2 ? min(i, 3) : 0; };", "row(i)"));
  CHECK(is_written_twice("struct S { int row() const { return top <= 3; } };", "s.row()"));
  CHECK(is_written_twice("int row(int i) { return other(i); }\nint other(int i) { return __ffs(i); }", "row(i)"));
  CHECK_THAT(index("#define ROW(i) (i) / 2\n", "ROW(i)"), has("((ROW(i)) >> 5)"));
  CHECK(is_written_twice("", "int(x)"));
  CHECK_THAT(index("", "static_cast<int>(x)"), has(" >> 5"));
  CHECK(is_written_twice("", "group.thread_rank()"));
}

TEST_CASE("fit/edits/lengths_that_bind_less_than_sums", "[fit]") {
  const auto length = [](const std::string& dimension) {
    const std::string text =
        changed("#define SUM 512 << 1\n#define NUMBER (512 + 512)\n__shared__ float t[" + dimension + "];\n",
                padded(128, 4), {4, {1024}}, {.name = "t", .element = 4, .lengths = {1024}});
    const std::size_t begin = text.find("t[") + 2;
    return text.substr(begin, text.find("];") - begin);
  };
  CHECK(length("A ? 1024 : 512") == "(A ? 1024 : 512) + (A ? 1024 : 512) / 32");
  CHECK(length("SUM") == "(SUM) + (SUM) / 32");
  CHECK(length("NUMBER") == "NUMBER + NUMBER / 32");
  CHECK(length("N * 2") == "N * 2 + N * 2 / 32");
}

TEST_CASE("fit/edits/parameter_to_end_of_its_kernel", "[fit]") {
  const std::string text =
      "kernel void a(local float* t) {\n  if (x) { t[i] = 1; }\n}\nkernel void b(local float* t) { t[j] = 2; }\n";
  const std::string after = changed(text, {{128, 2, 2}, {}}, {4, {64}}, {.name = "t", .lines = {2}, .bytes = 256});
  CHECK_THAT(after, has("t[i ^ "));
  CHECK_THAT(after, has("t[j]"));
}

TEST_CASE("fit/edits/function_for_long_indices", "[fit]") {
  const std::string body = "  t[y][x] = 1;\n  t[x][y] = t[y + 1][x];\n";
  const ArrayShape shape{4, {16, 16}};
  const std::string cuda = "__global__ void k() {\n  __shared__ float t[16][16];  // tile\n" + body + "}\n";
  CHECK(changed(cuda, padded(48, 4), shape) ==
        "__global__ void k() {\n  __shared__ float t[277];  // tile\n"
        "  const auto t_at = [](unsigned y, unsigned x) { return y * 16 + x + (y * 16 + x) / 12; };\n"
        "  t[t_at(y, x)] = 1;\n  t[t_at(x, y)] = t[t_at(y + 1, x)];\n}\n");
  const std::string opencl = "// Adds.\nkernel void k() {\n  local float t[16][16];\n" + body + "}\n";
  CHECK(changed(opencl, padded(48, 4), shape) ==
        "unsigned k_t_at(unsigned y, unsigned x) { return y * 16 + x + (y * 16 + x) / 12; }\n\n"
        "// Adds.\nkernel void k() {\n  local float t[277];\n"
        "  t[k_t_at(y, x)] = 1;\n  t[k_t_at(x, y)] = t[k_t_at(y + 1, x)];\n}\n");
  const std::string commented =
      "int a;\n/* x = 1;\n   Adds. */\nkernel void k() {\n  local float t[16][16];\n" + body + "}\n";
  CHECK(changed(commented, padded(48, 4), shape).find("int a;\nunsigned k_t_at(") == 0);
  const std::string nested = "/* a\n/* b */\nkernel void k() {\n  local float t[16][16];\n" + body + "}\n";
  CHECK(changed(nested, padded(48, 4), shape).find("/* a\n/* b */\nunsigned k_t_at(") == 0);
  const std::string twice = "__global__ void k() {\n  __shared__ float t[16][16];\n  t[y][x] = t[x][y];\n}\n";
  CHECK_THAT(changed(twice, padded(48, 4), shape), !has("t_at"));
  const std::string long_twice =
      "__global__ void k() {\n  __shared__ float t[16][16];\n  t[first_row + step][x] = t[first_row + step][y];\n}\n";
  CHECK_THAT(changed(long_twice, padded(48, 4), shape), has("t[t_at(first_row + step, x)] = "));
  const std::string taken = "int t_at;\n" + cuda;
  CHECK_THAT(changed(taken, padded(48, 4), shape), has("const auto t_at2 = ["));
}

// Arrays side by side with one layout share variables, functions and assertions.
TEST_CASE("fit/edits/arrays_alike", "[fit]") {
  const auto both = [](const std::string& head, const std::string& body, const Change& change,
                       const ArrayShape& shape) {
    const std::string text =
        head + "__global__ void k(int n) {\n  __shared__ int a[N];\n  __shared__ float b[N];\n" + body + "}\n";
    const Declaration a = declared(text, {.name = "a", .lengths = shape.lengths});
    const Declaration b = declared(text, {.name = "b", .lengths = shape.lengths});
    EditedFile file{text, {}};
    for (const Declaration* own : {&a, &b}) {
      const auto edits = edits_of(text, *own, change, shape, {&a, &b});
      REQUIRE(std::holds_alternative<Edits>(edits));
      file.add(std::get<Edits>(edits));
    }
    const std::string after = edited(text, file.edits);
    return after.substr(after.find("(int n) {\n") + 10);
  };
  const std::string head = "#define N 1024\n";
  CHECK(both(head, "  a[n] = 1;\n  b[n] = 2;\n", padded(128, 4), {4, {1024}}) ==
        "  __shared__ int a[N + N / 32];\n  __shared__ float b[N + N / 32];\n"
        "  const int at = n + (n >> 5);\n  a[at] = 1;\n  b[at] = 2;\n}\n");
  CHECK_THAT(both(head, "  int i = n * 3;\n  a[i] = 1;\n  b[i] = 2;\n", padded(128, 4), {4, {1024}}),
             has("  i += i >> 5;\n  a[i] = 1;\n  b[i] = 2;\n"));
  CHECK_THAT(both(head, "  a[n] = b[n * 3] = 1;\n  a[n * 5] = b[n * 7] = 2;\n", padded(128, 4), {4, {1024}}),
             has("  __shared__ float b[N + N / 32];\n  const auto padded = [](unsigned i) { return i + (i >> 5); };\n"
                 "  a[padded(n)] = b[padded(n * 3)] = 1;\n"));
  const std::string swizzled = both(head, "  a[n] = 1;\n  b[n] = 2;\n", {{128, 3, 2}, {}}, {4, {1024}});
  CHECK_THAT(swizzled, has("  static_assert(N % 8 == 0, \"a and b are laid out in blocks of 8\");\n"));
  CHECK(swizzled.find("static_assert", swizzled.find("static_assert") + 1) == std::string::npos);
}

TEST_CASE("fit/edits/no_function_where_it_is_not_seen", "[fit]") {
  const auto with = [](const std::string& use) {
    return changed(
        "void k() {\n  __shared__ float t[16][16];\n  " + use + "\n  t[y][x] = 1;\n  t[x][y] = t[y + 1][x];\n}\n",
        padded(48, 4), {4, {16, 16}});
  };
  for (const std::string use :
       {"const auto f = [x](int y) { return t[x][y]; };", "const auto f = [](int x) { if (x) { return t[x][0]; } };",
        "const auto f = [&x](int y) -> float { return t[x][y]; };",
        "struct L { int x; float f() { return t[x][1]; } };", "return g([x] { return t[x][1]; });"}) {
    const std::string after = with(use);
    CHECK_THAT(after, !has("t_at"));
    CHECK_THAT(after, has("t[y * 16 + x + (y * 16 + x) / 12] = 1;"));
  }
  for (const std::string use :
       {"const auto f = [&](int y) { return t[x][y]; };", "const auto f = [=, &x](int y) { return t[x][y]; };",
        "const auto f = [x](int y) { return x; };", "if (a[x]) { t[x][1] = 2; }", "struct L { int x; };",
        "for (float v : a) { t[x][1] = v; }"}) {
    CHECK_THAT(with(use), has("t[t_at(y, x)] = 1;"));
  }
}

TEST_CASE("fit/edits/lengths_of_pads", "[fit]") {
  const auto length = [](const std::string& dimensions, const Change& change, const ArrayShape& shape) {
    const std::string text = changed("__shared__ float t" + dimensions + ";\n", change, shape,
                                     {.name = "t", .element = 4, .lengths = shape.lengths});
    return text.substr(text.find("t["), text.find(";") - text.find("t["));
  };
  const Change two_pads{{}, {Pad{128, 4}, Pad{1024, 8}}};
  CHECK(length("[A * B]", two_pads, {4, {8192}}) == "t[A * B + A * B / 32 + A * B / 256 * 2]");
  CHECK(length("[A][B + 1]", two_pads, {4, {64, 63}}) ==
        "t[A * (B + 1) + (A * (B + 1)) / 32 + (A * (B + 1)) / 256 * 2]");
  CHECK(length("[N]", {{128, 5, 2}, {}}, {4, {1000}}) == "t[(N + 31) / 32 * 32]");
  CHECK(length("[N]", {{128, 5, 2}, {Pad{128, 4}, {}}}, {4, {1024}}) == "t[N + N / 32]");
  CHECK(length("[16][24]", padded(128, 4), {4, {16, 24}}) == "t[396]");
}

TEST_CASE("fit/edits/lengths_of_templates", "[fit]") {
  const std::string text =
      "template <int W>\n__global__ void k() {\r\n  __shared__ float t[W][W];\r\n  t[y][x] = t[x][y];\r\n}\n";
  const ArrayShape shape{4, {32, 32}};
  CHECK(changed(text, swizzle, shape, {.name = "t", .kernel = "k<32>"}) ==
        "template <int W>\n__global__ void k() {\r\n  __shared__ float t[W][W];\r\n"
        "  static_assert(W == 32, \"t is laid out for these lengths\");\r\n"
        "  t[y][x ^ y] = t[x][y ^ x];\r\n}\n");
  CHECK_THAT(changed(text, padded(128, 4), shape, {.name = "t", .kernel = "k<32>"}), !has("static_assert"));
  const std::string flat = "template <int N>\n__global__ void k() {\n  __shared__ float t[2 * N];\n  t[i] = 1;\n}\n";
  CHECK(changed(flat, padded(128, 4), {4, {128}}, {.name = "t", .kernel = "k<64>"}) ==
        "template <int N>\n__global__ void k() {\n  __shared__ float t[2 * N + 2 * N / 32];\n  t[i + (i >> 5)] = "
        "1;\n}\n");
  CHECK_THAT(changed(flat, {{128, 1, 4}, {}}, {4, {128}}, {.name = "t", .kernel = "k<64>"}),
             has("  static_assert(2 * N % 8 == 0, \"t is laid out in blocks of 8\");\n"
                 "  t[i ^ ((i >> 3) & 4)] = 1;\n"));
  CHECK_THAT(changed(flat, {{128, 1, 2}, {}}, {4, {128}}, {.name = "t", .kernel = "k<64>"}),
             !has("static_assert"));  // any 2 * N is right
  const Change shorter{.rows = {136, 132}};
  const std::string rows = "template <int W>\n__global__ void k() {\n  __shared__ float t[32][W];\n  t[y][x] = 1;\n}\n";
  CHECK(changed(rows, shorter, {4, {32, 34}}, {.name = "t", .kernel = "k<34>"}) ==
        "template <int W>\n__global__ void k() {\n  __shared__ float t[32][W - 1];\n"
        "  static_assert(W == 34, \"t is laid out for these lengths\");\n  t[y][x] = 1;\n}\n");
}

// A later change of a constant would make the indices of an XOR wrong.
TEST_CASE("fit/edits/lengths_of_constants", "[fit]") {
  const auto with = [](const std::string& constant, const std::string& dimensions, const std::string& use,
                       const Change& change, const ArrayShape& shape) {
    const std::string after =
        changed(constant + "__global__ void k() {\n  __shared__ float t" + dimensions + ";\n  " + use + "\n}\n", change,
                shape, {.name = "t"});
    const std::size_t begin = after.find("static_assert");
    return begin == after.npos ? "" : after.substr(begin, after.find(", \"", begin) - begin) + ")";
  };
  const std::string flat = "t[i] = 1;", square = "t[y][x] = t[x][y];";
  const Change blocks{{128, 1, 4}, {}};
  CHECK(with("#define N 128\n", "[N]", flat, blocks, {4, {128}}) == "static_assert(N % 8 == 0)");
  CHECK(with("constexpr int N = 64;\n", "[N * 2]", flat, blocks, {4, {128}}) == "static_assert(N * 2 % 8 == 0)");
  CHECK(with("#define N 130\n", "[N]", flat, blocks, {4, {130}}) == "");  // rounded to whole blocks
  CHECK(with("", "[128]", flat, blocks, {4, {128}}) == "");
  CHECK(with("#define N 128\n", "[N]", flat, padded(128, 4), {4, {128}}) == "");
  CHECK(with("#define N 32\n", "[N][N]", square, swizzle, {4, {32, 32}}) == "static_assert(N == 32)");
  CHECK(with("#define N 32\n", "[N][N]", square, padded(128, 4), {4, {32, 32}}) == "");
  CHECK(with("#define N 32\n", "[N][32]", square, swizzle, {4, {32, 32}}) == "static_assert(N == 32)");
  CHECK(with("", "[32][32]", square, swizzle, {4, {32, 32}}) == "");
  CHECK(with("#define N 34\n", "[32][N]", square, {.rows = {136, 132}}, {4, {32, 34}}) == "static_assert(N == 34)");
}

TEST_CASE("fit/edits/functions_that_get_the_array", "[fit]") {
  const ArrayShape line{4, {64}}, square{4, {32, 32}};
  const Change pad = padded(32, 4);
  const std::string add = "__device__ void add(float a, volatile float* p) {\n  p[a] += p[1];\n}\n";
  const auto kernel = [&](const std::string& use) {
    return "__global__ void k() {\n  __shared__ float t[64];\n  " + use + "\n}\n";
  };
  CHECK(changed(add + kernel("add(2, t);"), pad, line) ==
        "__device__ void add(float a, volatile float* p) {\n  p[a + (a >> 3)] += p[1];\n}\n"
        "__global__ void k() {\n  __shared__ float t[64 + 64 / 8];\n  add(2, t);\n}\n");
  const std::string twice = "__device__ void both(float* q) {\n  add(q[3], q);\n}\n";
  CHECK_THAT(changed(add + twice + kernel("both(t);"), pad, line), has("add(q[3], q);"));
  const std::string without_index = "line 6: the array is used without its index; index its elements there";
  CHECK(changed(add + kernel("other(t);"), pad, line) == without_index);
  CHECK(changed("__device__ void f(float* p);\n\n\n" + kernel("f(t);"), pad, line) == without_index);
  CHECK(changed("__device__ void f(float* p) { p[1] = 0; }\n__device__ void f(int* p) {}\n\n" + kernel("f(t);"), pad,
                line) == without_index);
  CHECK(changed("__device__ void f(float*& p) { p[1] = 0; }\n\n\n" + kernel("f(t);"), pad, line) == without_index);
  CHECK(changed("__device__ void f(float* p) { *p = 0; }\n\n\n" + kernel("f(t);"), pad, line) ==
        "line 1: the array is used without its index; index its elements there");
  CHECK(changed("#define P p\n__device__ void f(float* p) { P[1] = p[2]; }\n\n" + kernel("f(t);"), pad, line) ==
        "line 2: the macro P may name p; change the index by hand");
  CHECK(changed(add + kernel("add(2, t); add(2, t + 8);"), pad, line) ==
        "line 6: add gets a part of an array, or another number of arguments; change the index by hand there");
  CHECK(changed(add + kernel("add(2, t); add(2, out + 8);"), pad, line) ==
        "line 6: a function that gets the array also gets out, which is no array in shared memory; write a copy of the "
        "function first");
  // Dimensions of a parameter.
  const auto with_square = [&](const std::string& parameter, const std::string& call) {
    return changed("__device__ void f(" + parameter +
                       ") {\n  t[1][2] = 0;\n}\n__global__ void k() {\n"
                       "  __shared__ float t[32][32];\n  " +
                       call + "\n}\n",
                   padded(128, 4), square);
  };
  CHECK_THAT(with_square("float t[32][32]", "f(t);"), has("void f(float t[32][32 + 1])"));
  CHECK_THAT(with_square("float t[][32]", "f(t);"), has("void f(float t[][32 + 1])"));
  CHECK_THAT(with_square("float (*t)[32]", "f(t);"), has("void f(float (*t)[32 + 1])"));
  CHECK_THAT(with_square("const float (&t)[32][32]", "f(t);"), has("void f(const float (&t)[32][32 + 1])"));
  for (const char* other : {"float* t", "float (*t)[32][32]", "float (&t)[1024]", "float (*&t)[32]"}) {
    CHECK_THAT(with_square(other, "f(t);"), has("without all of its 2 indices"));
  }
}

TEST_CASE("fit/edits/calls_in_statements", "[fit]") {
  const std::string add = "__device__ void add(float a, float* p) {\n  p[a] += 1;\n}\n";
  const auto with = [&](const std::string& head, const std::string& use) {
    return changed(
        head + add + "__global__ void k(float* out) {\n  __shared__ float t[64];\n  add(2, t);\n  " + use + "\n}\n",
        padded(32, 4), {4, {64}});
  };
  const std::string index = "p[a + (a >> 3)] += 1;";
  for (const std::string before : {"", "if (x) ", "while (x) ", "for (;;) ", "if (x) ; else ", "do ",
                                   "case 1: ", "here: ", "x, ", "ns::", "return ", "[[likely]] ", "LOOP "}) {
    INFO(before);
    CHECK_THAT(with("", before + "add(2, t);"), has(index));
    CHECK(with("", before + "add(2, out);") ==
          "line 7: a function that gets the array also gets out, which is no array in shared memory; write a copy of "
          "the function first");
  }
  for (const std::string type : {"void ", "float* ", "__device__ const float& "}) {
    INFO(type);
    CHECK_THAT(with(type + "add(float a, float* p);\n", ""), has(index));
  }
}

TEST_CASE("fit/edits/ties_through_functions", "[fit]") {
  const auto with = [](const std::string& call) {
    return declared(
        "__device__ void f(float* p) { p[1] = 0; }\n"
        "__device__ void both(float* p, float* q) { f(p); f(q); }\n"
        "__global__ void k(float* out) {\n  __shared__ float t[64], u[64];\n  " +
            call + "\n}\n",
        {.name = "t", .lines = {1}, .kernel = "k"});
  };
  CHECK(with("both(t, t);").tied.empty());
  CHECK(with("both(t, t);").other_memory.empty());
  CHECK(with("both(t, u);").tied.size() == 1);
  CHECK(with("both(u, t);").tied.size() == 1);
  CHECK(with("both(t, u);").other_memory.empty());
  CHECK(with("both(t, out);").other_memory.starts_with("line 5: a function that gets the array also gets out, "));
}

TEST_CASE("fit/edits/ties", "[fit]") {
  const std::string text =
      "__device__ void f(float* p) { p[1] = 0; }\n"
      "__global__ void a() {\n  __shared__ float t[64];\n  f(t);\n}\n"
      "__global__ void b() {\n  __shared__ float u[64];\n  f(u);\n}\n"
      "__global__ void c() {\n  __shared__ float t[64];\n  t[0] = 1;\n}\n";
  const Declaration first = declared(text, {.name = "t", .lines = {4}});
  REQUIRE(first.tied.size() == 1);
  CHECK(first.tied[0].at == text.find("u[64]"));
  CHECK_FALSE(first.tied[0].by_macro);
  CHECK(declared(text, {.name = "t", .lines = {12}}).tied.empty());
  // Only a function accesses the array: the kernel's name tells which one it is.
  CHECK(declared(text, {.name = "u", .lines = {1}, .kernel = "b"}).line == 7);
  CHECK(declared(text, {.name = "t", .lines = {1}, .kernel = "a()"}).line == 3);
  CHECK_FALSE(find_declaration(text, {.name = "t", .lines = {1}, .kernel = "b"}).has_value());
  const auto with_macro = [&](const std::string& use) {
    return declared("#define T(i) t[i]\n__global__ void d() {\n  __shared__ float t[64];\n  t[0] = 1; " + use +
                        "\n}\n" + text,
                    {.name = "t", .lines = {4}})
        .tied;
  };
  CHECK(with_macro("T(1) = 2;").size() == 2);
  CHECK(with_macro("").empty());
}

TEST_CASE("fit/edits/macros", "[fit]") {
  const auto with = [&](const std::string& macros, const std::string& body) {
    return changed(macros + "void k() {\n  __shared__ float t[64];\n  " + body + "\n}\n", padded(32, 4), {4, {64}});
  };
  CHECK(with("#define T(y, x) t[y * 8 + x]  // row\n", "T(1, 2) = T(3, a);")
            .find("#define T(y, x) t[y * 8 + x + ((y * 8 + x) >> 3)]  // row\n") == 0);
  CHECK(with("#define T(i) t[i]\n", "T(a + b) = 1;").find("#define T(i) t[(i) + ((i) >> 3)]\n") == 0);
  CHECK(with("#define FIRST t[0]\n", "FIRST = 1;").find("#define FIRST t[0]\n") == 0);
  CHECK(with("#define T(i) t[i]\n", "T(a++) = 1;") ==
        "line 4: an argument of the macro T has a side effect; write it to a variable first");
  CHECK(with("#define T(i) t[i]\n#define U T(1)\n", "U = 1;") ==
        "line 1: the macro T is used by another macro; change its text by hand");
  CHECK(with("#define T(i) f(t)\n", "T(1);") ==
        "line 1: the array is used without its index; index its elements there");
  CHECK(with("#define T(i) \\\n  t[i]\n", "T(1) = 0;") ==
        "line 1: the macro T names the array; change its text by hand");
  // Nor may a macro reach other elements where only the length of rows changes.
  const auto padded_rows = [&](const std::string& macros, const std::string& body,
                               const std::vector<std::string_view>& headers = {}) {
    const std::string text = macros + "void k() {\n  __shared__ float t[32][32];\n  " + body + "\n}\n";
    return changed(text, padded(128, 4), {4, {32, 32}}, {.name = "t", .headers = headers});
  };
  const std::string address = "the address of an element is taken; index the array where the element is used";
  CHECK(padded_rows("#define AT(i) (&t[0][0])[i]\n", "AT(1) = 1;") == "line 1: " + address);
  CHECK(padded_rows("", "AT(1) = 1;", {"#define AT(i) (&t[0][0])[i]\n"}) ==
        "in a header: the macro AT names the array; change its text by hand");
  CHECK_THAT(padded_rows("", "AT(1) = 1;", {"#define AT(i) t[i][0]\n"}), has("t[32][32 + 1]"));
  CHECK_THAT(padded_rows("", "t[1][0] = 1;", {"#define AT(i) (&t[0][0])[i]\n"}), has("[32 + 1]"));
  CHECK(changed("void k() {\n  __shared__ float t[64];\n  AT(1) = 1;\n}\n", padded(32, 4), {4, {64}},
                {.name = "t", .headers = {"#define AT(i) t[i]\n"}}) ==
        "in a header: the macro AT names the array; change its text by hand");
}

TEST_CASE("fit/edits/sizeof", "[fit]") {
  const auto with = [](const std::string& dimensions, const std::string& use, const Change& change,
                       const ArrayShape& shape, const std::string& head = "") {
    return changed(head + "void k() {\n  __shared__ float t" + dimensions + ";\n  " + use + "\n}\n", change, shape);
  };
  const ArrayShape line{4, {64}}, square{4, {32, 32}};
  const std::string refusal =
      "line 3: sizeof gives the bytes of the array, which become others; write the number there";
  CHECK(with("[64]", "t[i] = sizeof(t) / 4;", padded(32, 4), line) == refusal);
  CHECK(with("[64]", "t[i] = sizeof t;", padded(32, 4), line) == refusal);
  CHECK(with("[32][32]", "t[y][x] = sizeof(t[0]);", padded(128, 4), square) == refusal);
  CHECK(with("[64]", "t[i * 8 + 1] = sizeof(t);", padded(32, 4), line) == refusal);
  CHECK(with("[64]", "t[i] = N;", padded(32, 4), line, "#define N (sizeof(t) / 4)\n") ==
        "line 1: sizeof gives the bytes of the array, which become others; write the number there");
  CHECK_THAT(with("[64]", "t[i] = sizeof(t[0]);", padded(32, 4), line), has("t[64 + 64 / 8]"));
  CHECK_THAT(with("[32][32]", "t[y][x] = sizeof(t);", swizzle, square), has("t[y][x ^ y]"));
}

TEST_CASE("fit/edits/rows_counted_in_the_last_index", "[fit]") {
  const auto with = [](const std::string& use, const Change& change) {
    return changed("#define W 32\nvoid k() {\n  __shared__ float t[32][W];\n  " + use + "\n}\n", change, {4, {32, 32}});
  };
  const std::string refusal =
      "line 4: the last index counts whole rows; write one index for the row and one for the column";
  for (const std::string index : {"y * 32 + x", "W * y + x", "x + y * (W)", "(r + 1) * W + c", "(y << 5) + x", "W*y"}) {
    CHECK(with("t[0][" + index + "] = 1;", swizzle) == refusal);
    CHECK(with("t[0][" + index + "] = 1;", padded(128, 4)) == refusal);
    CHECK_THAT(with("t[y][" + index + "] = 1;", padded(128, 4)), has("t[32][W + 1]"));
  }
  for (const std::string index : {"y * 4 + x", "8 * (y + 1)", "(y << 2) + x", "x"}) {
    CHECK_THAT(with("t[0][" + index + "] = 1;", padded(128, 4)), has("t[32][W + 1]"));
  }
}

TEST_CASE("fit/edits/branches_of_the_preprocessor", "[fit]") {
  const auto with = [](const std::string& body) {
    return changed(
        "void k() {\n  __shared__ float t[32][32];\n" + body + "}\nvoid l() {\n  float t[4];\n  t[0] = 1;\n}\n",
        padded(128, 4), {4, {32, 32}});
  };
  const std::string refusal =
      "a branch of the preprocessor opens or closes a block, and not both; change the array by hand";
  CHECK(with("#ifdef A\n  if (x) {\n#else\n  if (y) {\n#endif\n  t[y][x] = 1; }\n") == "line 3: " + refusal);
  CHECK(with("  for (;;) {\n#if A\n  f();\n  }\n#else\n  }\n#endif\n  t[y][x] = 1;\n") == "line 4: " + refusal);
  CHECK(with("  for (;;) {\n#if A\n  f();\n#elif B\n  }\n#else\n  }\n#endif\n  t[y][x] = 1;\n") ==
        "line 6: " + refusal);
  for (const std::string body : {"#if A\n  if (x) { f(); }\n#else\n  { g(); }\n#endif\n  t[y][x] = 1;\n",
                                 "  if (x) {\n#if A\n  f();\n#endif\n  }\n  t[y][x] = 1;\n",
                                 "#if A\n#if B\n  if (x) { f(); }\n#endif\n  { g(); }\n#endif\n  t[y][x] = 1;\n"}) {
    CHECK_THAT(with(body), has("t[32][32 + 1]"));
  }
}

TEST_CASE("fit/edits/names_declared_again", "[fit]") {
  const auto with = [](const std::string& use) {
    return changed("void k() {\n  __shared__ float t[64];\n  t[0] = 1;\n  " + use + "\n}\n", padded(32, 4), {4, {64}});
  };
  const std::string refusal = "line 4: t is declared here again; give one of the two another name";
  for (const std::string use : {"{ float t[4]; t[1] = 2; }", "{ float a = 1, t[4]; t[1] = 2; }",
                                "{ int* t; t[1] = 2; }", "auto f = [](const float* t) { return t[1]; };",
                                "{ auto& t = u; t[1] = 2; }", "struct L { float t[2]; float f() { return t[1]; } } l;",
                                "{ Row t[4]; t[1] = 2; }", "for (float a[2], t[2];;) t[1] = 0;"}) {
    CHECK(with(use) == refusal);
  }
  for (const std::string use :
       {"f(a, t[9]);", "float a = 1, b = t[9];", "x = a * t[9] & t[2];", "if (a) b; else t[9] = 2;",
        "f(float(a), t[9]);", "float v[] = {a, t[9]};", "x = l.t[0] + t[9];", "g(x & t[9]);"}) {
    CHECK_THAT(with(use), has("t[10]"));
  }
}

TEST_CASE("fit/edits/two_blocks_of_a_function", "[fit]") {
  const auto block = [](const std::string& name) {
    return "  {\n    __shared__ float " + name + "[32][32];\n    " + name + "[y][x] = 1;\n  }\n";
  };
  const auto with = [](const std::string& body, const SoughtArray& sought) {
    return changed("void k() {\n" + body + "}\n", padded(128, 4), {4, {32, 32}}, sought);
  };
  const std::string refusal = ": declared twice; change the indices by hand";
  CHECK(with(block("t") + block("t"), {.name = "t", .lines = {4, 8}}) == "line 7" + refusal);
  CHECK(with(block("t") + block("t"), {.name = "t", .lines = {4}}) == "line 3" + refusal);
  CHECK_THAT(with(block("t") + block("u"), {.name = "t", .lines = {4}}), has("t[32][32 + 1]"));
  CHECK_THAT(with(block("t") + "}\nvoid k() {\n" + block("t"), {.name = "t", .lines = {4}}), has("t[32][32 + 1]"));
}

TEST_CASE("fit/edits/casts_to_longer_types", "[fit]") {
  const auto with = [](const std::string& use, const Change& change) {
    return changed("void k() {\n  __shared__ float t[32][32];\n  t[0][1] = 1;\n  " + use + "\n}\n", change,
                   {4, {32, 32}});
  };
  const auto refusal = [](const std::string& bytes) {
    return "line 4: the change would tear the " + bytes + " bytes that a cast accesses; change the index by hand";
  };
  const std::string vector = "v = *reinterpret_cast<float4*>(&t[y][0]);", pair = "v = *(const float2*)&t[y][0];";
  CHECK(with(vector, swizzle) == refusal("16"));
  CHECK(with(vector, padded(128, 4)) == refusal("16"));
  CHECK(with(pair, padded(128, 4)) == refusal("8"));
  CHECK_THAT(with(pair, {{128, 3, 4}, {}}), has("t[y][(y & 7) * 4]"));
  CHECK_THAT(with(vector, {{128, 3, 4}, {}}), has("t[y][(y & 7) * 4]"));
  CHECK_THAT(with(vector, padded(128, 16)), has("t[32][32 + 4]"));
  CHECK_THAT(with("v = *(float*)&t[y][0];", padded(128, 4)), has("t[32][32 + 1]"));
  const std::string first = "reinterpret_cast<float4*>(&t[y][0])[0] = v;";
  CHECK(with(first, padded(128, 4)) == refusal("16"));
  CHECK_THAT(with(first, padded(128, 16)), has("t[32][32 + 4]"));
  for (const std::string other :
       {"reinterpret_cast<float4*>(&t[y][0])[1] = v;", "p = &reinterpret_cast<float4*>(&t[y][0])[0];",
        "p = reinterpret_cast<float4*>(&t[y][0]);"}) {
    CHECK_THAT(with(other, padded(128, 16)), has("the address of an element is taken"));
  }
}

TEST_CASE("fit/edits/pad_that_goes", "[fit]") {
  const auto after = [](const std::string& length, const Change& change) {
    const std::string text =
        "#define TILE 16\n#define PAD 1\nvoid k() {\n  __shared__ float t[16][" + length + "];\n  t[y][x] = 1;\n}\n";
    return changed(text, change, {4, {16, 17}});
  };
  CHECK_THAT(after("TILE + PAD", {.rows = {68, 64}}), has("t[16][TILE];\n  static_assert(TILE == 16, "));
  CHECK_THAT(after("TILE + PAD", {.swizzle = {64, 4, 2}, .rows = {68, 64}}),
             has("t[16][TILE];\n  static_assert(TILE == 16,"));
  CHECK_THAT(after("PAD + TILE", {.rows = {68, 64}}), has("t[16][(PAD + TILE) - 1];"));
  CHECK_THAT(after("TILE + PAD", {.rows = {68, 60}}), has("t[16][(TILE + PAD) - 2];"));
}

TEST_CASE("fit/edits/function_in_a_namespace", "[fit]") {
  const auto after = [](const std::string& use_outside) {
    const std::string uses = "t[i + 1] = t[i + 2] = t[i + 3] = t[i + 4] = t[i + 5] = t[i + 6] = 0;";
    const std::string text = "int a;\nnamespace part {\n__device__ void fill(float* t, int i) { " + uses +
                             " }\n}\n__global__ void k(int i) {\n  __shared__ float t[512];\n  part::fill(t, i);\n" +
                             use_outside + "}\n";
    return changed(text, padded(128, 4), {4, {512}});
  };
  const std::string function = "__device__ inline unsigned t_at(unsigned i) { return i + (i >> 5); }\n";
  CHECK(after("").starts_with("int a;\nnamespace part {\n" + function));
  CHECK(after("  t[i] = 1;\n").starts_with("int a;\n" + function));
}

TEST_CASE("fit/edits/macros_of_headers_that_compute", "[fit]") {
  const auto after = [](const std::string& header) {
    return changed("void k() {\n  __shared__ float t[128];\n  t[AT(y, x)] = 1;\n}\n", padded(128, 4), {4, {128}},
                   {.name = "t", .headers = {header}});
  };
  CHECK_THAT(after("#define AT(y, x) ((y) * 32 + (x))\n"), has("t[(AT(y, x)) + ((AT(y, x)) >> 5)] = 1;"));
  for (const std::string header : {"#define AT(y, x) ((y) * 32 + count++)\n", "#define AT(y, x) next(y)\n", ""}) {
    CHECK_THAT(after(header), has("the index calls AT, which may have a side effect"));
  }
}

TEST_CASE("fit/edits/launches", "[fit]") {
  const std::string kernel = "__global__ void k(int n) {\n  extern __shared__ float t[];\n  t[n] = 1;\n}\n";
  const auto launch = [&](const std::string& text, std::uint64_t elements = 1024) {
    const std::string after =
        changed(kernel + text + "\n", padded(128, 4), {4, {elements}}, {.name = "t", .bytes = 4 * elements});
    return after.substr(std::min(after.find("}\n") + 2, after.size() - 1));
  };
  CHECK(launch("void f() { k<<<1, 32, n * 4>>>(n); }") == "void f() { k<<<1, 32, n * 4 + n * 4 / 128 * 4>>>(n); }\n");
  CHECK(
      launch("void f() { k<<<g(1, 2), 32, bytes, s>>>(n); k<<<1, 2, size(3)>>>(1); }") ==
      "void f() { k<<<g(1, 2), 32, bytes + bytes / 128 * 4, s>>>(n); k<<<1, 2, size(3) + size(3) / 128 * 4>>>(1); }\n");
  CHECK(launch("void f() { k<<<1, 32, sizeof(float) * n * 2>>>(n); }") ==
        "void f() { k<<<1, 32, (n * 2 + n * 2 / 32) * sizeof(float)>>>(n); }\n");
  CHECK_THAT(launch("void f() { k<<<1, 32, n[0] * sizeof(float)>>>(n); }"), has("(n[0] + n[0] / 32) * sizeof(float)"));
  for (const std::string bytes : {"n * sizeof(int)", "(n + 1) * sizeof(float) + 4", "n * sizeof(float) / 2"}) {
    CHECK_THAT(launch("void f() { k<<<1, 32, " + bytes + ">>>(n); }"), has(" / 128 * 4"));
  }
  // What ends before the first pad, unless no launch gives more.
  CHECK_THAT(launch("void f() { k<<<1, 32, n * 4>>>(n); }", 8), has("n * 4 + n * 4 / 128 * 4"));
  CHECK(launch("void f() { k<<<1, 32, 32>>>(n); }", 8) == "void f() { k<<<1, 32, 32>>>(n); }\n");
  const auto refuses = [&](const std::string& text, std::uint64_t elements = 1024) {
    return changed(kernel + text + "\n", padded(128, 4), {4, {elements}}, {.name = "t", .bytes = 4 * elements}) ==
           "line 2: the launch gives the bytes of this array, and must give it more; change both by hand";
  };
  CHECK(refuses(""));
  CHECK(refuses("void f() { k<<<1, 32>>>(n); }"));
  CHECK(refuses("void f() { cudaFuncSetAttribute(k, a, n); k<<<1, 32, n>>>(n); }"));
  CHECK(refuses("void f() { k<<<1, 32, n>>>(n); }", 12200));  // more than 48 KB
}

TEST_CASE("fit/edits/launches_of_whole_blocks", "[fit]") {
  const std::string kernel =
      "#define N 8\n__global__ void k(int n) {\n  extern __shared__ float t[];\n  t[n] = 1;\n}\n";
  const auto launch = [&](const std::string& bytes, std::uint64_t elements = 256) {
    const std::string text = kernel + "void f(int n) { k<<<1, 32, " + bytes + ">>>(n); }\n";
    const std::string after = changed(text, {{128, 3, 2}, {}}, {4, {elements}}, {.name = "t", .bytes = 4 * elements});
    CHECK_THAT(after, !has("static_assert"));  // the array has no length
    const std::size_t begin = after.find("32, ");
    return begin == std::string::npos ? after : after.substr(begin + 4, after.find(">>>") - begin - 4);
  };
  CHECK(launch("1024") == "1024");
  CHECK(launch("32 * N * sizeof(float)") == "32 * N * sizeof(float)");
  CHECK(launch("32 * N * sizeof(float)", 264) == "(32 * N + 7) / 8 * 8 * sizeof(float)");  // N was another one
  CHECK(launch("n * 4") == "(n * 4 + 31) / 32 * 32");
  const auto is_whole = [&](const std::string& body) {
    const std::string text = kernel + "void f(int m) { " + body + " k<<<1, 32, n * sizeof(float)>>>(n); }\n";
    return changed(text, {{128, 3, 2}, {}}, {4, {256}}, {.name = "t", .bytes = 1024}).find("n * sizeof") !=
           std::string::npos;
  };
  CHECK(is_whole("int n = 1 << m;"));
  CHECK(is_whole("int n = 1 << m; for (; n > 2048; n >>= 2) f();"));
  CHECK_FALSE(is_whole("int n = m;"));
  CHECK_FALSE(is_whole("int n = 1 << m; n += 4;"));
  CHECK_FALSE(is_whole("int n = 1 << m | 1;"));
  CHECK_FALSE(is_whole("int n = 1 << m; set(&n);"));
  CHECK(changed(kernel, {{128, 3, 2}, {}}, {4, {256}}, {.name = "t", .bytes = 1024}) ==
        "line 3: the launch gives the bytes of this array, and must give it more; change both by hand");
}

TEST_CASE("fit/edits/divided_by_pointers", "[fit]") {
  const auto why = [](const std::string& body) {
    const std::string text = "__global__ void k(int n) {\n  extern __shared__ float t[];\n  " + body +
                             "\n  t[n] = 1;\n}\nvoid f(int n) { k<<<1, 32, n>>>(n); }\n";
    return changed(text, padded(128, 4), {4, {1024}}, {.name = "t", .bytes = 4096});
  };
  const std::string divided = ": pointers divide this array into several; declare each as an array of its own";
  CHECK(why("float* a = t;\n  float* b = &a[n];") == "line 4" + divided);
  CHECK(why("float* a = t + n;") == "line 3" + divided);
  CHECK(why("int* a = (int*)&t[n];") == "line 3" + divided);
  CHECK_THAT(why("float* a = t;"), !has(divided));
  CHECK_THAT(why("*out = t[n];"), !has(divided));
  CHECK_THAT(why("float a = t[n] * t[0];"), has("<<<1, 32, n + n / 128 * 4>>>"));
}

// --- The patch ---

std::string diff(const std::string& text, const Edits& edits, std::string_view path = "k.cu") {
  return unified_diff(path, {text, edits});
}

TEST_CASE("fit/patch/hunks", "[fit]") {
  std::string text;
  for (int line = 1; line <= 20; ++line) text += std::to_string(line) + "\n";
  const auto at = [&](const std::string& line) { return text.find("\n" + line + "\n") + 1; };
  CHECK(diff(text, {}).empty());
  CHECK(diff(text, {{0, 1, "one"}, {at("20"), at("20") + 2, "twenty"}}) ==
        "--- a/k.cu\n+++ b/k.cu\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n"
        "@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+twenty\n");
  CHECK(diff(text, {{at("5") + 1, at("5") + 1, "\nnew"}, {at("12"), at("12") + 2, "x"}}) ==
        "--- a/k.cu\n+++ b/k.cu\n@@ -3,13 +3,14 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+x\n"
        " 13\n 14\n 15\n");
  CHECK_THAT(diff(text, {{at("5") + 1, at("5") + 1, "\nnew"}, {at("13"), at("13") + 2, "x"}}),
             has("@@ -10,7 +11,7 @@"));
}

TEST_CASE("fit/patch/ends_of_lines", "[fit]") {
  CHECK(diff("a\r\nb", {{0, 1, "x"}}) ==
        "--- a/k.cu\n+++ b/k.cu\n@@ -1,2 +1,2 @@\n-a\r\n+x\r\n b\n"
        "\\ No newline at end of file\n");
  CHECK(diff("a\nb", {{2, 3, "x"}}) ==
        "--- a/k.cu\n+++ b/k.cu\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n"
        "+x\n\\ No newline at end of file\n");
}

TEST_CASE("fit/patch/added_lines", "[fit]") {
  const std::string head = "--- a/k.cu\n+++ b/k.cu\n";
  CHECK(diff("a\nb\n", {{0, 0, "f\n\n"}}) == head + "@@ -1,2 +1,4 @@\n+f\n+\n a\n b\n");
  CHECK(diff("a\nb", {{3, 3, "\nc"}}) ==
        head + "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n");
  CHECK(diff("a\nb", {{1, 1, "\nc"}}) == head + "@@ -1,2 +1,3 @@\n a\n+c\n b\n\\ No newline at end of file\n");
}

TEST_CASE("fit/patch/names", "[fit]") {
  CHECK(
      diff("a\n", {{0, 1, "x"}}, "my kernels/k.cu").starts_with("--- a/my kernels/k.cu\t\n+++ b/my kernels/k.cu\t\n"));
  CHECK(diff("a\n", {{0, 1, "x"}}, "a\"b\\c\n.cu").starts_with("--- \"a/a\\\"b\\\\c\\012.cu\"\n"));
}

/// A kernel with this loop, and what becomes of the loop with sequential addressing; or why nothing does.
std::string sequential_loop(const std::string& loop, const std::string& head = "", const std::string& tail = "",
                            const std::string& type = "float") {
  const auto kernel = [&](const std::string& tree) {
    return "void k(float* out, int tid) {\n  __shared__ " + type + " t[256];\n  t[tid] = 1;\n  " + head + tree +
           "\n  if (tid == 0) out[0] = t[0];\n" + tail + "}\n";
  };
  const std::string after =
      changed(kernel(loop), {.swizzle = {}, .pads = {}, .rows = {}, .sequential = true}, {4, {256}});
  if (after.starts_with("line")) return after;
  const std::string comment = "// sequential addressing: no bank conflicts";
  const std::size_t begin = after.find(comment);
  REQUIRE(begin != std::string::npos);
  CHECK(after.substr(0, begin).ends_with("  t[tid] = 1;\n  " + head));
  const std::size_t tree = begin + comment.size();
  return after.substr(tree, after.find("\n  if (tid == 0)") - tree);
}

TEST_CASE("fit/edits/sequential_addressing", "[fit]") {
  CHECK(sequential_loop("for (unsigned int s = 1; s < blockDim.x; s *= 2) {\n"
                        "    int index = 2 * s * tid;  // strided\n\n"
                        "    if (index < blockDim.x) { t[index] += t[index + s]; }  // a pair\n"
                        "    __syncthreads();\n  }") ==
        "; blockDim.x must be a power of two\n  for (unsigned int s = blockDim.x / 2; s > 0; s /= 2) {\n"
        "    if (tid < s) { t[tid] += t[tid + s]; }  // a pair\n"
        "    __syncthreads();\n  }");
  CHECK(sequential_loop("for (int s = 1; s < (256); s <<= 1) { barrier(CLK_LOCAL_MEM_FENCE); "
                        "if ((s * (get_local_id(0) * 2)) + s < 256) "
                        "t[s*2*get_local_id(0)] = max(t[2*s*get_local_id(0)], t[s + 2*s*get_local_id(0)]); }") ==
        "\n  for (int s = 128; s > 0; s >>= 1) { barrier(CLK_LOCAL_MEM_FENCE); if (get_local_id(0) < s) "
        "t[get_local_id(0)] = max(t[get_local_id(0)], t[s + get_local_id(0)]); }");
  CHECK(sequential_loop("for (int d = 2; d <= N; d = d * 2) { if (tid < N / d) t[d * tid] += t[d * tid + d / 2]; "
                        "block.sync(); }") ==
        "; N must be a power of two\n  for (int d = N / 2; d > 0; d /= 2) { if (tid < d) t[tid] += t[tid + d]; "
        "block.sync(); }");
  CHECK(sequential_loop(
            "for (int s = 1; s <= n; s += s) { if (tid < 2 * n / (2 * s)) if (t[2 * s * tid] < t[2 * s * tid + s]) "
            "t[2 * s * tid] = t[2 * s * tid + s]; __syncthreads(); }") ==
        "; n must be a power of two\n  for (int s = n; s > 0; s /= 2) { if (tid < s) if (t[tid] < t[tid + s]) t[tid] = "
        "t[tid + s]; __syncthreads(); }");
  CHECK(sequential_loop(
            "for (int s = 1; s < n + m; s *= 2) { if (2 * s * tid < n + m) t[2 * s * tid] *= t[2 * s * tid + s]; "
            "__syncthreads(); }") ==
        "; n + m must be a power of two\n  for (int s = (n + m) / 2; s > 0; s /= 2) { if (tid < s) t[tid] *= t[tid + "
        "s]; __syncthreads(); }");
}

TEST_CASE("fit/edits/sequential_addressing_of_functions", "[fit]") {
  const auto is_changed = [](const std::string& function) {
    const std::string kernel =
        "template <class F> void k(float* out, int tid, F f) {\n  __shared__ float t[256];\n"
        "  for (int s = 1; s < 256; s *= 2) { if (2 * s * tid < 256) t[2 * s * tid] = f(t[2 * s * tid], t[2 * s * tid "
        "+ s]);"
        " __syncthreads(); }\n  out[0] = t[0];\n}\n";
    const Change sequential{.swizzle = {}, .pads = {}, .rows = {}, .sequential = true};
    return changed(function + "\n" + kernel, sequential, {4, {256}}).find("t[tid] = f(t[tid], t[tid + s]);") !=
           std::string::npos;
  };
  CHECK(is_changed("float f(float x, float y) { return x + y; }"));
  CHECK(is_changed("float f(float x, float y) { return (x > y) ? x : y; }"));
  CHECK(is_changed("struct plus { float operator()(const float& a, const float& b) const { return b + a; } };"));
  CHECK(is_changed("struct product { float operator()(float a, float b) { return a * b; } };"));
  CHECK_FALSE(is_changed("struct product { matrix operator()(matrix a, matrix b) { return a * b; } };"));
  CHECK_FALSE(is_changed("float f(float x, float y) { return x - y; }"));
  CHECK_FALSE(is_changed("float f(float x, float y) { return x + 2 * y; }"));
  CHECK_FALSE(is_changed("float f(float x, float y) { return x < y ? y : z; }"));
  CHECK_FALSE(is_changed("float f(float x, float y);"));
  CHECK_FALSE(is_changed(""));  // the function of another source
  CHECK_FALSE(
      is_changed("struct plus { float operator()(float a, float b) { return a + b; } };\n"
                 "struct minus { float operator()(float a, float b) { return a - b; } };"));
}

TEST_CASE("fit/edits/no_sequential_addressing", "[fit]") {
  const std::string head = "for (int s = 1; s < 256; s *= 2) { ", sum = "t[2 * s * tid] += t[2 * s * tid + s];";
  const std::string guard = "if (2 * s * tid < 256) ", barrier = " __syncthreads(); }";
  const std::string tree = head + guard + sum + barrier;
  CHECK(sequential_loop(tree).starts_with("\n  for (int s = 128;"));
  const auto is_refused = [](const std::string& why) { return why.starts_with("line ") && !why.ends_with("}\n"); };
  const auto with = [&](const std::string& other) { return head + guard + other + barrier; };
  CHECK(is_refused(sequential_loop(with("t[2 * s * tid] -= t[2 * s * tid + s];"))));  // the order counts
  CHECK(is_refused(sequential_loop(with("t[2 * s * tid] = f(t[2 * s * tid], t[2 * s * tid + s]);"))));
  CHECK(is_refused(sequential_loop(with("t[2 * s * tid] += t[2 * s * tid + 2 * s];"))));  // another element
  CHECK(is_refused(sequential_loop(with("t[2 * s * tid] += t[2 * s * other + s];"))));    // of another thread
  CHECK(is_refused(sequential_loop(with("t[2 * s * tid] += t[4 * s * tid + s];"))));
  CHECK(is_refused(sequential_loop(with("{ " + sum + " out[s] = 1; }"))));               // more than a sum
  CHECK(is_refused(sequential_loop(head + "if (2 * s * tid < 128) " + sum + barrier)));  // not all of them
  CHECK(is_refused(sequential_loop(head + "if (2 * s * tid <= 256) " + sum + barrier)));
  CHECK(is_refused(sequential_loop(head + guard + sum + " else out[s] = 1;" + barrier)));
  CHECK(is_refused(sequential_loop(head + "out[s] = 1; " + guard + sum + barrier)));
  CHECK(is_refused(sequential_loop(head + sum + barrier)));
  CHECK(is_refused(sequential_loop(head + guard + sum + " }")));  // without a barrier
  CHECK(is_refused(sequential_loop("for (int s = 1; s < 256; s *= 4) { " + guard + sum + barrier)));
  CHECK(is_refused(sequential_loop("for (int s = 2; s < 256; s *= 2) { " + guard + sum + barrier)));
  CHECK(is_refused(sequential_loop("for (s = 1; s < 256; s *= 2) { " + guard + sum + barrier)));  // s is used again
  CHECK(is_refused(
      sequential_loop("for (int s = 1; s < 256; s *= 2) {\n#if A\n" + guard + sum + "\n#endif\n" + barrier)));
  CHECK(is_refused(sequential_loop(tree, "for (int i = 0; i < 2; ++i) ")));  // other elements are left
  CHECK(is_refused(sequential_loop(tree, "", "  out[tid] = t[tid];\n")));    // and read
  CHECK(is_refused(sequential_loop(tree, "", tree + "\n")));
  CHECK(is_refused(sequential_loop(with("t[2 * s * tid] *= t[2 * s * tid + s];"), "", "", "matrix")));
  CHECK(sequential_loop(tree, "", "", "matrix").starts_with("\n  for (int s = 128;"));
  CHECK(is_refused(sequential_loop(tree, "", "}\nstruct series {", "series")));  // its += may do anything
}

}  // namespace
