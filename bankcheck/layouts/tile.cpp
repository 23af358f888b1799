#include "bankcheck/layouts/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::layouts {
namespace {

using predict::CuteLayout;
using predict::ExpressionError;

ElementOffsets cute_offsets(const std::string& text) {
  const CuteLayout layout(text), without = layout.without_swizzle();
  const std::vector<std::uint64_t>& sizes = layout.sizes();
  if (layout.size() > max_tile) throw ExpressionError(fmt::format("it has more than {} elements", max_tile));
  const std::uint64_t rows = sizes.size() == 1 ? 1 : sizes[0];
  const auto at = [rows](const CuteLayout& cute) {
    return [rows, cute](std::uint64_t row, std::uint64_t column) {
      const std::uint64_t number = row + column * rows;  // the first mode counts fastest
      return cute({&number, 1});
    };
  };
  return {rows, layout.size() / rows, at(layout), at(without), layout.element_bytes()};
}

/// Strides of rows without a pad.
std::vector<std::uint64_t> compact_strides(const std::vector<std::uint64_t>& shape, unsigned element) {
  std::vector<std::uint64_t> strides(shape.size(), element);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

ElementOffsets numpy_offsets(const std::vector<std::uint64_t>& shape, const std::string& strides_text,
                             unsigned element) {
  const std::vector<std::uint64_t> strides =
      strides_text.empty() ? compact_strides(shape, element) : numbers_in(strides_text);
  if (strides.size() != shape.size())
    throw ExpressionError(fmt::format("the shape has {} and the strides have {}",
                                      support::plural(shape.size(), "number", "numbers"), strides.size()));
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] % element != 0)
      throw ExpressionError(
          fmt::format("stride {} is not a multiple of the {} bytes of an element", strides[i], element));
    end += (shape[i] - 1) * strides[i];
  }
  if (end >= max_tile) throw ExpressionError(fmt::format("it has more than {} bytes", max_tile));
  const std::uint64_t rows = shape.size() == 1 ? 1 : shape[0];
  std::uint64_t columns = 1;
  for (std::size_t i = shape.size() == 1 ? 0 : 1; i < shape.size(); ++i) columns *= shape[i];
  const auto offset = [shape, strides, element](std::uint64_t row, std::uint64_t column) {
    std::uint64_t bytes = shape.size() == 1 ? 0 : row * strides[0];
    for (std::size_t i = shape.size(); i-- > (shape.size() == 1 ? 0 : 1);) {  // the last index counts fastest
      bytes += column % shape[i] * strides[i];
      column /= shape[i];
    }
    return bytes / element;
  };
  return {rows, columns, offset, offset, element};
}

/// The bytes of an element, of which the type and the layout itself may each say something; 0 if neither does.
unsigned element_of(const std::string& type, unsigned of_layout) {
  if (type.empty()) return of_layout;
  const unsigned bytes = predict::bytes_of_element(type);
  if (bytes == 0 || bytes > 16 || !std::has_single_bit(bytes))
    throw support::UsageError(fmt::format(
        "--type {} is no type of 1, 2, 4, 8 or 16 bytes that is known, for example half, float, f16 or int8",
        support::in_quotes(type)));
  if (of_layout != 0 && bytes != of_layout)
    throw support::UsageError(fmt::format("--type {} has {}, but the layout has elements of {}", type,
                                          support::plural(bytes, "byte", "bytes"),
                                          support::plural(of_layout, "byte", "bytes")));
  return bytes;
}

/// The table of the offsets in bytes. Error: ExpressionError.
std::vector<std::uint32_t> table(const ElementOffsets& read,
                                 const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& offset,
                                 unsigned element) {
  std::vector<std::uint32_t> offsets;
  offsets.reserve(read.rows * read.columns);
  for (std::uint64_t row = 0; row < read.rows; ++row) {
    for (std::uint64_t column = 0; column < read.columns; ++column) {
      const std::uint64_t elements = offset(row, column);
      if (elements >= max_tile / element) throw ExpressionError(fmt::format("it has more than {} bytes", max_tile));
      offsets.push_back(std::uint32_t(elements * element));
    }
  }
  return offsets;
}

