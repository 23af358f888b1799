#include "bankcheck/cuda/cubin/cubin.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <vector>

namespace bankwise::cuda {
namespace {

constexpr std::string_view omitted = "...";

// Above these, the demangler of the C++ library may need memory without bounds: each reference can double its output.
constexpr std::size_t max_mangled_bytes = 1000;
constexpr std::ptrdiff_t max_references = 24;

bool is_simple(std::string_view mangled) {
  return mangled.size() <= max_mangled_bytes &&
         std::count(mangled.begin(), mangled.end(), 'S') + std::count(mangled.begin(), mangled.end(), 'T') <=
             max_references;
}

/// How deep the brackets are nested before each character of a name; operators made of brackets are none.
class Depths {
 public:
  explicit Depths(std::string_view name) {
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::size_t symbols = name.substr(i).starts_with("operator") ? symbols_after(name, i + 8) : 0;
      if (symbols > 0) {
        depths_.insert(depths_.end(), 8 + symbols, depth);
        i += 8 + symbols - 1;
        continue;
      }
      if (is_one_of(name[i], ">)]}")) --depth;
      depths_.push_back(depth);
      if (is_one_of(name[i], "<([{")) ++depth;
    }
  }
  int operator[](std::size_t i) const { return depths_[i]; }

 private:
  static bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
  static std::size_t symbols_after(std::string_view name, std::size_t begin) {
    if (name.substr(begin).starts_with("()")) return 2;
    std::size_t end = begin;
    while (end < name.size() && is_one_of(name[end], "<>=-")) ++end;
    return end - begin;
  }
  std::vector<int> depths_;
};

/// Without return type and parameters.
std::string path_of(std::string name) {
  constexpr std::string_view nameless = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(nameless, at)) != std::string::npos;) name.erase(at, nameless.size());
  const Depths depths(name);
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depths[i] != 0) continue;
    if (name[i] == '(' && !name.substr(0, i).ends_with("operator")) {
      end = i;
      break;
    }
    if (name[i] == ' ') begin = i + 1;
  }
  return name.substr(begin, end - begin);
}

/// With "<...>" for each list of template arguments that is nested in `depth` others, or in more.
std::string without_arguments(std::string_view name, int depth) {
  const Depths depths(name);
  std::string shortened;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depths[i] > depth) continue;
    if (name[i] == '>' && depths[i] == depth && i > 0 && depths[i - 1] > depth) shortened += omitted;
    shortened += name[i];
  }
  return shortened;
}

/// The first of all namespaces.
std::string without_namespaces(const std::string& name) {
  const Depths depths(name);
  std::size_t first = 0, last = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (depths[i] != 0 || name.compare(i, 2, "::") != 0) continue;
    if (first == 0) first = i;
    last = i;
  }
  return first == last ? name : name.substr(0, first) + "::" + std::string(omitted) + name.substr(last);
}

std::string cut(std::string name, std::size_t max_width) {
  if (name.size() <= max_width) return name;
  name.resize(max_width - omitted.size());
  return name += omitted;
}

