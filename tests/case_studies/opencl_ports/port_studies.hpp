#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>

/// A case study with the kernel that flushes caches, which belongs to the runner. Its output is one poisoned word that
/// it never writes.
const bankwise::study::CaseStudy& flush();

/// flush(), or a case study of the lists. Error: std::runtime_error if there is none with that name.
const bankwise::study::CaseStudy& ported_study(std::string_view name);

/// Compute units in the plans of both sides, however many the device has.
inline constexpr unsigned ported_units = 2;

/// Variants that launch all of its kernels that exist in both APIs. Of variants with the same kernels and different
/// data, the first and the last.
std::vector<bankwise::study::Variant> variants_of_all_kernels(const bankwise::study::CaseStudy& study,
                                                              bankwise::study::Extent extent, unsigned compute_units);

/// The first OpenCL device there is, which under Oclgrind is Oclgrind. Error: std::runtime_error if there is none.
inline std::unique_ptr<bankwise::gpu::Session> open_first_opencl() {
  for (const auto& device : bankwise::gpu::devices().list) {
    if (device.api == bankwise::gpu::Api::opencl) return bankwise::gpu::open(device);
  }
  throw std::runtime_error("no OpenCL device");
}
