// SPDX-License-Identifier: MIT
#include "bankcheck/driver/progress.hpp"

#include <cstdlib>

#include <bankwise/support/progress.hpp>
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

TEST_CASE("driver/progress_file/one_line") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "progress";
  const bankwise::driver::ProgressFile file(path, "blocks");
  CHECK(file.text().empty());
  setenv("BANKWISE_PROGRESS", path.c_str(), 1);
  bankwise::RunProgress* const progress = bankwise::progress_of_environment();
  REQUIRE(progress != nullptr);
  bankwise::begin_launch(*progress, "scan<\x1b>", 7);
  progress->done = 3;
  CHECK(file.text() == "bankcheck: scan<?>, launch 1: 3 of 7 blocks");
  progress->done = 7;
  CHECK(file.text().empty());
  bankwise::begin_launch(*progress, std::string(500, 'k'), 2);
  CHECK(file.text() == "bankcheck: " + std::string(103, 'k') + ", launch 2: 0 of 2 blocks");
}
