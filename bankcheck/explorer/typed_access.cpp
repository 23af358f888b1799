#include "bankcheck/explorer/typed_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <bankwise/banks/access.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/index.hpp"
#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::explorer {
namespace {

using predict::ExpressionError;
using source::SourceTokens;

/// The names in code that mean nothing to an index: variables with one value in all lanes.
class Variables {
 public:
  explicit Variables(const TypedCode& code) : code_(code) {}

  void note(std::string_view text, std::int64_t value_by_default) {
    const SourceTokens code(text);
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (!code.is_name(i)) continue;
      std::string name(code.text(i));
      for (; code.is(i + 1, ".") && code.is_name(i + 2); i += 2) name += fmt::format(".{}", code.text(i + 2));
      if (code.is(i + 1, "(") || is_known(name)) {
        has_lane_ |= name != "min" && name != "max" && name != "abs" && name != "get_local_size" &&
                     !name.starts_with("blockDim");
      } else {
        const auto given = code_.variables.find(name);
        values_.try_emplace(name, given != code_.variables.end() ? given->second : value_by_default);
      }
    }
  }

  const std::map<std::string, std::int64_t>& values() const { return values_; }

  /// If the code has no lane and one variable that no declaration has, that variable is the lane. Returns its name.
  std::string take_lane(const std::set<std::string>& declared) {
    if (has_lane_) return "";
    std::string found;
    for (const auto& [name, value] : values_) {
      if (declared.contains(name)) continue;
      if (!found.empty()) return "";
      found = name;
    }
    values_.erase(found);
    return found;
  }

 private:
  static bool is_known(const std::string& name) {
    try {
      (void)predict::IndexExpression(name, {.block = {1, 1, 1}});
      return true;
    } catch (const ExpressionError&) {
      return false;
    }
  }

  const TypedCode& code_;
  std::map<std::string, std::int64_t> values_;
  bool has_lane_ = false;
};

/// "half s = " before a layout.
void read_layout(const TypedCode& code, TypedAccess& access) {
  const std::string_view text = code.declaration;
  std::size_t begin = text.find('(');
  for (const std::string_view name :
       {"Swizzle<", "Sw<", "S<", "smem_ptr[", "Layout<", "make_layout(", "composition(", "cute::"})
    begin = std::min(begin, text.find(name));
  std::string_view before = source::trimmed(text.substr(0, begin));
  const bool is_named = before.ends_with('=');
  if (is_named) before = source::trimmed(before.substr(0, before.size() - 1));
  if (const std::size_t blank = before.find_last_of(" \t"); is_named) {
    access.name = before.substr(blank == std::string_view::npos ? 0 : blank + 1);
    before = source::trimmed(before.substr(0, before.size() - access.name.size()));
  }
  access.type = before;
  access.layout_at = std::min(begin, text.size());
  access.layout.emplace(text.substr(access.layout_at));
  access.element = access.layout->element_bytes();
  if (access.type == "auto" || access.type == "using") access.type.clear();
  if (access.type.empty() || access.element > 0) return;
  access.element = predict::bytes_of_element(access.type);
}

void read_array(const TypedCode& code, Variables& variables, TypedAccess& access) {
  const SourceTokens typed(code.declaration);
  std::size_t at = 0;
  while (at < typed.tokens.size() && !(typed.is_name(at) && typed.is(at + 1, "["))) ++at;
  if (at == typed.tokens.size())
    throw ExpressionError("an array is declared as in float tile[32][33], or by a CuTe layout as in (8,64):(64,1)");
  access.name = typed.text(at);
  constexpr std::int64_t usual_length = 32;
  std::string options;
  for (std::size_t i = at + 1; typed.is(i, "["); i = typed.closing(i) + 1) {
    if (typed.closing(i) == typed.tokens.size()) throw ExpressionError("a ']' is missing");
    const std::size_t begin = typed.tokens[i].end;
    variables.note(typed.source.substr(begin, typed.tokens[typed.closing(i)].begin - begin), usual_length);
  }
  for (const auto& [name, value] : variables.values()) options += fmt::format("-D {}={} ", name, value);
  const bool has_qualifier =
      code.declaration.find("__shared__") != std::string::npos || code.declaration.find("local ") != std::string::npos;
  const auto found = fit::find_declaration((has_qualifier ? "" : "__shared__ ") + code.declaration + ";",
                                           {.name = access.name, .options = options});
  const bool is_dynamic = found && found->dimensions == std::vector<std::string>{""};  // extern __shared__ float s[];
  if (!found || (!is_dynamic && found->lengths.size() != found->dimensions.size()))
    throw ExpressionError(fmt::format("the lengths of {} are not known", access.name));
  access.type = found->type;
  access.element = found->element;
  if (is_dynamic) return;
  access.lengths = found->lengths;
  access.dimensions = found->dimensions;
  constexpr std::uint64_t most = std::uint64_t{1} << 24;
  std::uint64_t elements = 1;
  for (const std::uint64_t length : access.lengths) {
    elements = length > most ? most + 1 : elements * length;
    if (elements > most) throw ExpressionError("the array has more than 2^24 elements");
  }
}

