// Arrays as kernels declare them: their elements' bytes and extents, and an access to them as an index expression.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::predict {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

bool is_name(std::string_view text) {
  const auto is_part = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && std::ranges::all_of(text, is_part) && (text[0] < '0' || text[0] > '9');
}

/// "name[a][b]": the name and what is in each pair of brackets; nothing if the text has no such form.
struct Subscripts {
  std::string name;
  std::vector<std::string> inside;
};
std::optional<Subscripts> subscripts_in(std::string_view text) {
  Subscripts found{std::string(trimmed(text.substr(0, text.find('[')))), {}};
  for (text.remove_prefix(std::min(text.find('['), text.size())); !text.empty(); text = trimmed(text)) {
    if (text.front() != '[') return std::nullopt;
    int depth = 0;
    const auto end = std::ranges::find_if(text, [&](char c) {
      depth += int(c == '[') - int(c == ']');
      return depth == 0;
    });
    if (end == text.end()) return std::nullopt;
    found.inside.emplace_back(text.begin() + 1, end);
    text.remove_prefix(std::size_t(end - text.begin()) + 1);
  }
  return found.inside.empty() ? std::nullopt : std::optional(found);
}

}  // namespace

bool is_decoration(std::string_view word) {
  return support::has_word("extern static volatile const __restrict__ alignas __align__ __shared__ local __local",
                           word);
}

std::uint64_t bytes_of_type(const std::string& type) {
  static const std::map<std::string, std::uint64_t, std::less<>> scalars{
      {"char", 1},   {"uchar", 1},   {"int8_t", 1},  {"uint8_t", 1}, {"bool", 1},          {"short", 2},
      {"ushort", 2}, {"half", 2},    {"__half", 2},  {"int16_t", 2}, {"__nv_bfloat16", 2}, {"uint16_t", 2},
      {"int", 4},    {"uint", 4},    {"float", 4},   {"int32_t", 4}, {"uint32_t", 4},      {"unsigned", 4},
      {"long", 8},   {"ulong", 8},   {"double", 8},  {"int64_t", 8}, {"uint64_t", 8},      {"size_t", 8},
      {"half2", 4},  {"__half2", 4}, {"longlong", 8}};
  std::string word = type;
  for (const char* sign : {"unsigned ", "signed "}) {
    if (word.starts_with(sign)) word = word.substr(std::string_view(sign).size());
  }
  if (const auto scalar = scalars.find(word); scalar != scalars.end()) return scalar->second;
  for (const std::uint64_t count : {16, 8, 4, 2}) {
    const std::string digits = std::to_string(count);
    if (!word.ends_with(digits)) continue;
    const auto scalar = scalars.find(word.substr(0, word.size() - digits.size()));
    if (scalar != scalars.end()) return scalar->second * count;
  }
  return 0;
}

std::uint64_t bytes_of_element(const std::string& type) {
  static const std::map<std::string, std::uint64_t, std::less<>> of_libraries{
      {"half_t", 2},  {"bfloat16_t", 2}, {"tfloat32_t", 4}, {"float_e4m3_t", 1}, {"float_e5m2_t", 1}, {"f64", 8},
      {"f32", 4},     {"tf32", 4},       {"f16", 2},        {"bf16", 2},         {"f8E4M3FN", 1},     {"f8E5M2", 1},
      {"i64", 8},     {"i32", 4},        {"i16", 2},        {"i8", 1},           {"float64", 8},      {"float32", 4},
      {"float16", 2}, {"bfloat16", 2},   {"int64", 8},      {"int32", 4},        {"int16", 2},        {"int8", 1},
      {"uint64", 8},  {"uint32", 4},     {"uint16", 2},     {"uint8", 1},        {"complex64", 8}};
  const auto found = of_libraries.find(type);
  return found != of_libraries.end() ? found->second : bytes_of_type(type);
}

ArrayDeclaration array_declared(const std::string& text, const IndexNames& names) {
  const auto refuse = [&](const std::string& why) {
    throw support::UsageError(fmt::format("--array {}: {}", support::in_quotes(text, 60), why));
  };
  constexpr const char* example = "a declaration is missing, for example 'float tile[32][33]'";
  std::string_view rest = trimmed(text);
  if (rest.ends_with(';')) rest = trimmed(rest.substr(0, rest.size() - 1));
  const auto found = subscripts_in(rest);
  if (!found) refuse(example);
  ArrayDeclaration array;
  std::string type;
  for (std::string_view words = found->name; !words.empty();) {
    const auto end = std::min(words.find_first_of(blanks), words.size());
    const std::string_view word = words.substr(0, end);
    words = trimmed(words.substr(end));
    if (words.empty()) {
      array.name = word;
    } else if (!is_decoration(word.substr(0, word.find('(')))) {
      type += (type.empty() ? "" : " ") + std::string(word);
    }
  }
  if (!is_name(array.name) || type.empty()) refuse(example);
  array.bytes = unsigned(bytes_of_type(type));
  if (array.bytes == 0)
    refuse(fmt::format("the size of a {} is not known; give its bytes as --width without --array", type));
  for (const std::string& inside : found->inside) {
    if (trimmed(inside).empty() && array.extents.empty()) {
      array.extents.push_back(0);
      continue;
    }
    try {
      const std::int64_t extent = IndexExpression(inside, {names.block, names.values})(0);
      if (extent < 1 || extent > std::int64_t{0xFFFFFFFF}) throw ExpressionError("it is no extent");
      array.extents.push_back(std::uint64_t(extent));
    } catch (const ExpressionError& error) {
      refuse(fmt::format("[{}]: {}; --let TILE=32 gives a name a value", inside, error.what()));
    }
  }
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : array.extents) {
    elements *= std::max<std::uint64_t>(extent, 1);  // each is below 2^32, and so is the product of those before
    if (elements > 0xFFFFFFFF) refuse("it is larger than 4 GiB");
  }
  return array;
}

std::string element_number(const std::string& index, const std::optional<ArrayDeclaration>& array) {
  const auto access = subscripts_in(trimmed(index));
  if (index.find('[') == std::string::npos) return index;
  if (!access || !is_name(access->name)) throw ExpressionError("it is no access of the form tile[y][x]");
  for (const std::string& inside : access->inside) {
    if (inside.find('[') != std::string::npos) {
      throw ExpressionError(
          fmt::format("{} depends on data: give the addresses in a CSV file", support::in_quotes(inside)));
    }
  }
  const std::size_t dimensions = array ? array->extents.size() : 1, given = access->inside.size();
  if (array && access->name != array->name) {
    throw ExpressionError(fmt::format("the array is {}, not {}", array->name, access->name));
  }
  if (given != dimensions) {
    throw ExpressionError(fmt::format(
        "it has {}, {}", support::plural(given, "subscript", "subscripts"),
        array ? fmt::format("and {} needs {}", array->name, dimensions)
              : fmt::format("so it needs the declaration, for example --array 'float {}[32][33]'", access->name)));
  }
  std::string expression = fmt::format("({})", access->inside[0]);
  for (std::size_t i = 1; i < given; ++i) {
    expression = fmt::format("({}) * {}ll + ({})", expression, array->extents[i], access->inside[i]);
  }
  return expression;
}

}  // namespace bankwise::predict
