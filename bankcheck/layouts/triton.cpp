// Triton's shared encodings. Their meaning: TritonGPUAttrDefs.td and LinearLayoutConversions.cpp of Triton.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/layouts/layouts.hpp"

namespace bankwise::layouts {
namespace {

using predict::ExpressionError;

/// A pad of `bytes` elements after every `every` elements.
struct Interval {
  std::uint64_t every, elements;
};

/// The parts of an encoding: its name, its intervals, and the value of each key as a text without blanks.
struct Encoding {
  std::string name;
  std::vector<Interval> intervals;
  std::map<std::string, std::string, std::less<>> values;
};

constexpr std::string_view prefixes[]{"#ttg.", "#triton_gpu.", "ttg.", "triton_gpu."};
constexpr std::string_view encoding_names[]{"swizzled_shared", "padded_shared", "nvmma_shared", "shared"};

/// The text without blanks, without "#shared = " and without the dialect.
std::string encoding_text(std::string_view text) {
  std::string kept(text);
  std::erase_if(kept, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  if (const std::size_t equals = kept.find('='); kept.starts_with('#') && equals < kept.find('<'))
    kept.erase(0, equals + 1);
  for (const std::string_view prefix : prefixes) {
    if (kept.starts_with(prefix)) return kept.substr(prefix.size());
  }
  return kept;
}

/// The end of a value: the comma or bracket after it, at the depth of its beginning.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return i;
    depth += int(c == '[' || c == '{') - int(c == ']' || c == '}');
  }
  return text.size();
}

class EncodingParser {
 public:
  explicit EncodingParser(std::string_view text) : text_(encoding_text(text)), rest_(text_) {}

  Encoding whole() {
    Encoding encoding;
    const std::size_t angle = std::min(rest_.find('<'), rest_.size());
    encoding.name = rest_.substr(0, angle);
    rest_.remove_prefix(angle);
    expect("<");
    if (accept("[")) {
      do encoding.intervals.push_back(interval());
      while (accept(","));
      expect("]");
    }
    expect("{");
    do pair(encoding);
    while (accept(","));
    expect("}");
    expect(">");
    if (!rest_.empty()) fail("the end");
    return encoding;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw ExpressionError(
        fmt::format("an encoding of Triton has {} {}", expected,
                    rest_.empty() ? std::string("at its end") : "where this one has " + support::in_quotes(rest_, 20)));
  }
  bool accept(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(support::in_quotes(token));
  }
  std::uint64_t number() {
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    std::uint64_t value = 0;
    if (!support::parse_number(rest_.substr(0, end), value) || value > max_tile) fail("a number up to 2^20");
    rest_.remove_prefix(end);
    return value;
  }
  Interval interval() {
    Interval read{};
    read.every = number();
    expect(":+");
    read.elements = number();
    if (read.every == 0) throw ExpressionError("an interval of pads is 0");
    return read;
  }
  void pair(Encoding& encoding) {
    const std::size_t equals = rest_.find('=');
    if (equals == std::string_view::npos || equals == 0) fail("a name and a value, such as vec = 8,");
    const std::string name(rest_.substr(0, equals));
    rest_.remove_prefix(equals + 1);
    const std::size_t end = end_of_value(rest_, 0);
    if (end == 0) fail("a value");
    if (!encoding.values.emplace(name, rest_.substr(0, end)).second)
      throw ExpressionError(fmt::format("{} has two values", support::in_quotes(name)));
    rest_.remove_prefix(end);
  }

