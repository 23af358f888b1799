#include "bankcheck/fit/declaration.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

using predict::is_decoration;
using source::SourceTokens;

/// Finds all declarations of a source, with their blocks.
class DeclarationFinder {
 public:
  DeclarationFinder(std::string_view source, const Qualifiers& qualifiers) : code_(source), qualifiers_(qualifiers) {}

  /// Those of one name; without a name, those without lengths.
  std::vector<Candidate> run(std::string_view name) {
    unsigned line = 1;
    for (std::size_t i = 0, at = 0; i < code_.tokens.size(); at = code_.tokens[i++].begin) {
      line += unsigned(std::ranges::count(code_.source.substr(at, code_.tokens[i].begin - at), '\n'));
      if (code_.is(i, "{")) open(i);
      if (code_.is(i, "}")) close(line);
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
  struct OpenBlock {
    std::vector<std::size_t> candidates;
    std::size_t templates = 0;  // that end with it
    std::size_t number = 0;
  };

  void open(std::size_t i) {
    if (function_.empty() && code_.is(i - 1, ")")) {
      const std::size_t callee = code_.opening(i - 1) - 1;
      function_ = code_.is_name(callee) ? code_.text(callee) : "";
      function_blocks_ = blocks_.size();
      function_at_ = i;
    }
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
    if (blocks_.size() <= function_blocks_) function_.clear();
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

  bool begins_here(std::size_t k) const { return k == 0 || ends_statement(code_, k - 1); }

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
  const Qualifiers& qualifiers_;
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

}  // namespace

std::vector<Candidate> declarations_in(std::string_view source, const Qualifiers& qualifiers, std::string_view name) {
  return DeclarationFinder(source, qualifiers).run(name);
}

}  // namespace bankwise::fit
