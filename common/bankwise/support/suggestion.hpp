// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bankwise {

/// Letters to insert, delete or change to turn one word into the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// One sentence for a name that is not one of the `known` ones (at least one): it suggests the nearest, and `where` to
/// find them all.
std::string no_such(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                    std::string_view where);

/// The same with a hint that says itself which names there are.
std::string no_such_but(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                        std::string_view hint);

}  // namespace bankwise
