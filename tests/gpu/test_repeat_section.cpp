// SPDX-License-Identifier: MIT
#include <algorithm>
#include <stdexcept>

#include <bankwise/gpu/kernel_remarks.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise::gpu;

TEST_CASE("gpu/repeat_section/marked_lines") {
  const std::string source = "a\n  // --- shared-memory section ---\n  b;\n  // --- end of section ---\nc\n";
  CHECK(has_section(source));
  CHECK(repeat_section(source, Api::cuda, 3) ==
        "a\n  for (int turn = 0; turn < 3; ++turn) {\n  b;\n  __syncthreads(); }\nc\n");
  CHECK(repeat_section(source, Api::opencl, 5) ==
        "a\n  for (int turn = 0; turn < 5; ++turn) {\n  b;\n  barrier(CLK_LOCAL_MEM_FENCE); }\nc\n");
}

TEST_CASE("gpu/repeat_section/one_section") {
  const std::string begin(section_begin), end(section_end);
  CHECK_FALSE(has_section("nothing"));
  for (const auto& source : {std::string("nothing"), begin, end, begin + begin + end, begin + end + end}) {
    INFO(source);
    CHECK_THROWS_AS(repeat_section(source, Api::cuda), std::invalid_argument);
  }
}

TEST_CASE("gpu/repeat_section/odd_iterations") { CHECK(block_scope_repeats % 2 == 1); }
