// Variables that point into an array, which become numbers of elements.
#include "bankcheck/fit/edits.hpp"
#include "tests/bankcheck/fit/declared.hpp"

using namespace bankwise;
using namespace bankwise::fit;

namespace {

const Change every8{{}, {Pad{32, 4}, Pad{}}};

/// The body of a kernel with an array `t[64]`, with a pad after every 8 elements; or why there is none.
std::string changed(const std::string& body, const std::string& head = "", const Change& change = every8) {
  const std::string text =
      head + "__global__ void k(int x, float* out) {\n  __shared__ float t[64];\n" + body + "\n}\n";
  const auto edits = edits_of(text, declared(text, {.name = "t"}), change, {4, {64}});
  if (const auto* why = std::get_if<std::string>(&edits)) return why->substr(why->find(": ") + 2);
  const std::string after = edited(text, std::get<std::vector<Edit>>(edits));
  const std::size_t begin = after.find(";\n", after.find("float t[")) + 2;
  return after.substr(begin, after.rfind("\n}") - begin);
}

}  // namespace

TEST_CASE("fit/local_pointers/declarations", "[fit]") {
  CHECK(changed("float* p = t + 8 * x;\np[1] = 2;") == "const int p = 8 * x;\nt[p + 1 + ((p + 1) >> 3)] = 2;");
  CHECK(changed("const float* p = &t[x & 3];\n*p = 2;") == "const int p = x & 3;\nt[p + (p >> 3)] = 2;");
  CHECK(changed("float* const p = &t[8 * x];\n*p = p[0];") ==
        "const int p = 8 * x;\nt[p + (p >> 3)] = t[p + (p >> 3)];");
  CHECK(changed("auto p = t;\np[x & 3] = 2;") == "const int p = 0;\nt[p + (x & 3) + ((p + (x & 3)) >> 3)] = 2;");
  CHECK(changed("float *p, v[2];\np = &t[x];\np[1] = v[0];") ==
        "int p;\nfloat v[2];\np = x;\nt[p + 1 + ((p + 1) >> 3)] = v[0];");
  CHECK(changed("float* p;\np = t + x;\np[1] = 0;\np = t;\n*p = 0;") ==
        "int p;\np = x;\nt[p + 1 + ((p + 1) >> 3)] = 0;\np = 0;\nt[p + (p >> 3)] = 0;");
  CHECK(changed("float* p = t + x;\np += 8;\np++;\n*p = 0;") == "int p = x;\np += 8;\np++;\nt[p + (p >> 3)] = 0;");
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
    CHECK(changed(body) == without);
  }
  CHECK(changed("float* p = t + x;\np[x++] = 0;") == "the index has a side effect; write it to a variable first");
  CHECK(changed("float* p = t + x;\nf(&p[1]);") == without);
  CHECK(changed("float* p = t + x;\nP[1] = 0;", "#define P p\n") == without);
  CHECK_THAT(changed("float* p = t + x;\natomicAdd(&p[1], 2);"), has("atomicAdd(&t[p + 1 + ((p + 1) >> 3)], 2)"));
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