bool has_repeats(std::vector<std::uint32_t> offsets) {
  std::ranges::sort(offsets);
  return std::ranges::adjacent_find(offsets) != offsets.end();
}

ElementOffsets offsets_of(const TileText& text, unsigned typed) {
  const bool is_triton = looks_like_triton(text.layout);
  const std::vector<std::uint64_t> shape = text.shape.empty() ? std::vector<std::uint64_t>() : numbers_in(text.shape);
  std::uint64_t elements = 1;
  for (const std::uint64_t length : shape) {
    if (length == 0) throw ExpressionError("a length of the shape is 0");
    elements = support::saturating_product(elements, length);
  }
  if (elements > max_tile) throw ExpressionError(fmt::format("it has more than {} elements", max_tile));
  if (is_triton) return triton_offsets(text.layout, shape);
  return text.layout.empty() ? numpy_offsets(shape, text.strides, typed) : cute_offsets(text.layout);
}

/// Error: UsageError for texts that do not fit each other.
void check(const TileText& text) {
  if (text.layout.empty() && text.shape.empty())
    throw support::UsageError(
        "layout needs a layout, for example '(8,64):(64,1)', or --shape; see bankcheck layout --help");
  if (!text.layout.empty() && !text.strides.empty())
    throw support::UsageError("--strides is for a --shape alone, without a layout");
  if (!text.layout.empty() && !text.shape.empty() && !looks_like_triton(text.layout))
    throw support::UsageError("a CuTe layout has a shape: --shape is for Triton's encodings and for --strides");
}

}  // namespace

std::uint64_t Tile::bytes() const {
  return offsets.empty() ? 0 : std::uint64_t{*std::ranges::max_element(offsets)} + element;
}

std::vector<std::uint64_t> numbers_in(std::string_view text) {
  std::string kept(text);
  std::erase(kept, ' ');
  const bool is_closed = kept.size() > 1 && kept.back() == (kept.front() == '(' ? ')' : ']');
  if (is_closed && (kept.front() == '(' || kept.front() == '[')) {
    kept = kept.substr(1, kept.size() - 2);
    if (kept.ends_with(',')) kept.pop_back();  // (64,)
  }
  std::ranges::replace(kept, 'x', ',');
  std::vector<std::uint64_t> numbers;
  for (std::size_t begin = 0; begin <= kept.size();) {
    const std::size_t end = std::min(kept.find(',', begin), kept.size());
    std::uint64_t number = 0;
    constexpr std::size_t most = 8;
    if (!support::parse_number(kept.substr(begin, end - begin), number) || number > max_tile || numbers.size() == most)
      throw ExpressionError(fmt::format("{} is no list of up to {} numbers from 0 to {}, for example 64,64",
                                        support::in_quotes(text), most, max_tile));
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

Tile read_tile(const TileText& text) {
  check(text);
  const std::string numpy =
      fmt::format("shape {}{}", text.shape, text.strides.empty() ? "" : ", strides " + text.strides);
  Tile tile;
  tile.text = text.layout.empty() ? numpy : text.layout;
  const unsigned typed = element_of(text.type, 0);
  if (typed == 0 && text.layout.empty()) throw support::UsageError("a shape needs --type, for example --type half");
  try {
    const ElementOffsets read = offsets_of(text, typed);
    tile.element = element_of(text.type, read.element_bytes);
    if (tile.element == 0)
      throw ExpressionError("it does not say how many bytes an element has: give --type, for example --type half");
    tile.rows = read.rows;
    tile.columns = read.columns;
    tile.offsets = table(read, read.offset, tile.element);
    tile.plain = table(read, read.plain, tile.element);
    tile.repeats = has_repeats(tile.offsets);
    tile.swizzles_bytes = !looks_like_triton(text.layout) && !text.layout.empty() && read.element_bytes != 0;
  } catch (const ExpressionError& error) {
    throw support::UsageError(fmt::format("{}: {}", support::in_quotes(tile.text, 60), error.what()));
  }
  return tile;
}

}  // namespace bankwise::layouts