  std::string text_;
  std::string_view rest_;
};

/// Reads the keys of an encoding; each must be used or be one of those that say how a tensor is divided among blocks.
class Values {
 public:
  explicit Values(const Encoding& encoding) : left_(encoding.values) {
    for (const char* of_blocks : {"CTAsPerCGA", "CTASplitNum", "CTAOrder", "CGALayout", "block"})
      left_.erase(of_blocks);
  }
  std::optional<std::string> take(std::string_view name) {
    const auto found = left_.find(name);
    if (found == left_.end()) return std::nullopt;
    const std::string value = found->second;
    left_.erase(found);
    return value;
  }
  /// A power of two.
  std::uint64_t power(std::string_view name) {
    const auto value = take(name);
    std::uint64_t number = 0;
    if (!value) throw ExpressionError(fmt::format("{} is missing", name));
    if (!support::parse_number(*value, number) || number > max_tile || !std::has_single_bit(number))
      throw ExpressionError(fmt::format("{} = {} is no power of two", name, support::in_quotes(*value)));
    return number;
  }
  void finish() const {
    if (!left_.empty()) throw ExpressionError(fmt::format("{} is not known", support::in_quotes(left_.begin()->first)));
  }

 private:
  std::map<std::string, std::string, std::less<>> left_;
};

/// Whether the first dimension changes fastest: order = [0, 1].
bool is_transposed(Values& values, std::size_t dimensions) {
  const auto order = values.take("order");
  if (!order || (dimensions == 1 && *order == "[0]") || (dimensions == 2 && *order == "[1,0]")) return false;
  if (dimensions == 2 && *order == "[0,1]") return true;
  throw ExpressionError(fmt::format("order = {} is none of {}", support::in_quotes(*order),
                                    dimensions == 2 ? "[1, 0] and [0, 1]" : "[0]"));
}

void check_shape(const std::vector<std::uint64_t>& shape) {
  if (shape.empty()) throw ExpressionError("the shape of the tensor is missing: give it as --shape, for example 64,64");
  if (shape.size() > 2) throw ExpressionError("its shape has more than two dimensions");
}

void require_powers(const std::vector<std::uint64_t>& shape) {
  for (const std::uint64_t length : shape) {
    if (!std::has_single_bit(length)) throw ExpressionError("Triton's swizzles need a shape of powers of two");
  }
}

/// The offsets by row and column from those by the slow and the fast index.
template <class Offset, class Plain>
ElementOffsets by_row(const std::vector<std::uint64_t>& shape, bool transposed, Offset offset, Plain plain) {
  ElementOffsets offsets{shape.size() == 2 ? shape[0] : 1, shape.back(), {}, {}, 0};
  const auto turned = [transposed](auto by_index) {
    return [=](std::uint64_t row, std::uint64_t column) {
      return transposed ? by_index(column, row) : by_index(row, column);
    };
  };
  offsets.offset = turned(offset);
  offsets.plain = turned(plain);
  return offsets;
}

ElementOffsets swizzled(const Encoding& encoding, const std::vector<std::uint64_t>& shape) {
  Values values(encoding);
  const std::uint64_t vec = values.power("vec"), per_phase = values.power("perPhase"),
                      max_phase = values.power("maxPhase");
  check_shape(shape);
  const bool transposed = is_transposed(values, shape.size());
  values.finish();
  require_powers(shape);
  const std::uint64_t fast = transposed ? shape[0] : shape.back();
  const auto plain = [=](std::uint64_t slow, std::uint64_t x) { return slow * fast + x; };
  const auto offset = [=](std::uint64_t slow, std::uint64_t x) {
    const std::uint64_t phase = slow / per_phase % max_phase;
    return slow * fast + (x ^ vec * phase % fast);
  };
  return by_row(shape, transposed, offset, plain);
}

ElementOffsets padded(const Encoding& encoding, std::vector<std::uint64_t> shape) {
  Values values(encoding);
  if (encoding.intervals.empty()) throw ExpressionError("its intervals are missing, for example [64:+8]");
  if (const auto own = values.take("shape")) {
    const std::vector<std::uint64_t> read = numbers_in(*own);
    if (!shape.empty() && shape != read) throw ExpressionError("its shape is not the one of --shape");
    shape = read;
  }
  check_shape(shape);
  const bool transposed = is_transposed(values, shape.size());
  values.finish();
  const std::uint64_t fast = transposed ? shape[0] : shape.back();
  const auto plain = [=](std::uint64_t slow, std::uint64_t x) { return slow * fast + x; };
  const auto offset = [=, intervals = encoding.intervals](std::uint64_t slow, std::uint64_t x) {
    std::uint64_t moved = plain(slow, x);
    for (const Interval& pad : intervals) moved += plain(slow, x) / pad.every * pad.elements;
    return moved;
  };
  return by_row(shape, transposed, offset, plain);
}

/// The layout of TMA and wgmma: columns of `swizzlingByteWidth` bytes one after another, 16-byte parts swizzled.
ElementOffsets of_tma(const Encoding& encoding, const std::vector<std::uint64_t>& shape) {
  Values values(encoding);
  const std::uint64_t bits = values.power("elementBitWidth");
  const auto width_text = values.take("swizzlingByteWidth"), transposed_text = values.take("transposed");
  values.take("rank");
  values.finish();
  check_shape(shape);
  require_powers(shape);
  std::uint64_t width = 0;
  if (!width_text || !support::parse_number(*width_text, width) ||
      (width != 0 && width != 32 && width != 64 && width != 128))
    throw ExpressionError("swizzlingByteWidth is none of 0, 32, 64 and 128");
  if (transposed_text && *transposed_text != "true" && *transposed_text != "false")
    throw ExpressionError("transposed is neither true nor false");
  if (bits < 8 || bits > 64) throw ExpressionError("elementBitWidth is none of 8, 16, 32 and 64");
  const bool transposed = transposed_text && *transposed_text == "true";
  const std::uint64_t element = bits / 8, part = 16 / element, across = std::max<std::uint64_t>(width, 16) / element;
  const std::uint64_t fast = transposed ? shape[0] : shape.back(), slow = transposed ? shape.back() : shape[0];
  if (shape.size() != 2 || fast < across || slow < 8)
    throw ExpressionError(fmt::format("its shape is smaller than 8 rows of {} elements", across));
  const std::uint64_t rows_of_line = width == 0 ? 1 : 128 / width, phases = width == 0 ? 1 : width / 16;
  const auto plain = [=](std::uint64_t y, std::uint64_t x) { return (x / across * slow + y) * across + x % across; };
  const auto offset = [=](std::uint64_t y, std::uint64_t x) {
    const std::uint64_t phase = y / rows_of_line % phases;
    return plain(y, x) ^ phase * part;
  };
  ElementOffsets offsets = by_row(shape, transposed, offset, plain);
  offsets.element_bytes = unsigned(element);
  return offsets;
}

}  // namespace

bool looks_like_triton(std::string_view text) {
  const std::string kept = encoding_text(text);
  return text.starts_with('#') || std::ranges::any_of(encoding_names, [&](std::string_view name) {
           return kept.starts_with(name) && kept.substr(name.size()).starts_with('<');
         });
}

ElementOffsets triton_offsets(std::string_view text, const std::vector<std::uint64_t>& shape) {
  constexpr std::size_t longest = 4096;
  if (text.size() > longest) throw ExpressionError(fmt::format("it is longer than {} characters", longest));
  const auto is_printable = [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\n'; };
  if (!std::ranges::all_of(text, is_printable)) throw ExpressionError("it has characters that are not printable ASCII");
  const Encoding encoding = EncodingParser(text).whole();
  if (encoding.name == "swizzled_shared" || encoding.name == "shared") return swizzled(encoding, shape);
  if (encoding.name == "padded_shared") return padded(encoding, shape);
  if (encoding.name == "nvmma_shared") return of_tma(encoding, shape);
  throw ExpressionError(
      fmt::format("{} is none of swizzled_shared, padded_shared and nvmma_shared", support::in_quotes(encoding.name)));
}

}  // namespace bankwise::layouts
