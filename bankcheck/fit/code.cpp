#include "bankcheck/fit/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <numeric>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

bool is_simple(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}
std::string operand(const std::string& text) { return is_simple(text) ? text : "(" + text + ")"; }

/// "(x >> 5)" or "x / 48": a whole quotient, as an operand of * + and ^.
std::string quotient(const std::string& text, std::uint64_t divisor) {
  if (divisor == 1) return operand(text);
  if (!std::has_single_bit(divisor)) return fmt::format("({} / {})", operand(text), divisor);
  return fmt::format("({} >> {})", operand(text), std::countr_zero(divisor));
}

std::string times(const std::string& text, std::uint64_t factor) {
  return factor == 1 ? text : fmt::format("{} * {}", text, factor);
}

/// The bits of a row's number that are XORed in. `rows`: the number is less; 0: not known.
std::string row_bits(const std::string& row, std::uint64_t rows_per_step, unsigned bits, std::uint64_t rows) {
  const std::uint64_t steps = std::uint64_t{1} << bits;
  if (rows > 0 && (rows + rows_per_step - 1) / rows_per_step <= steps) return quotient(row, rows_per_step);
  if (rows_per_step == 1) return fmt::format("({} & {})", operand(row), steps - 1);
  if (!std::has_single_bit(rows_per_step)) {
    return fmt::format("({} / {} & {})", operand(row), rows_per_step, steps - 1);
  }
  return fmt::format("({} >> {} & {})", operand(row), std::countr_zero(rows_per_step), steps - 1);
}

/// One index from several.
std::string flattened(const std::vector<std::uint64_t>& lengths, const std::vector<std::string>& subscripts) {
  std::string index = subscripts.front();
  for (std::size_t d = 1; d < subscripts.size(); ++d) {
    index = fmt::format("{} * {} + {}", operand(index), lengths[d], operand(subscripts[d]));
  }
  return index;
}

std::string flat_index(const Change& change, const ArrayShape& shape, const std::string& index) {
  const std::uint64_t element = shape.element;
  std::string text = index;
  const RowXor& swizzle = change.swizzle;
  if (swizzle.bits > 0) {
    const std::string bits = row_bits(index, swizzle.row / element, swizzle.bits, 0);
    text = fmt::format("{} ^ {}", operand(index), times(bits, (std::uint64_t{1} << swizzle.base) / element));
  }
  std::string padded = operand(text);
  for (const Pad& pad : change.pads) {
    if (pad.every > 0) padded += " + " + times(quotient(text, pad.every / element), pad.bytes / element);
  }
  return change.pads[0].every > 0 ? padded : text;
}

std::uint64_t product(const std::vector<std::uint64_t>& lengths, std::size_t count) {
  return std::accumulate(lengths.begin(), lengths.begin() + std::ptrdiff_t(count), std::uint64_t{1},
                         std::multiplies<>());
}

class Editor : source::SourceTokens {
 public:
  Editor(std::string_view code, const Declaration& declaration, const Change& change, const ArrayShape& shape,
         IndexForm form)
      : SourceTokens(code), declaration_(declaration), change_(change), shape_(shape), form_(form) {}

  std::variant<std::vector<Edit>, std::string> run() {
    declare();
    std::size_t i = 0;
    while (i < tokens.size() && tokens[i].begin < declaration_.at) ++i;
    // To the end of the block that the array is declared in.
    int depth = 0;
    for (++i; i < tokens.size() && depth >= 0 && why_.empty(); ++i) {
      depth += is(i, "{") ? 1 : is(i, "}") ? -1 : 0;
      if (is_name(i) && is(i, declaration_.name)) use(i);
    }
    if (!why_.empty()) return why_;
    return edits_;
  }

 private:
  void fail(std::size_t i, std::string_view problem) { why_ = fmt::format("line {} {}", line(i), problem); }

  void declare() {
    const auto texts = dimension_texts(change_, shape_, form_, declaration_.dimensions);
    const auto& places = declaration_.dimension_texts;
    if (texts.size() == places.size()) {
      for (std::size_t d = 0; d < texts.size(); ++d) {
        if (texts[d] != declaration_.dimensions[d]) edits_.push_back({places[d].begin, places[d].end, texts[d]});
      }
    } else {
      edits_.push_back({places.front().begin, places.back().end, texts.front()});
    }
    if (declaration_.dimensions.front().empty() && !edits_.empty()) {
      why_ = "the launch decides the bytes of this array, and must give it more";
    }
  }

