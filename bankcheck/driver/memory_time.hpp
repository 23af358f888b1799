// What the memories of a GPU need for a kernel, beside the time that it took there: how busy they are, and how much
// faster it can become at most.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bankwise/report/busy.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::driver {

/// Of a kernel on an architecture.
struct MemoryTime {
  report::GpuRates gpu;
  report::Work work;
  report::Busy busy;
  std::optional<double> measured_ns;  ///< all launches together, in a run without watching; the numbers of `gpu` fit it
  bool was_asked_for = false;         ///< the user named the GPU

  /// What the conflicts, or sectors beyond the ideal, of a line or of the kernel probably take.
  double likely_ns(std::uint64_t conflicts, std::uint64_t extra_sectors) const {
    return report::likely_ns(conflicts, extra_sectors, work, gpu);
  }
  /// The most of the measured time that they can take; empty without a time, or if it is not known.
  std::optional<double> most_share(std::uint64_t conflicts, std::uint64_t extra_sectors) const;
};

/// On the GPU where the kernel was timed, if it is of the architecture; else on `gpu`, if that is not null, else on the
/// first model of the architecture, which is good enough to compare costs. Nothing if no model is known. `is_first`: it
/// is the report's first architecture, which is taken for that of a GPU that the table lacks.
std::optional<MemoryTime> memory_time(const trace::KernelTrace& trace, const trace::Report& report,
                                      const banks::GpuModel* gpu, bool is_first);

/// How much faster a kernel with a measured time can become at most.
struct Bound {
  std::optional<double> without_conflicts, without_extra_sectors;  ///< empty: it has none, or nothing limits it
};
Bound bound_of(const MemoryTime& time, const trace::KernelTrace& trace, const trace::Report& report);

/// "DRAM busy at least 86 % of the time, shared memory 48 %: without any conflict at most 1.14 x faster". Without a
/// measured time, on a GPU that the user named: "an NVIDIA H200 needs at least 98.7 us for shared memory, ...". ""
/// otherwise. `is_part`: the kernel may have done more, so there is no bound.
std::string time_text(const MemoryTime& time, const trace::KernelTrace& trace, const trace::Report& report,
                      bool is_part);

/// Why a measured time says nothing: "" if it does, or if there is none.
std::string unusable_time(const trace::KernelTrace& trace);

}  // namespace bankwise::driver
