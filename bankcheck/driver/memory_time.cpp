#include "bankcheck/driver/memory_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

bool writes(banks::Operation operation) { return operation != banks::Operation::load && !banks::is_copy(operation); }

report::Work work_of(const trace::KernelTrace& trace, const trace::Report& report) {
  report::Work work{.passes = report.all.passes,
                    .sectors = report.global.sectors,
                    .sectors_read = trace.sectors_read,
                    .sectors_written = trace.sectors_written};
  for (const trace::GlobalLineReport& line : report.global_lines) {
    if (writes(line.operation)) work.stored_sectors += line.costs.sectors;
  }
  for (const trace::LaunchShape& shape : trace.shapes) {
    std::uint64_t threads = 1;
    for (const std::uint64_t size : shape.block) threads = support::saturating_product(threads, size);
    work.grids.push_back({trace::blocks_of(shape), threads, shape.launches});
  }
  return work;
}

bool is_model_of(const banks::Architecture& architecture, const banks::GpuModel* gpu) {
  const auto& models = architecture.models.fact;
  return gpu != nullptr && models &&
         std::ranges::any_of(*models, [&](const banks::GpuModel& model) { return &model == gpu; });
}

/// "86 %", "over 100 %", "0.4 %".
std::string busy_text(double busy) {
  if (busy > 1.005) return "over 100 %";
  return busy < 0.01 ? fmt::format("{:.1f} %", 100 * busy) : fmt::format("{:.0f} %", 100 * busy);
}

/// Caches and DRAM move the bytes of other kernels, and evict and reload: only the least is known of them.
bool is_lower_bound(report::Pipe pipe) { return pipe == report::Pipe::l2 || pipe == report::Pipe::dram; }

std::string name_in_sentence(report::Pipe pipe) {
  return fmt::format("{}{}", pipe == report::Pipe::l1 || pipe == report::Pipe::l2 ? "the " : "", to_string(pipe));
}

std::string least_times_text(const MemoryTime& time) {
  std::string text;
  for (const report::PipeUse& use : time.busy.pipes) {
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", support::format_time(use.least_ns / 1e9),
                        name_in_sentence(use.pipe));
  }
  const std::string name = support::visible(time.gpu.name);
  std::string sentence = fmt::format("{} needs at least {}", name, text);
  if (time.busy.over_the_next) {
    sentence += fmt::format(": {} takes the longest, {:.1f} x the next", name_in_sentence(time.busy.pipes[0].pipe),
                            *time.busy.over_the_next);
  }
  if (time.work.sectors > 0 && !time.gpu.l2) sentence += "; the bandwidth of its L2 cache is not known";
  return sentence;
}

}  // namespace

std::optional<double> MemoryTime::most_share(std::uint64_t conflicts, std::uint64_t extra_sectors) const {
  if (!measured_ns) return std::nullopt;
  return report::most_share(conflicts, extra_sectors, work, gpu, *measured_ns);
}

std::optional<MemoryTime> memory_time(const trace::KernelTrace& trace, const trace::Report& report,
                                      const banks::GpuModel* gpu) {
  const banks::Architecture& architecture = *report.architecture;
  const bool has_time = trace.time && unusable_time(trace).empty();
  const banks::GpuModel* timed_on = has_time ? banks::find_gpu(trace.time->gpu) : nullptr;
  MemoryTime time{.work = work_of(trace, report)};
  if (is_model_of(architecture, timed_on)) {
    time.gpu = report::rates_of(*timed_on);
    if (trace.time->clock_khz > 0) time.gpu.clock_ghz = double(trace.time->clock_khz) / 1e6;
    time.measured_ns = double(trace.time->nanoseconds);
  } else if (is_model_of(architecture, gpu)) {
    time.gpu = report::rates_of(*gpu);
    time.was_asked_for = true;
  } else if (architecture.models.fact) {
    time.gpu = report::rates_of(architecture.models.fact->front());
  } else {
    return std::nullopt;
  }
  time.busy = report::busy(time.work, time.gpu, time.measured_ns);
  return time;
}

Bound bound_of(const MemoryTime& time, const trace::Report& report) {
  Bound bound;
  if (!time.measured_ns || report.all.unknown > 0) return bound;
  report::Work after = time.work;
  after.passes = report.all.ideal;
  if (report.all.conflicts > 0 && report.all.more_conflicts == 0) {
    bound.without_conflicts = report::most_speedup(time.work, after, time.gpu, *time.measured_ns);
  }
  const auto& memory = report.architecture->sectors.fact;
  if (report::extra_sectors(report.global) == 0 || report.global.unknown > 0 || !memory) return bound;
  // A layout may also need fewer different sectors, but each holds at least one access of one lane.
  std::uint64_t narrowest = memory->sector_bytes;
  after = time.work;
  after.sectors = after.stored_sectors = 0;
  for (const trace::GlobalLineReport& line : report.global_lines) {
    after.sectors += line.costs.ideal;
    if (writes(line.operation)) after.stored_sectors += line.costs.ideal;
    narrowest = std::min<std::uint64_t>(narrowest, line.width);
  }
  after.sectors_read = after.sectors_read * narrowest / memory->sector_bytes;
  after.sectors_written = after.sectors_written * narrowest / memory->sector_bytes;
  if (report::most_saved_ns(time.work, after, time.gpu))  // else a bandwidth is not known
    bound.without_extra_sectors = report::most_speedup(time.work, after, time.gpu, *time.measured_ns);
  return bound;
}

std::string time_text(const MemoryTime& time, const trace::Report& report, bool is_part) {
  if (time.busy.pipes.empty()) return "";
  if (!time.measured_ns) return time.was_asked_for ? least_times_text(time) : "";
  std::string text;
  for (const report::PipeUse& use : time.busy.pipes) {
    const bool is_first = text.empty();
    text += fmt::format("{}{}{} {}{}{}", is_first ? "" : ", ", to_string(use.pipe), is_first ? " busy" : "",
                        is_part || is_lower_bound(use.pipe) ? "at least " : "", busy_text(use.busy.value_or(0)),
                        is_first ? " of the time" : "");
  }
  if (is_part) return text;
  const Bound bound = bound_of(time, report);
  std::string limits;
  if (bound.without_conflicts)
    limits += fmt::format("without any conflict at most {:.2f} x faster", *bound.without_conflicts);
  if (bound.without_extra_sectors) {
    limits += fmt::format("{}without extra sectors at most {:.2f} x faster", limits.empty() ? "" : ", ",
                          *bound.without_extra_sectors);
  }
  return limits.empty() ? text : text + ": " + limits;
}

std::string unusable_time(const trace::KernelTrace& trace) {
  if (!trace.time) return "";
  if (trace.time->overlapped) return "other kernels ran at the same time, so its time says nothing about its memories";
  if (banks::find_gpu(trace.time->gpu) == nullptr) {
    return fmt::format("it took {} on {}, a GPU of which multiprocessors and bandwidths are not known",
                       support::format_time(double(trace.time->nanoseconds) / 1e9), trace.time->gpu);
  }
  return "";
}

}  // namespace bankwise::driver
