// What a source and its macros do with an array without a use of its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {

/// The macros whose text names the array, if the array's block uses them, directly or through other macros. A name that
/// is a parameter of the macro, a member, or a variable that the macro declares, is another one.
std::vector<ArrayMacro> macros_naming(const Declaration& declaration, std::string_view source,
                                      const std::vector<std::string_view>& headers);

/// The macros that stand for more than one token, and not for parentheses.
std::vector<std::string> sums_of(std::string_view source, const std::vector<std::string_view>& headers);

/// The macros with parameters that only compute a value.
std::vector<std::string> pure_macros_of(const std::vector<std::string_view>& headers);

/// The given lines in the array's block whose statements may use the array without its name, in order. A statement does
/// not if all of its names are declared or constants: compilers give some accesses the line of a loop, or of a
/// neighbouring statement.
std::vector<unsigned> hidden_lines_of(const Declaration& declaration, unsigned last_line, std::string_view source,
                                      const std::vector<unsigned>& lines, const SourceConstants& constants);

}  // namespace bankwise::fit
