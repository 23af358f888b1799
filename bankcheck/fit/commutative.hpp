// Whether a statement combines two elements of an array in a way that does not depend on their order.
#pragma once

#include <string>
#include <string_view>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

/// Of a statement without blanks, with "A" and "B" for the elements: "A+=B;", "A=max(A,B);", "if(A<B)A=B;". `type`: of
/// the elements. A product is commutative only for numbers, and nothing is for a class of the source. Of a call, the
/// function must be one of the source that returns a sum, a product, a minimum, ...; if the name is a variable, so must
/// all call operators of two parameters.
bool is_commutative(const Expressions& code, const std::string& statement, std::string_view type);

}  // namespace bankwise::fit
