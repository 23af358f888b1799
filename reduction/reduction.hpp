#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::reduction {

/// The sum of n uint4 records, component by component, modulo 2^32. The sum of no records is zero.
const study::CaseStudy& case_study();

}  // namespace bankwise::reduction
