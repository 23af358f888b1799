#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::matrix_product {

/// The product of an m x k and a k x n matrix of floats. The inputs are small whole numbers, so no addition rounds.
const study::CaseStudy& case_study();

}  // namespace bankwise::matrix_product
