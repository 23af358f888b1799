#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::doubling {

/// Every word times two, modulo 2^32.
const study::CaseStudy& case_study();

}  // namespace bankwise::doubling
