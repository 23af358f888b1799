#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::transpose {

/// The transpose of a height x width matrix of 32-bit words, both row-major.
const study::CaseStudy& case_study();

}  // namespace bankwise::transpose
