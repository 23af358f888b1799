// Sums in a tree, from interleaved to sequential addressing, in the text of the source.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bankcheck/fit/edits.hpp"

namespace bankwise::fit {

/// The edits of the loop `for (s = 1; s < n; s *= 2)` that adds `a[2 * s * i + s]` to `a[2 * s * i]`, or of the one
/// from 2 on that adds `a[s * i + s / 2]`: it becomes `for (s = n / 2; s > 0; s /= 2)` with `a[i]` and `a[i + s]`. Or
/// why there are none: a sentence without a dot. The sums, products, minima, ... of two elements must not depend on
/// their order, and only element 0 may be used behind the loop.
std::variant<std::vector<Edit>, std::string> sequential_edits(std::string_view source, const Declaration& declaration);

}  // namespace bankwise::fit
