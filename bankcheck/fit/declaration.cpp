#include "bankcheck/fit/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "bankcheck/fit/base_variables.hpp"
#include "bankcheck/fit/flat_rows.hpp"
#include "bankcheck/fit/index.hpp"
#include "bankcheck/fit/macros.hpp"
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/fit/uses.hpp"
#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using predict::bytes_of_type, predict::is_decoration;
using source::SourceTokens;

bool is_qualifier(std::string_view word) { return word == "__shared__" || word == "local" || word == "__local"; }

/// A function or class with template parameters.
struct Template {
  std::string name;
  std::vector<std::string> parameters;
};

/// Where an array may be declared, with the end of its block.
struct Candidate {
  Declaration declaration;
  std::vector<Template> templates;  // around it
  std::size_t block = 0;            // the number of the block that it is declared in
  unsigned last_line = ~0U;
  std::string function;         // around it; "" if there is none
  std::size_t function_at = 0;  // the token of its bracket
};

/// Finds all declarations of a source, with their blocks.
class DeclarationFinder {
 public:
  DeclarationFinder(std::string_view source, const std::set<std::string, std::less<>>& qualifiers)
      : code_(source), qualifiers_(qualifiers) {}

  /// Those of one name; without a name, those without lengths.
  std::vector<Candidate> run(std::string_view name) {
    unsigned line = 1;
    for (std::size_t i = 0, at = 0; i < code_.tokens.size(); at = code_.tokens[i++].begin) {
      line += unsigned(std::ranges::count(code_.source.substr(at, code_.tokens[i].begin - at), '\n'));
      if (code_.is(i, "{")) {
        if (function_.empty() && code_.is(i - 1, ")")) {
          function_ = name_before(i - 1);
          function_blocks_ = blocks_.size();
          function_at_ = i;
        }
        open();
      }
      if (code_.is(i, "}")) close(line);
      if (blocks_.size() <= function_blocks_ && code_.is(i, "}")) function_.clear();
      if (begins_here(i)) {
        statement_ = i;
        is_qualified_ = false;
      }
      is_qualified_ |= qualifiers_.contains(code_.text(i));
      if (code_.is(i, ";")) end_statement();
      if (code_.is(i, "template") && code_.is(i + 1, "<")) templates_.push_back(template_at(i));
      auto declaration = declaration_at(i);
      if (!declaration) continue;
      const bool without_length = declaration->dimensions.front().empty();
      if (name.empty() ? !without_length : declaration->name != name) continue;
      add(std::move(*declaration));
    }
    return std::move(candidates_);
  }

 private:
  /// The name before the parentheses that end here.
  std::string name_before(std::size_t close) const {
    int depth = 0;
    for (std::size_t k = close; k > 0; --k) {
      depth += int(code_.is(k, ")")) - int(code_.is(k, "("));
      if (depth == 0) return code_.is_name(k - 1) ? std::string(code_.text(k - 1)) : "";
    }
    return "";
  }

  struct OpenBlock {
    std::vector<std::size_t> candidates;
    std::size_t templates = 0;  // that end with it
    std::size_t number = 0;
  };

  void open() {
    blocks_.push_back({std::exchange(waiting_, {}), templates_.size() - open_templates_, ++last_block_});
    for (const std::size_t parameter : blocks_.back().candidates) candidates_[parameter].block = last_block_;
    open_templates_ = templates_.size();
  }
  void close(unsigned line) {
    for (const std::size_t candidate : blocks_.back().candidates) candidates_[candidate].last_line = line;
    open_templates_ -= blocks_.back().templates;
    templates_.resize(open_templates_);
    blocks_.pop_back();
    if (blocks_.empty()) blocks_.emplace_back();
  }
  /// A template, or parameters, that no block has followed.
  void end_statement() {
    templates_.resize(open_templates_);
    while (!waiting_.empty() && waiting_.back() + 1 == candidates_.size()) {
      candidates_.pop_back();
      waiting_.pop_back();
    }
    waiting_.clear();
  }
  void add(Declaration declaration) {
    auto& list = declaration.is_parameter ? waiting_ : blocks_.back().candidates;
    list.push_back(candidates_.size());
    candidates_.push_back({std::move(declaration), templates_, blocks_.back().number, ~0U, function_, function_at_});
  }

