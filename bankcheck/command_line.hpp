// SPDX-License-Identifier: MIT
// The command line of bankcheck.
#pragma once

namespace bankwise {

/// Does what the arguments ask for, and returns the exit code. Throws UsageError for wrong usage, other exceptions for
/// what failed. Here and not in main.cpp, so that CLI11's templates are compiled only once, with the subcommands'.
int run_bankcheck(int argc, const char* const* argv);

}  // namespace bankwise
