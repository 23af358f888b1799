#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bankcheck/emulate/build.hpp"
#include "bankcheck/source/tokens.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

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
  return "::bankwise::emulator::runtime::launching" + std::string(captures == "&" ? "_of_expression" : "") + "([" +
         captures + "](auto&&... bankwise_a) __attribute__((no_sanitize(\"thread\"), no_sanitize_coverage)) { ";
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

TEST_CASE("emulate/rewrite/constants", "[emulate]") {
  const auto told = [](const std::string& name) {
    return " __asm__(\".pushsection bankwise_constants,\\\"a\\\"; .asciz \\\"" + name + "\\\"; .popsection\");";
  };
  CHECK(rewritten("bankwise_constant float a[4];") == " float a[4];" + told("a"));
  CHECK(rewritten("static bankwise_constant T<1, 2> a{3}, b[2] = {f(x, y), z};int c;") ==
        "static  T<1, 2> a{3}, b[2] = {f(x, y), z};int c;" + told("a") + told("b"));
  CHECK(rewritten("float bankwise_constant a = x, b;") == "float  a = x, b;" + told("a") + told("b"));
}

TEST_CASE("emulate/rewrite/shared_arrays", "[emulate]") {
  const auto shape = [](const std::string& name) {
    return " [[gnu::used]] static constexpr auto bankwise_shape_" + name +
           " = ::bankwise::emulator::runtime::array_shape<decltype(" + name + ")>();";
  };
  CHECK(rewritten("bankwise_shared float a[4][N];int c;") == "thread_local float a[4][N];" + shape("a") + "int c;");
  CHECK(rewritten("static bankwise_shared T<1, 2> a[f(x, y)], b; }") ==
        "static thread_local T<1, 2> a[f(x, y)], b;" + shape("a") + shape("b") + " }");
  CHECK(rewritten("bankwise_shared __attribute__((aligned(8))) int a[2];") ==
        "thread_local __attribute__((aligned(8))) int a[2];" + shape("a"));
  CHECK(rewritten("bankwise_shared alignas(8) int a;") ==
        "thread_local __attribute__((aligned(::bankwise::emulator::device::alignment<8>()))) int a;" + shape("a"));
  CHECK(rewritten("bankwise_shared struct Pair { int x; } pair[2];") ==
        "thread_local struct Pair { int x; } pair[2];" + shape("pair"));
  CHECK(rewritten("extern bankwise_shared float a[];") == "extern thread_local float a[];");
  CHECK(rewritten("bankwise_shared float a[") == "thread_local float a[");
}

TEST_CASE("emulate/rewrite/launch", "[emulate]") {
  CHECK(rewritten("kernel<<<1, 2>>>(x, y);") == launched("kernel", "1, 2", "x, y") + ";");
  CHECK(rewritten("n::k<a, b<c>><<<g,\nb>>>\n(x\n);") ==
        head("=") + "n::k<a, b<c>>(bankwise_a...); }).at(g,\nb)\n(x\n);");
  CHECK(rewritten("::k<<<g, t<N>>>>(x);") == launched("::k", "g, t<N>", "x") + ";");
  CHECK(rewritten("if (a) k<<<1, 1>>>();") == "if (a) " + launched("k", "1, 1", "") + ";");
  CHECK(rewritten("if (a) (*k)<<<1, 1>>>();") == "if (a) " + launched("(*k)", "1, 1", "", "bankwise_a...", "&") + ";");
  CHECK(rewritten("(K{1}.k)<<<1, 1>>>();") == launched("(K{1}.k)", "1, 1", "", "bankwise_a...", "&") + ";");
  CHECK(rewritten("a.b->k[i]<<<1, 1>>>();") == launched("a.b->k[i]", "1, 1", "", "bankwise_a...", "&") + ";");
  CHECK(rewritten("T::template k<1><<<1, 1>>>();") == launched("T::template k<1>", "1, 1", "") + ";");
  CHECK(rewritten("k<(a > b)><<<1, 1>>>();") == launched("k<(a > b)>", "1, 1", "", "bankwise_a...", "&") + ";");
  // Null pointers.
  const auto pick = [](int i) {
    return "::bankwise::emulator::runtime::pick<" + std::to_string(i) + ">(bankwise_a...)";
  };
  CHECK(rewritten("k<<<1, 1>>>(0, x);") == launched("k", "1, 1", "0, x", "0, " + pick(1)) + ";");
  CHECK(rewritten("k<<<1, 1>>>(x, NULL);") == launched("k", "1, 1", "x, NULL", pick(0) + ", NULL") + ";");
  CHECK(rewritten("k<<<1, 1>>>(f<0, 1>(), 0);") == launched("k", "1, 1", "f<0, 1>(), 0") + ";");
  // Braces, which become a value of the parameter's type.
  const std::string braces = "::bankwise::emulator::runtime::braces(";
  CHECK(rewritten("k<<<1, 1>>>({x, {y}}, {});") == launched("k", "1, 1", braces + "x, {y}), " + braces + ")") + ";");
  // What only looks like a launch.
  for (const std::string source : {"a << b << c >> d;", "operator<<<int>(a, b);", "\"k<<<1, 1>>>()\"",
                                   "// k<<<1, 1>>>()\n", "a.blockDim.x", "A<B<C<int>>> x(1);", "alignas(16) int x;"}) {
    CHECK(rewritten(source) == source);
  }
}

