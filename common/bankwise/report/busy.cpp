#include <bankwise/report/busy.hpp>

#include <algorithm>
#include <functional>

namespace bankwise::report {
namespace {

// See the header for the sources.
constexpr double l1_sectors_per_cycle = 4, dram_granule = 64;

/// By how much the busiest multiprocessor has more work than it would have if all of the GPU shared it, over all
/// launches; threads do equal work.
double imbalance(const std::vector<Grid>& grids, const GpuRates& gpu, Assuming assuming) {
  double threads = 0, busiest = 0;
  for (const Grid& grid : grids) {
    if (grid.blocks == 0) continue;
    const auto blocks = double(grid.blocks);
    const double work = blocks * double(grid.threads) * double(grid.launches);
    const auto each = std::uint64_t(gpu.multiprocessors);
    const double most = assuming == Assuming::usual ? double((grid.blocks - 1) / each + 1)
                                                    : std::max(1.0, blocks / gpu.multiprocessors);
    threads += work;
    busiest += work * most / blocks;
  }
  return threads == 0 ? 1 : busiest * gpu.multiprocessors / threads;
}

/// Nanoseconds of one cycle of all multiprocessors, as far as the kernel uses them.
double cycle_ns(const Work& work, const GpuRates& gpu, Assuming assuming) {
  return imbalance(work.grids, gpu, assuming) / (gpu.multiprocessors * gpu.clock_ghz);
}

std::uint64_t launches_in(const Work& work) {
  std::uint64_t launches = 0;
  for (const Grid& grid : work.grids) launches += grid.launches;
  return std::max(launches, std::uint64_t{1});
}

double less(std::uint64_t before, std::uint64_t after) { return before > after ? double(before - after) : 0; }

}  // namespace

std::string_view to_string(Pipe pipe) {
  constexpr std::string_view names[pipe_count]{"shared memory", "L1 cache", "L2 cache", "DRAM"};
  return names[std::size_t(pipe)];
}

GpuRates rates_of(const banks::GpuModel& gpu) {
  constexpr double transfers = 2, bits = 8;
  const double peak = transfers * gpu.memory_khz * gpu.bus_bits / bits / 1e6;
  return {.name = std::string(gpu.name),
          .multiprocessors = double(gpu.multiprocessors),
          .clock_ghz = gpu.clock_khz / 1e6,
          .l2_bytes = 1024.0 * gpu.l2_kib,
          .l2 = gpu.l2_bandwidth.fact,
          .dram = gpu.dram_bandwidth.fact.value_or(peak),
          .l2_unknown = gpu.l2_bandwidth.why_unknown,
          .is_dram_peak = !gpu.dram_bandwidth.fact};
}

LeastTimes least_times(const Work& work, const GpuRates& gpu, Assuming assuming) {
  const double cycle = cycle_ns(work, gpu, assuming);
  const double in_cache = double(launches_in(work)) * gpu.l2_bytes;
  const auto beyond_cache = [&](std::uint64_t sectors) {
    return std::max(0.0, double(sectors) * sector_bytes - in_cache);
  };
  const auto transfer = [](double bytes, const std::optional<double>& bandwidth) {
    return bandwidth ? std::optional(bytes / *bandwidth) : std::nullopt;
  };
  std::uint64_t stored = work.sectors_written;
  if (assuming == Assuming::usual) stored = std::max(stored, work.stored_sectors);
  return {double(work.passes) * cycle, double(work.sectors) / l1_sectors_per_cycle * cycle,
          transfer(double(work.sectors_read + stored) * sector_bytes, gpu.l2),
          transfer(beyond_cache(work.sectors_read) + beyond_cache(work.sectors_written), gpu.dram)};
}

Busy busy(const Work& work, const GpuRates& gpu, std::optional<double> measured_ns) {
  const LeastTimes least = least_times(work, gpu, Assuming::usual);
  Busy busy;
  for (std::size_t pipe = 0; pipe < pipe_count; ++pipe) {
    if (least[pipe].value_or(0) == 0) continue;
    PipeUse& use = busy.pipes.emplace_back(PipeUse{Pipe(pipe), *least[pipe], std::nullopt});
    if (measured_ns && *measured_ns > 0) use.busy = use.least_ns / *measured_ns;
  }
  std::ranges::stable_sort(busy.pipes, std::greater(), &PipeUse::least_ns);
  if (busy.pipes.size() > 1) busy.over_the_next = busy.pipes[0].least_ns / busy.pipes[1].least_ns;
  return busy;
}

std::optional<double> most_saved_ns(const Work& before, const Work& after, const GpuRates& gpu) {
  const double cycle = cycle_ns(before, gpu, Assuming::usual);
  const double sectors = less(before.sectors, after.sectors);
  const double saved = less(before.passes, after.passes) * cycle;
  if (sectors == 0) return saved;
  if (!gpu.l2 || !gpu.dram) return std::nullopt;
  return saved + sectors * (cycle + sector_bytes / *gpu.l2 + dram_granule / *gpu.dram);
}

std::optional<double> most_speedup(const Work& before, const Work& after, const GpuRates& gpu, double measured_ns) {
  if (measured_ns <= 0) return std::nullopt;
  std::optional<double> most;
  const auto limit = [&](double speedup) { most = std::max(1.0, std::min(most.value_or(speedup), speedup)); };
  if (const auto saved = most_saved_ns(before, after, gpu); saved && *saved < measured_ns) {
    limit(measured_ns / (measured_ns - *saved));
  }
  for (const std::optional<double>& least : least_times(after, gpu, Assuming::nothing)) {
    if (least.value_or(0) > 0) limit(measured_ns / *least);
  }
  return most;
}

std::optional<double> most_share(std::uint64_t conflicts, std::uint64_t excess_sectors, const Work& work,
                                 const GpuRates& gpu, double measured_ns) {
  const Work line{.passes = conflicts, .sectors = excess_sectors, .grids = work.grids};
  const auto saved = most_saved_ns(line, {}, gpu);
  if (!saved || measured_ns <= 0) return std::nullopt;
  return std::min(1.0, *saved / measured_ns);
}

double likely_ns(std::uint64_t conflicts, std::uint64_t excess_sectors, const Work& work, const GpuRates& gpu) {
  const std::optional<double> bandwidth = gpu.l2 ? gpu.l2 : gpu.dram;
  const double cycle = cycle_ns(work, gpu, Assuming::usual);
  const double sector = bandwidth ? sector_bytes / *bandwidth : cycle / l1_sectors_per_cycle;
  return double(conflicts) * cycle + double(excess_sectors) * sector;
}

}  // namespace bankwise::report
