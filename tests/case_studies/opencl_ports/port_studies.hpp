// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include <bankwise/study/case_study.hpp>

/// The case studies of the repository, and one for each kernel outside of them: together every .cl file.
const std::vector<const bankwise::CaseStudy*>& port_studies();

/// Error: std::runtime_error if there is none with that name.
const bankwise::CaseStudy& ported_study(std::string_view name);

/// Variants that launch all of its kernels. Of variants with the same kernels and different data, the first and the
/// last.
std::vector<bankwise::Variant> variants_of_all_kernels(const bankwise::CaseStudy& study, bankwise::Extent extent,
                                                       unsigned compute_units);
