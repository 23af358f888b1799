// SPDX-License-Identifier: MIT
#define CATCH_CONFIG_RUNNER
#include "tests/skipping_main.hpp"

#include <iostream>

#include <bankwise/support/exit_code.hpp>
#include "tests/catch_any.hpp"

int main(int argc, char** argv) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) {
    std::cerr << reason << "; skipped\n";
    return bankwise::exit_nothing;
  }
  return Catch::Session().run(argc, argv);
}
