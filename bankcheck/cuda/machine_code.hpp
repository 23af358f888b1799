// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "bankcheck/driver/emitted_code.hpp"

namespace bankwise::cuda {

/// The instructions on shared memory of each source line, from a cubin that was compiled with -lineinfo. Nothing for an
/// empty path. Error: UsageError for a file that is no cubin, or has no lines unless it `may_be_empty`.
std::vector<driver::EmittedLine> emitted_lines(const std::string& path, bool may_be_empty = false);

}  // namespace bankwise::cuda
