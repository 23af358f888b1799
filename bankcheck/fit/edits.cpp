#include "bankcheck/fit/edits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

class Editor : source::SourceTokens {
 public:
  Editor(std::string_view code, const Declaration& declaration, const Change& change, const ArrayShape& shape,
         IndexForm form)
      : SourceTokens(code), declaration_(declaration), change_(change), shape_(shape), form_(form) {}

  std::variant<std::vector<Edit>, std::string> run() {
    declare();
    std::size_t i = 0;
    while (i < tokens.size() && tokens[i].begin < declaration_.at) ++i;
    // To the end of the block that the array is declared in.
    int depth = 0;
    for (++i; i < tokens.size() && depth >= 0 && why_.empty(); ++i) {
      depth += is(i, "{") ? 1 : is(i, "}") ? -1 : 0;
      if (is_name(i) && is(i, declaration_.name)) use(i);
    }
    if (!why_.empty()) return why_;
    return edits_;
  }

 private:
  void fail(std::size_t i, std::string_view problem) { why_ = fmt::format("line {} {}", line(i), problem); }

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
    if (declaration_.dimensions.front().empty() && !edits_.empty()) {
      why_ = "the launch decides the bytes of this array, and must give it more";
    }
  }

  bool has_side_effect(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      const bool next_to = k + 1 < end && tokens[k].end == tokens[k + 1].begin;
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
      const std::size_t end = std::min(closing(next) + 1, tokens.size());
      const std::size_t begin_at = tokens[next].end, end_at = tokens[end - 1].begin;
      if (form_ != IndexForm::rows && has_side_effect(next + 1, end - 1))
        return fail(i, "has an index with a side effect");
      subscripts.emplace_back(source.substr(begin_at, end_at - begin_at));
      next = end;
    }
    for (const std::string& subscript : subscripts) {
      if (form_ != IndexForm::rows && names_array(subscript))
        return fail(i, "has an index that reads the array itself");
    }
    if (form_ == IndexForm::rows) return;
    edits_.push_back({tokens[i].end, tokens[next - 1].end, index_text(change_, shape_, form_, subscripts)});
  }

  bool names_array(const std::string& subscript) const {
    const SourceTokens inside(subscript);
    for (std::size_t i = 0; i < inside.tokens.size(); ++i) {
      if (inside.is(i, declaration_.name)) return true;
    }
    return false;
  }

  /// Whether a token ends an operand, so that & after it is the binary operator. A cast to a pointer ends none.
  bool is_operand(std::size_t i) const {
    if (i >= tokens.size()) return false;
    const bool word = is_name(i) && !is(i, "return");
    const bool closes = is(i, ")") && !is(i - 1, "*");
    return word || tokens[i].kind == source::TokenKind::number || closes || is(i, "]");
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
  std::vector<Edit> edits_;
  std::string why_;
};

}  // namespace

std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (!form) return "no index makes this change";
  if (*form == IndexForm::none) return std::vector<Edit>{};
  if (*form == IndexForm::elements) return "the type of its elements must get a member";
  if (declaration.lengths.size() != declaration.dimensions.size()) return declaration.unknown;
  return Editor(source, declaration, change, shape, *form).run();
}

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::ranges::sort(edits, [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < at) continue;  // an index inside another one, which the outer edit contains
    text += std::string(source.substr(at, edit.begin - at)) + edit.text;
    at = edit.end;
  }
  return text + std::string(source.substr(at));
}

std::vector<Hunk> hunks_of(std::string_view source, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, &Edit::begin);
  const auto line_end = [&](std::size_t at) { return std::min(source.find('\n', at), source.size()); };
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < edits.size();) {
    const std::size_t begin = edits[i].begin == 0 ? 0 : source.rfind('\n', edits[i].begin - 1) + 1;
    std::size_t end = line_end(edits[i].end);
    std::vector<Edit> inside;
    do {
      end = std::max(end, line_end(edits[i].end));
      inside.push_back({edits[i].begin - begin, edits[i].end - begin, edits[i].text});
      ++i;
    } while (i < edits.size() && edits[i].begin <= line_end(end + 1));
    const std::string_view before = source.substr(begin, end - begin);
    const auto line = 1 + std::ranges::count(source.substr(0, begin), '\n');
    hunks.push_back({unsigned(line), std::string(before), edited(before, std::move(inside))});
  }
  return hunks;
}

}  // namespace bankwise::fit
