// Addresses of elements and references to them: which of them reach no other element; and variables that point into an
// array, which become numbers of elements.
#include "bankcheck/fit/edits.hpp"
#include "tests/bankcheck/fit/declared.hpp"

using namespace bankwise;
using namespace bankwise::fit;

namespace {

constexpr std::string_view address = "the address of an element is taken; index the array where the element is used";

/// Why an XOR in words of 4 bytes is refused: without the line; "" if it is not.
std::string why(const std::string& functions, const std::string& body, const Change& change = {{128, 5, 2}, {}}) {
  const std::string text =
      functions + "\n__global__ void k(int x, int y) {\n  __shared__ float t[32][32];\n  " + body + "\n}\n";
  const auto edits = edits_of(text, declared(text, {.name = "t"}), change, {4, {32, 32}});
  const auto* problem = std::get_if<std::string>(&edits);
  return problem == nullptr ? "" : problem->substr(problem->find(": ") + 2);
}

const Change every8{{}, {Pad{32, 4}, Pad{}}};

/// The body of a kernel with an array `t[64]`, with a pad after every 8 elements; or why there is none.
std::string followed(const std::string& body, const std::string& head = "", const Change& change = every8) {
  const std::string text =
      head + "__global__ void k(int x, float* out) {\n  __shared__ float t[64];\n" + body + "\n}\n";
  const auto edits = edits_of(text, declared(text, {.name = "t"}), change, {4, {64}});
  if (const auto* problem = std::get_if<std::string>(&edits)) return problem->substr(problem->find(": ") + 2);
  const std::string after = edited(text, std::get<std::vector<Edit>>(edits));
  const std::size_t begin = after.find(";\n", after.find("float t[")) + 2;
  return after.substr(begin, after.rfind("\n}") - begin);
}

}  // namespace

TEST_CASE("fit/addresses/pointers_to_one_element", "[fit]") {
  const auto with = [](const std::string& body) {
    return why("__device__ void f(float* p, float* q) { " + body + " }", "f(&t[y][x], &t[x][y]);");
  };
  CHECK(with("if (*p > *q) { float s = *p; *p = *q; *q = s; }").empty());
  CHECK(with("p[0] = q[0]; p->x = (*q).x;").empty());
  CHECK(with("*q = a * *p; return *p;").empty());
  CHECK(with("atomicAdd(p, *q);").empty());
  for (const std::string walk :
       {"p[1] = 0;", "*p++ = 0;", "p++;", "*(p + 1) = 0;", "p[x] = 0;", "p += 32;", "float* r = p;", "return p;",
        "r = &*p;", "r = &p[0];", "g(p);", "atomicAdd(q + 1, 1);", "r = &p->x;", "s = a - p;", "swap(p);"}) {
    INFO(walk);
    CHECK(with(walk) == address);
  }
}

TEST_CASE("fit/addresses/functions_that_get_them", "[fit]") {
  const std::string set = "__device__ void set(float* p) { *p = 0; }\n";
  const std::string pass = "__device__ void pass(const float* q, float* p) { set(p); }\n";
  CHECK(why(set + pass, "pass(0, &t[y][x]);").empty());
  CHECK(why("__device__ void set(float* p) { p[1] = 0; }\n" + pass, "pass(0, &t[y][x]);") == address);
  CHECK(why("", "set(&t[y][x]);") == address);
  CHECK(why("__device__ void set(float* p);", "set(&t[y][x]);") == address);
  CHECK(why(set + "__device__ void set(int* p) { p[1] = 0; }\n", "set(&t[y][x]);") == address);
  CHECK(why("__device__ void set(float*& p) { *p = 0; }", "set(&t[y][x]);") == address);
  CHECK(why("#define NEXT p[1]\n__device__ void set(float* p) { *p = 0; NEXT = 1; }", "set(&t[y][x]);") == address);
  CHECK(why(set, "set(&t[y][x] + 1);") == address);
  CHECK(why("__device__ void set(float* p) { set(p); }", "set(&t[y][x]);") == address);
}

TEST_CASE("fit/addresses/references", "[fit]") {
  const std::string swap = "__device__ void swap(float& a, float& b) { float c = a; a = b; b = c; }";
  CHECK(why(swap, "swap(t[y][x], t[x][y]);").empty());
  CHECK(why("__device__ void f(const float& a) { b = (&a)[1]; }", "f(t[y][x]);") == address);
  CHECK(why("__device__ void g(float& a) { b = &a; }\n__device__ void f(float& a) { g(a); }", "f(t[y][x]);") ==
        address);
  CHECK(why("__device__ void f(float a) { b = (&a)[0]; }", "f(t[y][x]);").empty());
  CHECK(why("", "float& a = t[y][x]; a = 1;").empty());
  CHECK(why("", "const float& a = t[y][x]; b = (&a)[1];") == address);
  CHECK(why("", "const float a = t[y][x]; b = (&a)[0];").empty());
}

TEST_CASE("fit/addresses/casts_to_references", "[fit]") {
  const std::string torn = "the change would tear the 16 bytes that a cast accesses; change the index by hand";
  CHECK(why("", "v = reinterpret_cast<const float4&>(t[y][x]);") == torn);
  CHECK(why("", "const float4& v = reinterpret_cast<const float4&>(t[y][x]);") == torn);
  CHECK(why("", "v = (float4&)t[y][x];") == torn);
  CHECK(why("", "v = (float4&)t[y][x];", {{128, 3, 4}, {}}).empty());
  CHECK(why("", "v = reinterpret_cast<int&>(t[y][x]);").empty());
  CHECK(why("", "v = reinterpret_cast<Row&>(t[y][x]);") == address);
  CHECK(why("", "const float4& v = *reinterpret_cast<float4*>(&t[y][x]); b = (&v)[1];", {{128, 3, 4}, {}}) == address);
}

