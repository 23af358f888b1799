#include "bankcheck/fit/edits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "bankcheck/fit/base_variables.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/index_variables.hpp"
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/fit/uses.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// Uses of an index that are worth a function of their own, if its text is longer than this, if the texts of all uses
/// together become so much longer, or if it would need as many variables. Two uses are worth one if they become longer
/// by the last number.
constexpr std::size_t many_uses = 3, long_index = 24, long_indices = 160, long_pair = 80;

/// The end of the line at an offset, before its line end.
std::size_t end_of_line(std::string_view source, std::size_t at) {
  const std::size_t end = std::min(source.find('\n', at), source.size());
  return end > at && source[end - 1] == '\r' ? end - 1 : end;
}

std::string_view indentation_at(std::string_view source, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
  return source.substr(begin, std::min(source.find_first_not_of(" \t", begin), source.size()) - begin);
}

std::string_view line_end_of(std::string_view source) { return source.find("\r\n") == source.npos ? "\n" : "\r\n"; }

/// A line after the statement that ends at an offset, indented as the line of another one.
Edit line_behind(std::string_view source, std::size_t at, std::size_t indented, const std::string& text) {
  const std::size_t end = end_of_line(source, at);
  const std::string_view rest = source::trimmed(source.substr(at, end - at));
  const bool is_last = rest.empty() || (rest.starts_with("//") && !rest.ends_with('\\')) ||
                       (rest.starts_with("/*") && rest.find("*/") == rest.size() - 2);
  if (!is_last) return {at, at, " " + text};
  return {end, end, fmt::format("{}{}{}", line_end_of(source), indentation_at(source, indented), text)};
}

/// A line after the declaration; nothing if the text is empty.
std::optional<Edit> line_after(const SourceTokens& code, const Declaration& declaration, const std::string& text) {
  std::size_t k = 0;
  while (k < code.tokens.size() && (code.tokens[k].begin < declaration.at || !code.is(k, ";"))) ++k;
  if (text.empty() || k == code.tokens.size()) return std::nullopt;
  return line_behind(code.source, code.tokens[k].end, declaration.at, text);
}

/// Whether the value of a text follows from those of other ones: it has one name, which is one of them.
bool follows_from(const std::string& text, const std::vector<std::string>& others) {
  const SourceTokens code(text);
  std::set<std::string> names;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is_name(i)) names.emplace(code.text(i));
  }
  return names.size() == 1 && *names.begin() != text && std::ranges::find(others, *names.begin()) != others.end();
}

/// Conditions for the texts that are no numbers to have the values that the indices are made for.
std::string equalities(const std::vector<std::string>& texts, const std::vector<std::uint64_t>& values) {
  std::vector<std::string> conditions;
  for (std::size_t d = 0; d < texts.size(); ++d) {
    const bool is_number = texts[d].find_first_not_of("0123456789") == std::string::npos;
    const std::string condition =
        fmt::format("{} == {}", is_product(texts[d]) ? texts[d] : "(" + texts[d] + ")", values[d]);
    if (!is_number && !follows_from(texts[d], texts) && std::ranges::find(conditions, condition) == conditions.end())
      conditions.push_back(condition);
  }
  return fmt::format("{}", fmt::join(conditions, " && "));
}

std::string assertion_of(const std::string& condition, const Declaration& declaration) {
  if (condition.empty()) return "";
  return fmt::format("static_assert({}, \"{} is laid out for these lengths\");", condition, declaration.name);
}

/// Whether a product has a number that is a multiple of a block: "2 * N" of blocks of two.
bool has_factor(const std::string& product, std::uint64_t block) {
  const SourceTokens code(product);
  for (std::size_t i = 0; is_product(product) && i < code.tokens.size(); i += 2) {
    const std::string factor(code.text(i));
    constexpr std::size_t max_digits = 9;
    const bool is_decimal = factor.find_first_not_of("0123456789") == factor.npos && factor.size() <= max_digits &&
                            !factor.starts_with('0');
    if (is_decimal && std::stoull(factor) % block == 0) return true;
  }
  return false;
}

