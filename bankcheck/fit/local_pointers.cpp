#include <utility>

#include "bankcheck/fit/edits_parts.hpp"
#include "bankcheck/fit/uses_parts.hpp"

namespace bankwise::fit {
namespace {

/// Finds what a function does with one pointer.
class PointerReader {
 public:
  PointerReader(const Expressions& code, std::size_t array, std::size_t name)
      : code_(code), array_(code.text(array)), body_(code.function_body(name)) {
    pointer_.name = code.text(name);
  }

  std::optional<LocalPointer> run() {
    if (body_ == 0 || !find_declaration()) return std::nullopt;
    for (std::size_t i = declared_; i < code_.past_bracket(body_); ++i) {
      const bool is_use = code_.is_name(i) && code_.is(i, pointer_.name) && !code_.is_member(i);
      if (is_use && !read(i)) return std::nullopt;
    }
    if (!declare()) return std::nullopt;
    return std::move(pointer_);
  }

 private:
  /// The only declaration of the name in the function.
  bool find_declaration() {
    for (std::size_t i = body_; i < code_.past_bracket(body_); ++i) {
      if (!code_.is_name(i) || !code_.is(i, pointer_.name) || !code_.declares(i)) continue;
      if (declared_ > 0) return false;
      declared_ = i;
    }
    return declared_ > 0;
  }

  bool read(std::size_t i) {
    if (i == declared_ && !code_.is(i + 1, "=")) return true;
    const bool begins = i == declared_ || ends_statement(code_, i - 1);
    if (begins && code_.is(i + 1, "=") && !code_.is(i + 2, "=")) return read_value(i + 2);
    if (begins && code_.is_any(i + 1, "+-") &&
        (code_.is(i + 2, "=") || (code_.is(i + 2, code_.text(i + 1)) && code_.is(i + 3, ";")))) {
      ++changes_;
      return true;  // of a number, too
    }
    if (code_.is(i + 1, "[")) {
      const std::size_t close = code_.closing(i + 1);
      pointer_.elements.push_back({i, {i, close + 1}, {i + 2, close}});
      return true;
    }
    const bool is_starred = code_.is(i - 1, "*") && !code_.is_operand(i - 2) && !code_.takes_address(i - 2);
    if (!is_starred || code_.is_pair(i + 1, "+-") || code_.is(i + 1, "->") || code_.is(i + 1, "(")) return false;
    pointer_.elements.push_back({i, {i - 1, i + 1}, {i + 1, i + 1}});
    return true;
  }

  /// `s`, `s + x` or `&s[x]`, to the end of the statement.
  bool read_value(std::size_t begin) {
    ++changes_;
    std::size_t end = begin;
    while (end < code_.tokens.size() && !ends_statement(code_, end)) ++end;
    const bool is_address = code_.is(begin, "&");
    const std::size_t array = begin + (is_address ? 1 : 0);
    if (!code_.is(end, ";") || !code_.is(array, array_)) return false;
    if (!is_address && end == array + 1) {
      pointer_.replacements.push_back({{begin, end}, "0"});
      return true;
    }
    const Part number{array + 2, is_address ? end - 1 : end};  // behind the bracket or the +
    if (number.begin >= number.end || !is_number(number, !is_address)) return false;
    if (is_address ? !code_.is(array + 1, "[") || code_.closing(array + 1) != number.end : !code_.is(array + 1, "+")) {
      return false;
    }
    pointer_.replacements.push_back({{begin, number.begin}, ""});
    if (is_address) pointer_.replacements.push_back({{number.end, end}, ""});
    return true;
  }

  /// Whether an index without the array, or a term after a + without operators that bind less, is a number as it is.
  bool is_number(Part part, bool is_term) const {
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (code_.is(i, array_) || code_.is(i, pointer_.name)) return false;
      if (code_.is(i, "(") || code_.is(i, "[")) {
        const std::size_t end = code_.past_bracket(i);
        if (has_token(code_, {i, end}, array_)) return false;
        i = end - 1;
        continue;
      }
      if (is_term && code_.is_any(i, "<>&|^?=,:")) return false;
    }
    return true;
  }

  /// The declaration declares a number instead.
  bool declare() {
    const std::size_t begin = statement_begin(code_, declared_);
    std::size_t end = declared_;
    while (end < code_.tokens.size() && !ends_statement(code_, end)) ++end;
    std::string comments;
    const bool is_plain = code_.plain_text({begin, end}, comments) && comments.empty();
    if (!is_plain || !names_pointer({begin, declared_})) return false;
    const bool has_value = code_.is(declared_ + 1, "=");
    if (has_value || declared_ + 1 == end) {
      const std::string gap = code_.touches_next(declared_ - 1) ? " " : "";
      pointer_.replacements.push_back({{begin, declared_}, (has_value && changes_ == 1 ? "const int" : "int") + gap});
      return true;
    }
    std::size_t star = declared_;
    while (star > begin && !code_.is(star, "*")) --star;
    if (!code_.is(declared_ + 1, ",") || star == begin) return false;
    const std::string number = "int " + std::string(pointer_.name) + ";";
    pointer_.replacements.push_back(
        {{begin, begin}, line_before(code_.source, code_.tokens[begin].begin, number).text});
    pointer_.replacements.push_back({{star, declared_ + 2}, ""});
    return true;
  }

  /// Whether the tokens before a name declare a pointer that is local, in the first declarator of its statement.
  bool names_pointer(Part part) const {
    std::size_t stars = 0;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (code_.is_any(i, ",&<()=") || code_.is(i, "static")) return false;
      stars += code_.is(i, "*") ? 1 : 0;
    }
    return stars == 1 || (stars == 0 && code_.is(part.end - 1, "auto"));
  }

  const Expressions& code_;
  std::string_view array_;
  std::size_t body_, declared_ = 0;
  unsigned changes_ = 0;  // of its value
  LocalPointer pointer_;
};

}  // namespace

std::optional<LocalPointer> local_pointer_at(const Expressions& code, std::size_t array) {
  const std::size_t equals = code.is(array - 1, "&") ? array - 2 : array - 1;
  if (!code.is(equals, "=") || !code.is_name(equals - 1)) return std::nullopt;
  return PointerReader(code, array, equals - 1).run();
}

}  // namespace bankwise::fit
