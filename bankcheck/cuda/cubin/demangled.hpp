// SPDX-License-Identifier: MIT
//
// Names of functions for people to read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::cuda {

/// The name as it is written in C++, without return type, parameters and anonymous namespaces, and at most `max_width`
/// bytes long (at least 8). As far as it takes to fit, template arguments become "...", the deepest first; then all
/// namespaces but the first do; then the end is cut off, which "..." shows:
///   cub::CUB_300001_SM_900::detail::reduce::DeviceReduceKernel<...>  ->  cub::...::DeviceReduceKernel<...>
/// A long name has "..." for all its template arguments from the start. What no C++ compiler mangled is only cut.
std::string demangled(std::string_view mangled, std::size_t max_width = 80);

// The namespaces and the name of a mangled function, without decoding its template arguments and parameters.

/// "cub::detail::Kernel<...>" for a name mangled by the Itanium C++ ABI, in time proportional to its length. A complete
/// demangler cannot promise that: each reference to an earlier part of the name may double what it writes. Nothing for
/// operators, constructors, names inside of functions, and what is no such name.
std::optional<std::string> mangled_path(std::string_view mangled);

}  // namespace bankwise::cuda
