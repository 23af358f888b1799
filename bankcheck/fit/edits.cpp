#include "bankcheck/fit/edits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// Uses of an index that are worth a function of their own, if its text is longer than this.
constexpr std::size_t many_uses = 3, long_index = 24;

/// The end of the line at an offset, before its line end.
std::size_t end_of_line(std::string_view source, std::size_t at) {
  const std::size_t end = std::min(source.find('\n', at), source.size());
  return end > at && source[end - 1] == '\r' ? end - 1 : end;
}

std::string_view indentation_at(std::string_view source, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
  return source.substr(begin, std::min(source.find_first_not_of(" \t", begin), source.size()) - begin);
}

constexpr std::string_view blanks = " \t\r\n\f\v";

/// The text of some tokens without comments and ends of lines; the comments are added to `comments`. Nothing if a line
/// of the preprocessor is behind one of the tokens.
std::optional<std::string> plain_text(const SourceTokens& code, std::size_t begin, std::size_t end,
                                      std::string& comments) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += code.text(i);
    const std::size_t gap = code.tokens[i].end;
    const std::size_t next = i + 1 < code.tokens.size() ? code.tokens[i + 1].begin : code.source.size();
    std::string_view between = code.source.substr(gap, next - gap);
    if (i + 1 < end && !between.empty()) text += ' ';
    const auto skip = [&](std::size_t count) {
      between.remove_prefix(std::min(between.find_first_not_of(blanks, count), between.size()));
    };
    for (skip(0); between.starts_with("//") || between.starts_with("/*");) {
      const bool is_line = between.starts_with("//");
      const std::size_t past = std::min(is_line ? between.find('\n') : between.find("*/", 2), between.size());
      std::string comment(source::trimmed(between.substr(2, past - 2)));
      for (auto at = comment.find("*/"); at != comment.npos; at = comment.find("*/")) comment.insert(at + 1, " ");
      comments += fmt::format(" /* {} */", comment);
      skip(past + (is_line ? 1 : 2));
    }
    if (!between.empty()) return std::nullopt;
  }
  return text;
}

class Editor : SourceTokens {
 public:
  Editor(std::string_view code, const Declaration& declaration, const Change& change, const ArrayShape& shape,
         IndexForm form)
      : SourceTokens(code), declaration_(declaration), change_(change), shape_(shape), form_(form) {}

  std::variant<std::vector<Edit>, std::string> run() {
    declare();
    std::size_t i = 0;
    while (i < tokens.size() && tokens[i].begin < declaration_.at) ++i;
    declared_at_ = i;
    // To the end of the block that the array is declared in; that of a parameter follows it.
    const int outside = declaration_.is_parameter ? 0 : -1;
    int depth = 0;
    for (++i; i < tokens.size() && why_.empty(); ++i) {
      if (is(i, "{")) ++depth;
      if (is(i, "}") && --depth <= outside) break;
      if (is_name(i) && is(i, declaration_.name)) use(i);
    }
    if (form_ != IndexForm::rows && !declaration_.macro.empty() && why_.empty()) {
      const std::string place =
          declaration_.macro_line > 0 ? fmt::format("line {}", declaration_.macro_line) : "in a header";
      why_ = fmt::format("{}: the macro {} names the array; change its text by hand", place, declaration_.macro);
    }
    if (form_ != IndexForm::rows && declaration_.hidden_line > 0 && why_.empty()) {
      why_ = fmt::format("line {}: the array is used, but not by its name; change the index by hand there",
                         declaration_.hidden_line);
    }
    if (why_.empty()) write_indices();
    if (!why_.empty()) return why_;
    return edits_;
  }

 private:
  /// A use of the array with all of its indices.
  struct Use {
    std::size_t begin, end;  ///< from the first bracket to behind the last one
    std::vector<std::string> subscripts;
    std::string comments;
  };

  void fail(std::size_t i, std::string_view problem) { why_ = fmt::format("line {}: {}", line(i), problem); }

  void declare() {
    std::vector<std::string> before = declaration_.dimensions;
    for (std::string& dimension : before) dimension = with_parentheses(declaration_, dimension);
    const auto texts = dimension_texts(change_, shape_, form_, before);
    const auto& places = declaration_.dimension_texts;
    if (texts == before) return;
    if (declaration_.dimensions.front().empty()) {
      why_ =
          fmt::format("line {}: the launch gives the bytes of this array, and must give it more; change both by hand",
                      declaration_.line);
    } else if (texts.size() == places.size()) {
      for (std::size_t d = 0; d < texts.size(); ++d) {
        if (texts[d] != before[d]) edits_.push_back({places[d].begin, places[d].end, texts[d]});
      }
    } else {
      edits_.push_back({places.front().begin, places.back().end, texts.front()});
    }
  }