  bool has_side_effect(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      const bool next_to = k + 1 < end && tokens[k].end == tokens[k + 1].begin;
      if (next_to && is(k, "+") && is(k + 1, "+")) return true;
      if (next_to && is(k, "-") && is(k + 1, "-")) return true;
      const bool compares =
          (next_to && is(k + 1, "=")) || is(k - 1, "=") || is(k - 1, "<") || is(k - 1, ">") || is(k - 1, "!");
      if (is(k, "=") && !compares) return true;
      if (is(k, "asm") || is(k, "atomicAdd") || is(k, "atomicInc")) return true;
    }
    return false;
  }

  void use(std::size_t i) {
    if (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::")) return;  // a member of something else
    if (is(i - 1, "(") && is(i - 2, "sizeof")) return;
    const bool address = is(i - 1, "&") && !is_operand(i - 2);
    if (address && !is_accessed(i - 1)) return fail(i, "takes an address in the array");
    std::vector<std::string> subscripts;
    std::size_t next = i + 1;
    for (std::size_t d = 0; d < declaration_.dimensions.size(); ++d) {
      if (!is(next, "[")) return fail(i, "uses the array without all of its indices");
      const std::size_t end = std::min(closing(next) + 1, tokens.size());
      const std::size_t begin_at = tokens[next].end, end_at = tokens[end - 1].begin;
      if (form_ != IndexForm::rows && has_side_effect(next + 1, end - 1))
        return fail(i, "has an index with a side effect");
      subscripts.emplace_back(source.substr(begin_at, end_at - begin_at));
      next = end;
    }
    for (const std::string& subscript : subscripts) {
      if (form_ != IndexForm::rows && names_array(subscript))
        return fail(i, "has an index that reads the array itself");
    }
    if (form_ == IndexForm::rows) return;
    edits_.push_back({tokens[i].end, tokens[next - 1].end, index_text(change_, shape_, form_, subscripts)});
  }

  bool names_array(const std::string& subscript) const {
    const SourceTokens inside(subscript);
    for (std::size_t i = 0; i < inside.tokens.size(); ++i) {
      if (inside.is(i, declaration_.name)) return true;
    }
    return false;
  }

  /// Whether a token ends an operand, so that & after it is the binary operator. A cast to a pointer ends none.
  bool is_operand(std::size_t i) const {
    if (i >= tokens.size()) return false;
    const bool word = is_name(i) && !is(i, "return");
    const bool closes = is(i, ")") && !is(i - 1, "*");
    return word || tokens[i].kind == source::TokenKind::number || closes || is(i, "]");
  }

  /// Whether the address at & is used for one access, whose bytes stay together: by an atomic function, as a number for
  /// inline PTX, or under a cast that is dereferenced immediately.
  bool is_accessed(std::size_t ampersand) const {
    const std::size_t before = ampersand - 1;
    if (is(before, ")")) {  // *(float4*)&
      std::size_t open = before;
      while (open > 0 && !is(open, "(")) --open;
      return is(open - 1, "*") && !is_operand(open - 2);
    }
    if (!is(before, "(")) return false;
    if (text(before - 1).starts_with("atom") || is(before - 1, "__cvta_generic_to_shared")) return true;
    std::size_t cast = before - 1;  // *reinterpret_cast<float4*>(&
    while (is(before - 1, ">") && cast > 0 && !is(cast, "reinterpret_cast") && !is(cast, ";")) --cast;
    return is(cast, "reinterpret_cast") && is(cast - 1, "*") && !is_operand(cast - 2);
  }

  const Declaration& declaration_;
  const Change& change_;
  const ArrayShape& shape_;
  IndexForm form_;
  std::vector<Edit> edits_;
  std::string why_;
};

}  // namespace

std::optional<IndexForm> form_of(const Change& change, const ArrayShape& shape) {
  if (change.kind() == ChangeKind::identity) return IndexForm::none;
  const std::uint64_t element = shape.element;
  if (element == 0) return std::nullopt;
  if (change.kind() == ChangeKind::pad && change.pads[0].every == element) return IndexForm::elements;
  const RowXor& swizzle = change.swizzle;
  if (swizzle.bits > 0 && ((std::uint64_t{1} << swizzle.base) % element != 0 || swizzle.row % element != 0))
    return std::nullopt;
  for (const Pad& pad : change.pads) {
    if (pad.every % element != 0 || pad.bytes % element != 0) return std::nullopt;
  }
  const std::uint64_t row = shape.lengths.size() < 2 ? 0 : shape.row_bytes();
  const bool rows = row > 0 && change.pads[1].every == 0 && (change.pads[0].every == 0 || change.pads[0].every == row);
  const bool columns =
      swizzle.bits == 0 || (row > 0 && swizzle.row % row == 0 && row % (1U << (swizzle.base + swizzle.bits)) == 0);
  if (!rows || !columns) return IndexForm::flat;
  return swizzle.bits > 0 ? IndexForm::columns : IndexForm::rows;
}

