// What a changed index requires of the lengths of its array, as an assertion for the source.
#pragma once

#include <string>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/index.hpp"

namespace bankwise::fit {

/// An assertion of the lengths that the indices are made for, which are macros, constants or template parameters, and
/// may become others; "" if they are numbers, or any lengths will do.
std::string required_lengths(const Declaration& declaration, const Change& change, const ArrayShape& shape,
                             IndexForm form);

/// The same for rows of an array whose indices have a pitch: its lengths have the values that they have now.
std::string required_pitch(const Declaration& declaration, const std::string& pitch);

}  // namespace bankwise::fit
