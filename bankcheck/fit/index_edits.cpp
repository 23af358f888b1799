#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// "(y + 1)" becomes "y + 1". A name in parentheses may be the parameter of a macro, and a comma needs them.
std::string without_outer_parentheses(const std::string& text) {
  const SourceTokens code(text);
  const std::size_t count = code.tokens.size();
  if (count <= 3 || !code.is(0, "(") || code.past_bracket(0) != count || text.find(',') != text.npos) return text;
  return without_outer_parentheses(text.substr(code.tokens[0].end, code.tokens[count - 1].begin - code.tokens[0].end));
}

/// The numbers of the names that a formula has.
std::vector<std::size_t> subscripts_in(const std::string& formula, const std::vector<std::string>& names) {
  std::vector<std::size_t> needed;
  for (std::size_t d = 0; d < names.size(); ++d) {
    if (has_token(formula, names[d])) needed.push_back(d);
  }
  return needed;
}

std::vector<std::string> chosen(const std::vector<std::string>& texts, const std::vector<std::size_t>& numbers) {
  std::vector<std::string> some;
  for (const std::size_t number : numbers) some.push_back(texts[number]);
  return some;
}

/// The bits of an index below those that the change moves or looks at: a rest of these bits can be added afterwards.
std::uint64_t unmoved_bits(const Change& change, const ArrayShape& shape) {
  std::uint64_t unit = change.swizzle.bits > 0 ? change.swizzle.unit() / shape.element : 0;
  for (const Pad& pad : change.pads) {
    const std::uint64_t every = pad.every / shape.element;
    if (every > 0) unit = unit == 0 ? every : std::min(unit, every);
    if (every > 0 && !std::has_single_bit(every)) return 0;
  }
  return unit == 0 ? 0 : unit - 1;
}

class IndexEditor {
 public:
  IndexEditor(const Expressions& code, const std::vector<IndexedArray>& arrays, const Change& change,
              const ArrayShape& shape, IndexForm form)
      : code_(code),
        first_(*arrays.front().declaration),
        last_(*arrays.back().declaration),
        is_shared_(arrays.size() > 1),
        change_(change),
        shape_(shape),
        form_(form) {
    for (const IndexedArray& array : arrays) {
      has_macros_ = has_macros_ || !array.declaration->macros.empty();
      for (const Use& use : array.uses.uses) add(array, use);
    }
  }

