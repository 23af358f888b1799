// A function that computes a changed index: a lambda behind the declaration in C++, a function in OpenCL C.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bankcheck/fit/edits.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {

/// The name, with a number if the source has it already, or it is taken.
std::string free_name(const source::SourceTokens& code, const std::string& name,
                      const std::vector<std::string>& taken = {});

struct IndexFunction {
  std::string name;
  Edit edit;  ///< that adds it
};

/// `uses`: where indices call it; `lambda`: its name if it is one. Nothing if there is no place for it, or one of them
/// would not see it.
std::optional<IndexFunction> index_function(const source::SourceTokens& code, const Declaration& declaration,
                                            const std::vector<std::size_t>& uses,
                                            const std::vector<std::string>& parameters, const std::string& formula,
                                            const std::string& lambda);

}  // namespace bankwise::fit
