#include "bankcheck/driver/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/bandwidths.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

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

/// What the numbers rest on that nobody has measured; "" or "; ...".
std::string doubts(const MemoryTime& time) {
  const bool moves = time.work.sectors > 0;
  std::string text;
  if (moves && time.gpu.is_dram_peak) text += "; DRAM counts with its peak bandwidth, which no program reaches";
  if (moves && !time.gpu.l2) {
    text += fmt::format("; the bandwidth of the L2 cache is not known: {} (access_patterns --bandwidth does it)",
                        time.gpu.l2_unknown);
  }
  return text;
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
  return sentence + doubts(time);
}

}  // namespace

std::optional<double> MemoryTime::most_share(std::uint64_t conflicts, std::uint64_t extra_sectors) const {
  if (!measured_ns) return std::nullopt;
  return report::most_share(conflicts, extra_sectors, work, gpu, *measured_ns);
}

std::optional<MemoryTime> memory_time(const trace::KernelTrace& trace, const trace::Report& report,
                                      const banks::GpuModel* gpu, bool is_first) {
  const banks::Architecture& architecture = *report.architecture;
  const auto& models = architecture.models.fact;
  MemoryTime time{.work = report::work_of(trace, report)};
  if (trace.time && unusable_time(trace).empty()) {
    const banks::GpuModel* timed_on = banks::find_gpu(trace.time->gpu);
    const bool is_its = timed_on == nullptr ? is_first : is_model_of(architecture, timed_on);
    if (is_its) {
      time.gpu = *report::rates_of(*trace.time, support::measured_bandwidths(trace.time->gpu));
      time.measured_ns = double(trace.time->nanoseconds);
    }
  }
  time.was_asked_for = !time.measured_ns && is_model_of(architecture, gpu);
  if (time.was_asked_for) {
    time.gpu = report::rates_of(*gpu, support::measured_bandwidths(gpu->name));
  } else if (!time.measured_ns) {
    if (!models) return std::nullopt;
    time.gpu = report::rates_of(models->front());
  }
  time.busy = report::busy(time.work, time.gpu, time.measured_ns);
  return time;
}

Bound bound_of(const MemoryTime& time, const trace::KernelTrace& trace, const trace::Report& report) {
  Bound bound;
  if (!time.measured_ns) return bound;
  const auto most_speedup = [&](report::Change change) {
    const report::Work after = report::work_of(trace, report, change);
    const bool is_known = report::most_saved_ns(time.work, after, time.gpu).has_value();
    return is_known ? report::most_speedup(time.work, after, time.gpu, *time.measured_ns) : std::nullopt;
  };
  if (report.all.conflicts > 0 && report.all.more_conflicts == 0 && report.all.unknown == 0)
    bound.without_conflicts = most_speedup(report::Change::no_conflicts);
  if (report::extra_sectors(report.global) > 0 && report.global.unknown == 0)
    bound.without_extra_sectors = most_speedup(report::Change::fewest_sectors);
  return bound;
}

std::string time_text(const MemoryTime& time, const trace::KernelTrace& trace, const trace::Report& report,
                      bool is_part) {
  if (time.busy.pipes.empty()) return "";
  if (!time.measured_ns) return time.was_asked_for ? least_times_text(time) : "";
  std::string text;
  for (const report::PipeUse& use : time.busy.pipes) {
    const bool is_first = text.empty();
    text += fmt::format("{}{}{} {}{}{}", is_first ? "" : ", ", to_string(use.pipe), is_first ? " busy" : "",
                        is_part || is_lower_bound(use.pipe) ? "at least " : "", busy_text(use.busy.value_or(0)),
                        is_first ? " of the time" : "");
  }
  if (is_part) return text + doubts(time);
  const Bound bound = bound_of(time, trace, report);
  std::string limits;
  if (bound.without_conflicts)
    limits += fmt::format("without any conflict at most {:.2f} x faster", *bound.without_conflicts);
  if (bound.without_extra_sectors) {
    limits += fmt::format("{}without extra sectors at most {:.2f} x faster", limits.empty() ? "" : ", ",
                          *bound.without_extra_sectors);
  }
  return text + (limits.empty() ? "" : ": ") + limits + doubts(time);
}

std::string unusable_time(const trace::KernelTrace& trace) {
  if (!trace.time) return "";
  if (trace.time->overlapped) return "other kernels ran at the same time, so its time says nothing about its memories";
  if (report::rates_of(*trace.time)) return "";
  return fmt::format("it took {} on {}, a GPU of which multiprocessors and clock are not known",
                     support::format_time(double(trace.time->nanoseconds) / 1e9), trace.time->gpu);
}

}  // namespace bankwise::driver
