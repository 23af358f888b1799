// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::access_patterns {

/// What single accesses to shared memory cost: the bank model beside the clock.
const CaseStudy& case_study();

}  // namespace bankwise::access_patterns
