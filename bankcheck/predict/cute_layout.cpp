#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>

#include <bankwise/support/text.hpp>

namespace bankwise::predict {
namespace {

/// The largest number, and the largest offset: their sums and products stay below 2^64.
constexpr std::uint64_t max_number = std::uint64_t{1} << 31;

/// A shape or a stride: a number, or a list of them.
struct Tuple {
  bool is_number = false;
  std::uint64_t number = 0;
  std::vector<Tuple> parts;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text without blanks, qualified names, and the braces that make a value of a type.
std::string compact(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("cute::")) {
      i += 5;
    } else if (rest.starts_with("{}")) {
      ++i;
    } else if (rest.starts_with("\xE2\x88\x98")) {  // the sign for composition
      kept += 'o';
      i += 2;
    } else if (rest[0] != ' ' && rest[0] != '\t' && rest[0] != '\n') {
      kept += rest[0];
    }
  }
  while (kept.ends_with(';')) kept.pop_back();
  const auto printable = [](unsigned char c) { return c > ' ' && c <= '~'; };
  if (!std::ranges::all_of(kept, printable)) throw ExpressionError("it contains characters other than printable ASCII");
  return kept;
}

std::uint64_t product(const Tuple& shape) {
  if (shape.is_number) return shape.number;
  std::uint64_t size = 1;
  for (const Tuple& part : shape.parts) {
    size *= product(part);
    if (size > max_number) throw ExpressionError("the layout has more than 2^31 elements");
  }
  return size;
}

}  // namespace

/// Recursive descent over the compact text.
class CuteParser {
 public:
  explicit CuteParser(std::string_view text) : text_(compact(text)), rest_(text_) {}

  void whole(CuteLayout& layout) {
    composed(layout);
    if (!rest_.empty()) fail("the end");
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw ExpressionError(
        fmt::format("a CuTe layout has {} {}", expected,
                    rest_.empty() ? std::string("at its end") : "where this one has " + support::in_quotes(rest_, 20)));
  }
  bool accept(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool accept_any(std::initializer_list<std::string_view> tokens) {
    return std::any_of(tokens.begin(), tokens.end(), [&](std::string_view token) { return accept(token); });
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(support::in_quotes(token));
  }
  bool at_number() const {
    const std::size_t sign = rest_.starts_with('_') ? 1 : 0;
    return (rest_.size() > sign && is_digit(rest_[sign])) || rest_.starts_with("Int<") || rest_.starts_with("C<");
  }

  std::uint64_t number() {
    if (accept_any({"Int<", "C<"})) {
      const std::uint64_t inner = number();
      expect(">");
      return inner;
    }
    accept("_");
    if (rest_.empty() || !is_digit(rest_[0])) fail("a number");
    std::uint64_t value = 0;
    for (; !rest_.empty() && is_digit(rest_[0]); rest_.remove_prefix(1)) {
      value = 10 * value + std::uint64_t(rest_[0] - '0');
      if (value > max_number) throw ExpressionError("a number of the layout is above 2^31");
    }
    return value;
  }

  Tuple tuple(int depth = 0) {
    constexpr int deepest = 16;
    if (depth > deepest) throw ExpressionError("the layout is nested too deep");
    if (at_number()) return {true, number(), {}};
    Tuple list;
    const bool is_type = accept_any({"Shape<", "Stride<", "tuple<"});
    if (!is_type && !accept_any({"(", "make_shape(", "make_stride(", "make_tuple("})) fail("a list of numbers");
    do list.parts.push_back(tuple(depth + 1));
    while (accept(","));
    expect(is_type ? ">" : ")");
    return list;
  }

  void swizzle(CuteLayout& layout) {
    CuteLayout::Swizzle& read = layout.swizzle_;
    read.bits = unsigned(number());
    expect(",");
    read.base = unsigned(number());
    expect(",");
    const bool is_negative = accept("-");
    const std::uint64_t shift = number();
    expect(">");
    constexpr unsigned max_bits = 31;
    if (shift < read.bits || read.bits + read.base + shift > max_bits)
      throw ExpressionError("Swizzle<B, M, S> has S of at least B, and B + M + S of at most 31");
    read.shift = is_negative ? -int(shift) : int(shift);
  }

  void composed(CuteLayout& layout) {
    const bool is_call = accept("composition(");
    const std::string_view between = is_call ? "," : "o";
    if (accept_any({"Swizzle<", "Sw<", "S<"})) {
      swizzle(layout);
      expect(between);
    }
    if (accept("smem_ptr[")) {
      layout.element_bytes_ = unsigned(number() / 8);
      if (layout.element_bytes_ == 0 || layout.element_bytes_ > 16) throw ExpressionError("smem_ptr has 8 to 128 bits");
      expect("b](unset)");
      expect(between);
    } else if (const std::string_view before = rest_; at_number()) {
      layout.start_ = number();
      if (!accept(between)) {  // a layout of one mode
        layout.start_ = 0;
        rest_ = before;
      }
    }
    plain(layout);
    if (is_call) expect(")");
  }

  void plain(CuteLayout& layout) {
    const bool is_type = accept("Layout<"), is_call = !is_type && accept("make_layout(");
    const Tuple shape = tuple();
    const bool has_stride = is_type || is_call ? accept(",") : (expect(":"), true);
    const bool is_right = has_stride && accept_any({"LayoutRight", "GenRowMajor"});
    const bool is_left = has_stride && !is_right && accept_any({"LayoutLeft", "GenColMajor"});
    if (has_stride && !is_right && !is_left) {
      add_modes(layout, shape, tuple());
    } else {
      add_modes(layout, shape, compact_strides(shape, is_right));
    }
    if (is_type || is_call) expect(is_type ? ">" : ")");
  }

  static Tuple compact_strides(const Tuple& shape, bool is_right) {
    if (shape.is_number) return {true, 1, {}};
    Tuple strides;
    const auto& parts = shape.parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Tuple before;
      before.parts.assign(is_right ? parts.begin() + std::ptrdiff_t(i) + 1 : parts.begin(),
                          is_right ? parts.end() : parts.begin() + std::ptrdiff_t(i));
      strides.parts.push_back(scaled(compact_strides(parts[i], is_right), product(before)));
    }
    return strides;
  }
  static Tuple scaled(Tuple strides, std::uint64_t factor) {
    strides.number *= factor;
    for (Tuple& part : strides.parts) part = scaled(part, factor);
    return strides;
  }

