// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::emulate {
namespace {

using source::Token;
using source::TokenKind;

/// The captures stand before it.
constexpr std::string_view launching =
    "(auto&&... bankwise_a) __attribute__((no_sanitize(\"thread\"), "
    "no_sanitize_coverage)) { ";

class Rewriter {
 public:
  explicit Rewriter(std::string_view source) : source_(source), tokens_(source::tokens_of(source)) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<") && adjacent(i)) i = launch(i);
      if (is(i, "thread_local") && is(i + 1, "alignas")) alignment(i + 1);
      if (takes_kernel(i)) kernel_argument(i + 1);
      if (is_index(i)) replace(tokens_[i].begin, tokens_[i + 2].end, component_of(i));
      if (is_any(i, {"asm", "__asm__", "__asm"})) i = inline_ptx(i);
      if (text(i).find("no_sanitize") != std::string_view::npos) keep_instrumentation(i);
    }
    return edited();
  }

 private:
  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) : "";
  }
  bool is(std::size_t i, std::string_view token_text) const { return text(i) == token_text; }
  bool is_any(std::size_t i, std::initializer_list<std::string_view> texts) const {
    return std::find(texts.begin(), texts.end(), text(i)) != texts.end();
  }
  /// What a token adds to the depth of brackets.
  int nesting(std::size_t i) const { return int(is_any(i, {"(", "[", "{"})) - int(is_any(i, {")", "]", "}"})); }
  /// Whether nothing is between two tokens.
  bool adjacent(std::size_t i) const { return i + 1 < tokens_.size() && tokens_[i].end == tokens_[i + 1].begin; }
  bool is_name(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::name; }

  void replace(std::size_t begin, std::size_t end, std::string_view by) {
    edits_.push_back({begin, end, std::string(by)});
  }
  void insert(std::size_t at, std::string_view inserted) { replace(at, at, inserted); }

  [[noreturn]] void fail(std::size_t token, const std::string& sentence) const {
    throw BadLaunch(tokens_[token].begin, sentence);
  }

  /// `open` is the first token of <<<. Returns its last one.
  std::size_t launch(std::size_t open) {
    if (open > 0 && is(open - 1, "operator")) return open;  // operator<< <T>
    const std::size_t close = closing(open + 3);
    const std::size_t callee = begin_of_callee(open);
    insert(tokens_[callee].begin, fmt::format("::bankwise::emulator::runtime::launching({}{}",
                                              is_name_of_kernel(callee, open) ? "[=]" : "[&]", launching));
    replace(tokens_[open].begin, tokens_[open + 2].end, lane_call(close) + "; }).at(");
    replace(tokens_[close].begin, tokens_[close + 2].end, ")");
    return open + 2;
  }

  /// Whether the expression before a launch's <<< is a name, perhaps with template arguments. What it needs is copied:
  /// the emulator compares launches.
  bool is_name_of_kernel(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_any(i, {"(", "[", ".", "->", "this"})) return false;
    }
    return true;
  }

  /// The first of the three > that end a launch's configuration. In kernel<<<1, threads<T>>>>(x) they are the last of
  /// four.
  std::size_t closing(std::size_t first) const {
    int depth = 0;
    for (std::size_t i = first; i < tokens_.size(); ++i) {
      depth += nesting(i);
      if (depth < 0 || (depth == 0 && is(i, ";"))) break;
      if (depth == 0 && is(i, ">") && is(i + 1, ">") && is(i + 2, ">") && is(i + 3, "(")) return i;
    }
    fail(first, "the launch has no >>> that arguments in parentheses follow");
  }

  /// The call for one lane. Arguments of one literal are written into it: NULL and 0 may be pointers, and as values
  /// they no longer could.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of tokens
  std::string lane_call(std::size_t close) {
    std::vector<std::pair<std::size_t, std::size_t>> arguments;  // first and last token
    const std::size_t open = close + 3;
    std::size_t begin = open + 1, i = begin;
    int depth = 0;
    bool plain = true;  // a < could open template arguments, whose commas separate no arguments
    for (; i < tokens_.size(); ++i) {
      const std::string_view token = text(i);
      if (depth == 0 && (token == ")" || token == ",")) {
        if (i > begin) arguments.emplace_back(begin, i - 1);
        begin = i + 1;
        if (token == ")") break;
      }
      depth += nesting(i);
      if (depth == 0 && token == "<") plain = false;
    }
    if (i == tokens_.size()) fail(open, "the launch's arguments have no end");
    const auto literal = [&](const std::pair<std::size_t, std::size_t>& argument) {
      return argument.first == argument.second && is_any(argument.first, {"0", "NULL", "__null", "nullptr"});
    };
    if (!plain || std::none_of(arguments.begin(), arguments.end(), literal)) return "(bankwise_a...)";
    // The lambda's parameters are a pack: the values are taken from it by their positions.
    std::string call = "(";
    unsigned position = 0;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const auto& [first, last] = arguments[k];
      if (k > 0) call += ", ";
      if (literal(arguments[k])) {
        call += text(first);
      } else if (is(last, ".") || is(first, "{")) {
        return "(bankwise_a...)";  // a pack, or braces
      } else {
        call += fmt::format("::bankwise::emulator::runtime::pick<{}>(bankwise_a...)", position);
      }
      ++position;
    }
    return call + ')';
  }

  /// The ) of the ( at `i`; nothing if there is no ( or no end.
  std::optional<std::size_t> closing_bracket(std::size_t i) const {
    int depth = 0;
    for (std::size_t k = i; is(i, "(") && k < tokens_.size(); ++k) {
      if (is(k, "(")) ++depth;
      if (is(k, ")") && --depth == 0) return k;
    }
    return std::nullopt;
  }

  /// The matching bracket before `i`, which is one.
  std::optional<std::size_t> opening(std::size_t i, std::string_view open, std::string_view close) const {
    int depth = 0;
    for (std::size_t k = i + 1; k-- > 0;) {
      if (is(k, close)) ++depth;
      if (is(k, open) && --depth == 0) return k;
      if (is(k, ";")) break;
    }
    return std::nullopt;
  }

  /// The < of template arguments, whose parentheses may contain any > and <.
  std::optional<std::size_t> opening_angle(std::size_t i) const {
    int depth = 0;
    for (std::size_t k = i + 1; k-- > 0;) {
      if (is(k, ")")) {
        const auto open = opening(k, "(", ")");
        if (!open) return std::nullopt;
        k = *open;
        continue;
      }
      if (is(k, ">")) ++depth;
      if (is(k, "<") && --depth == 0) return k;
      if (is_any(k, {";", "{", "}", "("})) break;
    }
    return std::nullopt;
  }

  bool is_statement(std::size_t i) const {
    return is_any(i, {"if", "while", "for", "switch", "return", "else", "do", "case"});
  }

  /// Moves `last` from the ] or ) of subscripts and calls, before the <<< at `open`, to what they belong to. Returns
  /// the first token of brackets that belong to nothing: they are the whole callee.
  std::optional<std::size_t> skip_brackets(std::size_t open, std::size_t& last) const {
    for (;;) {
      const bool round = is(last, ")");
      if (!round && !is(last, "]")) return std::nullopt;
      const auto begin = opening(last, round ? "(" : "[", round ? ")" : "]");
      if (!begin) fail(open, "brackets before <<< have no beginning");
      const bool is_operand = *begin > 0 && ((is_name(*begin - 1) && !is_statement(*begin - 1)) ||
                                             is(*begin - 1, "]") || (!round && is(*begin - 1, ")")));
      if (!is_operand) return begin;
      last = *begin - 1;
    }
  }

  /// The first token of the expression before a launch's <<<.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of tokens
  std::size_t begin_of_callee(std::size_t open) const {
    std::size_t at = open;
    for (bool first = true;; first = false) {
      if (at == 0) fail(open, "there is no kernel before <<<");
      std::size_t last = at - 1;
      if (is(last, ">")) {
        const auto angle = opening_angle(last);
        if (!angle || *angle == 0) fail(open, "the kernel's template arguments before <<< have no beginning");
        last = *angle - 1;
      }
      if (const auto whole = skip_brackets(open, last)) return *whole;
      if (!is_name(last)) {
        if (first) fail(open, "there is no kernel before <<<");
        return at;
      }
      at = last;
      if (at > 0 && is(at - 1, "template")) --at;
      if (at == 0 || !is_any(at - 1, {"::", ".", "->"})) return at;
      --at;
      if (at == 0) return at;
      const bool scope = is(at, "::");
      if (scope && !is(at - 1, ">") && (!is_name(at - 1) || is_statement(at - 1))) return at;
    }
  }

  /// `alignas` of a shared array, which is thread_local: C++ allows it only in front of the declaration.
  void alignment(std::size_t i) {
    const auto close = closing_bracket(i + 1);
    if (!close) return;
    replace(tokens_[i].begin, tokens_[i + 1].end, "__attribute__((aligned(::bankwise::emulator::device::alignment<");
    replace(tokens_[*close].begin, tokens_[*close].end, ">())))");
  }

  /// Functions whose first argument is a kernel, which many programs cast to void*: its parameters are needed.
  bool takes_kernel(std::size_t i) const {
    return is_any(i, {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}) && is(i + 1, "(");
  }

  void kernel_argument(std::size_t open) {
    std::size_t i = open + 1;
    const std::size_t begin = i;
    if (is(i, "(")) {
      ++i;
      if (is(i, "const")) ++i;
      if (!is(i, "void")) return;
      ++i;
      if (is(i, "const")) ++i;
      if (!is(i, "*") || !is(i + 1, ")")) return;
      replace(tokens_[begin].begin, tokens_[i + 1].end, "");
    } else if (is(i, "reinterpret_cast") && is(i + 1, "<")) {
      while (i < tokens_.size() && !is(i, ">")) ++i;
      replace(tokens_[begin].begin, tokens_[std::min(i, tokens_.size() - 1)].end, "");
    }
  }

  /// Returns the last token that needs no further look.
  std::size_t inline_ptx(std::size_t first) {
    std::size_t open = first + 1;
    while (is_any(open, {"volatile", "__volatile__", "__volatile", "inline"})) ++open;
    const auto close = closing_bracket(open);
    auto call = close ? emulated_asm(with_components(first, *close)) : std::nullopt;
    if (!call) return first;
    std::replace(call->begin(), call->end(), '\n', ' ');  // edited() keeps the lines
    replace(tokens_[first].begin, tokens_[*close].end, *call);
    return *close;
  }

  /// Replaces an attribute that would hide a kernel's accesses, except in the emulator's own headers.
  void keep_instrumentation(std::size_t i) {
    const std::size_t last = closing_bracket(i + 1).value_or(i);
    if (i == 0 || !is_any(i - 1, {"(", ",", "[", "::"}) || !is_any(last + 1, {")", ",", "]"})) return;
    if (place_in(source_, tokens_[i].begin, "").find("/bankwise/emulator/") != std::string::npos) return;
    replace(tokens_[i].begin, tokens_[last].end, "unused");
  }

  /// The text of some tokens, with threadIdx.x and the like rewritten.
  std::string with_components(std::size_t first, std::size_t last) const {
    std::string text;
    std::size_t at = tokens_[first].begin;
    for (std::size_t i = first; i <= last; ++i) {
      if (!is_index(i)) continue;
      text += source_.substr(at, tokens_[i].begin - at);
      text += component_of(i);
      at = tokens_[i + 2].end;
    }
    return text + std::string(source_.substr(at, tokens_[last].end - at));
  }

  bool is_component(std::size_t i) const { return is_any(i, {"x", "y", "z"}); }
  std::string component_of(std::size_t i) const { return fmt::format("bankwise_{}({})", text(i + 2), text(i)); }

  /// threadIdx.x has a different value in every lane, so it is no member of a variable.
  bool is_index(std::size_t i) const {
    return is_any(i, {"threadIdx", "blockIdx", "blockDim", "gridDim"}) && is(i + 1, ".") && is_component(i + 2) &&
           (i == 0 || !is_any(i - 1, {".", "->"}));
  }

  std::string edited() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const RewriteEdit& a, const RewriteEdit& b) { return a.begin < b.begin; });
    std::string out;
    out.reserve(source_.size() + edits_.size() * 200);
    std::size_t at = 0;
    for (const RewriteEdit& edit : edits_) {
      out += source_.substr(at, edit.begin - at);
      out += edit.by;
      const std::string_view old = source_.substr(edit.begin, edit.end - edit.begin);
      out.append(std::size_t(std::count(old.begin(), old.end(), '\n')), '\n');  // what spans lines leaves their ends
      at = edit.end;
    }
    out += source_.substr(at);
    return out;
  }

  struct RewriteEdit {
    std::size_t begin, end;
    std::string by;
  };
  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<RewriteEdit> edits_;
};

}  // namespace

std::string rewritten(std::string_view source) { return Rewriter(source).run(); }

std::string place_in(std::string_view source, std::size_t offset, std::string_view name) {
  std::string file(name);
  std::uint64_t line = 1;
  for (std::size_t at = 0; at < source.size();) {
    const auto end = std::min(source.find('\n', at), source.size());
    const std::string_view text = source.substr(at, end - at);
    if (offset <= end) break;
    ++line;
    // A marker: # 12 "file.cu" 2
    if (text.starts_with("# ") && std::from_chars(text.data() + 2, text.data() + text.size(), line).ec == std::errc()) {
      const auto open = text.find('"'), close = text.rfind('"');
      if (open < close && close != std::string_view::npos) file = text.substr(open + 1, close - open - 1);
    }
    at = end + 1;
  }
  return fmt::format("{}:{}", file, line);
}

}  // namespace bankwise::emulate
