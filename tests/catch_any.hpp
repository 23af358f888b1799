// The only file that depends on Catch2's version: 3 if it is packaged, otherwise 2.13.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as in version 2
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
/// The name in version 3, where Contains() matches ranges.
inline auto ContainsSubstring(const std::string& part) { return Contains(part); }
}  // namespace Catch::Matchers
#endif
