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

/// The captures stand before it.
constexpr std::string_view launching =
    R"((auto&&... bankwise_a) __attribute__((no_sanitize("thread"), no_sanitize_coverage)) { )";

class Rewriter : SourceTokens {
 public:
  Rewriter(std::string_view text_of_source, Language language) : SourceTokens(text_of_source), language_(language) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<") && tokens[i].end == tokens[i + 1].begin) i = launch(i);
      if (is(i, "bankwise_shared")) shared(i);
      if (is(i, "bankwise_constant")) constants(i);
      if (is_any(i, {"bankwise_shared", "thread_local"}) && is(i + 1, "alignas")) alignment(i + 1);
      if (is_any(i, {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}) && is(i + 1, "(")) kernel_argument(i + 1);
      if (is_any(i, {"cudaKernelNodeParams", "cudaGraphNodeParams"})) node_parameters(i);
      if (is(i, "func") && is(i + 1, "=") && is_of_node(i)) kernel_argument(i + 1);
      if (is_index(i)) replace(i, i + 2, fmt::format("bankwise_{}({})", text(i + 2), text(i)));
      if (is_any(i, {"asm", "__asm__", "__asm"})) inline_ptx(i);
      if (text(i).find("no_sanitize") != std::string_view::npos) keep_instrumentation(i);
    }
    return edited();
  }

 private:
  bool is_any(std::size_t i, std::initializer_list<std::string_view> texts) const {
    return std::find(texts.begin(), texts.end(), text(i)) != texts.end();
  }

  void replace(std::size_t first, std::size_t last, const std::string& by) {
    edits_.push_back({tokens[first].begin, tokens[last].end, by});
  }
  void insert(std::size_t offset, const std::string& text) { edits_.push_back({offset, offset, text}); }

  [[noreturn]] void fail(std::size_t token, const std::string& sentence) const {
    throw BadLaunch(tokens[std::min(token, tokens.size() - 1)].begin, sentence);  // a source may end after <<<
  }

  /// Calls `visit(i)` for each token outside of brackets.
  template <class Visit>
  void for_each_outside_brackets(TokenRange range, Visit visit) const {
    int depth = 0;
    for (std::size_t i = range.first; i < range.second; ++i) {
      depth += nesting(text(i));
      if (depth == 0) visit(i);
    }
  }

  /// Splits at a mark outside of brackets. "::" is two colons, unless it is part of a name.
  std::vector<TokenRange> split(TokenRange list, std::string_view mark) const {
    std::vector<TokenRange> parts{{list.first, list.first}};
    for_each_outside_brackets(list, [&](std::size_t i) {
      const bool is_two = mark == ":" && is(i, "::");
      if (!is(i, mark) && !is_two) return;
      parts.back().second = i;
      if (is_two) parts.emplace_back(i, i);
      parts.emplace_back(i + 1, i + 1);
    });
    parts.back().second = list.second;
    return parts;
  }

  // --- Launches ---

  /// `open` is the first token of <<<. Returns its last one.
  std::size_t launch(std::size_t open) {
    if (open > 0 && is(open - 1, "operator")) return open;  // operator<< <T>
    const std::size_t close = end_of_configuration(open + 3);
    const std::size_t callee = begin_of_callee(open);
    insert(tokens[callee].begin,
           fmt::format("{}{}{}", launch_in_rewritten, is_name_of_kernel(callee, open) ? "([=]" : "_of_expression([&]",
                       launching));
    const std::vector<TokenRange> arguments = arguments_of(close + 3);
    replace(open, open + 2, lane_call(arguments) + "; }).at(");
    replace(close, close + 2, ")");
    for (const auto& [first, end] : arguments) {  // of braces, the type of the kernel's parameter is not known here
      if (!is(first, "{") || !is(end - 1, "}")) continue;
      replace(first, first, "::bankwise::emulator::runtime::braces(");
      replace(end - 1, end - 1, ")");
    }
    return open + 2;
  }

  /// Whether the expression before a launch's <<< is a name, perhaps with template arguments. What it needs is copied:
  /// the emulator compares launches.
  bool is_name_of_kernel(std::size_t begin, std::size_t end) const {
    while (begin < end && !is_any(begin, {"(", "[", ".", "->", "this"})) ++begin;
    return begin == end;
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
    for_each_outside_brackets(list, [&](std::size_t i) { plain = plain && !is(i, "<"); });
    if (!plain) return {};
    std::vector<TokenRange> arguments = split(list, ",");
    std::erase_if(arguments, [](const TokenRange& argument) { return argument.first == argument.second; });
    return arguments;
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

  /// What opens the ), ] or > at `i`, in its statement; nothing if there is nothing. The parentheses in template
  /// arguments may contain any > and <.
  std::optional<std::size_t> opening(std::size_t i) const {
    const bool is_angle = is(i, ">");
    int depth = 0;
    for (std::size_t k = i + 1; k-- > 0 && !is(k, ";");) {
      const auto skipped = is_angle && is(k, ")") ? opening(k) : k;
      if (!skipped || (is_angle && is_any(k, {"{", "}", "("}))) break;
      k = *skipped;
      depth += is_angle ? int(is(k, ">")) - int(is(k, "<")) : -nesting(text(k));
      if (depth == 0) return k;
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
      const auto begin = opening(last);
      if (!begin) fail(open, "brackets before <<< have no beginning");
      const bool is_operand = *begin > 0 && ((is_name(*begin - 1) && !is_statement(*begin - 1)) ||
                                             is(*begin - 1, "]") || (!round && is(*begin - 1, ")")));
      if (!is_operand) return begin;
      last = *begin - 1;
    }
  }

  /// The last token before `at`, and before template arguments that end there.
  std::size_t before_arguments(std::size_t open, std::size_t at) const {
    if (at == 0) fail(open, "there is no kernel before <<<");
    if (!is(at - 1, ">")) return at - 1;
    const auto angle = opening(at - 1);
    if (!angle || *angle == 0) fail(open, "the kernel's template arguments before <<< have no beginning");
    return *angle - 1;
  }

  /// The first token of the expression before a launch's <<<.
  std::size_t begin_of_callee(std::size_t open) const {
    for (std::size_t at = open;; --at) {  // from name to name, past a ::, . or ->
      std::size_t last = before_arguments(open, at);
      if (const auto whole = skip_brackets(open, last)) return *whole;
      if (!is_name(last) && at == open) fail(open, "there is no kernel before <<<");
      if (!is_name(last)) return at;
      at = last > 0 && is(last - 1, "template") ? last - 1 : last;
      if (at == 0 || !is_any(at - 1, {"::", ".", "->"})) return at;
      if (at == 1) return 0;
      const bool is_scope = is(at - 2, ">") || (is_name(at - 2) && !is_statement(at - 2));
      if (is(at - 1, "::") && !is_scope) return at - 1;
    }
  }

  // --- The rest ---

  /// Arrays in shared memory: each gets a constant with its shape, which the emulator finds by the array's name.
  void shared(std::size_t i) {
    replace(i, i, "thread_local");  // qualifiers.hpp
    for (std::size_t k = i; k > 0 && !is_any(k - 1, {";", "{", "}"}); --k) {
      if (is(k - 1, "extern")) return;  // the launch gives its bytes
    }
    std::size_t end = i;
    for (int depth = 0; end < tokens.size() && (depth > 0 || !is(end, ";")); ++end) depth += nesting(text(end));
    if (end == tokens.size()) return;
    for (const std::string_view name : declared(i + 1)) {
      insert(tokens[end].end, fmt::format(" [[gnu::used]] static constexpr auto bankwise_shape_{0} = "
                                          "::bankwise::emulator::runtime::array_shape<decltype({0})>();",
                                          name));
    }
  }

  /// Variables in constant memory: the end of the source tells the emulator their names.
  void constants(std::size_t i) {
    replace(i, i, "");
    for (const std::string_view name : declared(i + 1)) {
      insert(source.size(),
             fmt::format(R"( __asm__(".pushsection bankwise_constants,\"a\"; .asciz \"{}\"; .popsection");)", name));
    }
  }

  /// `alignas` of a shared array, which is thread_local: C++ allows it only in front of the declaration.
  void alignment(std::size_t i) {
    const auto close = closing_bracket(i + 1);
    if (!close) return;
    replace(i, i + 1, "__attribute__((aligned(::bankwise::emulator::device::alignment<");
    replace(*close, *close, ">())))");
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
    while (i > 1 && is_any(i - 1, {".", "->"}) && !node_parameters_.contains(text(i - 2))) i -= 2;
    return i > 1 && is_any(i - 1, {".", "->"});
  }

  /// A kernel as a function's first argument, which many programs cast to void*: its parameters are needed.
  void kernel_argument(std::size_t open) {
    const std::size_t begin = open + 1;
    std::size_t i = begin;
    const auto skip = [&](std::string_view word) { return is(i, word) && ++i > 0; };
    if (skip("(")) {
      (void)skip("const");
      if (!skip("void")) return;
      (void)skip("const");
      if (skip("*") && is(i, ")")) replace(begin, i, "");
    } else if (is(i, "reinterpret_cast") && is(i + 1, "<")) {
      while (i < tokens.size() && !is(i, ">")) ++i;
      replace(begin, std::min(i, tokens.size() - 1), "");
    }
  }

  /// What is no PTX stays: code for the host, a label in a declaration, an empty text.
  void inline_ptx(std::size_t first) {
    if (language_ != Language::kernels) return;
    std::size_t open = first + 1;
    while (is_any(open, {"volatile", "__volatile__", "__volatile", "inline"})) ++open;
    const auto close = closing_bracket(open);
    if (!close) return;
    const std::vector<TokenRange> sections = split({open + 1, *close}, ":");
    const auto [text_begin, text_end] = sections[0];
    if (text_begin == text_end) return;
    const std::size_t at = tokens[first].begin, begin = tokens[text_begin].begin;
    std::size_t kept = tokens[text_end - 1].end;  // the end of what stays
    const std::string_view head = source.substr(at, begin - at), ptx = source.substr(begin, kept - begin);
    // A statement of PTX ends in a semicolon.
    if (ptx.find(';') == std::string_view::npos || (ptx[0] != '"' && ptx[0] != 'R')) return;
    const std::string function = "::bankwise::emulator::device::ptx";
    const std::string_view argument = head.find("volatile") == std::string_view::npos ? "" : "<true>";
    std::vector<RewriteEdit> edits{{at, begin, fmt::format("{}{}([] {{ return ", function, argument)},
                                   {kept, kept, "; }"}};
    for (std::size_t section = 1; section < sections.size() && section < 3; ++section) {
      if (sections[section].first == sections[section].second) continue;
      for (const TokenRange& part : split(sections[section], ",")) {
        const std::string suffix = suffix_for_operand(part, section == 1);
        if (suffix.empty()) return;
        edits.push_back({kept, tokens[part.first + 1].begin, ", " + function + suffix});
        kept = tokens[part.second - 1].end;
      }
    }
    edits.push_back({kept, tokens[*close].begin, ""});
    edits_.insert(edits_.end(), edits.begin(), edits.end());
  }

  /// Of the function for `"=r"(x)`; empty if it is no operand of PTX.
  std::string suffix_for_operand(TokenRange range, bool is_output) const {
    if (range.second - range.first < 3 || !is(range.first + 1, "(") || !is(range.second - 1, ")")) return "";
    const std::string_view constraint = text(range.first), name = constraint.substr(1);
    const bool both = name.starts_with('+'), out = name.starts_with('=');
    const std::string_view letter = name.substr(both || out ? 1 : 0, name.size() - (both || out ? 2 : 1));
    if (constraint.front() != '"' || letter.size() != 1 || (both || out) != is_output) return "";
    if (std::string_view("hrlqfdnb").find(letter) == std::string_view::npos) return "";
    return both ? "_in_out" : out ? "_out" : "_in";
  }

  /// Replaces an attribute that would hide a kernel's accesses, except in the emulator's own headers.
  void keep_instrumentation(std::size_t i) {
    const std::size_t last = closing_bracket(i + 1).value_or(i);
    if (i == 0 || !is_any(i - 1, {"(", ",", "[", "::"}) || !is_any(last + 1, {")", ",", "]"})) return;
    if (place_in(source, tokens[i].begin, "").find("/bankwise/emulator/") != std::string::npos) return;
    replace(i, last, "unused");
  }

  /// threadIdx.x has a different value in every lane, so it is no member of a variable.
  bool is_index(std::size_t i) const {
    return is_any(i, {"threadIdx", "blockIdx", "blockDim", "gridDim"}) && is(i + 1, ".") &&
           is_any(i + 2, {"x", "y", "z"}) && (i == 0 || !is_any(i - 1, {".", "->"}));
  }

  std::string edited() {
    std::ranges::stable_sort(edits_, {}, &RewriteEdit::begin);
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
      if (open < close) file = text.substr(open + 1, close - open - 1);
    }
    at = end + 1;
  }
  return fmt::format("{}:{}", file, line);
}

}  // namespace bankwise::emulate