std::string whole_name(std::string_view mangled) {
  if (is_simple(mangled)) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && text) return path_of(text.get());
  }
  return mangled_path(mangled).value_or(std::string(mangled));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class MangledReader {
 public:
  explicit MangledReader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool accept(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  /// A length and as many characters; nothing if there are fewer.
  std::optional<std::string_view> identifier() {
    std::size_t length = 0;
    const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), length);
    text_.remove_prefix(std::size_t(parsed.ptr - text_.data()));
    if (parsed.ec == std::errc::result_out_of_range || length > text_.size()) return {};
    const std::string_view name = text_.substr(0, length);
    text_.remove_prefix(length);
    return name;
  }

  // Recursion: at most max_nested_literals deep.
  /// Everything up to the E of the list whose I was just read; whether there is one.
  bool skip_arguments() {
    for (std::size_t open = 1; open > 0;) {
      if (at_end()) return false;
      if (is_digit(peek())) {
        if (!identifier()) return false;
        continue;
      }
      const char c = peek();
      text_.remove_prefix(1);
      switch (c) {
        case 'E': --open; break;
        case 'I':
        case 'J':
        case 'N':
        case 'X':
        case 'F':
        case 'Z': ++open; break;
        case 'L':
          ++open;
          if (!skip_literal()) return false;
          break;
        case 'S':
        case 'T': skip_reference(); break;
        case 'A':
        case 'D':
        case 'U':
          if (!skip_prefix(c, open)) return false;
          break;
        default: break;  // built-in types and qualifiers, which open nothing
      }
    }
    return true;
  }

 private:
  /// L has been read: a literal up to its E, which stays: its type, then its value, of which digits are no identifier;
  /// or the name of a function.
  bool skip_literal() {
    if (accept("_Z")) return true;
    if (++nested_literals_ > max_nested_literals) return false;
    bool named = true;
    if (accept("N")) {
      named = skip_arguments();  // up to the E of the nested name
    } else if (is_digit(peek()) || accept("St")) {
      named = identifier().has_value();
    } else if (accept("S") || accept("T")) {
      skip_reference();
    }
    --nested_literals_;
    while (!at_end() && peek() != 'E') text_.remove_prefix(1);
    return named;
  }
  /// S or T has been read: "St", or digits and capitals up to an underscore.
  void skip_reference() {
    if (std::islower(static_cast<unsigned char>(peek())) != 0) {
      text_.remove_prefix(1);
    } else {
      while (!at_end() && peek() != '_') text_.remove_prefix(1);
      accept("_");
    }
  }
  /// A, D or U has been read: arrays, decltype and the like, lambdas.
  bool skip_prefix(char c, std::size_t& open) {
    if (c == 'A') {
      while (is_digit(peek())) text_.remove_prefix(1);
      return accept("_");
    }
    if (c == 'U') {
      if (accept("t")) return true;
      if (!accept("l")) return false;
      ++open;  // parameters of a lambda up to E, then a number and an underscore
      return true;
    }
    const char kind = peek();
    accept(std::string_view(&kind, 1));
    if (kind == 'T' || kind == 't') ++open;
    return kind != 'v';  // vectors
  }

  static constexpr unsigned max_nested_literals = 64;  // each takes some of the stack

  std::string_view text_;
  unsigned nested_literals_ = 0;
};

}  // namespace

std::string array_name(std::string_view mangled) {
  // _ZZ, the kernel, E, the length of the name, the name, and a number if the kernel has several of this name.
  for (std::size_t at = mangled.starts_with("_ZZ") ? mangled.find('E') : std::string_view::npos;
       at != std::string_view::npos; at = mangled.find('E', at + 1)) {
    MangledReader reader(mangled.substr(at + 1));
    const auto name = reader.identifier();
    if (name && !name->empty() && (reader.at_end() || reader.peek() == '_')) return std::string(*name);
  }
  return demangled(mangled);
}

std::string demangled(std::string_view mangled, std::size_t max_width) {
  if (!mangled.starts_with("_Z")) return cut(std::string(mangled), max_width);
  std::string name = whole_name(mangled);
  constexpr int max_depth = 20;
  for (int depth = max_depth; depth >= 0 && name.size() > max_width; --depth) name = without_arguments(name, depth);
  if (name.size() > max_width) name = without_namespaces(name);
  return cut(std::move(name), max_width);
}

std::optional<std::string> mangled_path(std::string_view mangled) {
  MangledReader reader(mangled);
  if (!reader.accept("_Z")) return {};
  const bool is_nested = reader.accept("N");
  std::string path;
  if (reader.accept("St")) path = "std";
  while (is_digit(reader.peek()) || reader.accept("L")) {
    const auto name = reader.identifier();
    if (!name || name->empty()) return {};
    if (!name->starts_with("_GLOBAL__N_")) {  // an anonymous namespace
      if (!path.empty()) path += "::";
      path += *name;
    }
    if (reader.accept("I")) {
      if (!reader.skip_arguments()) return {};
      path += "<...>";
    }
    if (!is_nested) return path;
  }
  if (path.empty() || !reader.accept("E")) return {};
  return path;
}

}  // namespace bankwise::cuda
