// SPDX-License-Identifier: MIT
//
// Checks the example of docs/trace_format.md as a reader of that page would.
#include <fstream>

#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/report.hpp>
#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

/// The text of the page's first code block in this language.
std::string block(const std::string& language) {
  std::ifstream page(SOURCE_DIRECTORY "/docs/trace_format.md");
  std::string text, line;
  while (std::getline(page, line) && line != "```" + language) {
  }
  while (std::getline(page, line) && line != "```") text += line + '\n';
  return text;
}

}  // namespace

TEST_CASE("trace/format/example") {
  const auto file = small::read(block("json"));
  CHECK(file.closed);
  REQUIRE(file.trace.kernels.size() == 1);
  const trace::KernelTrace& kernel = file.trace.kernels[0];
  CHECK(launches_of(kernel) == 2);
  CHECK(launched_blocks(kernel) == kernel.blocks);
  CHECK(conflicts(kernel, "sm_90") == 124);
  CHECK(conflicts(kernel, "gfx942") == 124);
}

TEST_CASE("trace/format/writer") {
  const std::string text = block("json");
  const auto file = small::read(text);
  CHECK(small::read(to_json_lines(file.trace)).trace.kernels.at(0).patterns.size() ==
        file.trace.kernels[0].patterns.size());
}
