#include "bankcheck/fit/edits.hpp"
#include "tests/bankcheck/fit/declared.hpp"

namespace {

using namespace bankwise::fit;

const Change pad{{}, {Pad{128, 4}, Pad{}}};

/// A kernel with an array t of 1024 words after a pad of one word every 32.
std::string indexed(const std::string& body, const std::string& head = "") {
  const std::string text = head + "__global__ void k(int n) {\n  __shared__ float t[1024];\n" + body + "}\n";
  const auto edits = edits_of(text, declared(text, {.name = "t", .block = {64, 1, 1}}), pad, {4, {1024}});
  if (const auto* why = std::get_if<std::string>(&edits)) return *why;
  const std::string after = edited(text, std::get<std::vector<Edit>>(edits));
  const std::string start = "t[1024 + 1024 / 32];\n";
  const std::size_t begin = after.find(start) + start.size();
  return after.substr(begin, after.rfind("}\n") - begin);
}

TEST_CASE("fit/index_variables/shared_by_uses", "[fit]") {
  CHECK(indexed("  int i = threadIdx.x;\n  t[i + n] += 1;\n  if (i < n) {\n    t[i + n] += t[i];\n  }\n") ==
        "  int i = threadIdx.x;\n  const int t_at = i + n + ((i + n) >> 5);\n  t[t_at] += 1;\n"
        "  if (i < n) {\n    t[t_at] += t[i + (i >> 5)];\n  }\n");
  CHECK(indexed("  for (int i = 0; i < n; ++i) {\n    t[i * 2 + 1] = 0;\n    t[i * 2 + 1] += t[i * 2];\n  }\n") ==
        "  const auto t_at = [](unsigned i) { return i + (i >> 5); };\n"
        "  for (int i = 0; i < n; ++i) {\n    t[t_at(i * 2 + 1)] = 0;\n"
        "    t[t_at(i * 2 + 1)] += t[t_at(i * 2)];\n  }\n");
  CHECK(indexed("  t[threadIdx.x] = 0; t[threadIdx.x] = 1;\n") ==
        "  const int t_at = threadIdx.x + (threadIdx.x >> 5);\n  t[t_at] = 0; t[t_at] = 1;\n");
  CHECK(indexed("  f(); t[threadIdx.x] = 0;\n  t[threadIdx.x] = 1;\n") ==
        "  f(); const int t_at = threadIdx.x + (threadIdx.x >> 5); t[t_at] = 0;\n  t[t_at] = 1;\n");
  CHECK(indexed("  #pragma unroll\n  for (int k = 0; k < 4; ++k)\n    t[threadIdx.x] += t[threadIdx.x];\n") ==
        "  const int t_at = threadIdx.x + (threadIdx.x >> 5);\n  #pragma unroll\n  for (int k = 0; k < 4; ++k)\n"
        "    t[t_at] += t[t_at];\n");
  CHECK_THAT(indexed("  t[threadIdx.x] = 0;\n  t[threadIdx.x] = 1;\n", "int t_at;\n"), has("const int t_at2 = "));
}

TEST_CASE("fit/index_variables/not_of_single_indices", "[fit]") {
  CHECK(indexed("  t[n] = 0;\n  t[n] = 1;\n") == "  const int t_at = n + (n >> 5);\n  t[t_at] = 0;\n  t[t_at] = 1;\n");
  CHECK_THAT(indexed("  t[n + 32] = 0;\n"), !has("const int"));
}

// Their ranges are found in a time that does not grow exponentially with the assignments.
TEST_CASE("fit/index_variables/of_values_that_depend_on_themselves", "[fit]") {
  std::string body = "  int i = threadIdx.x;\n";
  for (int loop = 0; loop < 8; ++loop) body += "  while (i < n) {\n    t[i] = 0;\n    i = i + 64;\n  }\n";
  CHECK_THAT(indexed(body), has("t[i + (i >> 5)] = 0;\n    i = i + 64;\n"));
}

TEST_CASE("fit/index_variables/pragmas", "[fit]") {
  CHECK(indexed("  t[n] = 0;\n#pragma unroll\n  for (int k = 0; k < 4; ++k) t[n] += k;\n") ==
        "  const int t_at = n + (n >> 5);\n  t[t_at] = 0;\n#pragma unroll\n"
        "  for (int k = 0; k < 4; ++k) t[t_at] += k;\n");
}

TEST_CASE("fit/index_variables/not_of_what_changes", "[fit]") {
  const auto has_variable = [](const std::string& body, const std::string& head = "") {
    const std::string after = indexed(body, head);
    REQUIRE_THAT(after, has(" >> 5"));
    return after.find("const int t_at") != std::string::npos;
  };
  CHECK(has_variable("  int i = n;\n  t[i + n * 2] = 0;\n  t[i + n * 2] = 1;\n  i = 2;\n"));
  for (const std::string change : {"i = 2", "i += 2", "i <<= 2", "++i", "i--", "set(&i)", "set(i)"}) {
    CAPTURE(change);
    CHECK_FALSE(has_variable("  int i = n;\n  t[i + n * 2] = 0;\n  " + change + ";\n  t[i + n * 2] = 1;\n",
                             "__device__ void set(int& i);\n"));
  }
  CHECK(has_variable("  int i = n;\n  t[i + n * 2] = 0;\n  get(i);\n  t[i + n * 2] = 1;\n",
                     "__device__ void get(int);\n"));
  // In a loop around the second use, and by a lambda that is defined elsewhere.
  CHECK_FALSE(has_variable("  int i = n;\n  t[i + n * 2] = 0;\n  for (; i < 9; ++i) t[i + n * 2] = 1;\n"));
  CHECK_FALSE(
      has_variable("  int i = n;\n  auto f = [&] { ++i; };\n  t[i + n * 2] = 0;\n  f();\n  t[i + n * 2] = 1;\n"));
  // Declared behind the place where the variable would be.
  CHECK_FALSE(has_variable("  for (int i = 0; i < n; ++i) t[i + n * 2] += t[i + n * 2];\n"));
  CHECK_FALSE(has_variable("  { int i = 1; t[i + n * 2] = 0; }\n  { int i = 2; t[i + n * 2] = 0; }\n"));
  // Changed by other threads.
  CHECK_FALSE(has_variable("  __shared__ int i;\n  t[i + n * 2] = 0;\n  __syncthreads();\n  t[i + n * 2] = 1;\n"));
  CHECK_FALSE(has_variable("  t[p[n] + n * 2] = 0;\n  t[p[n] + n * 2] = 1;\n"));
  // A division that the code may have guarded, a label, branches of the preprocessor.
  CHECK_FALSE(has_variable("  if (n) t[threadIdx.x / n * 2] += t[threadIdx.x / n * 2];\n"));
  CHECK_FALSE(has_variable("  switch (n) {\n    case 1: t[threadIdx.x] += t[threadIdx.x];\n  }\n"));
  CHECK_FALSE(has_variable("#if A\n  t[threadIdx.x] = 1;\n#else\n  t[threadIdx.x] = 2;\n#endif\n"));
}

// Variables that only serve indices from some place on are changed there.
TEST_CASE("fit/index_variables/changed_variables", "[fit]") {
  CHECK(indexed("  int a = n * 3;\n  int b = a + n;\n  __syncthreads();\n  t[b] += t[a];\n  t[a] = t[b];\n") ==
        "  int a = n * 3;\n  int b = a + n;\n  a += a >> 5;\n  b += b >> 5;\n  __syncthreads();\n"
        "  t[b] += t[a];\n  t[a] = t[b];\n");
  CHECK(indexed("  for (int k = n; k > 0; k /= 2) {\n    if (n < k) {\n      int a = k * 3 - 1;\n      t[a] = t[a] + "
                "1;\n    }"
                "\n  }\n") ==
        "  for (int k = n; k > 0; k /= 2) {\n    if (n < k) {\n      int a = k * 3 - 1;\n      a += a >> 5;\n"
        "      t[a] = t[a] + 1;\n    }\n  }\n");
  CHECK(indexed("  int a = n, b = n * 2;\n  if (n) a += 2;\n  t[a + 0] = t[a];\n  t[b] = t[b] + 1;\n") ==
        "  int a = n, b = n * 2;\n  if (n) a += 2;\n  a += a >> 5;\n  b += b >> 5;\n  t[a] = t[a];\n"
        "  t[b] = t[b] + 1;\n");
  CHECK_THAT(indexed("  int a;\n  for (int k = 0; k < n; ++k) {\n    a = k * n;\n    t[a] = t[a] + 1;\n  }\n"),
             has("    a = k * n;\n    a += a >> 5;\n    t[a] = t[a] + 1;\n"));
  CHECK(indexed("  int a = n * 3;\n  t[a] = t[a] + 1;\n  int b = n * 2;\n  t[b] = t[b] + 1;\n") ==
        "  int a = n * 3;\n  a += a >> 5;\n  t[a] = t[a] + 1;\n  int b = n * 2;\n  b += b >> 5;\n"
        "  t[b] = t[b] + 1;\n");
  CHECK(indexed("  int a = n * 3, b = n * 2;\n  t[b] += t[a];\n") ==
        "  int a = n * 3, b = n * 2;\n  a += a >> 5;\n  b += b >> 5;\n  t[b] += t[a];\n");
  CHECK(indexed("  int a = threadIdx.x << 5;\n  t[(a + 1)] = t[a];\n") ==
        "  int a = threadIdx.x << 5;\n  a += a >> 5;\n  t[(a + 1)] = t[a];\n");  // as they were
  CHECK(indexed("  int a = n * 3;\n  t[a] = 1;\n") == "  int a = n * 3;\n  t[a + (a >> 5)] = 1;\n");
  const auto is_changed = [](const std::string& body, const std::string& head = "") {
    return indexed(body, head).find("a += a >> 5;") != std::string::npos;
  };
  const std::string use = "  t[a] = t[a] + 1;\n";
  CHECK(is_changed("  int a = n * 3;\n" + use));
  CHECK(is_changed("  int a = n * 3;\n  f(a);\n" + use));
  CHECK(is_changed("  auto a = n * 3;\n" + use));
  CHECK(is_changed("  { int a = n; f(a); }\n  int a = n * 3;\n" + use));
  CHECK_FALSE(is_changed("  const int a = n * 3;\n" + use));
  CHECK_FALSE(is_changed("  unsigned short a = n * 3;\n" + use));
  CHECK(is_changed("  register uint32 a = n * 3;\n" + use));
  CHECK(is_changed("  register uint32 b, a;\n  a = n * 3;\n" + use));
  CHECK_FALSE(is_changed("  u8 a = n * 3;\n" + use));
  CHECK_FALSE(is_changed("  int a = n * 3;\n" + use + "  f(a);\n"));          // another use behind
  CHECK_FALSE(is_changed("  int a = n * 3;\n" + use + "  t[a + n] = 2;\n"));  // not only the base
  CHECK_FALSE(is_changed("  int a = n * 3;\n  for (int k = 0; k < n; ++k) {\n  " + use + "    ++a;\n  }\n"));
  CHECK_FALSE(is_changed("  for (int a = 0; a < n; ++a) {\n  " + use + "  }\n"));  // of a loop
  CHECK_FALSE(is_changed("  int a;\n  if (n) a = 3;\n" + use));                    // perhaps not assigned
  CHECK_FALSE(is_changed("  int a = 1;\n  for (int k = 0; k < n; ++k) {\n    a = k;\n  " + use + "  }\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\n  int& b = a;\n" + use + "  b = 2;\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\n  set(&a);\n" + use));
  CHECK_FALSE(is_changed("  int a = n * 3;\n  auto f = [&] { return a; };\n" + use + "  f();\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\n" + use + "  { int a = 2; f(a); }\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\n" + use + "  { auto [a, b] = pair(); t[a] = 1; }\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\n" + use + "  LOG;\n", "#define LOG f(a)\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\nagain:\n" + use + "  if (n) goto again;\n"));
  CHECK_FALSE(is_changed("  int a = n * 3;\n#if N\n  a = 2;\n#endif\n" + use));
  CHECK_FALSE(is_changed("  switch (n) {\n    int a;\n    case 1:\n    a = 1;\n  " + use + "  }\n"));
}

// A rest below the pad stays outside of the changed index, so that neighbours stay visible as neighbours.
TEST_CASE("fit/index_variables/bases_with_a_rest", "[fit]") {
  CHECK(indexed("  const int i = threadIdx.x;\n  t[2 * i] = t[2 * i + 1];\n") ==
        "  const int i = threadIdx.x;\n  const int t_at = 2 * i + ((2 * i) >> 5);\n  t[t_at] = t[t_at + 1];\n");
  CHECK(indexed("  t[threadIdx.x * 8 | 3] = 1;\n") == "  t[threadIdx.x * 8 + ((threadIdx.x * 8) >> 5) + 3] = 1;\n");
  CHECK(indexed("  t[threadIdx.x + 0] = 1;\n") == "  t[threadIdx.x + (threadIdx.x >> 5)] = 1;\n");
  CHECK(indexed("  t[threadIdx.x * 2 + 2] = 1;\n") ==
        "  t[threadIdx.x * 2 + 2 + ((threadIdx.x * 2 + 2) >> 5)] = 1;\n");  // bits that both have
  CHECK(indexed("  t[threadIdx.x * 64 + 32] = 1;\n") ==
        "  t[threadIdx.x * 64 + 32 + ((threadIdx.x * 64 + 32) >> 5)] = 1;\n");  // not below the pad
  CHECK(indexed("  t[n * 64 + threadIdx.y] = 1;\n") ==
        "  t[n * 64 + threadIdx.y + ((n * 64 + threadIdx.y) >> 5)] = 1;\n");
  CHECK(indexed("  t[threadIdx.y * 64 + threadIdx.x] = 1;\n") ==
        "  t[threadIdx.y * 64 + threadIdx.x + ((threadIdx.y * 64 + threadIdx.x) >> 5)] = 1;\n");  // another launch
  CHECK(indexed("  t[n * 2 + 1] = 1;\n") == "  t[n * 2 + 1 + ((n * 2 + 1) >> 5)] = 1;\n");        // n may be negative
}

TEST_CASE("fit/index_variables/padded_bases", "[fit]") {
  const std::string base = "  int b;\n  b = threadIdx.x << 5;\n";
  const std::string padded = base + "  b += b >> 5;\n";
  CHECK(indexed(base + "  for (int i = 0; i < 32; ++i) t[b | i] = 0;\n") ==
        padded + "  for (int i = 0; i < 32; ++i) t[b + i] = 0;\n");
  CHECK(indexed(base + "  t[b] = t[b + 31];\n") == padded + "  t[b] = t[b + 31];\n");
  CHECK(indexed("#define tid threadIdx.x\n  unsigned b = tid & 0x1f;  // lane\n  for (int i = 0; i < 8; ++i) t[(i<<5) "
                "| b] = 0;\n") ==
        "#define tid threadIdx.x\n  unsigned b = tid & 0x1f;  // lane\n  b += b >> 5;\n"
        "  for (int i = 0; i < 8; ++i) t[b + i * 33] = 0;\n");
  CHECK(indexed("  for (int k = 0; k < n; ++k) {\n    int b = threadIdx.x * 32;\n    t[b + 1] = t[b + 2];\n  }\n") ==
        "  for (int k = 0; k < n; ++k) {\n    int b = threadIdx.x * 32;\n    b += b >> 5;\n    t[b + 1] = t[b + 2];\n  "
        "}\n");
  const auto is_padded = [](const std::string& body, const std::string& head = "") {
    return indexed(body, head).find("b += b >> 5;") != std::string::npos;
  };
  CHECK(is_padded(base + "  t[b + 1] = t[b];\n"));
  CHECK_FALSE(is_padded(base + "  t[b + 1] = t[b];\n  n = b;\n"));                    // used elsewhere
  CHECK_FALSE(is_padded(base + "  t[b + 1] = t[b];\n  b = 0;\n"));                    // another value
  CHECK_FALSE(is_padded(base + "  t[b + 1] = t[b + 32];\n"));                         // bits that both have
  CHECK_FALSE(is_padded("  int b = threadIdx.x;\n  t[b + 1] = t[b];\n"));             // carries
  CHECK_FALSE(is_padded("  int b = n << 5;\n  t[b + 1] = t[b];\n"));                  // perhaps negative
  CHECK_FALSE(is_padded("  const int b = threadIdx.x << 5;\n  t[b + 1] = t[b];\n"));  // cannot be changed
  CHECK_FALSE(is_padded("  short b = threadIdx.x << 5;\n  t[b + 1] = t[b];\n"));      // may be too short
  CHECK_FALSE(is_padded("  int b;\n  if (n) b = threadIdx.x << 5;\n  t[b + 1] = t[b];\n"));
  CHECK_FALSE(is_padded("  int b;\n  if (n) { b = threadIdx.x << 5; }\n  t[b + 1] = t[b];\n"));
  CHECK_FALSE(is_padded("  int b;\n  for (;;) { t[b + 1] = t[b]; b = threadIdx.x << 5; }\n"));
  CHECK_FALSE(
      is_padded("  int b = threadIdx.x << 5;\n  set(b);\n  t[b + 1] = t[b];\n", "__device__ void set(int& i);\n"));
}

}  // namespace
