#include "bankcheck/emulate/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <set>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::emulate {
namespace {

using source::SourceTokens;
using TokenRange = std::pair<std::size_t, std::size_t>;

/// What a token adds to the depth of brackets.
int nesting(std::string_view token) {
  return int(token == "(" || token == "[" || token == "{") - int(token == ")" || token == "]" || token == "}");
}

/// Calls `visit(i)` for each token outside of brackets.
template <class Visit>
void for_each_outside_brackets(const SourceTokens& source, TokenRange range, Visit visit) {
  int depth = 0;
  for (std::size_t i = range.first; i < range.second; ++i) {
    depth += nesting(source.text(i));
    if (depth == 0) visit(i);
  }
}

/// Splits at a mark outside of brackets. "::" is two colons, unless it is part of a name.
std::vector<TokenRange> split(const SourceTokens& source, TokenRange list, std::string_view mark) {
  std::vector<TokenRange> parts{{list.first, list.first}};
  for_each_outside_brackets(source, list, [&](std::size_t i) {
    const bool is_two = mark == ":" && source.is(i, "::");
    if (!source.is(i, mark) && !is_two) return;
    parts.back().second = i;
    if (is_two) parts.emplace_back(i, i);
    parts.emplace_back(i + 1, i + 1);
  });
  parts.back().second = list.second;
  return parts;
}

// --- Inline PTX ---

std::string_view text_of(const SourceTokens& source, TokenRange range) {
  if (range.first == range.second) return "";
  const std::size_t begin = source.tokens[range.first].begin;
  return source.source.substr(begin, source.tokens[range.second - 1].end - begin);
}

/// `"=r"(x)` as a call; nothing if it is no operand of PTX.
std::optional<std::string> operand(const SourceTokens& statement, TokenRange tokens, bool is_output) {
  if (tokens.second - tokens.first < 3) return std::nullopt;
  std::string_view constraint = statement.text(tokens.first);
  const std::string_view value = text_of(statement, {tokens.first + 1, tokens.second});
  if (constraint.front() != '"' || value.front() != '(' || value.back() != ')') return std::nullopt;
  constraint = constraint.substr(1, constraint.size() - 2);
  const bool both = constraint.starts_with('+'), out = constraint.starts_with('=');
  const std::string_view letter = constraint.substr(both || out ? 1 : 0);
  if (letter.size() != 1 || std::string_view("hrlqfdnb").find(letter) == std::string_view::npos) return std::nullopt;
  if ((both || out) != is_output) return std::nullopt;
  const char* function = both ? "ptx_in_out" : out ? "ptx_out" : "ptx_in";
  return "::bankwise::emulator::device::" + std::string(function) + std::string(value);
}

// --- Launches, and the rest ---

/// The captures stand before it.
constexpr std::string_view launching =
    "(auto&&... bankwise_a) __attribute__((no_sanitize(\"thread\"), "
    "no_sanitize_coverage)) { ";

class Rewriter : SourceTokens {
 public:
  Rewriter(std::string_view text_of_source, Language language) : SourceTokens(text_of_source), language_(language) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<") && adjacent(i)) i = launch(i);
      if (is(i, "bankwise_shared")) shared(i);
      if (is(i, "bankwise_constant")) constants(i);
      if (is_any(i, {"bankwise_shared", "thread_local"}) && is(i + 1, "alignas")) alignment(i + 1);
      if (takes_kernel(i)) kernel_argument(i + 1);
      if (is_any(i, {"cudaKernelNodeParams", "cudaGraphNodeParams"})) node_parameters(i);
      if (is(i, "func") && is(i + 1, "=") && is_of_node(i)) kernel_argument(i + 1);
      if (is_index(i)) replace(tokens[i].begin, tokens[i + 2].end, component_of(i));
      if (language_ == Language::kernels && is_any(i, {"asm", "__asm__", "__asm"})) i = inline_ptx(i);
      if (text(i).find("no_sanitize") != std::string_view::npos) keep_instrumentation(i);
    }
    return edited();
  }

 private:
  bool is_any(std::size_t i, std::initializer_list<std::string_view> texts) const {
    return std::find(texts.begin(), texts.end(), text(i)) != texts.end();
  }
  /// Whether nothing is between two tokens.
  bool adjacent(std::size_t i) const { return i + 1 < tokens.size() && tokens[i].end == tokens[i + 1].begin; }

  void replace(std::size_t begin, std::size_t end, std::string_view by) {
    edits_.push_back({begin, end, std::string(by)});
  }

  [[noreturn]] void fail(std::size_t token, const std::string& sentence) const {
    throw BadLaunch(tokens[std::min(token, tokens.size() - 1)].begin, sentence);  // a source may end after <<<
  }

  /// `open` is the first token of <<<. Returns its last one.
  std::size_t launch(std::size_t open) {
    if (open > 0 && is(open - 1, "operator")) return open;  // operator<< <T>
    const std::size_t close = end_of_configuration(open + 3);
    const std::size_t callee = begin_of_callee(open);
    const std::size_t begin = tokens[callee].begin;
    replace(begin, begin,
            fmt::format("{}{}{}", launch_in_rewritten, is_name_of_kernel(callee, open) ? "([=]" : "_of_expression([&]",
                        launching));
    const std::vector<TokenRange> arguments = arguments_of(close + 3);
    replace(tokens[open].begin, tokens[open + 2].end, lane_call(arguments) + "; }).at(");
    replace(tokens[close].begin, tokens[close + 2].end, ")");
    for (const auto& [first, last] : arguments) {
      if (is(first, "{") && is(last - 1, "}")) braces(first, last - 1);
    }
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
  std::size_t end_of_configuration(std::size_t first) const {
    int depth = 0;
    for (std::size_t i = first; i < tokens.size(); ++i) {
      depth += nesting(text(i));
      if (depth < 0 || (depth == 0 && is(i, ";"))) break;
      if (depth == 0 && is(i, ">") && is(i + 1, ">") && is(i + 2, ">") && is(i + 3, "(")) return i;
    }
    fail(first, "the launch has no >>> that arguments in parentheses follow");
  }

  /// Those in the parentheses that follow a launch's configuration; none if they may contain template arguments, whose
  /// commas separate no arguments.
  std::vector<TokenRange> arguments_of(std::size_t open) const {
    const auto end = closing_bracket(open);
    if (!end) fail(open, "the launch's arguments have no end");
    const TokenRange list{open + 1, *end};
    bool plain = true;
    for_each_outside_brackets(*this, list, [&](std::size_t i) { plain = plain && !is(i, "<"); });
    if (!plain) return {};
    std::vector<TokenRange> arguments = split(*this, list, ",");
    std::erase_if(arguments, [](const TokenRange& argument) { return argument.first == argument.second; });
    return arguments;
  }

  /// The values of an argument in braces, for the kernel's parameter, whose type is not known here.
  void braces(std::size_t first, std::size_t last) {
    replace(tokens[first].begin, tokens[first].end, "::bankwise::emulator::runtime::braces(");
    replace(tokens[last].begin, tokens[last].end, ")");
  }

  /// The call for one lane. Arguments of one literal are written into it: NULL and 0 may be pointers, and as values
  /// they no longer could.
  std::string lane_call(const std::vector<TokenRange>& arguments) const {
    const auto literal = [&](const TokenRange& argument) {
      return argument.first + 1 == argument.second && is_any(argument.first, {"0", "NULL", "__null", "nullptr"});
    };
    if (std::none_of(arguments.begin(), arguments.end(), literal)) return "(bankwise_a...)";
    // The lambda's parameters are a pack: the values are taken from it by their positions.
    std::string call = "(";
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const auto& [first, last] = arguments[k];
      if (k > 0) call += ", ";
      if (literal(arguments[k])) {
        call += text(first);
      } else if (is(last - 1, ".")) {
        return "(bankwise_a...)";  // a pack
      } else {
        call += fmt::format("::bankwise::emulator::runtime::pick<{}>(bankwise_a...)", k);
      }
    }
    return call + ')';
  }

  /// The ) of the ( at `i`; nothing if there is no ( or no end.
  std::optional<std::size_t> closing_bracket(std::size_t i) const {
    int depth = 0;
    for (std::size_t k = i; is(i, "(") && k < tokens.size(); ++k) {
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

  /// Arrays in shared memory: each gets a constant with its shape, which the emulator finds by the array's name.
  void shared(std::size_t i) {
    replace(tokens[i].begin, tokens[i].end, "thread_local");  // qualifiers.hpp
    std::size_t begin = i, end = i;
    int depth = 0;
    while (begin > 0 && !is_any(begin - 1, {";", "{", "}"})) --begin;
    for (std::size_t k = begin; k < i; ++k) {
      if (is(k, "extern")) return;  // the launch gives its bytes
    }
    for (; end < tokens.size() && (depth > 0 || !is(end, ";")); ++end) depth += nesting(text(end));
    if (end == tokens.size()) return;
    for (const std::string_view name : declared(i + 1)) {
      replace(tokens[end].end, tokens[end].end,
              fmt::format(" [[gnu::used]] static constexpr auto bankwise_shape_{0} = "
                          "::bankwise::emulator::runtime::array_shape<decltype({0})>();",
                          name));
    }
  }

  /// Variables in constant memory: the end of the source tells the emulator their names.
  void constants(std::size_t i) {
    replace(tokens[i].begin, tokens[i].end, "");
    for (const std::string_view name : declared(i + 1)) {
      replace(source.size(), source.size(),
              fmt::format(R"( __asm__(".pushsection bankwise_constants,\"a\"; .asciz \"{}\"; .popsection");)", name));
    }
  }

  /// `alignas` of a shared array, which is thread_local: C++ allows it only in front of the declaration.
  void alignment(std::size_t i) {
    const auto close = closing_bracket(i + 1);
    if (!close) return;
    replace(tokens[i].begin, tokens[i + 1].end, "__attribute__((aligned(::bankwise::emulator::device::alignment<");
    replace(tokens[*close].begin, tokens[*close].end, ">())))");
  }

  /// Variables whose member `func` is the kernel of a graph's node, the first of their members.
  void node_parameters(std::size_t i) {
    const auto names = declared(i + 1);
    node_parameters_.insert(names.begin(), names.end());
    while (is_any(i + 1, {"*", "&"})) ++i;
    node_parameters_.insert(text(i + 1));  // perhaps a parameter
    if (is(i + 2, "=") && is(i + 3, "{")) kernel_argument(i + 3);
  }
  bool is_of_node(std::size_t i) const {
    if (i > 3 && is(i - 2, "kernel")) i -= 2;  // "node.kernel.func"
    return i > 1 && is_any(i - 1, {".", "->"}) && node_parameters_.count(text(i - 2)) > 0;
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
      replace(tokens[begin].begin, tokens[i + 1].end, "");
    } else if (is(i, "reinterpret_cast") && is(i + 1, "<")) {
      while (i < tokens.size() && !is(i, ">")) ++i;
      replace(tokens[begin].begin, tokens[std::min(i, tokens.size() - 1)].end, "");
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
    replace(tokens[first].begin, tokens[*close].end, *call);
    return *close;
  }

  /// Replaces an attribute that would hide a kernel's accesses, except in the emulator's own headers.
  void keep_instrumentation(std::size_t i) {
    const std::size_t last = closing_bracket(i + 1).value_or(i);
    if (i == 0 || !is_any(i - 1, {"(", ",", "[", "::"}) || !is_any(last + 1, {")", ",", "]"})) return;
    if (place_in(source, tokens[i].begin, "").find("/bankwise/emulator/") != std::string::npos) return;
    replace(tokens[i].begin, tokens[last].end, "unused");
  }

  /// The text of some tokens, with threadIdx.x and the like rewritten.
  std::string with_components(std::size_t first, std::size_t last) const {
    std::string text;
    std::size_t at = tokens[first].begin;
    for (std::size_t i = first; i <= last; ++i) {
      if (!is_index(i)) continue;
      text += source.substr(at, tokens[i].begin - at);
      text += component_of(i);
      at = tokens[i + 2].end;
    }
    return text + std::string(source.substr(at, tokens[last].end - at));
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
    out.reserve(source.size() + edits_.size() * 200);
    std::size_t at = 0;
    for (const RewriteEdit& edit : edits_) {
      if (edit.begin < at) throw BadLaunch(edit.begin, "two launches, or a launch and asm, overlap here");
      out += source.substr(at, edit.begin - at);
      out += edit.by;
      const std::string_view old = source.substr(edit.begin, edit.end - edit.begin);
      out.append(std::size_t(std::count(old.begin(), old.end(), '\n')), '\n');  // what spans lines leaves their ends
      at = edit.end;
    }
    out += source.substr(at);
    return out;
  }

  struct RewriteEdit {
    std::size_t begin, end;
    std::string by;
  };
  Language language_;
  std::vector<RewriteEdit> edits_;
  std::set<std::string_view> node_parameters_;
};

}  // namespace