  /// `template <class T, int W = 4> ... name(` or `name {`.
  Template template_at(std::size_t i) const {
    constexpr std::size_t longest = 1000;  // tokens; a stranger's source may have no end
    const std::size_t limit = std::min(i + longest, code_.tokens.size());
    Template found;
    int depth = 0;
    bool has_default = false;
    for (++i; i < limit; ++i) {
      depth += int(code_.is(i, "<") || code_.is(i, "(")) - int(code_.is(i, ">") || code_.is(i, ")"));
      const bool ends = depth == 0 || (depth == 1 && code_.is(i, ","));
      has_default |= code_.is(i, "=");
      const bool is_named = code_.is_name(i) && depth == 1 && !has_default;
      if (is_named && (code_.is(i + 1, ",") || code_.is(i + 1, ">") || code_.is(i + 1, "="))) {
        found.parameters.emplace_back(code_.text(i));
      }
      if (ends) has_default = false;
      if (depth == 0) break;
    }
    for (++i; i < limit && !code_.is(i, ";") && !code_.is(i, "{"); ++i) {
      const bool is_attribute = code_.text(i).starts_with("__") || code_.is_head(i);
      const bool ends = code_.is(i + 1, "(") || code_.is(i + 1, "{") || code_.is(i + 1, ":");
      if (!code_.is_name(i) || (is_attribute && code_.is(i + 1, "("))) continue;
      found.name = code_.text(i);
      if (ends) break;
    }
    return found;
  }

  bool begins_here(std::size_t k) const {
    return k == 0 || code_.is(k - 1, ";") || code_.is(k - 1, "{") || code_.is(k - 1, "}");
  }

  std::optional<Declaration> declaration_at(std::size_t i) const {
    if (!code_.is_name(i)) return std::nullopt;
    if (code_.is(i + 1, "[")) return array_at(i);
    if (code_.is(i + 1, ",") || code_.is(i + 1, ")")) return pointer_at(i);
    if (code_.is(i + 1, "=") && code_.is(i + 2, "SharedMemory") && code_.is(i - 1, "*")) return converted_at(i);
    return std::nullopt;
  }

  /// `T* words = SharedMemory<T>();`: all dynamic shared memory, by the class of NVIDIA's samples.
  std::optional<Declaration> converted_at(std::size_t i) const {
    std::size_t behind = i + 3;
    while (behind < code_.tokens.size() && !code_.is(behind, "(") && !code_.is(behind, ";")) ++behind;
    if (!code_.is(i + 3, "<") || !code_.is(behind + 1, ")") || !code_.is(behind + 2, ";")) return std::nullopt;
    Declaration declaration{.qualifier = "__shared__",
                            .name = std::string(code_.text(i)),
                            .dimensions = {""},
                            .dimension_texts = {{code_.tokens[i].end, code_.tokens[i].end}},
                            .at = code_.tokens[i].begin,
                            .line = unsigned(code_.line(i))};
    for (std::size_t k = statement_; k + 1 < i; ++k) {
      if (!is_decoration(code_.text(k)))
        declaration.type += (declaration.type.empty() ? "" : " ") + std::string(code_.text(k));
    }
    return declaration;
  }

  /// `__shared__ float tile[32][33]`
  std::optional<Declaration> array_at(std::size_t i) const {
    if (!is_qualified_) return std::nullopt;  // a table of a million elements has no more to look at
    const std::size_t begin = statement_;
    std::size_t type_end = begin;
    while (type_end < i && !(code_.is_name(type_end) && code_.is(type_end + 1, "["))) ++type_end;
    auto declaration = declared_by(begin, type_end, i);
    if (!declaration) return std::nullopt;
    for (std::size_t k = i + 1, close = 0; code_.is(k, "["); k = close + 1) {
      close = code_.closing(k);
      if (close == code_.tokens.size()) return std::nullopt;
      const Extract inside{code_.tokens[k].end, code_.tokens[close].begin};
      declaration->dimension_texts.push_back(inside);
      declaration->dimensions.emplace_back(
          source::trimmed(code_.source.substr(inside.begin, inside.end - inside.begin)));
    }
    return declaration;
  }

