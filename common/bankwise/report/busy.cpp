#include <bankwise/report/busy.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace bankwise::report {
namespace {

// See the header for the sources.
constexpr double l1_lines_per_cycle = 4, l1_bytes_per_cycle = 128;
constexpr double l2_bytes_of_sector = 2 * sector_bytes;  // that take as long at full bandwidth, at most
constexpr double dram_bytes_of_sector = 3 * 64;          // likewise
constexpr double path_cycles_per_pass = 1, path_cycles_per_sector = 1.25;  // beyond a cycle of the pipe

/// Without empty launches. None: a warp in each multiprocessor.
std::vector<Grid> grids_of(const Work& work, const GpuRates& gpu) {
  std::vector<Grid> grids = work.grids;
  std::erase_if(grids, [](const Grid& grid) { return grid.blocks * grid.threads * grid.launches == 0; });
  if (grids.empty()) grids.push_back({.blocks = std::uint64_t(gpu.multiprocessors), .threads = gpu.warp});
  return grids;
}

std::uint64_t ceiling(std::uint64_t count, std::uint64_t each) { return (count + each - 1) / each; }

double threads_in(const Grid& grid) { return double(grid.blocks) * double(grid.threads) * double(grid.launches); }

double threads_in(const std::vector<Grid>& grids) {
  double threads = 0;
  for (const Grid& grid : grids) threads += threads_in(grid);
  return threads;
}

/// Nanoseconds of one cycle of all multiprocessors, as far as the kernel uses them: the busiest has more work than it
/// would have if all of the GPU shared it. Threads do equal work.
double cycle_ns(const Work& work, const GpuRates& gpu, Assuming assuming) {
  const std::vector<Grid> grids = grids_of(work, gpu);
  double busiest = 0;
  for (const Grid& grid : grids) {
    const auto blocks = double(grid.blocks);
    const double most = assuming == Assuming::usual ? double(ceiling(grid.blocks, std::uint64_t(gpu.multiprocessors)))
                                                    : std::max(1.0, blocks / gpu.multiprocessors);
    busiest += threads_in(grid) * most / blocks;
  }
  return busiest / (threads_in(grids) * gpu.clock_ghz);
}

/// Nanoseconds of one cycle for each of `count` events that warps wait for, in the blocks that a multiprocessor
/// executes one after another. `path`: those that one warp of each block waits for, over all blocks.
double path_ns(double count, const std::optional<double>& path, const Work& work, const GpuRates& gpu) {
  const std::vector<Grid> grids = grids_of(work, gpu);
  double cycles = 0;
  for (const Grid& grid : grids) {
    const auto rounds = double(ceiling(grid.blocks, std::uint64_t(gpu.multiprocessors)));
    const double of_block = path.value_or(count / double(ceiling(grid.threads, gpu.warp))) * double(grid.threads);
    cycles += double(grid.launches) * rounds * of_block;
  }
  return cycles / (threads_in(grids) * gpu.clock_ghz);
}

std::uint64_t launches_in(const Work& work) {
  std::uint64_t launches = 0;
  for (const Grid& grid : work.grids) launches += grid.launches;
  return std::max(launches, std::uint64_t{1});
}

double l1_cycles(const Work& work) {
  return std::max(double(work.cache_lines) / l1_lines_per_cycle, double(work.loaded_bytes) / l1_bytes_per_cycle);
}

/// path_of() without the warps. A line that the warps executed so often that all may have done so equally often has a
/// part of its passes on the path of each; any other line may have all of them on the path of one warp.
double path_by_lines(const trace::KernelTrace& kernel, const trace::Report& report,
                     std::uint64_t banks::Tally::*passes) {
  std::uint64_t blocks = 0, warps = 0;
  for (const trace::LaunchShape& shape : kernel.shapes) {
    const std::uint64_t launched = trace::blocks_of(shape) * shape.launches;
    blocks += launched;
    warps += launched * ceiling(shape.block[0] * shape.block[1] * shape.block[2], report.warp);
  }
  if (blocks > 0 && kernel.blocks < blocks) warps = warps / blocks * kernel.blocks;
  double path = 0;
  for (const trace::LineReport& line : report.lines) {
    const bool may_be_equal = warps > 0 && line.costs.accesses % warps == 0;
    path += double(line.costs.*passes) * (may_be_equal ? double(kernel.blocks) / double(warps) : 1);
  }
  return path;
}

double less(std::uint64_t before, std::uint64_t after) { return before > after ? double(before - after) : 0; }

}  // namespace

std::string_view to_string(Pipe pipe) {
  constexpr std::string_view names[pipe_count]{"shared memory", "L1 cache", "L2 cache", "DRAM"};
  return names[std::size_t(pipe)];
}

GpuRates rates_of(const banks::GpuModel& gpu, const std::optional<support::Bandwidths>& measured) {
  constexpr double transfers = 2, bits = 8, khz_per_ghz = 1e6;
  GpuRates rates{.name = std::string(gpu.name),
                 .multiprocessors = double(gpu.multiprocessors),
                 .clock_ghz = gpu.clock_khz / khz_per_ghz,
                 .l2_bytes = 1024.0 * gpu.l2_kib,
                 .l2 = gpu.l2_bandwidth.fact,
                 .dram = gpu.dram_bandwidth.fact,
                 .l2_unknown = gpu.l2_bandwidth.why_unknown,
                 .is_dram_peak = !gpu.dram_bandwidth.fact && !measured};
  if (measured) rates.l2 = measured->l2, rates.dram = measured->dram;
  if (!rates.dram) rates.dram = transfers * gpu.memory_khz * gpu.bus_bits / bits / khz_per_ghz;
  return rates;
}