  static void add_leaves(std::vector<CuteLayout::Leaf>& leaves, const Tuple& shape, const Tuple& stride) {
    if (shape.is_number != stride.is_number || shape.parts.size() != stride.parts.size())
      throw ExpressionError("the shape and the stride of the layout differ in their structure");
    if (shape.is_number) {
      if (shape.number == 0) throw ExpressionError("a size of the layout is 0");
      leaves.push_back({shape.number, stride.number});
    }
    for (std::size_t i = 0; i < shape.parts.size(); ++i) add_leaves(leaves, shape.parts[i], stride.parts[i]);
  }
  static void add_modes(CuteLayout& layout, const Tuple& shape, const Tuple& stride) {
    (void)product(shape);  // not too large
    const std::size_t count = shape.is_number ? 1 : shape.parts.size();
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_list = !shape.is_number && i < stride.parts.size();
      auto& leaves = layout.modes_.emplace_back();
      add_leaves(leaves, is_list ? shape.parts[i] : shape, is_list ? stride.parts[i] : stride);
      layout.sizes_.push_back(product(is_list ? shape.parts[i] : shape));
    }
  }

  std::string text_;
  std::string_view rest_;
};

CuteLayout::CuteLayout(std::string_view text) {
  constexpr std::size_t longest = 4096;
  if (text.size() > longest) throw ExpressionError(fmt::format("it is longer than {} characters", longest));
  CuteParser(text).whole(*this);
}

std::uint64_t CuteLayout::size() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t CuteLayout::extent() const {
  std::uint64_t extent = start_ + 1;
  for (const auto& leaves : modes_) {
    for (const Leaf& leaf : leaves) extent += (leaf.size - 1) * leaf.stride;
  }
  return extent;
}

CuteLayout CuteLayout::without_swizzle() const {
  CuteLayout plain = *this;
  plain.swizzle_ = {};
  return plain;
}

std::uint64_t CuteLayout::swizzled(std::uint64_t offset) const {
  if (swizzle_.bits == 0) return offset;
  const std::uint64_t unit = std::max(element_bytes_, 1U), x = offset * unit;
  const auto distance = unsigned(std::abs(swizzle_.shift));
  const std::uint64_t mask = ((std::uint64_t{1} << swizzle_.bits) - 1) << swizzle_.base;
  const bool is_right = swizzle_.shift >= 0;
  const std::uint64_t moved = is_right ? x >> distance & mask : (x & mask) << distance;
  return (x ^ moved) / unit;
}

std::uint64_t CuteLayout::operator()(std::span<const std::uint64_t> coordinate) const {
  std::vector<std::uint64_t> parts(coordinate.begin(), coordinate.end());
  if (parts.size() == 1 && sizes_.size() > 1) {
    std::uint64_t left = parts[0];
    parts.clear();
    for (const std::uint64_t size : sizes_) {
      parts.push_back(left % size);
      left /= size;
    }
    if (left > 0) throw ExpressionError(fmt::format("element {} is outside of the layout", coordinate[0]));
  }
  if (parts.size() != sizes_.size())
    throw ExpressionError(fmt::format("a coordinate has 1 or {} numbers, not {}", sizes_.size(), parts.size()));
  std::uint64_t offset = start_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] >= sizes_[i])
      throw ExpressionError(fmt::format("coordinate {} is outside of a mode of {} elements", parts[i], sizes_[i]));
    for (const Leaf& leaf : modes_[i]) {
      offset += parts[i] % leaf.size * leaf.stride;
      parts[i] /= leaf.size;
      if (offset > max_number) throw ExpressionError("an offset of the layout is above 2^31");
    }
  }
  return swizzled(offset);
}

bool looks_like_cute_layout(std::string_view text) {
  std::string kept(text);
  std::erase_if(kept, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  const bool is_named =
      std::ranges::any_of(std::initializer_list<std::string_view>{"Swizzle<", "Sw<", ">o", "smem_ptr[", "Layout<",
                                                                  "make_layout(", "composition("},
                          [&](std::string_view name) { return kept.find(name) != std::string::npos; });
  // A shape, a colon and a stride; the colon of ?: has a question mark before it.
  const std::size_t colon = kept.find(':');
  return is_named || (colon != std::string::npos && kept.substr(0, colon).find('?') == std::string::npos);
}

}  // namespace bankwise::predict