  /// `local float* tile`, an argument of an OpenCL kernel
  std::optional<Declaration> pointer_at(std::size_t i) const {
    std::size_t begin = i;
    while (!begins_here(begin) && !code_.is(begin - 1, ",") && !code_.is(begin - 1, "(")) --begin;
    std::size_t star = begin;
    while (star < i && !code_.is(star, "*")) ++star;
    if (star == i || begin == 0 || begins_here(begin)) return std::nullopt;
    auto declaration = declared_by(begin, star, i);
    if (!declaration) return std::nullopt;
    declaration->dimensions = {""};
    declaration->dimension_texts = {{code_.tokens[i].end, code_.tokens[i].end}};
    declaration->is_parameter = true;
    return declaration;
  }

  /// With the qualifier and the type, whose tokens end at `type_end`.
  std::optional<Declaration> declared_by(std::size_t begin, std::size_t type_end, std::size_t i) const {
    Declaration declaration{.name = std::string(code_.text(i)), .at = code_.tokens[i].begin};
    declaration.line = unsigned(code_.line(i));
    for (std::size_t k = begin; k < i; ++k) {
      const std::string_view word = code_.text(k);
      const bool qualifies = qualifiers_.contains(word);
      if (qualifies) declaration.qualifier = std::string(word);
      if (k >= type_end || qualifies || is_decoration(word)) continue;
      if (word == "(") {  // the parentheses of alignas(16)
        while (k < type_end && !code_.is(k, ")")) ++k;
        continue;
      }
      declaration.type += declaration.type.empty() || word == "::" || declaration.type.ends_with("::") ? "" : " ";
      declaration.type += word;
    }
    if (declaration.qualifier.empty()) return std::nullopt;
    return declaration;
  }

  SourceTokens code_;
  const std::set<std::string, std::less<>>& qualifiers_;
  std::vector<Candidate> candidates_;
  std::vector<OpenBlock> blocks_{1};
  std::size_t last_block_ = 0;
  std::size_t statement_ = 0;         // the first token of the statement
  bool is_qualified_ = false;         // whether it has had a qualifier
  std::vector<std::size_t> waiting_;  // parameters before the block of their function
  std::vector<Template> templates_;   // those of open blocks, then those before their block
  std::size_t open_templates_ = 0;
  std::string function_;             // the outermost one that is open
  std::size_t function_blocks_ = 0;  // that are open around it
  std::size_t function_at_ = 0;      // the token of its bracket
};

/// The words that put an array into shared memory, with the macros that stand for them.
std::set<std::string, std::less<>> qualifiers_in(std::string_view source, const SoughtArray& array) {
  std::set<std::string, std::less<>> words{"__shared__", "local", "__local"};
  const auto add = [&](std::string_view text) {
    for (const Macro& macro : macros_of(text)) {
      const SourceTokens inside(macro.text);
      for (std::size_t i = 0; !macro.has_parameters && i < inside.tokens.size(); ++i) {
        if (is_qualifier(inside.text(i))) words.emplace(macro.name);
      }
    }
  };
  for (const std::string_view header : array.headers) add(header);
  add(source);
  return words;
}

/// What the dimensions' names stand for.
SourceConstants constants_of(std::string_view source, const SoughtArray& array) {
  SourceConstants constants;
  constants.add_options(array.options);
  for (const std::string_view header : array.headers) constants.add_source(header);
  constants.add_source(source);
  return constants;
}

/// Adds the values of template parameters around a declaration, and notes which of them its dimensions need.
void add_arguments(SourceConstants& constants, const SoughtArray& array, Candidate& candidate) {
  Declaration& declaration = candidate.declaration;
  std::string dimensions;
  for (const std::string& dimension : declaration.dimensions) dimensions += constants.with_values(dimension) + ";";
  const SourceTokens used(dimensions);
  for (const Template& around : candidate.templates) {
    for (const std::string_view name : {array.name, array.kernel}) {
      const auto all = template_arguments(name);
      const auto arguments = all.find(around.name);
      if (arguments == all.end()) continue;
      const std::size_t known = std::min(around.parameters.size(), arguments->second.size());
      for (std::size_t k = 0; k < known; ++k) constants.add(around.parameters[k], arguments->second[k]);
      break;
    }
    for (const std::string& parameter : around.parameters) {
      for (std::size_t i = 0; i < used.tokens.size(); ++i) {
        if (used.is(i, parameter)) declaration.parameters.push_back(parameter);
      }
    }
  }
  std::ranges::sort(declaration.parameters);
  auto& parameters = declaration.parameters;
  parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
}

