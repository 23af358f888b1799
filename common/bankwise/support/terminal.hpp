// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise {

/// Columns of the terminal that stdout is; 80 if it is none.
unsigned terminal_columns();

/// Whether stdout shows colours: it is a terminal, and NO_COLOR is not set.
bool terminal_has_colour();

}  // namespace bankwise