  std::vector<Edit> run(const Declaration& own) {
    change_variables();
    find_shared_indices();
    find_function();
    declare_variables();
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (plans_[i].array == &own) write(i);
    }
    return std::move(edits_);
  }

 private:
  /// What becomes of a use.
  struct Plan {
    const Declaration* array = nullptr;
    const BasedIndex* based = nullptr;  ///< its index, if that is known
    std::string original;               ///< the index as it was
    std::string rest;                   ///< that is added to the changed index; "": nothing
    std::string finished;               ///< the index, if its variable is changed itself
    std::string variable;               ///< that has the changed index; "": none
    bool is_repeated = false;           ///< an earlier use has the same variable
  };

  void add(const IndexedArray& array, const Use& use) {
    Plan plan;
    plan.array = array.declaration;
    Use own = use;
    for (std::string& subscript : own.subscripts) subscript = without_outer_parentheses(subscript);
    const auto& indices = array.declaration->based_indices;
    const auto based = std::ranges::find(indices, use.begin, &BasedIndex::at);
    if (form_ == IndexForm::flat && based != indices.end()) {
      plan.based = &*based;
      plan.original = own.subscripts.front();
      const bool is_below = (based->rest_bits & ~unmoved_bits(change_, shape_)) == 0;
      if (is_below) {
        own.subscripts.front() = based->base;
        plan.rest = based->rest;
      }
    }
    uses_.push_back(std::move(own));
    plans_.push_back(std::move(plan));
  }

  static constexpr unsigned many_operators = 2;  // of an index that is worth a name

  std::vector<std::string> index_of(const std::vector<std::string>& subscripts) const {
    return changed_subscripts(change_, shape_, form_, subscripts);
  }
  std::string changed_part(const std::vector<std::string>& subscripts) const {
    return index_of(subscripts)[changed_dimension(form_, subscripts.size())];
  }

  /// The index in an array whose variable has the change already; nothing if it has none, or would become long.
  std::optional<std::string> finished_index(const BasedIndex& index) const {
    if (index.rest.empty()) return index.base;
    const std::uint64_t every = change_.pads[0].every / shape_.element, more = change_.pads[0].bytes / shape_.element;
    if (change_.kind() != ChangeKind::pad || !std::has_single_bit(every)) return std::nullopt;
    return index_from_padded_base(index, every, more);
  }

  /// Changes the variables that are bases of indices, and nothing else, where all of their indices become simple.
  void change_variables() {
    if (form_ != IndexForm::flat || has_macros_) return;
    std::vector<std::size_t> names;
    for (const Plan& plan : plans_) {
      if (plan.based != nullptr && plan.based->variable) names.push_back(*plan.based->variable);
    }
    const std::vector<BaseVariable> variables = base_variables(code_.source, names);
    for (const BaseVariable& variable : variables) {
      std::vector<std::size_t> uses;
      for (std::size_t i = 0; i < plans_.size(); ++i) {
        const bool has_name = plans_[i].based != nullptr && plans_[i].based->variable;
        if (has_name && std::ranges::find(variable.uses, *plans_[i].based->variable) != variable.uses.end())
          uses.push_back(i);
      }
      const bool has_company = std::ranges::count(variables, variable.place, &BaseVariable::place) > 1;
      const auto is_simple = [&](std::size_t i) { return finished_index(*plans_[i].based).has_value(); };
      const bool is_worth_it = uses.size() > 1 || has_company || !plans_[uses.front()].based->rest.empty();
      if (!is_worth_it || !std::ranges::all_of(uses, is_simple)) continue;
      for (const std::size_t i : uses) plans_[i].finished = *finished_index(*plans_[i].based);
      edits_.push_back(line_behind(code_.source, variable.place, variable.place, statement_for(variable.name)));
    }
  }

  /// "i += i >> 5;"
  std::string statement_for(const std::string& name) const {
    const std::string text = changed_part({name});
    const std::size_t end_of_mark = name.size() + 2;  // of "i +"
    if (text.size() <= end_of_mark + 1 || !text.starts_with(name + " ")) return fmt::format("{} = {};", name, text);
    return fmt::format("{} {}= {};", name, text[end_of_mark - 1],
                       without_outer_parentheses(text.substr(end_of_mark + 1)));
  }

  /// Finds the indices that have a variable, as several uses repeat them.
  void find_shared_indices() {
    constexpr std::size_t long_text = 20;
    if (form_ == IndexForm::rows || has_macros_) return;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      texts.push_back(plans_[i].finished.empty() ? changed_part(uses_[i].subscripts) : "");
    }
    const bool has_operators = index_operators(change_, shape_) >= many_operators;
    for (IndexVariable& variable : index_variables(code_, uses_, texts)) {
      const std::size_t first = variable.uses.front();
      if (!has_operators && texts[first].size() < long_text) continue;
      for (const std::size_t use : variable.uses) plans_[use].is_repeated = use != first;
      shared_.push_back(std::move(variable));
    }
  }

  /// A function instead of variables, if there are still many different indices, or long ones.
  void find_function() {
    constexpr std::size_t many_indices = 4, many_uses = 3, long_formula = 24, long_indices = 160, long_pair = 80;
    const auto names = subscript_names(first_.dimensions.size());
    const std::string formula = changed_part(names);
    std::size_t added = 0, written = 0, repeated = 0;
    std::set<std::string> indices;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (!plans_[i].finished.empty() || plans_[i].is_repeated) continue;
      const std::size_t before = uses_[i].end - uses_[i].begin,
                        after = in_brackets(index_of(uses_[i].subscripts)).size();
      const std::string changed = changed_part(uses_[i].subscripts);
      if (changed == uses_[i].subscripts.back() || is_number(changed)) continue;
      added += after - std::min(after, before);
      ++written;
      repeated += std::size_t{has_outside_brackets(uses_[i].subscripts.back(), "+-*/%<>&|^?")};
      indices.insert(changed);
    }
    const bool has_operators = index_operators(change_, shape_) >= many_operators;
    const bool is_long = formula.size() > long_formula || added > long_indices;
    const bool is_often = (written >= many_uses && is_long) || (has_operators && indices.size() >= many_indices);
    // Expressions that would stand in each index twice.
    const bool repeats = repeated >= 2 || (repeated > 0 && written >= many_uses) || (written == 2 && added > long_pair);
    if (has_macros_ || !(is_often || repeats)) return;
    std::vector<std::size_t> places;
    for (const Use& use : uses_) places.push_back(use.begin);
    parameters_ = subscripts_in(formula, names);
    const std::string shared = change_.swizzle.bits > 0 ? "swizzled" : "padded";
    const bool are_behind = std::ranges::all_of(places, [&](std::size_t use) { return use > last_.at; });
    function_ = index_function(code_, are_behind ? last_ : first_, places, chosen(names, parameters_), formula,
                               is_shared_ ? shared : first_.name + "_at");
    if (!function_) return;
    edits_.push_back(function_->edit);
    shared_.clear();
  }

  /// The changed part of an index, without its rest.
  std::string changed_text(std::size_t use) const {
    std::string changed = changed_part(uses_[use].subscripts);
    if (!function_ || is_number(changed)) return changed;
    return fmt::format("{}({})", function_->name, fmt::join(chosen(uses_[use].subscripts, parameters_), ", "));
  }

  /// Declares the variables, each under a name that the source does not have.
  void declare_variables() {
    std::vector<std::string> names;
    for (const IndexVariable& variable : shared_) {
      const std::string text = changed_text(variable.uses.front());
      const std::string name = free_name(code_, is_shared_ ? "at" : first_.name + "_at", names);
      names.push_back(name);
      for (const std::size_t use : variable.uses) plans_[use].variable = name;
      edits_.push_back(line_before(code_.source, variable.at, fmt::format("const int {} = {};", name, text)));
    }
  }

  /// The new index of a use.
  void write(std::size_t i) {
    const Use& use = uses_[i];
    const Plan& plan = plans_[i];
    if (!plan.finished.empty() && plan.finished == plan.original) return;
    std::vector<std::string> subscripts{plan.finished};
    if (plan.finished.empty()) {
      subscripts = index_of(use.subscripts);
      std::string& text = subscripts[changed_dimension(form_, use.subscripts.size())];
      text = plan.variable.empty() ? changed_text(i) : plan.variable;
      if (!plan.rest.empty()) text = fmt::format("{} + {}", as_summand(text), as_summand(plan.rest));
    }
    std::string index = in_brackets(subscripts);
    index.insert(index.size() - 1, use.comments);
    const std::string_view before = code_.source.substr(use.begin, use.end - use.begin);
    if (use.array.empty() && before == index) return;
    edits_.push_back({use.begin, use.end, use.array + index});
  }

  const Expressions& code_;
  const Declaration &first_, &last_;
  bool is_shared_;
  const Change& change_;
  const ArrayShape& shape_;
  IndexForm form_;
  bool has_macros_ = false;
  std::vector<Use> uses_;  // of all arrays
  std::vector<Plan> plans_;
  std::vector<IndexVariable> shared_;
  std::optional<IndexFunction> function_;
  std::vector<std::size_t> parameters_;  // the subscripts that it gets
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> index_edits(const Expressions& code, const std::vector<IndexedArray>& arrays, std::size_t number,
                              const Change& change, const ArrayShape& shape, IndexForm form) {
  return IndexEditor(code, arrays, change, shape, form).run(*arrays[number].declaration);
}

}  // namespace bankwise::fit
