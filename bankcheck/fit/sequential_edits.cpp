#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/functions.hpp"

namespace bankwise::fit {
namespace {

/// The loop over the distance of two elements that are added.
struct TreeLoop {
  std::size_t token = 0;             // of "for"
  Part first, condition, step;       // of its head; `first`: the value that the distance begins with
  Part body;                         // between its braces
  std::string distance;              // the name of the variable
  bool from_two = false;             // the variable is twice the distance
  std::string half{};                // of the number of elements, as written
  std::string power{};               // what must be a power of two
  std::vector<std::string> sizes{};  // the number, without blanks, as it may be written
};

class TreeRewriter {
 public:
  TreeRewriter(std::string_view source, const Declaration& declaration)
      : code_(source), declaration_(declaration), uses_(uses_of(source, declaration, true)) {}

  EditsOrWhy edits() {
    if (!uses_.why.empty()) return uses_.why;
    const Part block = block_of(code_, declaration_);
    std::optional<TreeLoop> tree;
    std::size_t loops = 0;
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const auto loop = code_.is(i, "for") ? loop_at(i) : std::nullopt;
      if (!loop || !uses_array(loop->body)) continue;
      tree = loop;
      ++loops;
    }
    if (loops != 1 || !uses_.pointers.empty() || !uses_.parameters.empty()) {
      return fmt::format("line {}: no loop of its block alone doubles the distance of elements", declaration_.line);
    }
    if (is_repeated(tree->token, block.begin) || !rewrites_body(*tree) || !uses_only_sum_behind(*tree)) {
      return fmt::format("line {}: the loop does more than to add pairs of elements", code_.line(tree->token));
    }
    rewrite_head(*tree);
    return std::move(edits_);
  }

 private:
  // --- Expressions, as text without blanks ---

  std::string plain(Part part) const {
    std::string text;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      const bool are_words = i > part.begin && code_.tokens[i].kind != source::TokenKind::mark &&
                             code_.tokens[i - 1].kind != source::TokenKind::mark;
      text += (are_words ? " " : "") + std::string(code_.text(i));
    }
    return text;
  }
  void add_factors(Part part, std::vector<Part>& factors) const {
    part = code_.inner(part);
    const std::vector<Part> parts = code_.split(part, "*");
    if (parts.size() == 1) factors.push_back(part);
    for (std::size_t i = 0; parts.size() > 1 && i < parts.size(); ++i) add_factors(parts[i], factors);
  }
  /// Whether the part is the whole without a division by 2: "n" of "n / 2" and of "n >> 1".
  std::optional<Part> doubled(Part part) const {
    part = code_.inner(part);
    if (part.size() < 3) return std::nullopt;
    const std::size_t last = part.end - 1;
    if (code_.is(last, "2") && code_.is(last - 1, "/")) return code_.inner({part.begin, last - 1});
    const bool is_shift = part.size() > 3 && code_.is(last - 1, ">") && code_.is(last - 2, ">");
    return code_.is(last, "1") && is_shift ? std::optional(code_.inner({part.begin, last - 2})) : std::nullopt;
  }
  /// A sum, a difference, ... needs parentheses before "/ 2".
  bool is_operand(Part part) const {
    for (std::size_t i = part.begin; i < part.end; ++i) {
      const bool is_mark = code_.tokens[i].kind == source::TokenKind::mark;
      if (is_mark && !code_.is(i, ".") && !code_.is(i, "::")) return false;
    }
    return true;
  }
  std::string half_of(Part size) const {
    if (size.size() == 1 && is_number(plain(size))) {
      const std::uint64_t number = std::stoull(std::string(code_.text(size.begin)), nullptr, 0);
      return std::to_string(number / 2);
    }
    const std::vector<Part> factors = code_.split(size, "*");
    if (factors.size() == 2 && plain(factors[0]) == "2") return code_.text_of(factors[1]);
    if (factors.size() == 2 && plain(factors[1]) == "2") return code_.text_of(factors[0]);
    const std::string text = with_parentheses(declaration_, code_.text_of(size));
    return (is_operand(size) ? text : "(" + text + ")") + " / 2";
  }

  // --- The head of the loop ---

