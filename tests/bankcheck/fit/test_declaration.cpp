#include "bankcheck/fit/source_constants.hpp"
#include "tests/bankcheck/fit/declared.hpp"

namespace {

using namespace bankwise::fit;
using Lengths = std::vector<std::uint64_t>;
using Texts = std::vector<std::string>;

TEST_CASE("fit/declaration/places", "[fit]") {
  const std::string& source = source_with_tiles;
  const Declaration tile = declared(source, {.name = "tile", .bytes = 4096});
  CHECK(tile.type == "float");
  CHECK(tile.qualifier == "__shared__");
  CHECK(tile.dimensions == Texts{"TILE", "TILE"});
  CHECK(tile.lengths == Lengths{32, 32});
  CHECK(tile.element == 4);
  CHECK(tile.line == 6);
  CHECK(declared(source, {.name = "more"}).lengths == Lengths{2, 3, 4});
  CHECK(declared(source, {.name = "k::more"}).element == 4);
  CHECK(declared(source, {.name = "tile", .lines = {4}}).lengths == Lengths{8});
  CHECK(declared(source, {.name = "tile", .lines = {9, 11}}).lengths == Lengths{32, 32});
  // an argument, out of the others' blocks
  CHECK_FALSE(find_declaration(source, {.name = "tile", .lines = {13}}).has_value());
  CHECK(declared(source, {.name = "dynamic shared memory"}).name == "bytes");
  CHECK_FALSE(find_declaration(source, {.name = "in"}).has_value());
  CHECK_FALSE(find_declaration(source, {.name = "x"}).has_value());
  CHECK_FALSE(find_declaration("__shared__ float t[", {.name = "t"}).has_value());
}

TEST_CASE("fit/declaration/opencl", "[fit]") {
  const std::string cl = "kernel void k() { local float4 t[N][N + 1]; }";
  CHECK(declared(cl, {.name = "t", .options = "-D N=4"}).lengths == Lengths{4, 5});
  CHECK(declared(cl, {.name = "t", .options = "-DN=4"}).element == 16);
  CHECK(declared(cl, {.name = "t"}).lengths.empty());
  const std::string arguments =
      "kernel void a(__local float* restrict t, local int* u) {\n  t[0] = u[1];\n}\n"
      "void helper(local double* t);\n"
      "kernel void b(global float* g, local float4 *t) {\n  t[0] = g[1];\n}\n";
  const Declaration first = declared(arguments, {.name = "t", .lines = {2}, .bytes = 64});
  CHECK(first.type == "float");
  CHECK(first.dimensions == Texts{""});
  CHECK(first.lengths == Lengths{16});
  CHECK(first.is_parameter);
  CHECK(declared(arguments, {.name = "t", .lines = {6}}).element == 16);
  CHECK(declared(arguments, {.name = "u", .lines = {2}}).type == "int");
  CHECK_FALSE(find_declaration(arguments, {.name = "g", .lines = {6}}).has_value());
  CHECK_FALSE(find_declaration(arguments, {.name = "u", .lines = {6}}).has_value());
  const std::string macro = "#define SHARED __local\nkernel void k() {\n  SHARED float t[4];\n}\n";
  CHECK(declared(macro, {.name = "t"}).lengths == Lengths{4});
  CHECK(declared(macro, {.name = "t"}).type == "float");
}

TEST_CASE("fit/declaration/templates", "[fit]") {
  const std::string parameter = "template <int T> __global__ void k() { __shared__ double t[T][T]; }";
  CHECK(declared(parameter, {.name = "t", .bytes = 8 * 8 * 8}).lengths == Lengths{8, 8});
  CHECK(declared(parameter, {.name = "t", .bytes = 8 * 8 * 3}).lengths.empty());
  CHECK(declared(parameter, {.name = "t"}).parameters == Texts{"T"});
  const std::string two =
      "template <typename T, int R, int C = R * 2, class... Rest>\n__launch_bounds__(64) __global__ void k(T* o) {\n"
      "  constexpr int pitch = C + 1;\n  __shared__ T t[R][pitch];\n}\n";
  CHECK(declared(two, {.name = "t", .bytes = 8 * 8 * 8}).lengths.empty());
  CHECK(declared(two, {.name = "t", .bytes = 8 * 8 * 8}).unknown == "R is not known");
  const Declaration by_kernel = declared(two, {.name = "t", .bytes = 640, .kernel = "ns::k<float, 32, (int)4>"});
  CHECK(by_kernel.lengths == Lengths{32, 5});
  CHECK(by_kernel.element == 4);
  CHECK(by_kernel.parameters == Texts{"C", "R"});
  CHECK(declared(two, {.name = "k<double, 2u, 3>::t"}).lengths == Lengths{2, 4});
  CHECK(declared(two, {.name = "k<double, 2u, 3>::t"}).element == 8);
  CHECK(declared(two, {.name = "t", .bytes = 644, .kernel = "k<float, 32, 4>"}).unknown ==
        "line 4 declares an array of another size");
  CHECK(declared(two, {.name = "t", .kernel = "other<float, 32, 4>"}).lengths.empty());
  const std::string member =
      "template <int N> struct Sorter {\n  static __device__ void sort(int* o) { __shared__ int t[N]; t[0] = o[0]; "
      "}\n};";
  CHECK(declared(member, {.name = "t", .kernel = "Sorter<128>::sort"}).lengths == Lengths{128});
  CHECK(declared(member + "\n__global__ void k() { __shared__ int u[4]; }", {.name = "u"}).parameters.empty());
}

TEST_CASE("fit/declaration/compiled_shape", "[fit]") {
  const std::string text = "#define N 3\n__shared__ Row t[N][M];\n__shared__ Row u[4];\n";
  const Declaration known = declared(text, {.name = "t", .bytes = 80, .element = 4, .lengths = {5, 4}});
  CHECK(known.lengths == Lengths{5, 4});  // the compiler knows better than a macro of some other branch
  CHECK(known.element == 4);
  CHECK(known.unknown.empty());
  const Declaration hidden = declared(text, {.name = "u", .bytes = 80, .element = 4, .lengths = {4, 5}});
  CHECK(hidden.lengths.empty());
  CHECK(hidden.unknown == "line 3 has some of the dimensions in a type");
  const Declaration other = declared(text, {.name = "u", .bytes = 80, .element = 4, .lengths = {20}});
  CHECK(other.lengths.empty());
  CHECK(other.unknown == "line 3 declares an array of another size");
  const std::string branches =
      "void k() {\n#if A\n  __shared__ int t[N];\n#else\n  __shared__ int t[M];\n#endif\n  { __shared__ int t[1]; }\n}";
  const Declaration twice = declared(branches, {.name = "t", .lines = {8}, .element = 4, .lengths = {5}});
  CHECK(twice.lengths.empty());
  CHECK(twice.unknown == "declared twice");
  // An inner block declares the name once more: the trace does not tell which of the arrays it is.
  CHECK(declared(branches, {.name = "t", .lines = {7}, .element = 4, .lengths = {1}}).unknown == "declared twice");
}

TEST_CASE("fit/declaration/long_tables", "[fit]") {
  std::string text = "__constant__ int T[1];\nint table[] = {T[0]";
  for (int i = 0; i < 20000; ++i) text += ",T[0]";
  text += "};\nvoid k() {\n  int a[T[0]];\n  __shared__ int b[2], T[3];\n}\n";
  CHECK(declared(text, {.name = "T"}).line == 5);  // takes minutes if each name is searched back to the bracket
  CHECK(declared(text, {.name = "b"}).lengths == Lengths{2});
}

TEST_CASE("fit/declaration/lengths", "[fit]") {
  const std::string names =
      "#define TWICE(x) (2 * x)\nconstexpr int TILE = 32, RADIUS = 2,  // of the stencil\n  MOST = "
      "TILE /* a\n row */ * 4;\nvoid f(const int WIDTH = 8, int HEIGHT = 4);\n";
  const auto in = [&](const std::string& dimensions, std::uint64_t bytes = 0) {
    return declared(names + "__shared__ float t" + dimensions + ";", {.name = "t", .bytes = bytes});
  };
  CHECK(in("[TILE][TILE + 2 * RADIUS * 8]").lengths == Lengths{32, 64});
  CHECK(in("[TILE * 2]").lengths == Lengths{64});
  CHECK(in("[2 * TILE][(TILE + 1) & ~1]").lengths == Lengths{64, 32});
  CHECK(in("[32][TILE * 2]").lengths == Lengths{32, 64});
  CHECK(in("[MOST / RADIUS]").lengths == Lengths{64});
  CHECK(in("[TILE][WIDTH]").unknown == "WIDTH is not known");
  CHECK(in("[TILE][HEIGHT + TILE]").unknown == "HEIGHT is not known");
  CHECK(in("[TWICE(TILE)][2]").lengths == Lengths{64, 2});
  CHECK(in("[TWICE(OTHER)][2]").unknown == "OTHER is not known");
  CHECK(in("[NEXT(TILE)][2]").unknown == "NEXT(TILE) is not known");
  CHECK(in("[64 / sizeof(double)][TWICE((TILE, 1)) / sizeof(float2)]").lengths.empty());  // a comma operator
  CHECK(in("[64 / sizeof(double)][TWICE(TILE) / sizeof(float2)]").lengths == Lengths{8, 8});
  CHECK(in("[64 / sizeof(Unknown)]").lengths.empty());
  CHECK(in("[TILE][TILE]", 40).unknown == "line 6 declares an array of another size");
  CHECK(in("[TILE][TILE]", 8192).unknown == "line 6 declares an array of another size");  // of double
  CHECK(declared("const int N = 32;\n__shared__ int t[N][2];", {.name = "t"}).lengths == Lengths{32, 2});
  CHECK(declared("#define A A A\n__shared__ float t[A];", {.name = "t"}).lengths.empty());
  const std::string late = "__shared__ int t[N];\n#define N 8\n";
  CHECK(declared(late, {.name = "t"}).lengths.empty());
  CHECK(declared(late, {.name = "t", .headers = {"static const int N = 6;\n"}}).lengths == Lengths{6});
  CHECK(declared(late, {.name = "t", .headers = {"#define N \\\n  M\n", "#define M 5\n"}}).lengths == Lengths{5});
}

TEST_CASE("fit/declaration/rows_of_the_launch", "[fit]") {
  const std::string head = "__global__ void k() {\n  extern __shared__ float t[][32];\n  t[0][1] = 2;\n";
  const SoughtArray dynamic{.name = "dynamic shared memory", .lines = {5}, .bytes = 4096};
  const Declaration rows = declared(head + "\n\n}\n", dynamic);
  CHECK(rows.name == "t");
  CHECK(rows.lengths.empty());
  CHECK(rows.unknown == "the launch gives the number of its rows");
  CHECK(!find_declaration(head + "  extern __shared__ float u[];\n}\n", dynamic));  // which of the two is not known
}

TEST_CASE("fit/declaration/other_branches", "[fit]") {
  const std::string text =
      "#ifdef DOUBLE\n#define REAL double\n#define N 4\n#else\n#define REAL float\n#define N 3\n#endif\n"
      "__shared__ REAL t[N][5];\n__shared__ REAL u[6];\n";
  const auto in = [&](std::string_view name, std::uint64_t bytes, std::string_view options = "") {
    return declared(text, {.name = name, .bytes = bytes, .options = options});
  };
  CHECK(in("t", 60).lengths == Lengths{3, 5});
  CHECK(in("t", 60).element == 4);
  CHECK(in("t", 80).lengths == Lengths{4, 5});
  CHECK(in("t", 120).element == 8);
  CHECK(in("t", 160).unknown == "line 8 declares an array of another size");  // of two names at once
  CHECK(in("t", 280, "-D N=14").lengths == Lengths{14, 5});                   // as of an #ifndef
  CHECK(in("u", 48).element == 8);
}

TEST_CASE("fit/declaration/macros", "[fit]") {
  const std::string text =
      "#define AT(y, x) \\\n  tile[y][x]\n#define SUM a + b\n#define ONE 1\n__shared__ int tile[2][2], other[2];\n"
      "void k() { AT(0, 1) = FIRST; }\n";
  const Declaration tile = declared(text, {.name = "tile"});
  REQUIRE(tile.macros.size() == 1);
  CHECK(tile.macros[0].name == "AT");
  CHECK(tile.macros[0].line == 1);
  CHECK(tile.sums == Texts{"AT", "SUM"});  // an index that begins with either gets parentheses
  CHECK(declared(text, {.name = "other"}).macros.empty());
  const auto with = [&](const std::string& header) {
    std::vector<std::string> names;
    for (const ArrayMacro& macro : declared(text, {.name = "other", .headers = {header}}).macros) {
      CHECK(macro.line == 0);
      names.push_back(macro.name);
    }
    return names;
  };
  CHECK(with("#define FIRST other[0]\n") == Texts{"FIRST"});
  CHECK(with("#define FIRST SECOND\n#define SECOND other[1]\n") == Texts{"SECOND"});
  CHECK(with("#define FIRST 1\n#define SECOND other[1]\n") == Texts{});  // not used
  // Other variables of this name.
  CHECK(with("#define FIRST ({ float other = x; other; })\n") == Texts{});
  CHECK(with("#define FIRST(other) other[0]\n") == Texts{});
  CHECK(with("#define FIRST x.other[0] + y->other\n") == Texts{});
  CHECK(with("#define FIRST scale * other[0]\n") == Texts{"FIRST"});
  CHECK(with("#define FIRST ({ other[1] = 2; float other = x; other; })\n") == Texts{"FIRST"});
}

TEST_CASE("fit/declaration/lines_without_the_name", "[fit]") {
  const std::string text =
      "void k() {\n  __shared__ int t[2];\n  t[0] = 1;\n  AT(\n    1) = 2;\n  f(t\n    [1]);\n}\nint g;\n";
  const auto hidden = [&](const std::vector<unsigned>& lines) {
    const auto all = declared(text, {.name = "t", .lines = lines}).hidden_lines;
    return all.empty() ? 0 : all.front();
  };
  CHECK(hidden({3, 6, 7}) == 0);
  CHECK(hidden({3, 5}) == 5);
  CHECK(hidden({4, 5}) == 4);
  CHECK(hidden({3, 9}) == 0);  // a function that has got an element by reference
  CHECK(hidden({}) == 0);
}

// A compiler that optimizes gives an access the line of a loop, or of a statement nearby.
TEST_CASE("fit/declaration/lines_without_a_use", "[fit]") {
  const std::string text =
      "#define ROWS 4\n#define NEXT next\nvoid k() {\n  __shared__ int t[2];\n  for (int i = 0; i < ROWS; ++i) {\n"
      "    int j = i / 2;\n    t[j] = 1;\n    FIRST = 1;\n    int n = NEXT;\n    __syncthreads();\n"
      "    f(); j = 1;\n    // nothing\n    k();\n    first = 1;\n  }\n}\n";
  const auto hidden = [&](unsigned line) { return declared(text, {.name = "t", .lines = {line}}).hidden_lines; };
  for (const unsigned line : {5U, 6U, 7U, 10U, 13U}) CHECK(hidden(line).empty());
  for (const unsigned line : {8U, 9U, 11U, 12U, 14U}) CHECK(hidden(line) == std::vector{line});
}

TEST_CASE("fit/declaration/included_files", "[fit]") {
  using Views = std::vector<std::string_view>;
  CHECK(included_by("#include \"a.h\"\n  # include  \"b/c.h\" // x\n#include <d.h>\n// #include \"e.h\"\n") ==
        Views{"a.h", "b/c.h"});
  CHECK(included_by("#include \"never ends").empty());
}

TEST_CASE("fit/declaration/template_arguments", "[fit]") {
  const auto of = [](std::string_view name, std::string_view part) {
    const auto all = template_arguments(name);
    const auto found = all.find(part);
    return found == all.end() ? Texts{"none"} : found->second;
  };
  CHECK(of("k<float, 32, 4>", "k") == Texts{"float", "32", "4"});
  CHECK(of("n::Sorter<128u>::sort<(unsigned char)7, std::pair<int, int>, true>", "sort") ==
        Texts{"7", "std::pair<int, int>", "1"});
  CHECK(of("n::Sorter<128u>::sort<7>", "Sorter") == Texts{"128"});
  CHECK(of("k<", "k").empty());
  CHECK(of("k", "k") == Texts{"none"});
}

TEST_CASE("fit/declaration/class_of_dynamic_memory", "[fit]") {
  const auto text = [](const std::string& begin) {
    return "template <class T> struct SharedMemory {\n  operator T*() {\n    extern __shared__ int __smem[];\n"
           "    return (T*)__smem;\n  }\n};\ntemplate <class T> __global__ void k() {\n  " +
           begin + "\n  words[threadIdx.x] = 1;\n}\n";
  };
  const SoughtArray sought{.name = "dynamic shared memory", .lines = {9}, .bytes = 1024, .element = 4};
  const std::string usual = text("const T* words = SharedMemory<T>();");
  const Declaration declaration = declared(usual, sought);
  CHECK(declaration.name == "words");
  CHECK(declaration.type == "T");
  CHECK(declaration.line == 8);
  CHECK(declaration.dimensions == std::vector<std::string>{""});
  CHECK(declaration.function == "k");
  for (const char* other : {"T words = SharedMemory<T>();", "T* words = SharedMemory<T>() + 8;",
                            "T* words = Shared<T>();", "T* words = SharedMemory<T>(), *other;"}) {
    INFO(other);
    CHECK_FALSE(find_declaration(text(other), sought).has_value());
  }
}

}  // namespace