std::optional<GpuRates> rates_of(const trace::KernelTime& time, const std::optional<support::Bandwidths>& measured) {
  const banks::GpuModel* model = banks::find_gpu(time.gpu);
  banks::GpuModel unknown{};
  unknown.name = time.gpu;
  GpuRates rates = rates_of(model != nullptr ? *model : unknown, measured);
  if (model == nullptr && !measured) {
    rates.is_dram_peak = time.dram_mb_s > 0;
    rates.dram = rates.is_dram_peak ? std::optional(double(time.dram_mb_s) / 1e3) : std::nullopt;
  }
  if (time.multiprocessors > 0) rates.multiprocessors = double(time.multiprocessors);
  if (time.clock_khz > 0) rates.clock_ghz = double(time.clock_khz) / 1e6;
  if (time.l2_bytes > 0) rates.l2_bytes = double(time.l2_bytes);
  return rates.multiprocessors > 0 && rates.clock_ghz > 0 ? std::optional(rates) : std::nullopt;
}

Work work_of(const trace::KernelTrace& kernel, const trace::Report& report, Change change) {
  const std::uint64_t launched = trace::launched_blocks(kernel);
  const double share = kernel.blocks > 0 && kernel.blocks < launched ? double(launched) / double(kernel.blocks) : 1;
  const auto scaled = [&](std::uint64_t count) { return std::uint64_t(std::llround(double(count) * share)); };
  const bool fewest = change == Change::fewest_sectors;
  banks::SectorTally read, written;
  std::uint64_t loaded_lines = 0;  // of other operations it is not known that a cache line takes a cycle
  for (const trace::GlobalLineReport& line : report.global_lines) {
    const bool reads = line.operation == banks::Operation::load || line.operation == banks::Operation::cp_async;
    (reads ? read : written).add(line.costs);
    if (line.operation == banks::Operation::load) loaded_lines += line.costs.lines;
  }
  const auto sectors = [&](const banks::SectorTally& tally) { return scaled(fewest ? tally.ideal : tally.sectors); };
  const auto different = [&](std::uint64_t counted, const banks::SectorTally& tally) {
    return fewest ? std::min(counted, scaled(tally.bytes) / std::uint64_t(sector_bytes)) : counted;
  };
  const auto passes = change == Change::no_conflicts ? &banks::Tally::ideal : &banks::Tally::passes;
  const double path = path_of(report, passes).value_or(path_by_lines(kernel, report, passes));
  Work work{.passes = scaled(report.all.*passes),
            .path_passes = path * share,
            .sectors = sectors(read) + sectors(written),
            .cache_lines = fewest ? 0 : scaled(loaded_lines),
            .loaded_bytes = scaled(read.bytes),
            .stored_sectors = sectors(written),
            .sectors_read = different(kernel.sectors_read, read),
            .sectors_written = different(kernel.sectors_written, written)};
  for (const trace::LaunchShape& shape : kernel.shapes) {
    const std::uint64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    work.grids.push_back({.blocks = trace::blocks_of(shape), .threads = threads, .launches = shape.launches});
  }
  return work;
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
  return {double(work.passes) * cycle, l1_cycles(work) * cycle,
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

std::optional<double> path_of(const trace::Report& report, std::uint64_t banks::Tally::*passes) {
  double path = 0;
  for (const trace::LevelReport& level : report.levels) {
    if (level.costs.*passes == 0) continue;
    if (level.issued_warps == 0) return std::nullopt;
    path += double(level.costs.*passes) / double(level.issued_warps);
  }
  return path * double(report.blocks);
}

std::optional<double> most_saved_ns(const Work& before, const Work& after, const GpuRates& gpu) {
  const double cycle = cycle_ns(before, gpu, Assuming::usual);
  const double passes = less(before.passes, after.passes), sectors = less(before.sectors, after.sectors);
  double saved = passes * cycle;
  if (passes > 0) {
    const Work& shape = after.grids.empty() ? before : after;
    saved += path_cycles_per_pass * std::max(0.0, path_ns(double(before.passes), before.path_passes, before, gpu) -
                                                      path_ns(double(after.passes), after.path_passes, shape, gpu));
  }
  if (sectors == 0) return saved;
  if (!gpu.l2 || !gpu.dram) return std::nullopt;
  saved += path_cycles_per_sector * path_ns(sectors, std::nullopt, before, gpu);
  const auto touched = double(before.sectors_read + before.sectors_written);
  const bool fits = touched > 0 && touched * sector_bytes <= double(launches_in(before)) * gpu.l2_bytes / 2;
  const double from_dram = fits ? std::min(sectors, touched) : sectors;
  return saved + sectors * (cycle + std::max(cycle, l2_bytes_of_sector / *gpu.l2)) +
         from_dram * dram_bytes_of_sector / *gpu.dram;
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
  Work line{.passes = conflicts,
            .sectors = excess_sectors,
            .sectors_read = work.sectors_read,
            .sectors_written = work.sectors_written,
            .grids = work.grids};
  if (work.path_passes) line.path_passes = std::min(double(conflicts), *work.path_passes);
  const auto saved = most_saved_ns(line, {}, gpu);
  if (!saved || measured_ns <= 0) return std::nullopt;
  return std::min(1.0, *saved / measured_ns);
}

double likely_ns(std::uint64_t conflicts, std::uint64_t excess_sectors, const Work& work, const GpuRates& gpu) {
  const std::optional<double> bandwidth = gpu.l2 ? gpu.l2 : gpu.dram;
  const double cycle = cycle_ns(work, gpu, Assuming::usual);
  const double sector = bandwidth ? sector_bytes / *bandwidth : cycle;
  return double(conflicts) * cycle + double(excess_sectors) * sector;
}

}  // namespace bankwise::report
