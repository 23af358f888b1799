// SPDX-License-Identifier: MIT
//
// write_claims > docs/claims.md
#include <cstdio>
#include <exception>
#include <string>

#include "claims.hpp"

int main() try {
  const std::string text = bankwise::claims::page();
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 3;
} catch (const std::exception& error) {
  std::fprintf(stderr, "write_claims: %s\n", error.what());
  return 3;
}
