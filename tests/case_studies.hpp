// SPDX-License-Identifier: MIT
//
// The case studies and what tests ask of them.
#pragma once

#include <algorithm>

#include "access_patterns/access_patterns.hpp"
#include "prefix_sum/prefix_sum.hpp"
#include "reduction/reduction.hpp"
#include "transpose/transpose.hpp"

inline const bankwise::CaseStudy* const all_case_studies[]{
    &bankwise::reduction::case_study(),
    &bankwise::prefix_sum::case_study(),
    &bankwise::transpose::case_study(),
    &bankwise::access_patterns::case_study(),
};

inline const bankwise::Variant& variant_of(const bankwise::CaseStudy& study, std::string_view name) {
  return *std::find_if(study.variants.begin(), study.variants.end(), [&](auto& v) { return v.name == name; });
}

inline bankwise::Words hashed_words(std::uint64_t count) {
  bankwise::Words words(count);
  for (std::uint64_t i = 0; i < count; ++i) words[i] = bankwise::hashed_word(i);
  return words;
}

inline bankwise::Words input_of(const bankwise::CaseStudy& study, bankwise::Extent extent) {
  bankwise::Words words(study.input_words(extent));
  for (std::uint64_t i = 0; i < words.size(); ++i) words[i] = study.input_word(i);
  return words;
}
