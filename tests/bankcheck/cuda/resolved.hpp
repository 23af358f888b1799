// Records of a kernel, and what resolve() makes of them.
#pragma once

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/report.hpp>
#include "bankcheck/cuda/record.hpp"

namespace resolved {

using namespace bankwise;

inline const std::string histogram = "_Z14more_histogramPKjPj";
inline constexpr std::uint64_t store_pc = 0x1e0, increment_pc = 0x350;  // histogram.cuh:25 and :31, says nvdisasm

inline cuda::RecordedPattern pattern(std::uint64_t pc, cuda::Kind kind, std::uint32_t stride, std::uint64_t count) {
  cuda::RecordedPattern pattern{.pc = pc, .kind = kind, .width = 4, .mask = 0xffffffff, .count = count};
  for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.addresses.push_back(1024 + stride * lane);
  return pattern;
}

inline const std::vector<const banks::Architecture*> hopper{banks::find_architecture("sm_90")};

inline cuda::Resolved resolved_from(const std::vector<cuda::ProcessRecord>& records) {
  return cuda::resolve(records, hopper);
}

inline cuda::ProcessRecord record_of(std::vector<cuda::RecordedPattern> patterns) {
  cuda::ProcessRecord record{.process = 7, .ended = true};
  record.devices[0] = {9, 0, "H200"};
  record.modules[0] = {0, std::filesystem::path(CUBIN_DATA) / "hopper.cubin"};
  cuda::RecordedKernel& kernel = record.kernels[0];
  kernel.name = histogram;
  kernel.shapes.push_back({{4, 1, 1}, {128, 1, 1}, 0, 2, 8});
  kernel.patterns = std::move(patterns);
  return record;
}

inline trace::Report report_of(const cuda::Resolved& resolved) {
  return trace::report(resolved.trace.kernels.at(0), *banks::find_architecture("sm_90"));
}

}  // namespace resolved
