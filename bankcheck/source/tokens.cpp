#include "bankcheck/source/tokens.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace bankwise::source {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> tokens() {
    while (at_ < source_.size()) next();
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  void next() {
    const char c = peek();
    if (c == '\n') {
      line_begins_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (starts("//") || (c == '#' && line_begins_)) {
      skip_line();
    } else if (starts("/*")) {
      const auto end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
    } else {
      line_begins_ = false;
      take();
    }
  }

  /// To the end of the line, and of those that a backslash joins to it.
  void skip_line() {
    while (at_ < source_.size() && peek() != '\n') at_ += peek() == '\\' ? joined() : 1;
  }
  /// The length of a backslash with what it escapes.
  std::size_t joined() const { return peek(1) == '\r' && peek(2) == '\n' ? 3 : 2; }

  void take() {
    const std::size_t begin = at_;
    const char c = peek();
    TokenKind kind = TokenKind::mark;
    if (begins_name(c)) {
      while (continues_name(peek())) ++at_;
      const std::string_view name = source_.substr(begin, at_ - begin);
      kind = TokenKind::name;
      if (peek() == '"' || peek() == '\'') {
        constexpr std::array prefixes{"L", "u", "U", "u8"};
        constexpr std::array raw{"R", "LR", "uR", "UR", "u8R"};
        const bool is_raw = peek() == '"' && std::ranges::find(raw, name) != raw.end();
        if (is_raw || std::ranges::find(prefixes, name) != prefixes.end()) {
          kind = TokenKind::text;
          is_raw ? take_raw() : take_quoted();
        }
      }
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      take_number();
      kind = TokenKind::number;
    } else if (c == '"' || c == '\'') {
      take_quoted();
      kind = TokenKind::text;
    } else {
      at_ += starts("::") || starts("->") ? 2 : 1;
    }
    at_ = std::min(at_, source_.size());
    tokens_.push_back({kind, begin, at_});
  }

  void take_number() {
    while (continues_name(peek()) || peek() == '.' || (peek() == '\'' && continues_name(peek(1)))) {
      const char c = peek();
      ++at_;
      const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
      if (exponent && (peek() == '+' || peek() == '-')) ++at_;
    }
  }

  void take_quoted() {
    const char quote = peek();
    ++at_;
    while (at_ < source_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? joined() : 1;
    if (peek() == quote) ++at_;
  }

  void take_raw() {
    const auto open = source_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = source_.size();
      return;
    }
    const std::string close = ')' + std::string(source_.substr(at_ + 1, open - at_ - 1)) + '"';
    const auto end = source_.find(close, open);
    at_ = end == std::string_view::npos ? source_.size() : end + close.size();
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Lexer(source).tokens(); }

std::size_t SourceTokens::at_offset(std::size_t offset) const {
  return std::size_t(std::ranges::lower_bound(tokens, offset, {}, &Token::begin) - tokens.begin());
}

std::size_t SourceTokens::closing(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += is(i, "[") ? 1 : is(i, "]") ? -1 : 0;
    if (depth == 0) return i;
  }
  return tokens.size();
}

std::size_t SourceTokens::past_bracket(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += int(is(i, "(") || is(i, "[") || is(i, "{")) - int(is(i, ")") || is(i, "]") || is(i, "}"));
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

std::size_t SourceTokens::opening(std::size_t close) const {
  int depth = 1;
  while (depth > 0 && close > 0) {
    --close;
    depth += int(is(close, ")")) - int(is(close, "("));
  }
  return close;
}

std::size_t SourceTokens::function_body(std::size_t token) const {
  std::size_t outermost = 0;
  int depth = 0;
  for (std::size_t k = token; k-- > 0;) {
    depth += int(is(k, "}")) - int(is(k, "{"));
    if (depth >= 0) continue;
    depth = 0;
    if (k > 0 && is(k - 1, ")")) outermost = k;
  }
  return outermost;
}

std::size_t SourceTokens::launch_behind(std::size_t name) const {
  std::size_t k = name + 1;
  const auto begins = [&] { return is(k, "<") && is(k + 1, "<") && is(k + 2, "<"); };
  for (int depth = 0; !begins() && (is(k, "<") || depth > 0) && k < tokens.size() && !is(k, ";"); ++k) {
    depth += int(is(k, "<")) - int(is(k, ">"));
  }
  return begins() ? k : 0;
}

std::size_t SourceTokens::line(std::size_t i) const {
  return 1 + std::size_t(std::ranges::count(source.substr(0, tokens[i].begin), '\n'));
}

bool SourceTokens::is_head(std::size_t i) const {
  constexpr std::array with_parentheses{"alignas", "__attribute__", "__align__", "__builtin_align__", "decltype"};
  constexpr std::array with_members{"struct", "class", "union", "enum"};
  const auto is_one_of = [&](const auto& words, std::size_t k) {
    return std::ranges::find(words, text(k)) != words.end();
  };
  if (is(i + 1, "(")) return is_one_of(with_parentheses, i);
  return is(i + 1, "{") && (is_one_of(with_members, i) || (i > 0 && is_one_of(with_members, i - 1)));
}

std::vector<std::string_view> SourceTokens::declared(std::size_t first) const {
  std::vector<std::string_view> names;
  bool has_name = false;  // of the current declarator
  int depth = 0;
  for (std::size_t i = first; i < tokens.size() && depth >= 0; ++i) {
    const std::string_view token = text(i);
    const bool ends = token == "," || token == ";", opens = token == "[" || token == "{" || token == "(";
    if (depth == 0 && !has_name && i > first && is_name(i - 1) && !is_head(i - 1) && (ends || opens || token == "=")) {
      names.push_back(text(i - 1));
      has_name = true;
    }
    if (depth == 0 && token == ";") break;
    if (depth == 0 && token == ",") has_name = false;
    if (opens || (token == "<" && !has_name)) ++depth;
    if (token == "]" || token == "}" || token == ")" || (token == ">" && !has_name)) --depth;
  }
  return names;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace bankwise::source