TEST_CASE("fit/addresses/numbers", "[fit]") {
  const std::string load =
      "__device__ float load(unsigned at) { float v; asm(\"ld.shared.f32 %0, [%1];\" : \"=f\"(v) : \"r\"(at)); return "
      "v; }";
  const std::string number = "unsigned(__cvta_generic_to_shared(&t[y][x]))";
  CHECK(why(load, "load(" + number + ");").empty());
  CHECK(why(load, "load((unsigned)__cvta_generic_to_shared(&t[y][x]));").empty());
  CHECK(why(load, "unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&t[y][x])); b = load(at);").empty());
  CHECK(why("",
            "asm(\"{ ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%1];\\n }\" : \"=r\"(v) : \"r\"(" + number + "));")
            .empty());
  CHECK(why(load, "load(" + number + " + 4);") == address);
  CHECK(why(load, "unsigned at = " + number + "; load(at + 4);") == address);
  CHECK(why(load, "unsigned at = " + number + "; at += 4; load(at);") == address);
  CHECK(why("__device__ float next(unsigned at) { return load(at + 128); }\n" + load, "next(" + number + ");") ==
        address);
  CHECK(why("__device__ float load(unsigned at);", "load(" + number + ");") == address);
  CHECK(why("", "asm(\"ld.shared.f32 %0, [%1+128];\" : \"=f\"(v) : \"r\"(" + number + "));") == address);
  CHECK(why("", "asm(\"add.u32 %0, %1, 4;\" : \"=r\"(v) : \"r\"(" + number + "));") == address);
  CHECK(why("", "return " + number + ";") == address);
  CHECK(why("unsigned v;", "v = " + number + ";") == address);
  CHECK(why("", "unsigned* v = out; *v = " + number + ";") == address);
  CHECK(why("__device__ unsigned number(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }\n" + load,
            "load(number(&t[y][x]) + 4);") == address);
}

TEST_CASE("fit/local_pointers/declarations", "[fit]") {
  CHECK(followed("float* p = t + 8 * x;\np[1] = 2;") == "const int p = 8 * x;\nt[p + 1 + ((p + 1) >> 3)] = 2;");
  CHECK(followed("const float* p = &t[x & 3];\n*p = 2;") == "const int p = x & 3;\nt[p + (p >> 3)] = 2;");
  CHECK(followed("float* const p = &t[8 * x];\n*p = p[0];") ==
        "const int p = 8 * x;\nt[p + (p >> 3)] = t[p + (p >> 3)];");
  CHECK(followed("auto p = t;\np[x & 3] = 2;") == "const int p = 0;\nt[p + (x & 3) + ((p + (x & 3)) >> 3)] = 2;");
  CHECK(followed("float *p, v[2];\np = &t[x];\np[1] = v[0];") ==
        "int p;\nfloat v[2];\np = x;\nt[p + 1 + ((p + 1) >> 3)] = v[0];");
  CHECK(followed("float* p;\np = t + x;\np[1] = 0;\np = t;\n*p = 0;") ==
        "int p;\np = x;\nt[p + 1 + ((p + 1) >> 3)] = 0;\np = 0;\nt[p + (p >> 3)] = 0;");
  CHECK(followed("float* p = t + x;\np += 8;\np++;\n*p = 0;") == "int p = x;\np += 8;\np++;\nt[p + (p >> 3)] = 0;");
}

TEST_CASE("fit/local_pointers/refusals", "[fit]") {
  const std::string without = "the array is used without its index; index its elements there";
  for (const std::string body :
       {"float* p = t + x;\nout = p;", "float* p = t + x;\n*p++ = 1;", "float* p = t;\np = out;\np[1] = 0;",
        "float* p = t + x;\nf(p);", "float* p = t + x;\nfloat* q = p + 1;", "float* p = t + x;\nif (p < out) p[1] = 0;",
        "for (float* p = t; x; p += 2) p[1] = 0;", "float* p = x ? t : out;\np[1] = 0;",
        "float* p = t + x;\n{ float* p = out; p[1] = 0; }", "out = t + x;\nout[1] = 0;",
        "float* p = t + x;\nfloat4* q = reinterpret_cast<float4*>(p);", "float4* p = (float4*)t;\np[1] = v;",
        "float **p = &out;\n*p = t;", "float* p = t + (x > 1 ? 1 : t[0]);\np[1] = 0;",
        "float* p = t + x, *q = t;\nq[1] = p[1];"}) {
    INFO(body);
    CHECK(followed(body) == without);
  }
  CHECK(followed("float* p = t + x;\np[x++] = 0;") == "the index has a side effect; write it to a variable first");
  CHECK(followed("float* p = t + x;\nf(&p[1]);") == without);
  CHECK(followed("float* p = t + x;\nP[1] = 0;", "#define P p\n") == without);
  CHECK_THAT(followed("float* p = t + x;\natomicAdd(&p[1], 2);"), has("atomicAdd(&t[p + 1 + ((p + 1) >> 3)], 2)"));
}

TEST_CASE("fit/local_pointers/lines_of_a_trace", "[fit]") {
  const std::string text =
      "__global__ void k(int x) {\n  __shared__ float t[64];\n  float* p = t + x;\n  p[N] = 1;\n  AT(1) = 2;\n}\n";
  const auto why = [&](unsigned line) {
    const auto edits = edits_of(text, declared(text, {.name = "t", .lines = {line}}), every8, {4, {64}});
    return std::holds_alternative<std::string>(edits) ? std::get<std::string>(edits) : "";
  };
  CHECK(why(4).empty());
  CHECK(why(5) == "line 5: the array is used, but not by its name; change the index by hand there");
}
