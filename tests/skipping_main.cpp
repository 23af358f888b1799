#include "tests/skipping_main.hpp"

#include <iostream>

#include <bankwise/support/exit_code.hpp>

// The linker calls this function instead of main(), which Catch2 has compiled (--wrap=main). A main() of our own would
// need Catch2's runner, whose source takes longer to compile than most test programs.
extern "C" {
int __real_main(int argc, char** argv);
int __wrap_main(int argc, char** argv);

int __wrap_main(int argc, char** argv) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) {
    std::cerr << reason << "; skipped\n";
    return bankwise::support::exit_nothing;
  }
  return __real_main(argc, argv);
}
}
