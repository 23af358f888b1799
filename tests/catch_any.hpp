// The only file that depends on Catch2's version: 3 if it is packaged, otherwise 2.13.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as in version 2
#else
#include <catch2/catch.hpp>
#endif

/// For CHECK_THAT, which shows the whole text where this part is missing.
inline auto has(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);  // in version 3 it matches ranges
#endif
}