[[noreturn]] void ask_for_declaration(std::string_view name, std::size_t dimensions) {
  throw FieldError("declaration", fmt::format("declare the array {0}, for example as float {0}{1}", name,
                                              dimensions == 1   ? "[1024]"
                                              : dimensions == 2 ? "[32][32]"
                                                                : "[4][32][32]"));
}

/// Whether "s[" at this token is declared there, as in "float s[": it follows a type.
bool is_declared_at(const SourceTokens& code, std::size_t i) {
  return i > 0 && code.is_name(i - 1) && !code.is(i - 1, "return") && !code.is(i - 1, "else") && !code.is(i - 1, "do");
}

/// The subscripts of the first use of the array. Without one the whole text is one subscript.
std::vector<std::string> subscripts_of(std::string_view index, const TypedAccess& access) {
  const SourceTokens code(index);
  const auto extract = [&](std::size_t begin, std::size_t end) {
    return std::string(source::trimmed(index.substr(begin, end - begin)));
  };
  std::vector<std::string> parts;
  if (access.layout) {
    const bool is_call = !access.name.empty() && code.is(0, access.name) && code.is(1, "(");
    const std::size_t open = is_call ? 1 : 0;
    if (!code.is(open, "(")) return {std::string(index)};
    std::size_t begin = code.tokens[open].end;
    int depth = 0;
    for (std::size_t i = open; i < code.tokens.size(); ++i) {
      depth += code.is(i, "(") ? 1 : code.is(i, ")") ? -1 : 0;
      const bool ends = depth == 0;
      if (ends && i + 1 < code.tokens.size() && !is_call) return {std::string(index)};  // "(tid + 1) * 8"
      if (ends || (depth == 1 && code.is(i, ","))) parts.push_back(extract(begin, code.tokens[i].begin));
      if (ends) return parts;
      begin = depth == 1 && code.is(i, ",") ? code.tokens[i].end : begin;
    }
    throw ExpressionError("a ')' is missing at the end");
  }
  std::size_t use = code.tokens.size(), other = use;  // the first use of the array, and that of another one
  for (std::size_t i = code.tokens.size(); i-- > 0;) {
    if (!code.is_name(i) || !code.is(i + 1, "[")) continue;
    const bool is_own = access.name.empty() || code.is(i, access.name);
    if (is_own && is_declared_at(code, i))
      throw ExpressionError(fmt::format("this declares {0}: add an access, as in {0}[threadIdx.x]", code.text(i)));
    (is_own ? use : other) = i;
  }
  const bool is_other = use == code.tokens.size();
  if (is_other && other == use) return {std::string(index)};
  use = is_other ? other : use;
  for (std::size_t i = use + 1; code.is(i, "["); i = code.closing(i) + 1) {
    if (code.closing(i) == code.tokens.size()) throw ExpressionError("a ']' is missing");
    parts.push_back(extract(code.tokens[i].end, code.tokens[code.closing(i)].begin));
  }
  const std::size_t wanted = std::max<std::size_t>(access.lengths.size(), 1);
  if (is_other) ask_for_declaration(code.text(use), parts.size());
  if (parts.size() == wanted) return parts;
  if (access.name.empty()) ask_for_declaration(code.text(use), parts.size());
  throw ExpressionError(fmt::format("{} has {}, and the index has {}", access.name,
                                    support::plural(wanted, "dimension", "dimensions"), parts.size()));
}

/// "threadIdx.x reaches 31, but s has 16 rows".
std::string outside_text(const TypedAccess& access, std::size_t dimension, std::int64_t value) {
  const std::size_t count = access.lengths.size();
  const std::string one = count != 2 ? "element" : dimension == 0 ? "row" : "column";
  return fmt::format("{} {} {}, but {} has {}{}", access.subscripts[dimension], value < 0 ? "is" : "reaches", value,
                     access.name, support::plural(access.lengths[dimension], one, one + "s"),
                     count > 2 ? fmt::format(" in dimension {}", dimension + 1) : "");
}

