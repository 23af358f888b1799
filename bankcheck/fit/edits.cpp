// SPDX-License-Identifier: MIT
#include "bankcheck/fit/edits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::Token;
using source::TokenKind;

class Editor {
 public:
  Editor(std::string_view source, const Declaration& declaration, const Change& change, const ArrayShape& shape,
         Form form)
      : source_(source),
        tokens_(source::tokens_of(source)),
        declaration_(declaration),
        change_(change),
        shape_(shape),
        form_(form) {}

  std::variant<std::vector<Edit>, std::string> run() {
    declare();
    std::size_t i = 0;
    while (i < tokens_.size() && tokens_[i].begin < declaration_.at) ++i;
    // To the end of the block that the array is declared in.
    int depth = 0;
    for (++i; i < tokens_.size() && depth >= 0 && why_.empty(); ++i) {
      depth += is(i, "{") ? 1 : is(i, "}") ? -1 : 0;
      if (tokens_[i].kind == TokenKind::name && is(i, declaration_.name)) use(i);
    }
    if (!why_.empty()) return why_;
    return edits_;
  }

 private:
  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) : "";
  }
  bool is(std::size_t i, std::string_view what) const { return text(i) == what; }
  std::string place(std::size_t i) const {
    const auto end = source_.begin() + std::ptrdiff_t(tokens_[i].begin);
    return fmt::format("line {}", 1 + std::count(source_.begin(), end, '\n'));
  }
  void fail(std::size_t i, std::string_view what) { why_ = fmt::format("{} {}", place(i), what); }

  void declare() {
    const auto texts = dimension_texts(change_, shape_, form_, declaration_.dimensions);
    const auto& places = declaration_.dimension_texts;
    if (texts.size() == places.size()) {
      for (std::size_t d = 0; d < texts.size(); ++d) {
        if (texts[d] != declaration_.dimensions[d]) edits_.push_back({places[d].begin, places[d].end, texts[d]});
      }
    } else {
      edits_.push_back({places.front().begin, places.back().end, texts.front()});
    }
    const bool without_length = declaration_.dimensions.front().empty();
    if (without_length && !edits_.empty()) {
      why_ = "the launch decides the bytes of this array, and must give it more";
    }
  }

  /// The token after the bracket that closes the one at `open`.
  std::size_t after_bracket(std::size_t open) const {
    int depth = 0;
    for (std::size_t k = open; k < tokens_.size(); ++k) {
      depth += is(k, "[") ? 1 : is(k, "]") ? -1 : 0;
      if (depth == 0) return k + 1;
    }
    return tokens_.size();
  }

  bool has_side_effect(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      const bool next_to = k + 1 < end && tokens_[k].end == tokens_[k + 1].begin;
      if (next_to && is(k, "+") && is(k + 1, "+")) return true;
      if (next_to && is(k, "-") && is(k + 1, "-")) return true;
      const bool compares =
          (next_to && is(k + 1, "=")) || is(k - 1, "=") || is(k - 1, "<") || is(k - 1, ">") || is(k - 1, "!");
      if (is(k, "=") && !compares) return true;
      if (is(k, "asm") || is(k, "atomicAdd") || is(k, "atomicInc")) return true;
    }
    return false;
  }

  void use(std::size_t i) {
    if (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::")) return;  // a member of something else
    if (is(i - 1, "(") && is(i - 2, "sizeof")) return;
    const bool address = is(i - 1, "&") && !is_operand(i - 2);
    if (address && !is_accessed(i - 1)) return fail(i, "takes an address in the array");
    std::vector<std::string> subscripts;
    std::size_t next = i + 1;
    for (std::size_t d = 0; d < declaration_.dimensions.size(); ++d) {
      if (!is(next, "[")) return fail(i, "uses the array without all of its indices");
      const std::size_t end = after_bracket(next);
      const std::size_t begin_at = tokens_[next].end, end_at = tokens_[end - 1].begin;
      if (form_ != Form::rows && has_side_effect(next + 1, end - 1)) return fail(i, "has an index with a side effect");
      subscripts.emplace_back(source_.substr(begin_at, end_at - begin_at));
      next = end;
    }
    for (const std::string& one : subscripts) {
      if (form_ != Form::rows && names_array(one)) return fail(i, "has an index that reads the array itself");
    }
    if (form_ == Form::rows) return;
    edits_.push_back({tokens_[i].end, tokens_[next - 1].end, index_text(change_, shape_, form_, subscripts)});
  }

  bool names_array(const std::string& subscript) const {
    const auto inside = source::tokens_of(subscript);
    return std::any_of(inside.begin(), inside.end(), [&](const Token& token) {
      return subscript.compare(token.begin, token.end - token.begin, declaration_.name) == 0;
    });
  }

  /// Whether a token ends an operand, so that & after it is the binary operator. A cast to a pointer ends none.
  bool is_operand(std::size_t i) const {
    if (i >= tokens_.size()) return false;
    const bool word = tokens_[i].kind == TokenKind::name && !is(i, "return");
    const bool closes = is(i, ")") && !is(i - 1, "*");
    return word || tokens_[i].kind == TokenKind::number || closes || is(i, "]");
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

  std::string_view source_;
  std::vector<Token> tokens_;
  const Declaration& declaration_;
  const Change& change_;
  const ArrayShape& shape_;
  Form form_;
  std::vector<Edit> edits_;
  std::string why_;
};

}  // namespace

std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (!form) return "no index makes this change";
  if (*form == Form::none) return std::vector<Edit>{};
  if (*form == Form::elements) return "the type of its elements must get a member";
  if (declaration.lengths.size() != declaration.dimensions.size()) return "the lengths of its rows are not known";
  return Editor(source, declaration, change, shape, *form).run();
}

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
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
