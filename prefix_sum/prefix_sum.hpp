#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::prefix_sum {

/// The exclusive prefix sum of n words, modulo 2^32: out[i] = in[0] + ... + in[i - 1], out[0] = 0.
const study::CaseStudy& case_study();

}  // namespace bankwise::prefix_sum