TEST_CASE("emulate/rewrite/assembler_of_host", "[emulate]") {
  const std::string pause = "asm volatile(\"rep; nop\" ::: \"memory\");";
  CHECK(rewritten(pause, Language::host) == pause);
  CHECK(rewritten(pause).find("::bankwise::emulator::device::ptx<true>(") == 0);
}

TEST_CASE("emulate/rewrite/built_in_variables", "[emulate]") {
  CHECK(rewritten("threadIdx.x + blockDim . y") == "bankwise_x(threadIdx) + bankwise_y(blockDim)");
  CHECK(rewritten("asm(\"x; %0\" : : \"l\"(&a[threadIdx.x]), \"r\"(blockIdx.z));") ==
        "::bankwise::emulator::device::ptx([] { return \"x; %0\"; }, "
        "::bankwise::emulator::device::ptx_in(&a[bankwise_x(threadIdx)]), "
        "::bankwise::emulator::device::ptx_in(bankwise_z(blockIdx)));");
  CHECK(rewritten("thread_local int x;") == "thread_local int x;");
  CHECK(rewritten("thread_local alignas(8) int x;") ==
        "thread_local __attribute__((aligned(::bankwise::emulator::device::alignment<8>()))) int x;");
  CHECK(
      rewritten("cudaKernelNodeParams p = {(void*)k}, q; q.func = (void *)k<1>; r.func = (void*)k; p.f = (void*)k;") ==
      "cudaKernelNodeParams p = {k}, q; q.func = k<1>; r.func = (void*)k; p.f = (void*)k;");
  CHECK(rewritten("void f(cudaKernelNodeParams* p) { p->func = reinterpret_cast<void*>(k); }") ==
        "void f(cudaKernelNodeParams* p) { p->func = (k); }");
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
  CHECK_THROWS_AS(rewritten("k<<<"), BadLaunch);
  CHECK_THROWS_AS(rewritten("k<<<l<<<1, 2>>>(x);"), BadLaunch);
}

using namespace bankwise::emulate;
using Texts = std::vector<std::string>;

TEST_CASE("emulate/compiler_messages/missing_in_emulator", "[emulate]") {
  CHECK(missing_in("a.cu: In function 'int main()':\n"
                   "a.cu:12:5: error: \u2018cudaGraphLaunch\u2019 was not declared in this scope; did you mean x?\n"
                   "a.cu:13:5: error: 'cudaGraphLaunch' was not declared in this scope\n"
                   "b.cuh:7:1: error: call to 'f' declared with attribute error: cublasSgemm is not emulated\n"
                   "a.cu:9:10: fatal error: cute/tensor.hpp: No such file or directory\n") ==
        Texts{"a.cu:12: cudaGraphLaunch is not emulated", "b.cuh:7: cublasSgemm is not emulated",
              "a.cu:9: there is no file cute/tensor.hpp"});
  // Of a template that a shim refuses, the user's own line: the innermost use.
  CHECK(missing_in("/b/shims/cub/cub.cuh: In instantiation of 'class cub::BlockReduce<int, 128>':\n"
                   "a.cu:6:41:   required from 'void k() [with T = int]'\na.cu:9:3:   required from here\n"
                   "/b/shims/cub/cub.cuh:25:23: error: static assertion failed: cub::BlockReduce is not emulated\n"
                   "b.cu:7:1: error: call to 'f' declared with attribute error: cublasSgemm is not emulated\n") ==
        Texts{"a.cu:6: cub::BlockReduce is not emulated", "b.cu:7: cublasSgemm is not emulated"});
  for (const std::string name : {"fluffy", "current", "myData", "my1", "cu", ""}) {
    CHECK(missing_in("a.cu:3:1: error: '" + name + "' was not declared in this scope\n").empty());
  }
  CHECK(missing_in("a.cu:3:1: error: 'cuCtxCreate' was not declared in this scope\n").size() == 1);
  CHECK(first_error_in("note\na.cu:3:14: error: expected ';'\na.cu:4: error: b\n") == "a.cu:3: expected ';'");
  CHECK(first_error_in("").empty());
}

