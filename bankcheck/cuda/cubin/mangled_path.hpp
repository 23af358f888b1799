// SPDX-License-Identifier: MIT
//
// The namespaces and the name of a mangled function, without decoding its template arguments and parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bankwise::cuda {

/// "cub::detail::Kernel<...>" for a name mangled by the Itanium C++ ABI, in time proportional to its length. A complete
/// demangler cannot promise that: each reference to an earlier part of the name may double what it writes. Nothing for
/// operators, constructors, names inside of functions, and what is no such name.
std::optional<std::string> mangled_path(std::string_view mangled);

}  // namespace bankwise::cuda
