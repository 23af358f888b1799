// SPDX-License-Identifier: MIT
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
  write_manifest(manifest, {file});
  CHECK(is_current(manifest));
  std::ofstream(file) << "two";
  CHECK_FALSE(is_current(manifest));
  std::filesystem::remove(file);
  CHECK_FALSE(is_current(manifest));
}

}  // namespace