  bool has_side_effect(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      const bool next_to = k + 1 < end && tokens[k].end == tokens[k + 1].begin;
      if (next_to && is(k, "+") && is(k + 1, "+")) return true;
      if (next_to && is(k, "-") && is(k + 1, "-")) return true;
      const bool shifts = (is(k - 1, "<") && is(k - 2, "<")) || (is(k - 1, ">") && is(k - 2, ">"));  // <<= and >>=
      const bool compares = (next_to && is(k + 1, "=")) || is(k - 1, "=") || is(k - 1, "!") ||
                            (!shifts && (is(k - 1, "<") || is(k - 1, ">")));
      if (is(k, "=") && !compares) return true;
      if (takes_address(k)) return true;  // a function may write there
      if (is(k, "asm") || text(k).starts_with("atomic") || text(k).starts_with("atom_")) return true;
    }
    return false;
  }

  void use(std::size_t i) {
    if (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::")) return;  // a member of something else
    if (is(i - 1, "(") && is(i - 2, "sizeof")) return;
    if (takes_address(i - 1) && !is_accessed(i - 1)) {
      return fail(i, "the address of an element is taken; index the array where the element is used");
    }
    Use found{tokens[i].end, tokens[i].end, {}, ""};
    std::size_t next = i + 1;
    for (std::size_t d = 0; d < declaration_.dimensions.size(); ++d) {
      if (!is(next, "[")) return fail(i, without_indices());
      const std::size_t end = std::min(closing(next) + 1, tokens.size());
      if (form_ != IndexForm::rows && has_side_effect(next + 1, end - 1)) {
        return fail(i, "the index has a side effect; write it to a variable first");
      }
      for (std::size_t k = next + 1; k < end && form_ != IndexForm::rows; ++k) {
        if (is(k, declaration_.name)) {
          return fail(i, "the index reads the array itself; read that element into a variable first");
        }
      }
      const auto index = subscript(next, end - 1, found.comments);
      const bool is_plain = index && (!is(end, "[") || plain_text(*this, end - 1, end, found.comments));
      if (form_ != IndexForm::rows && !is_plain) {
        return fail(i, "a preprocessor directive is inside the index; write the index to a variable first");
      }
      found.subscripts.push_back(index.value_or(""));
      found.end = tokens[end - 1].end;
      next = end;
    }
    if (form_ != IndexForm::rows) uses_.push_back(std::move(found));
  }

  /// What stands between two brackets. The comments behind the opening one belong to it.
  std::optional<std::string> subscript(std::size_t open, std::size_t close, std::string& comments) const {
    const bool is_plain = plain_text(*this, open, open + 1, comments).has_value();
    const auto index = plain_text(*this, open + 1, close, comments);
    return is_plain && index ? std::optional(with_parentheses(declaration_, *index)) : std::nullopt;
  }

  std::string without_indices() const {
    const std::size_t count = declaration_.dimensions.size();
    return fmt::format("the array is used without {}; index its elements there",
                       count == 1 ? "its index" : fmt::format("all of its {} indices", count));
  }

  /// The index of each use; a long one that is used often has a function.
  void write_indices() {
    const auto names = subscript_names(declaration_.dimensions.size());
    const std::string general = index_text(change_, shape_, form_, names);
    std::string kept;  // the indices before the last one, which do not change
    for (std::size_t d = 0; form_ == IndexForm::columns && d + 1 < names.size(); ++d) kept += "[" + names[d] + "]";
    const std::string formula = general.substr(kept.size() + 1, general.size() - kept.size() - 2);
    if (uses_.size() >= many_uses && formula.size() > long_index) function_ = name_of_function();
    const bool has_function = !function_.empty();
    if (has_function) add_function(names, formula);
    const bool needs_lengths = !uses_.empty() || change_.rows.to < change_.rows.from;
    if (!declaration_.parameters.empty() && needs_lengths) add_line(required_lengths());
    for (const Use& found : uses_) {
      std::string index = index_text(change_, shape_, form_, found.subscripts);
      if (has_function) {
        index.clear();
        for (std::size_t d = 0; !kept.empty() && d + 1 < names.size(); ++d) index += "[" + found.subscripts[d] + "]";
        index += fmt::format("[{}({})]", function_, fmt::join(found.subscripts, ", "));
      }
      index.insert(index.size() - 1, found.comments);
      edits_.push_back({found.begin, found.end, index});
    }
  }

  /// In C++ a lambda behind the declaration, in OpenCL C a function before the kernel.
  void add_function(const std::vector<std::string>& names, const std::string& formula) {
    const std::string body = fmt::format("(unsigned {}) {{ return {}; }}", fmt::join(names, ", unsigned "), formula);
    if (is_cuda()) {
      add_line(fmt::format("const auto {} = []{};", function_, body));
    } else {
      const std::size_t at = begin_of_function();
      edits_.push_back({at, at, fmt::format("unsigned {}{}{}{}", function_, body, line_end(), line_end())});
    }
  }

  /// A name for the function that the source does not have; "" if there is no place for one.
  std::string name_of_function() const {
    const auto body = function_body();
    if (!body || (!is_cuda() && declaration_.qualifier != "local" && declaration_.qualifier != "__local")) return "";
    std::string name = declaration_.name + "_at";
    if (!is_cuda()) {
      const std::size_t open = begin_of_parameters(*body);
      if (open == 0 || !is_name(open - 1)) return "";
      name = fmt::format("{}_{}", text(open - 1), name);
    }
    const auto is_known = [&](const std::string& wanted) {
      return std::ranges::any_of(tokens, [&](const source::Token& token) {
        return source.substr(token.begin, token.end - token.begin) == wanted;
      });
    };
    std::string free = name;
    for (int number = 2; is_known(free); ++number) free = fmt::format("{}{}", name, number);
    return free;
  }

  bool is_cuda() const { return declaration_.qualifier == "__shared__"; }

  /// The bracket that opens the outermost function body around the declaration.
  std::optional<std::size_t> function_body() const {
    std::optional<std::size_t> outermost;
    int depth = 0;
    if (declaration_.is_parameter) {
      for (std::size_t k = declared_at_; k < tokens.size(); ++k) {
        if (is(k, "{")) return k;
      }
    }
    for (std::size_t k = declared_at_; k-- > 0;) {
      depth += int(is(k, "}")) - int(is(k, "{"));
      if (depth >= 0) continue;
      depth = 0;
      if (k > 0 && is(k - 1, ")")) outermost = k;
    }
    return outermost;
  }

  /// The parenthesis that opens a function's parameters, before its body.
  std::size_t begin_of_parameters(std::size_t body) const {
    int depth = 0;
    for (std::size_t k = body; k-- > 0;) {
      depth += int(is(k, ")")) - int(is(k, "("));
      if (depth == 0) return k;
    }
    return 0;
  }

  /// The beginning of the line that the function begins in, or of the comments above it.
  std::size_t begin_of_function() const {
    std::size_t first = function_body().value_or(0);
    while (first > 0 && !is(first - 1, ";") && !is(first - 1, "}")) --first;
    std::size_t begin = source.rfind('\n', tokens[first].begin) + 1;  // npos + 1 is 0
    while (begin > 0) {
      const std::size_t above = begin < 2 ? 0 : source.rfind('\n', begin - 2) + 1;
      const std::string_view line_above = source::trimmed(source.substr(above, begin - above));
      const std::size_t block = line_above.ends_with("*/") ? source.rfind("/*", begin) : source.npos;
      const std::size_t comment = line_above.starts_with("//") ? above : block;
      if (comment == source.npos) break;
      const std::size_t line = comment == 0 ? 0 : source.rfind('\n', comment) + 1;
      if (!source::trimmed(source.substr(line, comment - line)).empty()) break;
      begin = line;
    }
    return is_in_comment(first == 0 ? 0 : tokens[first - 1].end, begin) ? tokens[first].begin : begin;
  }

  /// Whether a place in the code after an end of a token lies in a comment or in the token before.
  bool is_in_comment(std::size_t from, std::size_t at) const {
    while (from < at) {
      if (source.substr(from, 2) == "//") {
        from = std::min(source.find('\n', from), source.size());
      } else if (source.substr(from, 2) == "/*") {
        from = std::min(source.find("*/", from + 2), source.size() - 2) + 2;
      } else {
        ++from;
      }
    }
    return from > at;
  }

  /// The lengths that the indices are made for, where they depend on template parameters.
  std::string required_lengths() const {
    std::string text;
    for (std::size_t d = 0; d < declaration_.dimensions.size(); ++d) {
      const std::string& dimension = declaration_.dimensions[d];
      const bool is_one = source::tokens_of(dimension).size() == 1;
      text += fmt::format("{}{}{}{} == {}", d == 0 ? "" : " && ", is_one ? "" : "(", dimension, is_one ? "" : ")",
                          declaration_.lengths[d]);
    }
    return fmt::format("static_assert({}, \"the indices of {} are for these lengths\");", text, declaration_.name);
  }

  std::string_view line_end() const { return source.find("\r\n") == source.npos ? "\n" : "\r\n"; }

  /// Adds a line behind the declaration.
  void add_line(const std::string& text) {
    std::size_t k = declared_at_;
    while (k < tokens.size() && !is(k, ";")) ++k;
    if (k == tokens.size()) return;
    const std::size_t at = tokens[k].end, end = end_of_line(source, at);
    const std::string_view rest = source::trimmed(source.substr(at, end - at));
    const bool is_last = rest.empty() || (rest.starts_with("//") && !rest.ends_with('\\')) ||
                         (rest.starts_with("/*") && rest.find("*/") == rest.size() - 2);
    if (is_last) {
      edits_.push_back({end, end, fmt::format("{}{}{}", line_end(), indentation_at(source, declaration_.at), text)});
    } else {
      edits_.push_back({at, at, " " + text});
    }
  }

  /// Whether a token is the operator & of one operand: no half of &&, and not after an operand.
  bool takes_address(std::size_t k) const {
    if (!is(k, "&")) return false;
    const auto touches_next = [&](std::size_t i) { return is(i + 1, "&") && tokens[i].end == tokens[i + 1].begin; };
    std::size_t before = 0;  // of the same run: "&&&" is "&& &"
    while (before < k && is(k - before - 1, "&") && touches_next(k - before - 1)) ++before;
    const bool is_half = before % 2 == 1 || touches_next(k);
    return !is_half && !is_operand(k - 1);
  }

  /// Whether a token ends an operand, so that & after it is the binary operator. A cast ends none.
  bool is_operand(std::size_t i) const {
    if (i >= tokens.size()) return false;
    const bool word = is_name(i) && !is(i, "return");
    const bool closes = is(i, ")") && !closes_cast(i);
    return word || tokens[i].kind == source::TokenKind::number || closes || is(i, "]");
  }

  /// Whether a parenthesis closes a cast, "(float*)", "(unsigned long)", and not an operand in parentheses.
  bool closes_cast(std::size_t close) const {
    if (is(close - 1, "*")) return true;
    std::size_t open = close;
    while (open > 0 && (is_name(open - 1) || is(open - 1, "::"))) --open;
    return open > 0 && open < close && is(open - 1, "(") && names_type(close - 1) && !is_operand(open - 2);
  }

  /// Whether a name is a type: as the standard libraries call theirs, or as this source declares it.
  bool names_type(std::size_t i) const {
    const std::string_view word = text(i);
    if (predict::bytes_of_type(std::string(word)) > 0 || predict::is_decoration(word) || word.ends_with("_t"))
      return true;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      if (!is(k, word)) continue;
      for (const std::string_view head : {"using", "struct", "class", "union", "enum", "typename"}) {
        if (is(k - 1, head)) return true;
      }
      std::size_t begin = k;
      while (begin > 0 && !is(begin - 1, ";") && !is(begin - 1, "{") && !is(begin - 1, "}")) --begin;
      if (is(begin, "typedef") && is(k + 1, ";")) return true;
    }
    return false;
  }

  /// Whether the address at & is used for one access, whose bytes stay together: by an atomic function, as a number for
  /// inline PTX, or under a cast that is dereferenced immediately.
  bool is_accessed(std::size_t ampersand) const {
    const std::size_t before = ampersand - 1;
    if (is(before, ")")) {  // *(float4*)&
      std::size_t open = before;
      while (open > 0 && !is(open, "(")) --open;
      return is(open - 1, "*") && !is_operand(open - 2);
    }
    if (!is(before, "(")) return false;
    if (text(before - 1).starts_with("atom") || is(before - 1, "__cvta_generic_to_shared")) return true;
    std::size_t cast = before - 1;  // *reinterpret_cast<float4*>(&
    while (is(before - 1, ">") && cast > 0 && !is(cast, "reinterpret_cast") && !is(cast, ";")) --cast;
    return is(cast, "reinterpret_cast") && is(cast - 1, "*") && !is_operand(cast - 2);
  }

  const Declaration& declaration_;
  const Change& change_;
  const ArrayShape& shape_;
  IndexForm form_;
  std::size_t declared_at_ = 0;  // the token of the name
  std::vector<Use> uses_;
  std::string function_;  // that computes the index; "": none
  std::vector<Edit> edits_;
  std::string why_;
};

}  // namespace

std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (!form) return "no index makes this change";
  if (*form == IndexForm::none) return std::vector<Edit>{};
  if (*form == IndexForm::elements)
    return fmt::format("line {}: its elements must become longer; add a member to {}", declaration.line,
                       declaration.type);
  if (declaration.lengths.size() != declaration.dimensions.size())
    return fmt::format("line {}: {}; change the indices by hand", declaration.line, declaration.unknown);
  return Editor(source, declaration, change, shape, *form).run();
}

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < at) continue;  // an index inside another one, which the outer edit contains
    text += std::string(source.substr(at, edit.begin - at)) + edit.text;
    at = edit.end;
  }
  return text + std::string(source.substr(at));
}

}  // namespace bankwise::fit
