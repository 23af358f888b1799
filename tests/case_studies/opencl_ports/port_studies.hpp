// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include <bankwise/study/case_study.hpp>

/// A case study with the kernel that flushes caches, which belongs to the runner. Its output is one poisoned word that
/// it never writes.
const bankwise::CaseStudy& flush();

/// flush(), or a case study of the lists. Error: std::runtime_error if there is none with that name.
const bankwise::CaseStudy& ported_study(std::string_view name);

/// Variants that launch all of its kernels. Of variants with the same kernels and different data, the first and the
/// last.
std::vector<bankwise::Variant> variants_of_all_kernels(const bankwise::CaseStudy& study, bankwise::Extent extent,
                                                       unsigned compute_units);