std::string index_text(const Change& change, const ArrayShape& shape, IndexForm form,
                       const std::vector<std::string>& subscripts) {
  std::vector<std::string> texts = subscripts;
  if (form == IndexForm::flat) return "[" + flat_index(change, shape, flattened(shape.lengths, subscripts)) + "]";
  if (form == IndexForm::columns) {
    const RowXor& swizzle = change.swizzle;
    const std::vector<std::string> upper(subscripts.begin(), subscripts.end() - 1);
    const std::uint64_t rows = product(shape.lengths, shape.lengths.size() - 1);
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): form_of() answers columns only if there are rows
    const std::string bits =
        row_bits(flattened(shape.lengths, upper), swizzle.row / shape.row_bytes(), swizzle.bits, rows);
    texts.back() =
        fmt::format("{} ^ {}", operand(texts.back()), times(bits, (std::uint64_t{1} << swizzle.base) / shape.element));
  }
  std::string text;
  for (const std::string& index : texts) text += "[" + index + "]";
  return text;
}

std::vector<std::string> dimension_texts(const Change& change, const ArrayShape& shape, IndexForm form,
                                         const std::vector<std::string>& dimensions) {
  std::vector<std::string> texts = dimensions;
  const std::uint64_t element = shape.element;
  if ((form == IndexForm::rows || form == IndexForm::columns) && change.pads[0].every > 0) {
    texts.back() = fmt::format("{} + {}", operand(texts.back()), change.pads[0].bytes / element);
  }
  if (form != IndexForm::flat) return texts;
  const std::uint64_t elements = product(shape.lengths, shape.lengths.size()), bytes = elements * element;
  const std::uint64_t after = change.bytes_of(bytes) / element;
  if (after == elements && dimensions.size() == 1) return texts;
  const Pad& pad = change.pads[0];
  const bool plain =
      change.kind() == ChangeKind::pad && dimensions.size() == 1 && pad.every > 0 && bytes % pad.every == 0;
  if (!plain || dimensions[0].empty()) return {std::to_string(after)};
  return {fmt::format("{} + {}", dimensions[0],
                      times(fmt::format("{} / {}", operand(dimensions[0]), pad.every / element), pad.bytes / element))};
}

std::vector<std::string> subscript_names(std::size_t dimensions) {
  if (dimensions == 1) return {"i"};
  std::vector<std::string> names{"y", "x"};
  for (std::size_t d = 2; d < dimensions; ++d) names.insert(names.begin(), d == 2 ? "z" : fmt::format("w{}", d));
  return names;
}

std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (!form) return "no index makes this change";
  if (*form == IndexForm::none) return std::vector<Edit>{};
  if (*form == IndexForm::elements) return "the type of its elements must get a member";
  if (declaration.lengths.size() != declaration.dimensions.size()) return declaration.unknown;
  return Editor(source, declaration, change, shape, *form).run();
}

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::ranges::sort(edits, [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < at) continue;  // an index inside another one, which the outer edit contains
    text += std::string(source.substr(at, edit.begin - at)) + edit.text;
    at = edit.end;
  }
  return text + std::string(source.substr(at));
}

std::vector<Hunk> hunks_of(std::string_view source, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, &Edit::begin);
  const auto line_end = [&](std::size_t at) { return std::min(source.find('\n', at), source.size()); };
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < edits.size();) {
    const std::size_t begin = edits[i].begin == 0 ? 0 : source.rfind('\n', edits[i].begin - 1) + 1;
    std::size_t end = line_end(edits[i].end);
    std::vector<Edit> inside;
    do {
      end = std::max(end, line_end(edits[i].end));
      inside.push_back({edits[i].begin - begin, edits[i].end - begin, edits[i].text});
      ++i;
    } while (i < edits.size() && edits[i].begin <= line_end(end + 1));
    const std::string_view before = source.substr(begin, end - begin);
    const auto line = 1 + std::ranges::count(source.substr(0, begin), '\n');
    hunks.push_back({unsigned(line), std::string(before), edited(before, std::move(inside))});
  }
  return hunks;
}

}  // namespace bankwise::fit