  std::optional<TreeLoop> loop_at(std::size_t token) const {
    const std::size_t open = token + 1, close = code_.past_bracket(open) - 1;
    if (!code_.is(open, "(") || !code_.is(close + 1, "{")) return std::nullopt;
    const std::vector<Part> head = code_.split({open + 1, close}, ";");
    if (head.size() != 3 || head[0].size() < 4) return std::nullopt;  // "int s = 1": behind the loop there is no s
    const std::size_t value = head[0].end - 1, name = value - 2;
    const bool is_declared = code_.is_name(name) && code_.is_name(name - 1) && code_.is(value - 1, "=");
    const bool has_others = code_.split(head[0], ",").size() > 1;
    if (!is_declared || has_others || !support::has_word("1 1u 1U 2 2u 2U", code_.text(value))) return std::nullopt;
    TreeLoop loop{.token = token,
                  .first = {value, head[0].end},
                  .condition = head[1],
                  .step = head[2],
                  .body = {close + 2, code_.past_bracket(close + 1) - 1},
                  .distance = std::string(code_.text(name)),
                  .from_two = code_.text(value).starts_with('2')};
    const std::string& s = loop.distance;
    const std::string step = plain(loop.step);
    const std::string steps[]{s + "*=2",          s + "<<=1",    s + "+=" + s,
                              s + "=" + s + "*2", s + "=2*" + s, s + "=" + s + "<<1"};
    if (std::ranges::find(steps, step) == std::end(steps) || !set_size(loop)) return std::nullopt;
    return loop;
  }
  /// The number of elements: n of "s < n", and of "s <= n / 2"; from two on of "s <= n".
  bool set_size(TreeLoop& loop) const {
    const Part condition = loop.condition;
    if (condition.size() < 3 || !code_.is(condition.begin, loop.distance) || !code_.is(condition.begin + 1, "<")) {
      return false;
    }
    const bool has_last = code_.is(condition.begin + 2, "=");
    const Part limit = code_.inner({condition.begin + (has_last ? 3 : 2), condition.end});
    if (limit.size() == 0 || (loop.from_two && !has_last) || has_token(code_, limit, loop.distance)) return false;
    if (loop.from_two || !has_last) {
      loop.half = half_of(limit);
      loop.power = code_.text_of(limit);
      loop.sizes = {plain(limit)};
    } else {
      loop.half = code_.text_of(limit);
      const auto size = doubled(limit);
      loop.power = code_.text_of(size.value_or(limit));
      if (size) loop.sizes = {plain(*size)};
      if (!size && is_operand(limit)) loop.sizes = {"2*" + plain(limit), plain(limit) + "*2"};
    }
    return true;
  }
  void rewrite_head(const TreeLoop& loop) {
    const bool shifts = plain(loop.step).find("<<") != std::string::npos;
    replace(loop.first, loop.half);
    replace(loop.condition, loop.distance + " > 0");
    replace(loop.step, loop.distance + (shifts ? " >>= 1" : " /= 2"));
    const std::string reason =
        fmt::format("sequential addressing: no bank conflicts{}",
                    is_number(loop.power) ? "" : fmt::format("; {} must be a power of two", loop.power));
    if (auto comment = comment_before(code_.source, place_before(code_, loop.token), reason)) {
      edits_.push_back(*comment);
    }
  }

  // --- Its body ---

