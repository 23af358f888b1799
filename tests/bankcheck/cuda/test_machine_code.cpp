// SPDX-License-Identifier: MIT
#include "bankcheck/driver/reporting.hpp"

#include <algorithm>

#include <bankwise/support/exit_code.hpp>
#include "tests/catch_any.hpp"

using bankwise::UsageError;
using bankwise::driver::emitted_lines;

TEST_CASE("cuda/machine_code/read_by_line") {
  CHECK(emitted_lines("").empty());
  const auto lines = emitted_lines(CUBIN_DATA "/hopper.cubin");
  const auto stores = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.file.ends_with("more_kernels/histogram.cuh") && line.line == 25;
  });
  REQUIRE(stores != lines.end());
  CHECK(stores->opcodes == std::map<std::string, std::uint64_t>{{"STS", 4}});
}

TEST_CASE("cuda/machine_code/refused") {
  CHECK_THROWS_WITH(emitted_lines("/no/such/file"), "--cubin '/no/such/file': it cannot be read");
  CHECK_THROWS_WITH(emitted_lines("/"), "--cubin '/': it cannot be read");
  CHECK_THROWS_AS(emitted_lines(CUBIN_DATA "/hopper.txt"), UsageError);
  CHECK_THROWS_WITH(emitted_lines(CUBIN_DATA "/no_lines.cubin"), Catch::Matchers::ContainsSubstring("-lineinfo"));
}
