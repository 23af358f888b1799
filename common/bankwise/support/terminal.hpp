// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise {

/// The width of the terminal on stdout in columns; 80 if stdout is not a terminal.
unsigned terminal_columns();

/// Whether to use colours on stdout: it is a terminal, and NO_COLOR is not set.
bool terminal_has_colour();

}  // namespace bankwise