/// The element that a lane accesses, in the order of memory. `furthest`: the subscript that leaves its dimension most.
std::uint64_t element_of(TypedAccess& access, const predict::IndexNames& names, unsigned lane, std::int64_t& furthest) {
  const std::vector<std::string>& subscripts = access.subscripts;
  const bool has_all = subscripts.size() == access.lengths.size();
  std::vector<std::uint64_t> values;
  std::int64_t element = 0;
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const std::int64_t value = predict::IndexExpression(subscripts[i], names)(lane);
    if (access.layout && value < 0)
      throw ExpressionError(fmt::format("coordinate {} is negative (tid {})", value, lane));
    if (value > limit || value < -limit) throw ExpressionError("an index is too large");
    values.push_back(std::uint64_t(value));
    const bool leaves = has_all && std::uint64_t(value) >= access.lengths[i];  // or negative
    if (leaves && (access.outside.empty() || value > furthest)) {
      access.outside = outside_text(access, i, value);
      furthest = value;
    }
    element = element * (i > 0 ? std::int64_t(access.lengths.empty() ? 1 : access.lengths[i]) : 1) + value;
    if (element > limit || element < -limit) throw ExpressionError("an index is too large");
  }
  try {
    if (access.layout) return (*access.layout)(values);
  } catch (const ExpressionError& error) {
    throw ExpressionError(fmt::format("{} (tid {})", error.what(), lane));
  }
  if (element < 0) throw ExpressionError(fmt::format("element {} of lane {} is negative", element, lane));
  return std::uint64_t(element);
}

/// A block of more rows with which no index leaves its dimension: " set the block, for example 16 x 16"; or "".
std::string block_hint(const TypedCode& code, unsigned width, std::uint64_t mask) {
  if (code.block[1] > 1 || code.block[2] > 1) return "";
  for (const auto& [x, y] : {std::pair{32U, 8U}, {16U, 16U}, {8U, 8U}}) {
    TypedCode other = code;
    other.block = {x, y, 1};
    if (typed_access(other, width, mask).outside.empty())
      return fmt::format("set the block, for example {} x {}", x, y);
  }
  return "";
}

/// Rethrows what is wrong with a field as an error of this field.
template <class Read>
void in_field(const char* field, Read read) {
  try {
    read();
  } catch (const ExpressionError& error) {
    throw FieldError(field, error.what());
  }
}

/// Whether an index is one of a layout: not empty, and not code that uses another array.
bool is_coordinate(std::string_view index, std::string_view name) {
  const SourceTokens code(index);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is_name(i) && code.is(i + 1, "[") && !code.is(i, name)) return false;
  }
  return !code.tokens.empty();
}

}  // namespace

TypedAccess typed_access(const TypedCode& code, unsigned width, std::uint64_t mask) {
  TypedAccess access;
  access.mask = mask;
  Variables variables(code);
  access.layout_in_index = predict::looks_like_cute_layout(code.index);
  const bool is_declared = !access.layout_in_index && !source::trimmed(code.declaration).empty();
  in_field("declaration", [&] {
    if (is_declared && predict::looks_like_cute_layout(code.declaration)) {
      read_layout(code, access);
    } else if (is_declared) {
      read_array(code, variables, access);
    }
  });
  if (access.layout_in_index) {
    in_field("index", [&] { access.layout.emplace(code.index); });
    access.element = access.layout->element_bytes();
  }
  std::set<std::string> declared;
  for (const auto& each : variables.values()) declared.insert(each.first);
  access.width = width > 0 ? width : access.element > 0 ? unsigned(std::min<std::uint64_t>(access.element, 16)) : 4;
  if (access.element == 0 && !access.type.empty() && width == 0)
    throw FieldError("declaration",
                     "the bytes of " + support::in_quotes(access.type) + " are not known: choose them below");
  if (access.element == 0) access.element = access.width;
  const std::uint64_t threads = std::uint64_t{code.block[0]} * code.block[1] * code.block[2];
  if (threads < banks::max_lanes) access.mask &= (std::uint64_t{1} << threads) - 1;

  in_field("index", [&] {
    access.lane_is_element = access.layout_in_index || (access.layout && !is_coordinate(code.index, access.name));
    if (access.lane_is_element) {
      access.subscripts = {"tid"};
    } else {
      access.subscripts = subscripts_of(code.index, access);
    }
    for (const std::string& each : access.subscripts) variables.note(each, 0);
    access.lane_name = variables.take_lane(declared);
    access.values = variables.values();
    predict::IndexNames names{code.block, {access.values.begin(), access.values.end()}};
    access.addresses.resize(banks::max_lanes);
    std::int64_t furthest = 0;
    std::uint64_t bytes = access.lengths.empty() ? 0 : access.element;
    for (const std::uint64_t length : access.lengths) bytes *= length;
    banks::for_each_lane(access.mask, [&](unsigned lane) {
      if (!access.lane_name.empty()) names.values[access.lane_name] = lane;
      const std::uint64_t element = element_of(access, names, lane, furthest), address = element * access.element;
      if (address > 0xFFFFFFFF)
        throw ExpressionError(fmt::format("element {} of lane {} has no address below 4 GiB", element, lane));
      access.addresses[lane] = std::uint32_t(address);
      if (bytes > 0 && address + access.width > bytes && access.outside.empty())
        access.outside = fmt::format("lane {} accesses bytes {} to {}, but {} has {}", lane, address,
                                     address + access.width - 1, access.name, support::plural(bytes, "byte", "bytes"));
    });
  });
  if (access.outside.empty() || access.lengths.size() < 2) return access;
  access.block_hint = block_hint(code, width, mask);
  return access;
}

}  // namespace bankwise::explorer