/// An assertion of the lengths that the indices are made for, which are macros, constants or template parameters, and
/// may become others; "" if they are numbers, or any lengths will do.
std::string required_lengths(const Declaration& declaration, const Change& change, const ArrayShape& shape,
                             IndexForm form) {
  const bool needs_blocks = form == IndexForm::flat && declaration.dimensions.size() == 1;
  const std::uint64_t masked = block_of_masked(change, shape), rows = block_of_rows(change, shape);
  if (!needs_blocks && masked + rows == 0 && (form != IndexForm::columns || !stays_in_rows(change, shape))) {
    return assertion_of(equalities(declaration.dimensions, declaration.lengths), declaration);
  }
  const RowXor& swizzle = change.swizzle;
  if (needs_blocks && swizzle.bits == 0) return "";  // the declaration has the right pads for each length
  std::uint64_t block = needs_blocks ? std::uint64_t{1} << (swizzle.base + swizzle.bits) : shape.element;
  if (!needs_blocks && swizzle.bits > 0) block = std::uint64_t{swizzle.row} << swizzle.bits;
  for (const Pad& pad : change.pads) block = needs_blocks || pad.every == 0 ? block : std::lcm(block, pad.every);
  block = masked + rows > 0 ? masked + rows : block / shape.element;
  const std::string& length = rows > 0 ? *(declaration.dimensions.end() - 2) : declaration.dimensions.back();
  const bool is_rounded = needs_blocks && declaration.lengths.back() % block != 0;  // by the declaration
  if (is_rounded || equalities({length}, {0}).empty() || has_factor(length, block)) return "";
  return fmt::format("static_assert({} % {} == 0, \"{} is laid out in blocks of {}\");",
                     is_product(length) ? length : "(" + length + ")", block, declaration.name, block);
}

class Editor : SourceTokens {
 public:
  Editor(std::string_view code, const Declaration& declaration, const Change& change, const ArrayShape& shape,
         IndexForm form)
      : SourceTokens(code), declaration_(declaration), change_(change), shape_(shape), form_(form) {}

  std::variant<std::vector<Edit>, std::string> run() {
    while (declared_at_ < tokens.size() && tokens[declared_at_].begin < declaration_.at) ++declared_at_;
    declare();
    if (why_.empty()) found_ = uses_of(source, declaration_, form_ != IndexForm::rows);
    if (why_.empty()) why_ = found_.why;
    if (why_.empty()) drop_unmoved();
    if (why_.empty()) declare_parameters();
    if (why_.empty()) write_indices();
    if (!why_.empty()) return why_;
    return edits_;
  }

 private:
  void declare() {
    std::vector<std::string> before = declaration_.dimensions;
    for (std::string& dimension : before) dimension = with_parentheses(declaration_, dimension);
    const auto texts = dimension_texts(change_, shape_, form_, before);
    const auto& places = declaration_.dimension_texts;
    const bool is_swizzled = change_.swizzle.bits > 0 && is_cuda();
    if (declaration_.dimensions.front().empty() && (texts != before || change_.pads[0].every > 0 || is_swizzled)) {
      lengthen_launches();
    } else if (texts == before) {
      return;
    } else if (texts.size() == places.size()) {
      for (std::size_t d = 0; d < texts.size(); ++d) {
        if (texts[d] != before[d]) edits_.push_back({places[d].begin, places[d].end, texts[d]});
      }
    } else {
      edits_.push_back({places.front().begin, places.back().end, texts.front()});
    }
  }

