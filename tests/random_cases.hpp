// How many random cases a test tries.
#pragma once

#include <cstdlib>
#include <string_view>

/// All of them if BANKWISE_RANDOM_CASES is "all", as in CI; otherwise an eighth, for an early answer.
inline unsigned random_cases(unsigned all) {
  const char* const wanted = std::getenv("BANKWISE_RANDOM_CASES");
  return wanted != nullptr && std::string_view(wanted) == "all" ? all : all / 8;
}
