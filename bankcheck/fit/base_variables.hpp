// Variables that are the base of several indices: a pad can be added to the variable once, `base += base >> 5`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {

/// Sets Declaration::based_indices and constant_indices. `of_source`: the constants without template arguments;
/// `block`: the largest block of all launches; 0: not known.
void find_base_variables(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                         const SourceConstants& of_source, const std::array<std::uint64_t, 3>& block);

/// The index with a pad of `more` elements after every `every`, if its variable has that pad already; nothing if the
/// rest would need a longer text.
std::optional<std::string> index_from_padded_base(const BasedIndex& index, std::uint64_t every, std::uint64_t more);

/// The statement that adds the pad to the variable.
std::string padding_of_base(const std::string& base, std::uint64_t every, std::uint64_t more);

}  // namespace bankwise::fit
