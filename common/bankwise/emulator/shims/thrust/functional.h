// Thrust's, and two classes that Thrust 3 has dropped, but programs still use.
#pragma once

#include_next <thrust/functional.h>

#if THRUST_VERSION >= 300000
namespace thrust {

template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};

template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};

}  // namespace thrust
#endif
