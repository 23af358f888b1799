#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace bankwise::predict {

/// An invalid index expression; what() is one sentence.
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An integer formula in the lane number, with the types, the precedence and the values of CUDA C++ and OpenCL C:
/// ( ), + - * / %, << >>, & ^ | ~, comparisons, && || ! and ?:, min, max and abs.
///
/// Numbers are decimal or hexadecimal, with the suffixes u, l and ll; a long has 64 bits. These names are the lane
/// number: tid, lane and laneid as an int, threadIdx.x and get_sub_group_local_id() as an unsigned, get_local_id(0) as
/// a 64-bit size_t. abs has the type of its operand.
///
/// What C leaves undefined is an error: a signed + - * / % that overflows, a division by zero, a shift by a negative
/// number or by at least the width of its left operand. << drops the bits that it shifts out, also of a signed number,
/// as in OpenCL C and in C++20. A number that begins with 0, octal in C, is an error, too.
class IndexExpression {
 public:
  /// Error: ExpressionError.
  explicit IndexExpression(std::string text);

  /// Error: ExpressionError, with the lane: what C leaves undefined, or a value that is not below 2^63.
  std::int64_t operator()(unsigned tid) const;

 private:
  std::string text_;
};

}  // namespace bankwise::predict