/// From the bytes of the array, if one length, or two equal ones, are not known.
void infer_lengths(Declaration& declaration, std::uint64_t bytes) {
  if (declaration.element == 0 || bytes == 0 || bytes % declaration.element != 0) return;
  const std::uint64_t elements = bytes / declaration.element;
  if (declaration.dimensions.size() == 1) declaration.lengths = {elements};
  if (declaration.dimensions.size() == 2 && declaration.dimensions[0] == declaration.dimensions[1]) {
    const auto side = std::uint64_t(std::llround(std::sqrt(double(elements))));
    if (side * side == elements) declaration.lengths = {side, side};
  }
}

void refuse_lengths(Declaration& declaration, std::string why) {
  declaration.lengths.clear();
  declaration.unknown = std::move(why);
}

std::string other_size(const Declaration& declaration) {
  return fmt::format("line {} declares an array of another size", declaration.line);
}

/// The compiler knows better than a macro of some other branch. Numbers that are others are of a branch that it does
/// not see.
void take_compiled_lengths(Declaration& declaration, const std::vector<std::uint64_t>& lengths) {
  if (lengths.size() != declaration.dimensions.size()) {
    declaration.unknown = fmt::format("line {} has some of the dimensions in a type", declaration.line);
    return;
  }
  declaration.lengths = lengths;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    const auto written = SourceConstants().value_of(declaration.dimensions[d]);
    if (written && *written != lengths[d]) return refuse_lengths(declaration, other_size(declaration));
  }
}

/// "TILE" and its value, of "TILE + PAD".
Declaration::Unpadded unpadded_of(const std::string& dimension, const SourceConstants& constants) {
  const std::size_t plus = dimension.rfind('+');
  if (plus == dimension.npos || has_outside_brackets(dimension, "<>&|^?:=,-")) return {};
  const std::string text(source::trimmed(std::string_view(dimension).substr(0, plus)));
  const bool is_split = has_outside_brackets(dimension.substr(plus), "+") && !has_outside_brackets(text, "+");
  return is_split ? Declaration::Unpadded{text, constants.value_of(text).value_or(0)} : Declaration::Unpadded{};
}

/// Sets the element and the lengths, as far as they are known, and returns whether they give the bytes of the array.
bool compute_lengths(Declaration& declaration, const SourceConstants& constants, const SoughtArray& array) {
  declaration.element = array.element > 0 ? array.element : constants.size_of(declaration.type);
  declaration.lengths.clear();
  std::uint64_t product = 1;
  for (const std::string& dimension : declaration.dimensions) {
    declaration.lengths.push_back(constants.value_of(dimension).value_or(0));
    product *= declaration.lengths.back();
  }
  if (product == 0 || array.bytes == 0) return product > 0;
  if (declaration.element == 0 && array.bytes % product == 0) declaration.element = array.bytes / product;
  return product * declaration.element == array.bytes;
}

void find_lengths(Declaration& declaration, const SourceConstants& constants, const SoughtArray& array) {
  if (!array.lengths.empty()) {
    declaration.element = array.element > 0 ? array.element : constants.size_of(declaration.type);
    return take_compiled_lengths(declaration, array.lengths);
  }
  if (compute_lengths(declaration, constants, array)) return;
  // Of a macro with several definitions, the branch of an #if may be another one than the last.
  std::vector<Declaration> others;
  for (const SourceConstants& branch : constants.other_branches()) {
    Declaration other = declaration;
    const auto is_same = [&](const Declaration& known) {
      return known.element == other.element && known.lengths == other.lengths;
    };
    const bool fits = array.bytes > 0 && compute_lengths(other, branch, array);
    if (fits && std::ranges::none_of(others, is_same)) others.push_back(other);
  }
  if (others.size() == 1) {
    declaration = std::move(others.front());
    return;
  }
  for (const std::string& dimension : declaration.dimensions) {
    if (constants.value_of(dimension)) continue;
    const bool has_open_rows = dimension.empty() && declaration.dimensions.size() > 1;
    declaration.unknown =
        has_open_rows ? "the launch gives the number of its rows" : constants.unknown_in(dimension) + " is not known";
    declaration.lengths.clear();
    return infer_lengths(declaration, array.bytes);
  }
  refuse_lengths(declaration, other_size(declaration));
}

}  // namespace

