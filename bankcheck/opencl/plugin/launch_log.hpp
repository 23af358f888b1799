// SPDX-License-Identifier: MIT
//
// The launch log: a file next to the trace in which the plugin and the preloaded library note what happens during a
// run, and which bankcheck reads after it. Each line is "<event> <process> <text>".
#pragma once

#include <bankwise/support/append.hpp>

namespace bankwise::opencl {

namespace event {
inline constexpr const char* begin = "begin";    ///< a launch of the kernel <text> begins
inline constexpr const char* end = "end";        ///< it has ended, and the trace has it
inline constexpr const char* cut = "short";      ///< Oclgrind ended it without "3 of the 4 work-groups of scan"
inline constexpr const char* exit = "exit";      ///< the process calls exit(<text>), or returns from main()
inline constexpr const char* unable = "unable";  ///< why Oclgrind cannot create or run a kernel
}  // namespace event

using support::append_to;

}  // namespace bankwise::opencl
