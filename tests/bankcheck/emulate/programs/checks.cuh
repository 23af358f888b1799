// Counts and prints the checks that fail.
#pragma once
#include <cstdio>

inline int failures = 0;
#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), ++failures; \
  } while (0)
/// The exit code of the program.
inline int checked() {
  puts(failures == 0 ? "right" : "wrong");
  return failures != 0;
}
