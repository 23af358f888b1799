// SPDX-License-Identifier: MIT
//
// The case studies, and properties that tests need.
#pragma once

#include <algorithm>

#include "all_case_studies.hpp"  // made by CMake of cmake/case_studies.txt: their headers, and FOR_EACH_CASE_STUDY

#define BANKWISE_ADDRESS(name) &bankwise::name::case_study(),
inline const bankwise::CaseStudy* const all_case_studies[]{FOR_EACH_CASE_STUDY(BANKWISE_ADDRESS)};
#undef BANKWISE_ADDRESS

/// Whether an extent has two sides.
inline bool is_matrix(const bankwise::CaseStudy& study) {
  return study.sides.size() == 2;
}

inline const bankwise::Variant& variant_of(const bankwise::CaseStudy& study, std::string_view name) {
  return *std::find_if(study.variants.begin(), study.variants.end(), [&](auto& v) { return v.name == name; });
}

inline bankwise::Words hashed_words(std::uint64_t count) {
  bankwise::Words words(count);
  for (std::uint64_t i = 0; i < count; ++i) words[i] = bankwise::hashed_word(i);
  return words;
}

/// The words of a study's only output.
inline bankwise::Words reference_output(const bankwise::CaseStudy& study, bankwise::Extent extent,
                                        const bankwise::Words& input) {
  return study.reference(extent, {&input, 1}, study.variants.front()).front();
}