std::string with_parentheses(const Declaration& declaration, const std::string& text) {
  const SourceTokens code(text);
  const bool is_macro = code.tokens.size() == 1 || code.is(1, "(");
  const bool is_sum = is_macro && std::ranges::find(declaration.sums, code.text(0)) != declaration.sums.end();
  return is_sum ? "(" + text + ")" : text;
}

std::optional<Declaration> find_declaration(std::string_view source, const SoughtArray& array) {
  const std::size_t colons = array.name.rfind("::");
  std::string_view name = colons == std::string_view::npos ? array.name : array.name.substr(colons + 2);
  if (name.find(' ') != std::string_view::npos) name = "";
  const auto qualifiers = qualifiers_in(source, array);
  std::vector<Candidate> candidates = DeclarationFinder(source, qualifiers).run(name);
  const std::vector<Candidate> declared = candidates;
  const auto sees = [&](const Candidate& candidate) {
    return array.lines.empty() || std::ranges::any_of(array.lines, [&](unsigned used) {
             return used >= candidate.declaration.line && used <= candidate.last_line;
           });
  };
  if (!name.empty() && std::ranges::none_of(candidates, sees)) {
    // Only functions that get the array access it.
    const std::string_view kernel = array.kernel.substr(0, array.kernel.find_first_of("<("));
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return candidate.declaration.is_parameter || candidate.function.empty() ||
             !(kernel == candidate.function || kernel.ends_with("::" + candidate.function));
    });
    if (candidates.size() > 1) candidates.clear();
  } else {
    std::erase_if(candidates, std::not_fn(sees));
  }
  if (candidates.empty() || (name.empty() && candidates.size() > 1)) return std::nullopt;
  Candidate& candidate = candidates.back();
  Declaration& declaration = candidate.declaration;
  const SourceConstants of_source = constants_of(source.substr(0, declaration.at), array);
  SourceConstants constants = of_source;
  add_arguments(constants, array, candidate);
  find_lengths(declaration, constants, array);
  declaration.unpadded = unpadded_of(declaration.dimensions.back(), constants);
  const auto is_alike = [&](const Candidate& other) {  // two blocks of one function: a trace does not tell which it is
    const bool in_function = !candidate.function.empty() && other.function_at == candidate.function_at;
    return other.block == candidate.block || (in_function && other.declaration.name == declaration.name);
  };
  if (std::ranges::count_if(declared, is_alike) > 1) refuse_lengths(declaration, "declared twice");
  declaration.sums = sums_of(source, array.headers);
  declaration.pure_macros = pure_macros_of(array.headers);
  declaration.macros = macros_naming(declaration, source, array.headers);
  declaration.hidden_lines = hidden_lines_of(declaration, candidate.last_line, source, array.lines, constants);
  declaration.function = candidate.function;
  for (const TiedName& tied : tied_names(source, declaration)) {
    bool is_seen = tied.line == 0;
    const auto others = DeclarationFinder(source, qualifiers).run(tied.name);
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      const unsigned first = other->declaration.line, last = other->last_line;
      if (tied.line > 0 && (tied.line < first || tied.line > last)) continue;
      if (other->declaration.at != declaration.at) {
        declaration.tied.push_back({other->declaration.at, tied.line == 0});
      }
      is_seen = true;
      if (tied.line > 0) break;  // the last one that the line sees
    }
    if (is_seen) continue;
    declaration.other_memory = fmt::format(
        "line {}: a function that gets the array also gets {}, which is no array in shared memory; write a "
        "copy of the function first",
        tied.line, tied.name);
  }
  find_flat_rows(declaration, source, constants, array);
  find_based_indices(declaration, source, constants, of_source, array.block);
  return std::move(declaration);
}

}  // namespace bankwise::fit
