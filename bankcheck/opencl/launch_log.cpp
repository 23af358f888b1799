// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/launch_log.hpp"

#include <fstream>
#include <sstream>

namespace bankwise::opencl {

LaunchLog read_launch_log(const std::filesystem::path& path) {
  LaunchLog log;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string event, kernel, why;
    long process = 0;
    int code = 0;
    if (!(words >> event >> process)) continue;
    if (event == "begin" && words >> kernel) log.unfinished[process] = kernel;
    if (event == "end") log.unfinished.erase(process);
    if (event == "exit" && words >> code) log.exits[process] = code;
    if (event == "short" && !log.not_all_groups && std::getline(words >> std::ws, why)) log.not_all_groups = why;
    if (event == "unable" && !log.unable && std::getline(words >> std::ws, why)) log.unable = why;
  }
  return log;
}

}  // namespace bankwise::opencl