TEST_CASE("emulate/compiler_messages/current_compilation", "[emulate]") {
  CHECK(files_in_rule("a.o: a.cu b\\ c.h \\\n d$$.h\n") == Texts{"a.cu", "b c.h", "d$.h"});
  const ScratchDirectory scratch;
  const auto file = (scratch.path() / "a.cu").string(), manifest = (scratch.path() / "manifest").string();
  std::ofstream(file) << "one";
  CHECK_FALSE(is_current(manifest));
  for (const auto& lines_of : {hashes_of, sizes_of}) {
    std::ofstream(file) << "one";
    write_manifest(manifest, lines_of({file}));
    CHECK(is_current(manifest));
    std::ofstream(file) << "other";
    CHECK_FALSE(is_current(manifest));
    write_manifest(manifest, lines_of({file}));
    std::filesystem::remove(file);
    CHECK_FALSE(is_current(manifest));
    write_manifest(manifest, hashes_of({file}));  // of a file that is not there
    CHECK_FALSE(is_current(manifest));
  }
  std::ofstream(manifest) << "hash";  // cut short
  CHECK_FALSE(is_current(manifest));
}

/// Somebody saves a file after the preprocessor has read it, or after the compiler has compiled it.
TEST_CASE("emulate/compiler_messages/saved_while_compiling", "[emulate]") {
  const std::string saved = GENERATE("a.cu", "stride.cuh"), stage = GENERATE("-E", "-fpreprocessed");
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  const std::string source = "#include \"stride.cuh\"\nint main() { return STRIDE; }\n";
  write("a.cu", source);
  write("stride.cuh", "#define STRIDE 3\n");
  write("new", saved == "a.cu" ? "int main() { return 7; }\n" : "#define STRIDE 7\n");
  Toolchain toolchain = read_toolchain(SAMPLES_DIRECTORY "/emulate/toolchain.txt");
  write(
      "g++",
      fmt::format(
          "#!/bin/sh\n{} \"$@\" || exit\ncase \" $* \" in *' {} '*) [ ! -e '{}/new' ] || mv '{}/new' '{}/{}' ;; esac\n",
          toolchain.compiler, stage, folder, folder, folder, saved));
  std::filesystem::permissions(folder + "/g++", std::filesystem::perms::owner_all);
  toolchain.compiler = folder + "/g++";
  Program program;
  program.sources = {folder + "/a.cu"};
  const auto exit_code = [&] { return std::system(build(program, toolchain, CACHE).c_str()) >> 8; };
  CHECK(exit_code() == 3);
  CHECK_FALSE(std::filesystem::exists(folder + "/new"));
  CHECK(exit_code() == 7);
}

/// Every file of an entry, cut short.
TEST_CASE("emulate/compiler_messages/damaged_cache", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string source = (scratch.path() / "semi;x.cu").string();
  std::ofstream(source) << "int main() { return 3; }\n";
  const Toolchain toolchain = read_toolchain(SAMPLES_DIRECTORY "/emulate/toolchain.txt");
  Program program;
  program.sources = {source};
  const auto cache = scratch.path() / "cache";
  const auto exit_code = [&] {
    return std::system(("'" + build(program, toolchain, cache).string() + "'").c_str()) >> 8;
  };
  CHECK(exit_code() == 3);
  std::vector<std::filesystem::path> results;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache)) {
    if (entry.is_regular_file() && entry.path().filename() != "lock") results.push_back(entry.path());
  }
  CHECK(results.size() == 8);  // a header and its compilation, a source's object and rule, a program; three manifests
  for (const auto& result : results) {
    INFO(result);
    std::filesystem::resize_file(result, std::filesystem::file_size(result) / 2);
    CHECK(exit_code() == 3);
    CHECK(exit_code() == 3);
  }
}

TEST_CASE("emulate/toolchain/identity") {
  const ScratchDirectory scratch;
  const auto& folder = scratch.path();
  std::filesystem::create_directories(folder / "include/bankwise/emulator");
  const auto file = folder / "toolchain.txt";
  const auto toolchain = [&] { return read_toolchain(file); };
  std::ofstream(file) << "compiler @/g++\nscript @/script\nlink @/library.a\ninclude @/include\n";
  const auto change = [&](const std::string& name) {
    std::ofstream(folder / name, std::ios::app) << "#\n";
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  };
  const std::vector<std::string> parts{"g++", "script", "library.a", "include/bankwise/emulator/k.hpp",
                                       "toolchain.txt"};
  for (const std::string& part : parts) change(part);
  CHECK(toolchain().compiler == (folder / "g++").string());
  for (const std::string& part : parts) {
    INFO(part);
    const std::string before = toolchain().identity;
    CHECK(toolchain().identity == before);
    change(part);
    CHECK(toolchain().identity != before);
  }
}

}  // namespace
