// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise::opencl {

/// Appends "<event> <process> <text>" to the launch log (launch_log.hpp), which the environment variable
/// BANKWISE_LAUNCHES names. Cuts the line at 500 characters and at the end of the text's first line.
void note(const char* event, const char* text);

}  // namespace bankwise::opencl