  bool is_inside(const Use& use, Part part) const {
    return use.begin >= code_.tokens[part.begin].begin && part.end < code_.tokens.size() &&
           use.end <= code_.tokens[part.end].begin;
  }
  bool uses_array(Part part) const {
    return std::ranges::any_of(uses_.uses, [&](const Use& use) { return is_inside(use, part); });
  }
  /// The thread's number: i of "2 * s * i", and from two on of "s * i".
  std::optional<Part> thread_in(const TreeLoop& loop, Part index) const {
    index = code_.inner(index);
    if (index.size() == 1 && index_ && code_.is(index.begin, index_->name)) return index_->thread;
    std::vector<Part> factors;
    add_factors(index, factors);
    const auto remove = [&](std::string_view text) {
      const auto factor = std::ranges::find_if(factors, [&](Part part) { return plain(part) == text; });
      if (factor == factors.end()) return false;
      factors.erase(factor);
      return true;
    };
    const bool has_distance = remove(loop.distance) && (loop.from_two || remove("2"));
    if (!has_distance || factors.size() != 1 || has_token(code_, factors[0], loop.distance)) return std::nullopt;
    const bool is_known = !is_number(plain(factors[0])) && (is_operand(factors[0]) || is_call(factors[0]));
    return is_known ? std::optional(factors[0]) : std::nullopt;
  }
  /// "get_local_id(0)".
  bool is_call(Part part) const { return part.size() == 4 && code_.is(part.begin, "get_local_id"); }
  /// Whether a part is the distance of two elements that are added.
  bool is_distance(const TreeLoop& loop, Part part) const {
    if (!loop.from_two) return plain(code_.inner(part)) == loop.distance;
    const auto whole = doubled(part);
    return whole && plain(*whole) == loop.distance;
  }
  /// The two sides of a sum of an index and the distance, in any order; the index alone if there is no sum.
  struct Operand {
    Part thread;
    bool is_far = false, is_distance_first = false;
  };
  std::optional<Operand> operand_in(const TreeLoop& loop, Part index) const {
    if (const auto thread = thread_in(loop, index)) return Operand{*thread};
    const std::vector<Part> sides = code_.split(code_.inner(index), "+");
    if (sides.size() != 2) return std::nullopt;
    for (const bool is_first : {false, true}) {
      const auto thread = thread_in(loop, sides[is_first ? 1 : 0]);
      if (thread && is_distance(loop, sides[is_first ? 0 : 1])) return Operand{*thread, true, is_first};
    }
    return std::nullopt;
  }

