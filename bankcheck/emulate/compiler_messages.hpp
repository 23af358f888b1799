// SPDX-License-Identifier: MIT
//
// Finds in g++'s messages what the emulator lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bankwise::emulate {

/// Sentences such as "main.cu:12: cudaGraphLaunch is not emulated", each once, in the order of the messages. Empty if
/// the errors have other causes.
std::vector<std::string> missing_in(std::string_view messages);

/// The first error: "main.cu:12: expected ';' before ...". Empty if there is none.
std::string first_error_in(std::string_view messages);

}  // namespace bankwise::emulate