  /// The launch gives the bytes of the array: those that the source has give it more.
  void lengthen_launches() {
    constexpr std::uint64_t max_bytes = 48 * 1024;  // more need cudaFuncSetAttribute()
    if (const std::size_t line = line_of_division(); line > 0) {
      why_ = fmt::format("line {}: pointers divide this array into several; declare each as an array of its own", line);
      return;
    }
    why_ = fmt::format("line {}: the launch gives the bytes of this array, and must give it more; change both by hand",
                       declaration_.line);
    if (!declaration_.launched_in.empty()) {
      why_ = fmt::format(
          "line {}: {} is also launched in {}, and every launch must give this array more bytes; change "
          "all by hand",
          declaration_.line, declaration_.function, declaration_.launched_in);
      return;
    }
    const std::size_t body = body_around();
    const std::size_t open = body > 0 && is_cuda() ? opening(body - 1) : 0;
    const std::uint64_t bytes = shape_.element * (shape_.lengths.empty() ? 0 : shape_.lengths.front());
    if (open == 0 || change_.bytes_of(bytes) > max_bytes) return;
    std::size_t launches = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i == open - 1 || !is_name(i) || !is(i, text(open - 1))) continue;
      const auto given = dynamic_bytes_at(*this, i);
      if (!given) return;
      const std::string expression(source.substr(given->begin, given->end - given->begin));
      const std::string after = launched_bytes_text(expression, bytes);
      if (after != expression) edits_.push_back({given->begin, given->end, after});
      ++launches;
    }
    if (launches > 0) why_.clear();
  }

  /// The bytes of a launch after the change. An XOR needs whole blocks, which only a constant has for certain.
  std::string launched_bytes_text(const std::string& expression, std::uint64_t bytes) const {
    SourceConstants constants;
    constants.add_source(source);
    const bool is_constant = constants.value_of(expression) == bytes;
    constexpr std::uint64_t in_no_blocks = (std::uint64_t{1} << 22) - 1;  // and an XOR needs the byte after the last
    const std::uint64_t length = change_.swizzle.bits == 0 || is_constant ? bytes : in_no_blocks;
    if (const std::string elements = without_sizeof(expression); !elements.empty()) {
      const std::string text =
          dimension_texts(change_, {shape_.element, {length / shape_.element}}, IndexForm::flat, {elements}).front();
      const std::string factor = change_.pads[0].every == 0 ? text : "(" + text + ")";
      return text == elements ? expression : fmt::format("{} * sizeof({})", factor, declaration_.type);
    }
    return dimension_texts(change_, {1, {length}}, IndexForm::flat, {expression}).front();
  }

  /// The other factors of a product with the bytes of an element, "n * 2" of "n * 2 * sizeof(float)"; "" if it is none.
  std::string without_sizeof(const std::string& product) const {
    const SourceTokens code(product);
    std::string factors;
    bool is_found = false;
    for (std::size_t i = 0, end = 0; i < code.tokens.size(); i = end + 1) {
      for (end = i; end < code.tokens.size() && !code.is(end, "*");) {
        const bool is_bracket = code.is(end, "(") || code.is(end, "[");
        if (!is_bracket && code.tokens[end].kind == source::TokenKind::mark && !code.is(end, ".")) return "";
        end = is_bracket ? code.past_bracket(end) : end + 1;
      }
      if (end == i) return "";
      const bool is_bytes =
          !is_found && code.is(i, "sizeof") && code.is(i + 1, "(") && code.is(i + 2, declaration_.type) && end == i + 4;
      is_found = is_found || is_bytes;
      const std::size_t begin = code.tokens[i].begin;
      if (!is_bytes)
        factors += (factors.empty() ? "" : " * ") + product.substr(begin, code.tokens[end - 1].end - begin);
    }
    return is_found ? factors : "";
  }

  /// The line of a second pointer into the array, or of the first one that does not point to its begin; 0 if there is
  /// none: `float* a = all; float* b = &a[n];`.
  std::size_t line_of_division() const {
    std::set<std::string_view> pointers{declaration_.name};
    const std::size_t body = body_around(), end = body == 0 ? 0 : past_bracket(body);
    for (std::size_t i = declared_at_ + 1; i + 2 < end; ++i) {
      if (!is(i, "=") || !is_name(i - 1) || !is(i - 2, "*") || !is_name(i - 3)) continue;
      for (std::size_t k = i + 1; k < end && !is(k, ";"); ++k) {
        if (!is_name(k) || !pointers.contains(text(k)) || is(k - 1, ".")) continue;
        const bool is_offset = is(k + 1, "[") || is(k + 1, "+");
        if (is_offset || pointers.size() > 1) return line(i);
        pointers.insert(text(i - 1));
        break;
      }
    }
    return 0;
  }

  /// Leaves out the uses whose index is a constant that the change does not move.
  void drop_unmoved() {
    if (form_ != IndexForm::flat) return;
    std::erase_if(found_.uses, [&](const Use& use) {
      const auto index = std::ranges::find(declaration_.constant_indices, use.begin, &ConstantIndex::at);
      if (index == declaration_.constant_indices.end()) return false;
      return change_(index->value * shape_.element) == index->value * shape_.element;
    });
  }

  /// The functions that get the array declare its dimensions as well.
  void declare_parameters() {
    for (const std::vector<Extract>& places : found_.parameters) {
      std::vector<std::string> before;
      for (const Extract& place : places) {
        const std::string_view text = source::trimmed(source.substr(place.begin, place.end - place.begin));
        before.push_back(with_parentheses(declaration_, std::string(text)));
      }
      const auto texts = dimension_texts(change_, shape_, form_, before);
      if (texts.size() != before.size()) {
        why_ = fmt::format("line {}: a function gets the array with all of its dimensions; change both by hand",
                           declaration_.line);
        return;
      }
      for (std::size_t d = 1; d < texts.size(); ++d) {
        if (texts[d] != before[d]) edits_.push_back({places[d].begin, places[d].end, texts[d]});
      }
    }
  }

  /// The index of each use; a long one that is used often has a function.
  void write_indices() {
    for (Use& use : found_.uses) {
      for (std::string& subscript : use.subscripts) subscript = without_parentheses(subscript);
    }
    const std::vector<Use>& uses = found_.uses;
    const auto names = subscript_names(declaration_.dimensions.size());
    const std::string formula = changed_part(index_text(change_, shape_, form_, names), names);
    pad_bases();
    name_shared_indices();
    if (deserve_function(formula)) function_ = name_of_function();
    const std::vector<std::size_t> needed = subscripts_in(formula, names);
    if (!function_.empty()) add_function(chosen(names, needed), formula);
    if (is_cuda() && (!uses.empty() || change_.rows.to < change_.rows.from)) {
      add_line(required_lengths(declaration_, change_, shape_, form_));
    }
    if (function_.empty()) declare_variables();
    for (std::size_t i = 0; i < uses.size(); ++i) write_index(i, needed);
    for (const PointerEdit& pointer : found_.pointers) edits_.push_back({pointer.begin, pointer.end, pointer.text});
  }

  /// Adds the pad to the variables that are the bases of indices, if all of their indices become simple.
  void pad_bases() {
    from_base_.resize(found_.uses.size());
    const std::uint64_t every = change_.pads[0].every / shape_.element, more = change_.pads[0].bytes / shape_.element;
    if (form_ != IndexForm::flat || change_.kind() != ChangeKind::pad || !std::has_single_bit(every)) return;
    std::map<std::string_view, std::vector<const BasedIndex*>> by_base;
    for (const BasedIndex& index : declaration_.based_indices) by_base[index.base].push_back(&index);
    for (const auto& [base, indices] : by_base) {
      const auto is_simple = [&](const BasedIndex* i) { return index_from_padded_base(*i, every, more).has_value(); };
      const bool is_worth_it = indices.size() > 1 || !indices.front()->rest.empty();
      if (!is_worth_it || !std::ranges::all_of(indices, is_simple)) continue;
      for (std::size_t use = 0; use < found_.uses.size(); ++use) {
        const auto index = std::ranges::find(indices, found_.uses[use].begin, &BasedIndex::at);
        if (index != indices.end()) from_base_[use] = *index_from_padded_base(**index, every, more);
      }
      const std::string statement = padding_of_base(std::string(base), every, more);
      const std::size_t assigned = indices.front()->assigned;
      edits_.push_back(line_behind(source, assigned, assigned, statement));
    }
  }

  /// Whether the indices are often or long enough for a function, and all of them can call it.
  bool deserve_function(const std::string& formula) const {
    const std::vector<Use>& uses = found_.uses;
    std::size_t added = 0, repeated = 0, written = 0;  // to the texts of indices, and how many without a variable
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (!from_base_[i].empty()) continue;
      const std::string index = index_text(change_, shape_, form_, uses[i].subscripts);
      (is_repeated_[i] ? repeated : added) += index.size() - std::min(index.size(), uses[i].end - uses[i].begin);
      written += is_repeated_[i] ? 0 : 1;
    }
    const bool is_long = formula.size() > long_index || added + repeated > long_indices || shared_.size() >= many_uses;
    const bool is_often = (written >= many_uses && is_long) || (written == 2 && added > long_pair);
    return is_often && declaration_.macros.empty() &&
           std::ranges::none_of(uses, [&](const Use& use) { return is_closed(use.begin); });
  }

  /// The numbers of the names that a formula has.
  static std::vector<std::size_t> subscripts_in(const std::string& formula, const std::vector<std::string>& names) {
    std::vector<std::size_t> needed;
    const SourceTokens code(formula);
    for (std::size_t d = 0; d < names.size(); ++d) {
      std::size_t i = 0;
      while (i < code.tokens.size() && !code.is(i, names[d])) ++i;
      if (i < code.tokens.size()) needed.push_back(d);
    }
    return needed;
  }

  static std::vector<std::string> chosen(const std::vector<std::string>& texts,
                                         const std::vector<std::size_t>& numbers) {
    std::vector<std::string> some;
    for (const std::size_t number : numbers) some.push_back(texts[number]);
    return some;
  }

  /// The new index of a use. `arguments`: the subscripts that the function gets.
  void write_index(std::size_t use, const std::vector<std::size_t>& arguments) {
    const Use& found = found_.uses[use];
    if (!from_base_[use].empty()) {
      edits_.push_back({found.begin, found.end, fmt::format("[{}{}]", from_base_[use], found.comments)});
      return;
    }
    std::string index = index_text(change_, shape_, form_, found.subscripts);
    const std::string changed = changed_part(index, found.subscripts);
    const bool is_number = changed.find_first_not_of("0123456789") == std::string::npos;
    std::string shorter = variable_of_[use];
    if (!function_.empty() && !is_number) {
      shorter = fmt::format("{}({})", function_, fmt::join(chosen(found.subscripts, arguments), ", "));
    }
    const Extract place = changed_place(index, found.subscripts);
    if (!shorter.empty()) index.replace(place.begin, place.end - place.begin, shorter);
    index.insert(index.size() - 1, found.comments);
    if (found.array.empty() && source.substr(found.begin, found.end - found.begin) == index) return;
    edits_.push_back({found.begin, found.end, found.array + index});
  }

  /// Finds the indices that have a variable, as repeating them would be long.
  void name_shared_indices() {
    constexpr unsigned many_operators = 2;
    constexpr std::size_t worth_a_name = 16, always_worth = 32;
    const std::vector<Use>& uses = found_.uses;
    is_repeated_.resize(uses.size());
    variable_of_.resize(uses.size());
    if (form_ == IndexForm::rows || !declaration_.macros.empty()) return;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const std::string index = index_text(change_, shape_, form_, uses[i].subscripts);
      texts.push_back(from_base_[i].empty() ? changed_part(index, uses[i].subscripts) : "");
    }
    const bool has_operators = index_operators(change_, shape_) >= many_operators;
    for (IndexVariable& variable : index_variables(Expressions(source), uses, texts)) {
      const std::string& text = texts[variable.uses.front()];
      if (text.size() < (has_operators ? worth_a_name : always_worth)) continue;
      for (const std::size_t use : variable.uses) is_repeated_[use] = use != variable.uses.front();
      shared_.emplace_back(std::move(variable), text);
    }
  }

  /// Declares them, each under a name that the source does not have.
  void declare_variables() {
    std::vector<std::string> names;
    for (const auto& [variable, index] : shared_) {
      const std::string name = free_name(declaration_.name + "_at", names);
      names.push_back(name);
      for (const std::size_t use : variable.uses) variable_of_[use] = name;
      const std::string text = fmt::format("const int {} = {};", name, index);
      const std::string_view indentation = indentation_at(source, variable.at);
      const std::size_t begin = variable.at == 0 ? 0 : source.rfind('\n', variable.at - 1) + 1;
      const bool is_first = begin + indentation.size() == variable.at;
      const std::string behind = is_first ? fmt::format("{}{}", line_end_of(source), indentation) : " ";
      edits_.push_back({variable.at, variable.at, text + behind});
    }
  }

  /// The only index of "[z][y][x ^ y]" that may differ from the subscripts, without its brackets; all of "[i ^ y]".
  Extract changed_place(const std::string& index, const std::vector<std::string>& subscripts) const {
    Extract place{1, index.size() - 1};
    const auto changed = changed_dimension(form_, subscripts.size());
    for (std::size_t d = 0; changed && d < *changed; ++d) place.begin += subscripts[d].size() + 2;
    for (std::size_t d = subscripts.size(); changed && --d > *changed;) place.end -= subscripts[d].size() + 2;
    return place;
  }
  std::string changed_part(const std::string& index, const std::vector<std::string>& subscripts) const {
    const Extract place = changed_place(index, subscripts);
    return index.substr(place.begin, place.end - place.begin);
  }

  /// "(y + 1)" becomes "y + 1". A name in parentheses may be the parameter of a macro, and a comma needs them.
  static std::string without_parentheses(const std::string& text) {
    const SourceTokens code(text);
    const std::size_t count = code.tokens.size();
    if (count <= 3 || !code.is(0, "(") || code.past_bracket(0) != count || text.find(',') != text.npos) return text;
    return without_parentheses(text.substr(code.tokens[0].end, code.tokens[count - 1].begin - code.tokens[0].end));
  }

  /// Whether code in the block of the declaration sees no lambda of that block: it is a member of a local structure, or
  /// in a lambda that does not capture by default.
  bool is_closed(std::size_t place) const {
    std::vector<std::size_t> open;
    for (std::size_t k = declared_at_; k < tokens.size() && tokens[k].begin < place; ++k) {
      if (is(k, "{")) open.push_back(k);
      if (is(k, "}") && !open.empty()) open.pop_back();
    }
    const auto closes = [&](std::size_t k) {
      if (is(k, "struct") || is(k, "class") || is(k, "union")) return true;
      const bool is_index = (is_name(k - 1) && !is(k - 1, "return")) || is(k - 1, "]") || is(k - 1, ")");
      const bool captures = (is(k + 1, "&") || is(k + 1, "=")) && (is(k + 2, "]") || is(k + 2, ","));
      return is(k, "[") && !is_index && !captures;
    };
    return std::ranges::any_of(open, [&](std::size_t brace) {
      for (std::size_t k = brace; k-- > declared_at_ && !ends_statement(*this, k);) {
        if (closes(k)) return true;
      }
      return false;
    });
  }

  /// Whether a lambda after the declaration can be called in all uses.
  bool are_after_declaration() const {
    const std::size_t end = end_of_body();
    return std::ranges::all_of(found_.uses,
                               [&](const Use& use) { return use.begin > declaration_.at && use.begin < end; });
  }
  /// The end of the outermost function around the declaration.
  std::size_t end_of_body() const {
    int depth = 0;
    for (std::size_t k = body_around(); k < tokens.size(); ++k) {
      depth += int(is(k, "{")) - int(is(k, "}"));
      if (depth == 0) return tokens[k].end;
    }
    return source.size();
  }

  /// In C++ a lambda behind the declaration, or a function before those that get the array; in OpenCL C a function.
  void add_function(const std::vector<std::string>& names, const std::string& formula) {
    const std::string body = fmt::format("(unsigned {}) {{ return {}; }}", fmt::join(names, ", unsigned "), formula);
    if (is_cuda() && are_after_declaration()) {
      add_line(fmt::format("const auto {} = []{};", function_, body));
    } else {
      std::size_t first = declaration_.at;
      for (const Use& use : found_.uses) first = std::min(first, use.begin);
      const std::size_t at = begin_of_function(first);
      edits_.push_back({at, at,
                        fmt::format("{}unsigned {}{}{}{}", is_cuda() ? "__device__ inline " : "", function_, body,
                                    line_end_of(source), line_end_of(source))});
    }
  }

  /// A name for the function that the source does not have; "" if there is no place for one.
  std::string name_of_function() const {
    const std::size_t body = body_around();
    if (body == 0 || (!is_cuda() && declaration_.qualifier != "local" && declaration_.qualifier != "__local"))
      return "";
    std::string name = declaration_.name + "_at";
    if (!is_cuda()) {
      const std::size_t open = opening(body - 1);
      if (open == 0 || !is_name(open - 1)) return "";
      name = fmt::format("{}_{}", text(open - 1), name);
    }
    return free_name(name);
  }

  bool is_known(const std::string& name) const {
    return std::ranges::any_of(tokens, [&](const source::Token& token) {
      return source.substr(token.begin, token.end - token.begin) == name;
    });
  }
  /// The name, with a number if the source has it already, or it is taken.
  std::string free_name(const std::string& name, const std::vector<std::string>& taken = {}) const {
    std::string free = name;
    const auto is_taken = [&] { return is_known(free) || std::ranges::find(taken, free) != taken.end(); };
    for (int number = 2; is_taken(); ++number) free = fmt::format("{}{}", name, number);
    return free;
  }

  bool is_cuda() const { return declaration_.qualifier == "__shared__"; }

  /// The bracket that opens the outermost function body around the declaration; 0 if there is none.
  std::size_t body_around() const {
    if (declaration_.is_parameter) {
      for (std::size_t k = declared_at_; k < tokens.size(); ++k) {
        if (is(k, "{")) return k;
      }
    }
    return function_body(declared_at_);
  }

  /// The beginning of the line that the function around a place begins in, or of the comments above it.
  std::size_t begin_of_function(std::size_t place) const {
    std::size_t token = 0;
    while (token < tokens.size() && tokens[token].begin < place) ++token;
    std::size_t first = place == declaration_.at ? body_around() : function_body(token);
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

  void add_line(const std::string& text) {
    const auto edit = line_after(*this, declaration_, text);
    if (edit) edits_.push_back(*edit);
  }

  const Declaration& declaration_;
  const Change& change_;
  const ArrayShape& shape_;
  IndexForm form_;
  std::size_t declared_at_ = 0;  // the token of the name
  Uses found_;
  std::string function_;                                       // that computes the index; "": none
  std::vector<std::pair<IndexVariable, std::string>> shared_;  // the variables for an index, and its text
  std::vector<bool> is_repeated_;                              // by use: an earlier one has the same variable
  std::vector<std::string> variable_of_;                       // by use: its name; "": none
  std::vector<std::string> from_base_;                         // by use: the index whose variable is padded; "": none
  std::vector<Edit> edits_;
  std::string why_;
};

