// Reports of traces that the tests make.
#pragma once

#include <bankwise/trace/builder.hpp>
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/driver/sinks.hpp"

namespace bankwise::driver {

/// Of a kernel with one launch of one block of 32 threads.
inline trace::Builder builder_of(const std::string& kernel = "k", const std::string& options = "") {
  trace::Builder builder({.kernel = kernel, .options = options, .blocks = 1});
  builder.add(trace::LaunchShape{{32, 1, 1}, {32, 1, 1}, 1});
  return builder;
}

/// An access of a whole warp to `tile` with `step` bytes from lane to lane.
inline trace::Pattern access_of(trace::Builder& builder, const trace::Site& site, std::uint32_t step,
                                std::uint64_t times) {
  trace::Pattern pattern{
      .site = builder.site(site), .array = builder.array({"tile", 0, 8192}), .mask = 0xffffffff, .count = times};
  for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.addresses.push_back(step * lane);
  normalize(pattern);
  return pattern;
}

/// An access of a whole warp to global memory with `step` bytes from lane to lane.
inline trace::Pattern global_access_of(trace::Builder& builder, const trace::Site& site, std::uint32_t step,
                                       std::uint64_t times, banks::Operation operation = banks::Operation::load) {
  trace::Pattern pattern{.site = builder.site(site), .operation = operation, .mask = 0xffffffff, .count = times};
  for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.addresses.push_back(step * lane);
  normalize(pattern);
  builder.trace().watches_global = true;
  return pattern;
}

/// A kernel that loads columns `times` times in line 7, has conflicts `conflicts` times 31 in line 3, and stores rows.
inline trace::KernelTrace kernel_with_columns(const std::string& name, std::uint64_t times, std::uint64_t conflicts) {
  trace::Builder builder = builder_of(name);
  if (conflicts > 0) builder.add(access_of(builder, {.file = "k.cu", .line = 3}, 128, conflicts));
  builder.add_global(global_access_of(builder, {.file = "k.cu", .line = 7}, 4096, times));
  builder.add_global(global_access_of(builder, {.file = "k.cu", .line = 8}, 4, times, banks::Operation::store));
  return builder.take();
}

inline RunReport report_of(const trace::Trace& trace, const std::vector<const char*>& names = {"sm_90"},
                           SourceFinder finder = SourceFinder("/no/such/directory")) {
  std::vector<const banks::Architecture*> architectures;
  for (const char* name : names) architectures.push_back(banks::find_architecture(name));
  return {kernel_reports(trace, architectures, finder), {"./program"}, trace.maker, {}};
}

inline RunReport report_of(std::vector<trace::KernelTrace> kernels, const std::vector<const char*>& names = {"sm_90"}) {
  return report_of(trace::Trace{.maker = trace::Maker::cuda, .kernels = std::move(kernels)}, names);
}

}  // namespace bankwise::driver
