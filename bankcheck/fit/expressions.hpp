// The expressions of a source or of a macro's text: operands, casts, types, arguments; and its statements and blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {

/// Tokens from `begin` to before `end`.
struct Part {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool contains(std::size_t i) const { return i >= begin && i < end; }
};

/// How often a word is one of some tokens, and whether it is one of them, or of a text's.
std::size_t count_tokens(const source::SourceTokens& code, Part part, std::string_view word);
inline bool has_token(const source::SourceTokens& code, Part part, std::string_view word) {
  return count_tokens(code, part, word) > 0;
}
bool has_token(std::string_view text, std::string_view word);

bool ends_statement(const source::SourceTokens& code, std::size_t i);

/// The first token of the statement that a token is in.
std::size_t statement_begin(const source::SourceTokens& code, std::size_t i);

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

/// The name of a call, before its parenthesis and its template arguments, which begin behind `first`.
std::size_t callee_before(const source::SourceTokens& code, std::size_t open, std::size_t first = 0);

/// The text of a source, or of a macro in it, whose types the source declares.
class Expressions : public source::SourceTokens {
 public:
  explicit Expressions(std::string_view text) : SourceTokens(text), whole_(*this) {}
  Expressions(const Expressions& whole, std::string_view text) : SourceTokens(text), whole_(whole) {}
  Expressions(const Expressions&) = delete;
  Expressions& operator=(const Expressions&) = delete;

  /// The text of some tokens without comments and ends of lines; the comments are added to `comments`. Nothing if a
  /// line of the preprocessor is behind one of the tokens.
  std::optional<std::string> plain_text(Part part, std::string& comments) const;

  /// Whether a token is the operator & of one operand: no half of &&, and not after an operand.
  bool takes_address(std::size_t k) const;

  /// Whether a token ends an operand, so that & after it is the binary operator. A cast ends none.
  bool is_operand(std::size_t i) const;

  /// Whether a parenthesis closes a cast, "(float*)", "(unsigned long)", and not an operand in parentheses.
  bool closes_cast(std::size_t close) const;

  /// Whether a name is a type: as the standard libraries call theirs, or as the source declares it.
  bool names_type(std::size_t i) const;

  /// Whether a variable is declared whose name is at a token.
  bool declares(std::size_t i) const;

  /// Whether a name is that of a member, or qualified.
  bool is_member(std::size_t i) const { return is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"); }

  /// Past an element, or a part of it, whose array's name is at a token.
  std::size_t past_element(std::size_t i) const;

  /// Whether a token is one of these marks of one character.
  bool is_any(std::size_t i, std::string_view marks) const {
    return text(i).size() == 1 && marks.find(text(i)) != std::string_view::npos;
  }

  /// Whether two tokens are one mark, as in ++; of these marks, twice the same.
  bool touches_next(std::size_t i) const { return i + 1 < tokens.size() && tokens[i].end == tokens[i + 1].begin; }
  bool is_pair(std::size_t i, std::string_view marks) const {
    return is_any(i, marks) && is(i + 1, text(i)) && touches_next(i);
  }

  /// The first of these marks that is in no bracket; `end` if there is none before.
  std::size_t next_outside(std::size_t i, std::size_t end, std::string_view marks) const;

  /// What such marks separate.
  std::vector<Part> split(Part part, std::string_view marks) const;

  /// What commas separate between a parenthesis and the one that closes it.
  std::vector<Part> arguments_at(std::size_t open) const;

  /// Without the parentheses around it.
  Part inner(Part part) const;

  Part all() const { return {0, tokens.size()}; }
  std::string text_of(Part part) const {
    if (part.begin >= part.end) return "";
    const std::size_t begin = tokens[part.begin].begin;
    return std::string(source.substr(begin, tokens[part.end - 1].end - begin));
  }

  /// The source that a macro's text is in; itself if it is one.
  const Expressions& whole() const { return whole_; }

 private:
  const Expressions& whole_;
};

}  // namespace bankwise::fit
