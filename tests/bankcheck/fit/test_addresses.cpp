// Addresses of elements and references to them: which of them reach no other element.
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
