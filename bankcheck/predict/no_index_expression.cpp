// SPDX-License-Identifier: MIT
//
// Replaces index_expression.cpp in builds without muParser.
#include "bankcheck/predict/index_expression.hpp"

namespace bankwise {

struct IndexExpression::Parser {};

IndexExpression::IndexExpression(const std::string&) {
  throw ExpressionError("this build has no muParser (Debian: libmuparser-dev); give the accesses as CSV");
}
IndexExpression::~IndexExpression() = default;
std::int64_t IndexExpression::operator()(unsigned) {
  return 0;
}
bool IndexExpression::available() {
  return false;
}

}  // namespace bankwise