/// The text with another one in its last place exchanged.
std::string exchanged(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.rfind(from);
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

/// The line that gives a new pitch a name before the declaration of its array, if many indices in its block have it;
/// otherwise nothing. `text`: the new pitch as an operand; becomes the name.
std::optional<Edit> named_pitch(std::string_view source, const Declaration& declaration, std::string& text) {
  constexpr std::size_t many_places = 4;
  const SourceTokens code(source);
  std::size_t places = 0, first = 0;
  while (first < code.tokens.size() && code.tokens[first].begin < declaration.at) ++first;
  const Part block = block_of(code, declaration);
  for (const RowIndex& index : declaration.row_indices) {
    const bool is_inside =
        index.begin > declaration.at && block.end < code.tokens.size() && index.end < code.tokens[block.end].begin;
    if (!is_inside) return std::nullopt;
    places += index.pitches.size();
  }
  while (first > 0 && !ends_statement(code, first - 1)) --first;
  const std::size_t at = code.tokens[first].begin;
  const std::string name = declaration.name + "_pitch";
  const bool is_taken = source.find(name) != source.npos;
  const bool is_first =
      at == 0 || source::trimmed(source.substr(source.rfind('\n', at) + 1, at - source.rfind('\n', at) - 1)).empty();
  if (places < many_places || is_taken || !is_first || declaration.qualifier != "__shared__" ||
      code.function_body(first) == 0)
    return std::nullopt;
  const std::string value = text.starts_with('(') ? text.substr(1, text.size() - 2) : text;
  text = name;
  return Edit{at, at,
              fmt::format("constexpr int {} = {};{}{}", name, value, line_end_of(source), indentation_at(source, at))};
}

/// Of an array with one dimension whose indices have rows: other rows, or an XOR of the row into the column.
std::variant<std::vector<Edit>, std::string> row_edits(std::string_view source, const Declaration& declaration,
                                                       const Change& change, const ArrayShape& shape) {
  std::vector<Edit> edits;
  const std::string pitch = text_of_pitch(source, declaration);
  const Extract& length = declaration.dimension_texts.front();
  const std::string before = declaration.dimensions.front(), after = rows_text(change, shape, before, pitch);
  const bool is_symbolic = form_of(change, shape) == IndexForm::rows && change.rows.from == 0;
  const std::string plain = pitch_text(change, shape, pitch);
  std::string name = plain;
  const auto line = is_symbolic ? named_pitch(source, declaration, name) : std::nullopt;
  if (line) edits.push_back(*line);
  if (after != before) edits.push_back({length.begin, length.end, exchanged(after, plain, name)});
  for (const RowIndex& index : declaration.row_indices) {
    if (form_of(change, shape) == IndexForm::columns) {
      const std::string text = row_index_text(change, shape, index.row, index.column, pitch);
      edits.push_back({index.begin, index.end, text.substr(1, text.size() - 2)});
      continue;
    }
    for (const Extract& place : index.pitches) {
      const std::string old(source.substr(place.begin, place.end - place.begin));
      edits.push_back({place.begin, place.end, line ? name : pitch_text(change, shape, old)});
    }
  }
  if (is_symbolic) return edits;
  if (declaration.parameters.empty()) {
    const std::string condition = equalities({pitch, before}, {declaration.pitch, declaration.lengths.front()});
    const bool is_cuda = declaration.qualifier == "__shared__";
    const std::string assertion = is_cuda ? assertion_of(condition, declaration) : "";
    if (const auto added = line_after(SourceTokens(source), declaration, assertion)) edits.push_back(*added);
    return edits;
  }
  return fmt::format("line {}: the length of a row depends on template parameters; change the index by hand",
                     declaration.line);
}

/// Without a look at what else the source does with the length.
std::variant<std::vector<Edit>, std::string> edits_of_uses(std::string_view source, const Declaration& declaration,
                                                           const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (!form) return "no index makes this change";
  if (*form == IndexForm::none) return std::vector<Edit>{};
  if (*form == IndexForm::elements)
    return fmt::format("line {}: its elements must become longer; add a member to {}", declaration.line,
                       declaration.type);
  if (!declaration.other_memory.empty()) return declaration.other_memory;
  if (declaration.lengths.size() != declaration.dimensions.size())
    return fmt::format("line {}: {}; change the indices by hand", declaration.line, declaration.unknown);
  const bool has_rows = declaration.pitch > 0 && shape.lengths.size() == 2;
  // A formula of the whole index does for any length of a row.
  const bool stays = *form == IndexForm::columns && stays_in_rows(change, shape);
  const bool is_line =
      *form == IndexForm::flat || *form == IndexForm::order || (stays && !declaration.parameters.empty());
  if (has_rows && is_line) {
    const ArrayShape line{shape.element, declaration.lengths};
    return Editor(source, declaration, change, line, IndexForm::flat).run();
  }
  if (has_rows) return row_edits(source, declaration, change, shape);
  return Editor(source, declaration, change, shape, *form).run();
}

/// Whether accesses of so many bytes stay whole and aligned: also those of code that has not run.
bool keeps_together(const Change& change, std::uint64_t bytes) {
  constexpr std::uint64_t word = 4;
  const std::uint64_t alignment = std::has_single_bit(bytes) ? bytes : word;
  const auto keeps = [&](const Pad& pad) {
    return pad.every == 0 || (pad.every % bytes == 0 && pad.bytes % alignment == 0);
  };
  const bool keeps_rows = change.rows.from == 0 || change.rows.to % alignment == 0;
  const bool keeps_columns = change.swizzle.bits == 0 || (std::uint64_t{1} << change.swizzle.base) >= bytes;
  return bytes == 0 || (std::ranges::all_of(change.pads, keeps) && keeps_rows && keeps_columns);
}

}  // namespace

std::string text_of_pitch(std::string_view source, const Declaration& declaration) {
  for (const RowIndex& index : declaration.row_indices) {
    if (index.pitches.empty()) continue;
    const Extract& place = index.pitches.front();
    return std::string(source.substr(place.begin, place.end - place.begin));
  }
  return std::to_string(declaration.pitch);
}

std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape) {
  auto edits = edits_of_uses(source, declaration, change, shape);
  const auto* list = std::get_if<std::vector<Edit>>(&edits);
  const auto is_length = [&](const Edit& edit) {
    return edit.begin >= declaration.dimension_texts.front().begin &&
           edit.end <= declaration.dimension_texts.back().end;
  };
  if (list == nullptr || list->empty()) return edits;
  const Uses uses = uses_of(source, declaration, false);
  if (!keeps_together(change, uses.widest)) {
    return fmt::format("line {}: the change would tear the {} bytes that a cast accesses; change the index by hand",
                       uses.widest_line, uses.widest);
  }
  if (uses.measured_line == 0 || std::ranges::none_of(*list, is_length)) return edits;
  return fmt::format("line {}: sizeof gives the bytes of the array, which become others; write the number there",
                     uses.measured_line);
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
