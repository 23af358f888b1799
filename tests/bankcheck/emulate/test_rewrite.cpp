// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "bankcheck/emulate/rewrite.hpp"
#include "bankcheck/source/tokens.hpp"
#include "tests/catch_any.hpp"

namespace {

using namespace bankwise::emulate;

std::vector<std::string> texts(const std::string& source) {
  std::vector<std::string> texts;
  for (const bankwise::source::Token& token : bankwise::source::tokens_of(source))
    texts.push_back(source.substr(token.begin, token.end - token.begin));
  return texts;
}

/// What precedes the kernel of a launch; `captures`: = for a kernel that is a name.
std::string head(const std::string& captures) {
  return "::bankwise::emulator::runtime::launching([" + captures +
         "](auto&&... bankwise_a) __attribute__((no_sanitize(\"thread\"), no_sanitize_coverage)) { ";
}

/// The rewritten launch: what calls it, how, and with what.
std::string launched(const std::string& callee, const std::string& configuration, const std::string& arguments,
                     const std::string& call = "bankwise_a...", const std::string& captures = "=") {
  return head(captures) + callee + "(" + call + "); }).at(" + configuration + ")(" + arguments + ")";
}

TEST_CASE("emulate/rewrite/tokens", "[emulate]") {
  using Texts = std::vector<std::string>;
  CHECK(texts("a::b<c>>=1'000.5e-3f") == Texts{"a", "::", "b", "<", "c", ">", ">", "=", "1'000.5e-3f"});
  CHECK(texts("x // <<<\n/* <<<\n*/ y") == Texts{"x", "y"});
  CHECK(texts("\"<<<\\\"\" 'a' u8\"b\" R\"q(<<<)\" )q\" LR\"(x)\"") ==
        Texts{"\"<<<\\\"\"", "'a'", "u8\"b\"", "R\"q(<<<)\" )q\"", "LR\"(x)\""});
  CHECK(texts("#define X <<< \\\n >>>\nz") == Texts{"z"});
  CHECK(texts("p->q '\\''") == Texts{"p", "->", "q", "'\\''"});
  CHECK(texts("\"never ends\nx R\"(").size() == 3);
}

TEST_CASE("emulate/rewrite/launch", "[emulate]") {
  CHECK(rewritten("kernel<<<1, 2>>>(x, y);") == launched("kernel", "1, 2", "x, y") + ";");
  CHECK(rewritten("n::k<a, b<c>><<<g,\nb>>>\n(x\n);") ==
        head("=") + "n::k<a, b<c>>(bankwise_a...); }).at(g,\nb)\n(x\n);");
  CHECK(rewritten("::k<<<g, t<N>>>>(x);") == launched("::k", "g, t<N>", "x") + ";");
  CHECK(rewritten("if (a) k<<<1, 1>>>();") == "if (a) " + launched("k", "1, 1", "") + ";");
  CHECK(rewritten("if (a) (*k)<<<1, 1>>>();") == "if (a) " + launched("(*k)", "1, 1", "", "bankwise_a...", "&") + ";");
  CHECK(rewritten("a.b->k[i]<<<1, 1>>>();") == launched("a.b->k[i]", "1, 1", "", "bankwise_a...", "&") + ";");
  CHECK(rewritten("T::template k<1><<<1, 1>>>();") == launched("T::template k<1>", "1, 1", "") + ";");
  CHECK(rewritten("k<(a > b)><<<1, 1>>>();") == launched("k<(a > b)>", "1, 1", "", "bankwise_a...", "&") + ";");
}

TEST_CASE("emulate/rewrite/null_pointers", "[emulate]") {
  const std::string pick = "::bankwise::emulator::runtime::pick<1>(bankwise_a...)";
  CHECK(rewritten("k<<<1, 1>>>(0, x);") == launched("k", "1, 1", "0, x", "0, " + pick) + ";");
  CHECK(rewritten("k<<<1, 1>>>(f<0, 1>(), 0);") == launched("k", "1, 1", "f<0, 1>(), 0") + ";");
}

TEST_CASE("emulate/rewrite/no_launch", "[emulate]") {
  for (const std::string source : {"a << b << c >> d;", "operator<<<int>(a, b);", "\"k<<<1, 1>>>()\"",
                                   "// k<<<1, 1>>>()\n", "a.blockDim.x", "A<B<C<int>>> x(1);", "alignas(16) int x;"}) {
    CHECK(rewritten(source) == source);
  }
}

TEST_CASE("emulate/rewrite/built_in_variables", "[emulate]") {
  CHECK(rewritten("threadIdx.x + blockDim . y") == "bankwise_x(threadIdx) + bankwise_y(blockDim)");
  CHECK(rewritten("asm(\"x; %0\" : : \"l\"(&a[threadIdx.x]), \"r\"(blockIdx.z));") ==
        "::bankwise::emulator::device::ptx([] { return \"x; %0\"; }, "
        "::bankwise::emulator::device::ptx_in(&a[bankwise_x(threadIdx)]), "
        "::bankwise::emulator::device::ptx_in(bankwise_z(blockIdx)));");
  CHECK(rewritten("thread_local alignas(8) int x;") ==
        "thread_local __attribute__((aligned(::bankwise::emulator::device::alignment<8>()))) int x;");
  CHECK(rewritten("cudaLaunchKernel((const void *)k, 1)") == "cudaLaunchKernel(k, 1)");
  CHECK(rewritten("cudaLaunchKernel(reinterpret_cast<void*>(k), 1)") == "cudaLaunchKernel((k), 1)");
}

TEST_CASE("emulate/rewrite/odd_launch", "[emulate]") {
  const std::string source = "# 1 \"a.cu\"\nint x;\n# 20 \"b.cuh\" 1\n\nk<<<1, 2>>>;\n";
  try {
    rewritten(source);
    FAIL("no error");
  } catch (const BadLaunch& bad) {
    CHECK(place_in(source, bad.offset, "a.cu") == "b.cuh:21");
  }
  CHECK_THROWS_AS(rewritten("<<<1, 2>>>(x);"), BadLaunch);
  CHECK_THROWS_AS(rewritten("= <<<1, 2>>>(x);"), BadLaunch);
  CHECK_THROWS_AS(rewritten("k<<<1, 2>>>(x;"), BadLaunch);
  CHECK_THROWS_AS(rewritten("k><<<1, 2>>>(x);"), BadLaunch);
}

}  // namespace
