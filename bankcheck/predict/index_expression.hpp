// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace bankwise {

/// An invalid index expression; what() is one sentence.
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An integer formula in the lane number `tid`: decimal and 0x numbers, ( ), + - * / %, << >>, & ^ | ~, comparisons,
/// && || ! and ?: with the meaning and the precedence of C, except that && and || evaluate both sides, and that a sign
/// in front of a sign needs parentheses: -(-tid). The magnitude of every value must be less than 2^53. Operands of
/// << >> & ^ | ~ must not be negative, shift counts go up to 52, and ~ inverts 32 bits.
class IndexExpression {
 public:
  /// Error: ExpressionError.
  explicit IndexExpression(const std::string& text);
  ~IndexExpression();
  IndexExpression(const IndexExpression&) = delete;
  IndexExpression& operator=(const IndexExpression&) = delete;

  /// Error: ExpressionError, with the lane: a division by zero, a value out of range.
  std::int64_t operator()(unsigned tid);

  /// Whether this build has muParser, and so can evaluate expressions.
  static bool available();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace bankwise
