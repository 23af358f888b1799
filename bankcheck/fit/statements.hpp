// The statements and blocks of a source, and where a statement can be added.
#pragma once

#include <cstddef>
#include <optional>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

/// Past the statement that begins at a token.
std::size_t statement_end(const source::SourceTokens& code, std::size_t i);

/// The first token of the statement in a block, whose { is at a token, that has a token.
std::size_t statement_around(const source::SourceTokens& code, std::size_t block, std::size_t token);

/// Whether a statement at a token is no label, and no branch of the one before.
bool begins_statement(const source::SourceTokens& code, std::size_t i);

/// The { of the innermost block of a function around two places; 0 if there is none.
std::size_t block_around(const source::SourceTokens& code, std::size_t first, std::size_t last);

/// Whether a line of the preprocessor, other than a pragma, is between the tokens of a part.
bool has_branches(const source::SourceTokens& code, Part part);

/// The offset of a statement, or of a pragma before it.
std::size_t place_before(const source::SourceTokens& code, std::size_t statement);

}  // namespace bankwise::fit
