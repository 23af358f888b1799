// What the timing library wrote about one process (injection/timing.cpp), and which launches of the watched run it
// belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/cuda/record.hpp"

namespace bankwise::cuda {

struct TimedDevice {
  std::uint64_t multiprocessors = 0, clock_khz = 0;  ///< 0: not known, here and below
  std::uint64_t memory_khz = 0, bus_bits = 0;        ///< DRAM transfers twice per cycle
  std::uint64_t l2_bytes = 0;
  std::string name;
};

struct TimedLaunch {
  unsigned kernel = 0, device = 0;
  std::array<std::uint64_t, 3> grid{}, block{};  ///< blocks; threads per block
  std::uint64_t start = 0, end = 0;              ///< nanoseconds
};

/// From this time on the multiprocessors of a device had this clock, until the next change.
struct ClockChange {
  std::uint64_t time = 0, khz = 0;
};

/// One process.
struct ProcessTimes {
  std::uint64_t process = 0;
  std::map<unsigned, TimedDevice> devices;
  std::map<unsigned, std::string> kernels;  ///< mangled names
  std::vector<TimedLaunch> launches;
  std::map<unsigned, std::vector<ClockChange>> clocks;  ///< by device
  std::vector<std::string> errors;                      ///< a sentence each
  bool ended = false;                                   ///< in order; otherwise launches may be missing
};

/// Limits and errors as read_record().
ProcessTimes read_times(const std::filesystem::path& path);

struct MatchedTimes {
  std::map<std::string, trace::KernelTime> times;  ///< by mangled name
  std::vector<std::string> remarks;                ///< which kernels have no time, and why: a sentence each
};

/// The times of the watched kernels. A kernel has one if the two runs launched it equally often with each size of grid
/// and block, on GPUs of one name. Its clock is the mean over its launches, weighted by their times; where it was not
/// read, the GPU's maximum, and a remark says so. Kernels of different processes are not considered to overlap.
MatchedTimes match(const std::vector<ProcessRecord>& watched, std::vector<ProcessTimes> timed);

}  // namespace bankwise::cuda