  /// Of the statements of the loop: the name of the index, a branch that adds, and barriers.
  bool rewrites_body(const TreeLoop& loop) {
    if (has_branches(code_, {loop.token, loop.body.end + 1})) return false;
    std::size_t sums = 0, barriers = 0;
    for (std::size_t i = loop.body.begin, end = 0; i < loop.body.end; i = end) {
      end = statement_end(code_, i);
      const Part statement{i, end};
      if (is_barrier(statement)) {
        ++barriers;
      } else if (code_.is(i, "if")) {
        if (++sums > 1 || !rewrites_sum(loop, statement)) return false;
      } else if (sums > 0 || !names_index(loop, statement)) {
        return false;
      }
    }
    return sums == 1 && barriers > 0;
  }
  bool is_barrier(Part statement) const {
    static const std::regex barrier(R"(__syncthreads\(\);|(work_group_)?barrier\(CLK_LOCAL_MEM_FENCE\);)"
                                    R"(|\w+\.sync\(\);|(\w+::)*sync\(\w+\);)");
    return std::regex_match(plain(statement), barrier);
  }
  /// "int index = 2 * s * i;", whose line goes away.
  bool names_index(const TreeLoop& loop, Part statement) {
    const std::vector<Part> sides = code_.split({statement.begin, statement.end - 1}, "=");
    if (index_ || sides.size() != 2 || sides[0].size() < 2) return false;
    const std::size_t name = sides[0].end - 1;
    for (std::size_t i = sides[0].begin; i <= name; ++i) {
      if (!code_.is_name(i)) return false;
    }
    const auto thread = thread_in(loop, sides[1]);
    if (!thread) return false;
    index_ = NamedIndex{std::string(code_.text(name)), *thread};
    std::size_t begin = code_.tokens[statement.begin].begin, end = code_.tokens[statement.end - 1].end;
    const std::size_t line = begin_of_line(code_.source, begin), line_end = end_of_line(code_.source, end);
    const std::string_view behind = source::trimmed(code_.source.substr(end, line_end - end));
    const bool is_alone = source::trimmed(code_.source.substr(line, begin - line)).empty() &&
                          (behind.empty() || behind.starts_with("//")) && line_end < code_.source.size();
    if (is_alone) {
      begin = line;
      const std::size_t next = code_.source.find('\n', line_end) + 1, next_end = end_of_line(code_.source, next);
      const bool is_blank = source::trimmed(code_.source.substr(next, next_end - next)).empty();
      end = is_blank && next_end < code_.source.size() ? code_.source.find('\n', next_end) + 1 : next;
    }
    edits_.push_back({begin, end, ""});
    return true;
  }
  /// "if (index < n) a[index] += a[index + s];".
  bool rewrites_sum(const TreeLoop& loop, Part statement) {
    const std::size_t open = statement.begin + 1, close = code_.past_bracket(open) - 1;
    const auto thread = thread_of_guard(loop, {open + 1, close});
    if (!thread) return false;
    const std::string i = code_.text_of(*thread);
    replace({open + 1, close}, fmt::format("{} < {}", i, loop.distance));
    std::string text;  // with "A" for the nearer element, and "B" for the other
    for (std::size_t token = close + 1; token < statement.end;) {
      const auto use = std::ranges::find_if(uses_.uses, [&](const Use& each) {
        return token + 1 < code_.tokens.size() && each.begin == code_.tokens[token + 1].begin && each.array.empty();
      });
      if (use == uses_.uses.end()) {
        if (code_.is(token, declaration_.name) || code_.is(token, loop.distance)) return false;
        text += code_.text(token++);
        continue;
      }
      const std::size_t bracket = token + 1;
      const Part index{bracket + 1, code_.past_bracket(bracket) - 1};
      const auto operand = operand_in(loop, index);
      if (!operand || plain(operand->thread) != plain(*thread)) return false;
      replace(index, !operand->is_far             ? i
                     : operand->is_distance_first ? fmt::format("{} + {}", loop.distance, i)
                                                  : fmt::format("{} + {}", i, loop.distance));
      text += operand->is_far ? "B" : "A";
      token = index.end + 1;
    }
    return is_commutative(code_, text, declaration_.type);
  }
  /// The thread in "index < n", "index + s < n" or "i < n / (2 * s)", which lets as many threads add.
  std::optional<Part> thread_of_guard(const TreeLoop& loop, Part guard) const {
    const std::vector<Part> sides = code_.split(code_.inner(guard), "<");
    if (sides.size() != 2) return std::nullopt;
    const std::string limit = plain(code_.inner(sides[1]));
    if (std::ranges::find(loop.sizes, limit) != loop.sizes.end()) {
      const auto operand = operand_in(loop, sides[0]);
      return operand ? std::optional(operand->thread) : std::nullopt;
    }
    const std::string& s = loop.distance;
    const std::vector<std::string> counts =
        loop.from_two ? std::vector<std::string>{"/" + s}
                      : std::vector<std::string>{"/(2*" + s + ")", "/(" + s + "*2)", "/2/" + s, "/" + s + "/2"};
    const bool is_count = std::ranges::any_of(loop.sizes, [&](const std::string& size) {
      return limit.starts_with(size) && std::ranges::find(counts, limit.substr(size.size())) != counts.end();
    });
    return is_count ? std::optional(code_.inner(sides[0])) : std::nullopt;
  }

  // --- Around it ---

  /// Whether a loop of the block contains the token.
  bool is_repeated(std::size_t token, std::size_t begin) const {
    for (std::size_t i = begin; i < token; ++i) {
      const bool is_loop = code_.is(i, "for") || code_.is(i, "while") || code_.is(i, "do");
      if (is_loop && statement_end(code_, i) > token) return true;
    }
    return false;
  }
  /// The other elements have other partial sums than before.
  bool uses_only_sum_behind(const TreeLoop& loop) const {
    const std::size_t end = code_.tokens[loop.body.end].end;
    return std::ranges::all_of(uses_.uses, [&](const Use& use) {
      return use.begin < end || (use.subscripts.size() == 1 && source::trimmed(use.subscripts[0]) == "0");
    });
  }

  void replace(Part part, const std::string& text) {
    edits_.push_back({code_.tokens[part.begin].begin, code_.tokens[part.end - 1].end, text});
  }

  struct NamedIndex {
    std::string name;
    Part thread;
  };

  const Expressions code_;
  const Declaration& declaration_;
  const Uses uses_;
  std::optional<NamedIndex> index_;
  std::vector<Edit> edits_;
};

}  // namespace

EditsOrWhy sequential_edits(std::string_view source, const Declaration& declaration) {
  return TreeRewriter(source, declaration).edits();
}

}  // namespace bankwise::fit
