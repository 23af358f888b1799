#include "bankcheck/cuda/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "bankcheck/cuda/cubin/cubin.hpp"
#include "bankcheck/cuda/fields.hpp"

namespace bankwise::cuda {
namespace {

constexpr std::uint64_t max_time = std::numeric_limits<std::int64_t>::max();

TimedLaunch timed_launch(Fields& fields, const ProcessTimes& times) {
  TimedLaunch launch{.kernel = fields.id("kernel"), .device = fields.id("device")};
  if (!times.kernels.contains(launch.kernel) || !times.devices.contains(launch.device)) {
    throw Wrong{"it names a kernel or a device that no line before it has"};
  }
  for (auto& side : launch.grid) side = fields.id("grid");
  for (auto& side : launch.block) side = fields.number("block", 1024);
  launch.start = fields.number("time", max_time);
  launch.end = fields.number("time", max_time);
  if (launch.end < launch.start) throw Wrong{"it ends before it begins"};
  fields.check_end();
  return launch;
}

/// A line of the file.
bool take_times_line(ProcessTimes& times, std::string_view kind, Fields& fields) {
  if (kind == "process") {
    times.process = fields.number("process");
  } else if (kind == "device") {
    TimedDevice& device = times.devices[fields.id("device")];
    device.multiprocessors = fields.id("number of multiprocessors");
    device.clock_khz = fields.id("clock");
    device.memory_khz = fields.id("clock");
    device.bus_bits = fields.id("number of bits");
    device.l2_bytes = fields.id("number of bytes");
    device.name = fields.rest();
  } else if (kind == "kernel") {
    std::string& name = times.kernels[fields.id("kernel")];
    name = fields.rest();
  } else if (kind == "launch") {
    times.launches.push_back(timed_launch(fields, times));
  } else if (kind == "clock") {
    auto& changes = times.clocks[fields.id("device")];
    const std::uint64_t time = fields.number("time", max_time);
    changes.push_back({time, 1000 * fields.number("clock", 1'000'000)});
  } else {
    return false;
  }
  return true;
}

/// Grid and block.
using Size = std::pair<std::array<std::uint64_t, 3>, std::array<std::uint64_t, 3>>;
using Counts = std::map<Size, std::uint64_t>;

/// A kernel's launches in the timed run.
struct Timed {
  Counts counts;
  trace::KernelTime time;
  double clock_seconds = 0;       ///< kHz x nanoseconds, added up
  std::uint64_t assumed_khz = 0;  ///< the clock of launches during which it was not read; 0: none
  std::set<std::string> names;    ///< of the GPUs
};

/// The clock of a device at a time: the last one that was read before, otherwise the first one after. `changes` are in
/// the order of time. 0: it was never read.
std::uint64_t clock_at(const std::vector<ClockChange>& changes, std::uint64_t time) {
  if (changes.empty()) return 0;
  const auto next = std::ranges::upper_bound(changes, time, {}, &ClockChange::time);
  return next == changes.begin() ? next->khz : std::prev(next)->khz;
}

/// Which launches ran while another one of their process ran on their device. Puts them in the order of their starts.
std::vector<bool> overlapping(std::vector<TimedLaunch>& launches) {
  std::ranges::sort(launches, {}, [](const TimedLaunch& launch) { return std::pair(launch.device, launch.start); });
  std::vector<bool> overlaps(launches.size());
  std::size_t latest = 0;  // that of the device which ends last
  for (std::size_t i = 1; i < launches.size(); ++i) {
    const bool same_device = launches[i].device == launches[latest].device;
    if (same_device && launches[i].start < launches[latest].end) overlaps[i] = overlaps[latest] = true;
    if (!same_device || launches[i].end > launches[latest].end) latest = i;
  }
  return overlaps;
}

void add(ProcessTimes& process, std::map<std::string, Timed>& kernels) {
  for (auto& [device, changes] : process.clocks) std::ranges::sort(changes, {}, &ClockChange::time);
  const std::vector<bool> overlaps = overlapping(process.launches);
  for (std::size_t i = 0; i < process.launches.size(); ++i) {
    const TimedLaunch& launch = process.launches[i];
    const TimedDevice& device = process.devices.at(launch.device);
    Timed& timed = kernels[process.kernels.at(launch.kernel)];
    ++timed.counts[{launch.grid, launch.block}];
    ++timed.time.launches;
    timed.time.nanoseconds += launch.end - launch.start;
    timed.time.overlapped = timed.time.overlapped || overlaps[i];
    const std::uint64_t clock = clock_at(process.clocks[launch.device], launch.end);
    if (clock == 0) timed.assumed_khz = device.clock_khz;
    timed.clock_seconds += double(clock != 0 ? clock : device.clock_khz) * double(launch.end - launch.start);
    if (timed.names.insert(device.name).second) {
      constexpr std::uint64_t transfers = 2, bits = 8, khz_per_mhz = 1000;
      timed.time.gpu = device.name;
      timed.time.multiprocessors = device.multiprocessors;
      timed.time.l2_bytes = device.l2_bytes;
      timed.time.dram_mb_s = transfers * device.memory_khz * (device.bus_bits / bits) / khz_per_mhz;
    }
  }
}

std::map<std::string, Counts> counts_of(const std::vector<ProcessRecord>& watched) {
  std::map<std::string, Counts> counts;
  for (const ProcessRecord& record : watched) {
    for (const auto& [id, kernel] : record.kernels) {
      for (const RecordedLaunches& shape : kernel.shapes) {
        if (shape.launches > 0) counts[kernel.name][{shape.grid, shape.block}] += shape.launches;
      }
    }
  }
  return counts;
}

std::uint64_t total(const Counts& counts) {
  std::uint64_t launches = 0;
  for (const auto& [size, count] : counts) launches += count;
  return launches;
}

}  // namespace

ProcessTimes read_times(const std::filesystem::path& path) {
  return read_lines<ProcessTimes>(path, "bankwise_cuda_times 1", "times", take_times_line);
}

MatchedTimes match(const std::vector<ProcessRecord>& watched, std::vector<ProcessTimes> timed) {
  MatchedTimes matched;
  std::map<std::string, Timed> kernels;
  std::map<std::string, std::uint64_t> without_clock;  // by GPU
  for (ProcessTimes& process : timed) {
    add(process, kernels);
    for (const std::string& error : process.errors) {
      matched.remarks.push_back(fmt::format("process {} of the timed run: {}", process.process, error));
    }
  }
  std::vector<std::string> unequal;
  for (const auto& [name, counts] : counts_of(watched)) {
    Timed& kernel = kernels[name];
    if (kernel.counts != counts) {
      const std::string why =
          kernel.time.launches == total(counts)
              ? "other sizes"
              : fmt::format("{} and {}", support::plural(total(counts), "launch", "launches"), kernel.time.launches);
      unequal.push_back(fmt::format("{} ({})", demangled(name), why));
    } else if (kernel.names.size() > 1) {
      matched.remarks.push_back(fmt::format("{} ran on GPUs of different names: it has no time", demangled(name)));
    } else if (kernel.time.nanoseconds > 0) {
      kernel.time.clock_khz = std::uint64_t(std::llround(kernel.clock_seconds / double(kernel.time.nanoseconds)));
      matched.times.emplace(name, kernel.time);
      if (kernel.assumed_khz > 0) without_clock[kernel.time.gpu] = kernel.assumed_khz;
    }
  }
  if (!unequal.empty()) {
    const std::size_t more = unequal.size() - 1;
    matched.remarks.push_back(fmt::format(
        "the watched and the timed run of the program differ: {} no time",
        more == 0
            ? unequal.front() + " has"
            : fmt::format("{} and {} have", unequal.front(), support::plural(more, "more kernel", "more kernels"))));
  }
  for (const auto& [gpu, khz] : without_clock) {
    matched.remarks.push_back(fmt::format(
        "the clock of {} could not be read: its maximum, {} MHz, is assumed, so busy and bounds may be too low", gpu,
        khz / 1000));
  }
  return matched;
}

}  // namespace bankwise::cuda
