// The places of a source that declare arrays in shared memory.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/declaration.hpp"

namespace bankwise::fit {

/// The words that put an array into shared memory.
using Qualifiers = std::set<std::string, std::less<>>;

/// A function or class with template parameters.
struct Template {
  std::string name;
  std::vector<std::string> parameters;
};

/// Where an array may be declared, with the end of its block.
struct Candidate {
  Declaration declaration;
  std::vector<Template> templates;  // around it
  std::size_t block = 0;            // the number of the block that it is declared in
  unsigned last_line = ~0U;
  std::string function;         // around it; "" if there is none
  std::size_t function_at = 0;  // the token of its bracket
};

/// Those of one name; without a name, those without lengths.
std::vector<Candidate> declarations_in(std::string_view source, const Qualifiers& qualifiers, std::string_view name);

}  // namespace bankwise::fit
