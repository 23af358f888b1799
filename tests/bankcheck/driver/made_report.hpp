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
