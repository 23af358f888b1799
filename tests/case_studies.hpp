// SPDX-License-Identifier: MIT
#pragma once

#include "prefix_sum.hpp"
#include "reduction.hpp"
#include "transpose.hpp"

inline const bankwise::CaseStudy* const all_case_studies[]{
    &bankwise::reduction::case_study(),
    &bankwise::prefix_sum::case_study(),
    &bankwise::transpose::case_study(),
};