std::optional<std::string> emulated_asm(std::string_view statement) {
  const SourceTokens source(statement);
  const std::size_t count = source.tokens.size();
  std::size_t open = 0;
  while (open < count && !source.is(open, "(")) ++open;
  if (open + 1 >= count || statement.back() != ')') return std::nullopt;
  const std::vector<TokenRange> sections = split(source, {open + 1, count - 1}, ":");
  const std::string_view text = text_of(source, sections[0]);
  // A statement of PTX ends in a semicolon.
  if (text.find(';') == std::string_view::npos || (text[0] != '"' && text[0] != 'R')) return std::nullopt;
  const bool is_volatile = statement.substr(0, source.tokens[open].begin).find("volatile") != std::string_view::npos;
  std::string call = std::string("::bankwise::emulator::device::ptx") + (is_volatile ? "<true>" : "") +
                     "([] { return " + std::string(text) + "; }";
  for (std::size_t section = 1; section < sections.size() && section < 3; ++section) {
    if (sections[section].first == sections[section].second) continue;
    for (const TokenRange& part : split(source, sections[section], ",")) {
      const auto emulated = operand(source, part, section == 1);
      if (!emulated) return std::nullopt;
      call += ", " + *emulated;
    }
  }
  call += ')';
  // What the call lacks of the statement's lines follows it.
  const auto lines = [](std::string_view some) { return std::count(some.begin(), some.end(), '\n'); };
  call.append(std::size_t(std::max<std::ptrdiff_t>(0, lines(statement) - lines(call))), '\n');
  return call;
}

std::string rewritten(std::string_view source, Language language) { return Rewriter(source, language).run(); }

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
