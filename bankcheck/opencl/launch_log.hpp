// SPDX-License-Identifier: MIT
//
// What the plugin and the preloaded library note during a run, one line per event, in a file next to the trace:
//   begin <process> <kernel>  a launch begins
//   end <process>             the launch has ended, and the trace has it
//   short <process> <what>    Oclgrind ended a launch without some of its work-groups: "3 of the 4 work-groups of scan"
//   exit <process> <code>     the process calls exit(), or returns from main()
//   unable <process> <why>    Oclgrind cannot create or run a kernel
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace bankwise::opencl {

struct LaunchLog {
  std::map<long, std::string> unfinished;     ///< by process: the kernel of the launch that has not ended
  std::map<long, int> exits;                  ///< by process: the exit code
  std::optional<std::string> not_all_groups;  ///< of the first launch that ended without some of its work-groups
  std::optional<std::string> unable;          ///< why Oclgrind cannot create or run a kernel: the first reason
};

/// An empty log if there is no such file. Lines that are none of the above are skipped.
LaunchLog read_launch_log(const std::filesystem::path& path);

}  // namespace bankwise::opencl
