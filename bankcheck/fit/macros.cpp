#include "bankcheck/fit/declaration.hpp"

#include <algorithm>
#include <set>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/side_effects.hpp"

namespace bankwise::fit {
namespace {

/// Whether a macro's text has a name that means a variable around the macro.
bool means(const Macro& macro, std::string_view name) {
  const auto [parameters, text] = parts_of(macro);
  if (std::ranges::find(parameters, name) != parameters.end()) return false;
  const Expressions code(text);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.is(i, name) || code.is(i - 1, ".") || code.is(i - 1, "->")) continue;
    const bool is_own = code.is_name(i - 1) && (code.names_type(i - 1) || code.is(i - 1, "auto"));
    return !is_own;
  }
  return false;
}

std::set<std::string_view> names_in(const source::SourceTokens& code, Part part) {
  std::set<std::string_view> names;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (code.is_name(i)) names.insert(code.text(i));
  }
  return names;
}

/// Adds the names in the texts of macros that are used, until there is no new one.
void add_names_of_macros(std::set<std::string_view>& used, const std::vector<Macro>& macros) {
  for (std::size_t before = 0; before != used.size();) {
    before = used.size();
    for (const Macro& macro : macros) {
      if (!used.contains(macro.name)) continue;
      const source::SourceTokens inside(macro.text);
      used.merge(names_in(inside, {0, inside.tokens.size()}));
    }
  }
}

std::vector<Macro> all_macros(std::string_view source, const std::vector<std::string_view>& headers) {
  std::vector<Macro> macros = macros_of(source);
  for (const std::string_view header : headers) {
    const std::vector<Macro> more = macros_of(header);
    macros.insert(macros.end(), more.begin(), more.end());
  }
  return macros;
}

bool is_sum(const Macro& macro) {
  const source::SourceTokens inside(macro.text);
  const std::size_t begin = macro.has_parameters ? inside.past_bracket(0) : 0;
  const bool is_enclosed = inside.is(begin, "(") && inside.past_bracket(begin) == inside.tokens.size();
  return inside.tokens.size() > begin + 1 && !is_enclosed;
}

/// Names that are no macros: words of the languages, and what the source declares.
class KnownNames {
 public:
  KnownNames(const Expressions& code, const SourceConstants& constants) : code_(code), constants_(constants) {
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (code.is_name(i) && code.declares(i)) declared_.insert(code.text(i));
    }
  }

  bool has(std::size_t i) const {
    constexpr std::string_view words =
        "if else for while do return break continue switch case default sizeof true false static_cast "
        "reinterpret_cast const_cast threadIdx blockIdx blockDim gridDim warpSize barrier get_local_id get_group_id "
        "get_global_id get_local_size auto";
    const std::string_view name = code_.text(i);
    const bool is_member = code_.is(i - 1, ".") || code_.is(i - 1, "->");
    return is_member || name.starts_with("__") || support::has_word(words, name) || declared_.contains(name) ||
           code_.names_type(i) || constants_.value_of(std::string(name));
  }

 private:
  const Expressions& code_;
  const SourceConstants& constants_;
  std::set<std::string_view> declared_;
};

}  // namespace

std::vector<ArrayMacro> macros_naming(const Declaration& declaration, std::string_view source,
                                      const std::vector<std::string_view>& headers) {
  const std::vector<Macro> own = macros_of(source), macros = all_macros(source, headers);
  const source::SourceTokens code(source);
  std::set<std::string_view> used = names_in(code, block_of(code, declaration));
  add_names_of_macros(used, macros);
  std::vector<ArrayMacro> naming;
  for (std::size_t k = 0; k < macros.size(); ++k) {
    const Macro& macro = macros[k];
    if (!used.contains(macro.name) || !means(macro, declaration.name)) continue;
    naming.push_back({std::string(macro.name), k < own.size() ? macro.line : 0, std::string(parts_of(macro).second)});
  }
  return naming;
}

std::vector<std::string> sums_of(std::string_view source, const std::vector<std::string_view>& headers) {
  std::vector<std::string> sums;
  for (const Macro& macro : all_macros(source, headers)) {
    if (is_sum(macro)) sums.emplace_back(macro.name);
  }
  return sums;
}

std::vector<std::string> pure_macros_of(const std::vector<std::string_view>& headers) {
  std::vector<std::string> pure;
  for (const std::string_view header : headers) {
    const Expressions code(header);
    const SideEffects effects(code, pure);
    std::vector<std::string> own;
    for (const Macro& macro : macros_of(header)) {
      if (!macro.has_parameters) continue;
      const Expressions text(code, parts_of(macro).second);
      const bool writes = SideEffects::writes(text, text.all());
      if (!writes && effects.unknown_call(text, text.all()).empty()) own.emplace_back(macro.name);
    }
    pure.insert(pure.end(), own.begin(), own.end());
  }
  return pure;
}

std::vector<unsigned> hidden_lines_of(const Declaration& declaration, unsigned last_line, std::string_view source,
                                      const std::vector<unsigned>& lines, const SourceConstants& constants) {
  std::vector<unsigned> hidden;
  for (const unsigned line : lines) {
    if (line >= declaration.line && line <= last_line) hidden.push_back(line);
  }
  if (hidden.empty()) return {};
  const Expressions code(source);
  const auto names_array = [&](std::size_t i) {
    return code.is(i, declaration.name) || std::ranges::any_of(declaration.macros, [&](const ArrayMacro& macro) {
             return code.is_name(i) && code.is(i, macro.name);
           });
  };
  std::set<unsigned> named, clear, unknown;  // lines of statements that name the array, that cannot use it, that may
  const KnownNames known(code, constants);
  unsigned line = 1, begin = 0;  // of the statement; 0: before its first token
  bool is_named = false, is_known = true;
  for (std::size_t i = 0, at = 0; i < code.tokens.size(); at = code.tokens[i++].begin) {
    line += unsigned(std::ranges::count(source.substr(at, code.tokens[i].begin - at), '\n'));
    if (begin == 0) begin = line;
    is_named |= names_array(i);
    is_known = is_known && (!code.is_name(i) || known.has(i));
    if (!ends_statement(code, i)) continue;
    for (; begin <= line; ++begin) (is_named ? named : is_known ? clear : unknown).insert(begin);
    begin = 0;
    is_named = false;
    is_known = true;
  }
  std::erase_if(
      hidden, [&](unsigned used) { return named.contains(used) || (clear.contains(used) && !unknown.contains(used)); });
  std::ranges::sort(hidden);
  return hidden;
}

}  // namespace bankwise::fit
