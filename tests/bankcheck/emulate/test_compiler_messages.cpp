// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bankcheck/emulate/build.hpp"
#include "bankcheck/emulate/cache.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

namespace {

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
  CHECK(missing_in("a.cu:3:1: error: 'fluffy' was not declared in this scope\n").empty());
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

/// Entries that are cut short, and what a killed compiler leaves.
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
    std::filesystem::create_directory(result.parent_path() / "work.1");
    CHECK(exit_code() == 3);
    CHECK(exit_code() == 3);
  }
}

}  // namespace
