#include "bankcheck/explorer/typed_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <bankwise/banks/access.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/fit/code.hpp"
#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::explorer {
namespace {

using predict::ExpressionError;
using source::SourceTokens;

/// What code calls the place of a thread in its block. `text` has the block's sizes as {0} and {1}.
struct ThreadName {
  std::string_view name, text;
};
constexpr ThreadName thread_names[]{
    {"tid", "tid"},
    {"lane", "lane"},
    {"laneid", "laneid"},
    {"get_sub_group_local_id()", "get_sub_group_local_id()"},
    {"threadIdx.x", "(threadIdx.x % {0}u)"},
    {"threadIdx.y", "(threadIdx.x / {0}u % {1}u)"},
    {"threadIdx.z", "(threadIdx.x / {0}u / {1}u)"},
    {"tx", "(tid % {0})"},
    {"ty", "(tid / {0} % {1})"},
    {"tz", "(tid / {0} / {1})"},
    {"get_local_id(0)", "(get_local_id(0) % {0}ul)"},
    {"get_local_id(1)", "(get_local_id(0) / {0}ul % {1}ul)"},
    {"get_local_id(2)", "(get_local_id(0) / {0}ul / {1}ul)"},
};
/// Names that are numbers: sizes of the block, and places of the first block. They do not make an index a lane's.
constexpr ThreadName block_names[]{
    {"blockDim.x", "{0}u"},         {"blockDim.y", "{1}u"},
    {"blockIdx.x", "0u"},           {"blockIdx.y", "0u"},
    {"blockIdx.z", "0u"},           {"get_local_size(0)", "{0}ul"},
    {"get_local_size(1)", "{1}ul"}, {"get_group_id(0)", "0ul"},
    {"get_group_id(1)", "0ul"},     {"warpSize", "32"},
};

/// Makes texts that IndexExpression understands. Names that mean nothing to it are variables.
class Names {
 public:
  explicit Names(const TypedCode& code) : code_(code) {}

  std::string replaced(std::string_view text, std::int64_t value_by_default) {
    const SourceTokens code(text);
    std::string result;
    for (std::size_t i = 0, end = 0; i < code.tokens.size(); ++i) {
      const std::size_t begin = code.tokens[i].begin;
      result += text.substr(end, begin - end);
      if (const bool is_function = code.is(i + 1, "(") && !code.text(i).starts_with("get_");
          code.is_name(i) && !is_function) {
        const std::size_t last = last_of_name(code, i);
        end = code.tokens[last].end;
        result += name(text.substr(begin, end - begin), value_by_default);
        i = last;
      } else {
        end = code.tokens[i].end;
        result += text.substr(begin, end - begin);
      }
    }
    return result;
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
    lane_name_ = found;
    return found;
  }

 private:
  /// threadIdx.x and get_local_id(1) are names, too.
  static std::size_t last_of_name(const SourceTokens& code, std::size_t i) {
    std::size_t last = i;
    while (code.is(last + 1, ".") && code.is_name(last + 2)) last += 2;
    if (!code.text(i).starts_with("get_") || !code.is(i + 1, "(")) return last;
    return code.is(i + 2, ")") ? i + 2 : code.is(i + 3, ")") ? i + 3 : last;
  }

  std::string name(std::string_view word, std::int64_t value_by_default) {
    std::string compact(word);
    std::erase(compact, ' ');
    for (const auto& [known, text] : thread_names) {
      if (known != compact) continue;
      has_lane_ = true;
      return fmt::format(fmt::runtime(text), code_.block[0], code_.block[1]);
    }
    for (const auto& [known, text] : block_names) {
      if (known == compact) return fmt::format(fmt::runtime(text), code_.block[0], code_.block[1]);
    }
    if (compact == lane_name_) return "tid";
    const auto given = code_.variables.find(compact);
    const std::int64_t value = given != code_.variables.end() ? given->second : value_by_default;
    return fmt::format("({})", values_.try_emplace(compact, value).first->second);
  }

  const TypedCode& code_;
  std::map<std::string, std::int64_t> values_;
  std::string lane_name_;
  bool has_lane_ = false;
};

/// Bytes of a type that is named as in CUDA, OpenCL C or CuTe; 0: not known.
std::uint64_t bytes_of(std::string type) {
  constexpr std::pair<std::string_view, std::string_view> of_cute[]{
      {"half_t", "half"}, {"bfloat16_t", "half"}, {"tfloat32_t", "float"}, {"float_e4m3_t", "char"}};
  for (const auto& [name, same] : of_cute) {
    if (type == name) type = same;
  }
  const auto declaration = fit::find_declaration("__shared__ " + type + " x[1];", "x", 0, 0, "");
  return declaration ? declaration->element : 0;
}

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
  access.element = bytes_of(access.type);
}

void read_array(const TypedCode& code, Names& names, TypedAccess& access) {
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
    (void)names.replaced(typed.source.substr(begin, typed.tokens[typed.closing(i)].begin - begin), usual_length);
  }
  for (const auto& [name, value] : names.values()) options += fmt::format("-D {}={} ", name, value);
  const bool has_qualifier =
      code.declaration.find("__shared__") != std::string::npos || code.declaration.find("local ") != std::string::npos;
  const auto found =
      fit::find_declaration((has_qualifier ? "" : "__shared__ ") + code.declaration + ";", access.name, 0, 0, options);
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
  std::size_t use = 0;
  const auto is_use = [&](std::size_t i) {
    return code.is_name(i) && code.is(i + 1, "[") && (access.name.empty() || code.is(i, access.name));
  };
  while (use < code.tokens.size() && !is_use(use)) ++use;
  if (use == code.tokens.size()) return {std::string(index)};
  for (std::size_t i = use + 1; code.is(i, "["); i = code.closing(i) + 1) {
    if (code.closing(i) == code.tokens.size()) throw ExpressionError("a ']' is missing");
    parts.push_back(extract(code.tokens[i].end, code.tokens[code.closing(i)].begin));
  }
  const std::size_t wanted = std::max<std::size_t>(access.lengths.size(), 1);
  if (parts.size() == wanted) return parts;
  if (access.name.empty())
    throw FieldError("declaration", fmt::format("declare the array {0}, for example as float {0}{1}", code.text(use),
                                                parts.size() == 2 ? "[32][32]" : "[4][32][32]"));
  throw ExpressionError(fmt::format("{} has {}, and the index has {}", access.name,
                                    support::plural(wanted, "dimension", "dimensions"), parts.size()));
}

/// The element that a lane accesses, in the order of memory.
std::uint64_t element_of(TypedAccess& access, const std::vector<predict::IndexExpression>& subscripts, unsigned lane) {
  const bool has_all = subscripts.size() == access.lengths.size();
  std::vector<std::uint64_t> values;
  std::int64_t element = 0;
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const std::int64_t value = subscripts[i](lane);
    if (access.layout && value < 0)
      throw ExpressionError(fmt::format("coordinate {} is negative (tid {})", value, lane));
    if (value > limit || value < -limit) throw ExpressionError("an index is too large");
    values.push_back(std::uint64_t(value));
    access.is_outside |= has_all && std::uint64_t(value) >= access.lengths[i];  // or negative
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

/// Rethrows what is wrong with a field as an error of this field.
template <class Read>
void in_field(const char* field, Read read) {
  try {
    read();
  } catch (const ExpressionError& error) {
    throw FieldError(field, error.what());
  }
}

}  // namespace

TypedAccess typed_access(const TypedCode& code, unsigned width, std::uint64_t mask) {
  TypedAccess access;
  access.mask = mask;
  Names names(code);
  const bool is_declared = !source::trimmed(code.declaration).empty();
  in_field("declaration", [&] {
    if (is_declared && predict::looks_like_cute_layout(code.declaration)) {
      read_layout(code, access);
    } else if (is_declared) {
      read_array(code, names, access);
    }
  });
  std::set<std::string> declared;
  for (const auto& each : names.values()) declared.insert(each.first);
  access.width = width > 0 ? width : access.element > 0 ? unsigned(std::min<std::uint64_t>(access.element, 16)) : 4;
  if (access.element == 0 && !access.type.empty() && width == 0)
    throw FieldError("declaration",
                     "the bytes of " + support::in_quotes(access.type) + " are not known: choose them below");
  if (access.element == 0) access.element = access.width;
  const std::uint64_t threads = std::uint64_t{code.block[0]} * code.block[1] * code.block[2];
  if (threads < banks::max_lanes) access.mask &= (std::uint64_t{1} << threads) - 1;

  in_field("index", [&] {
    std::vector<predict::IndexExpression> subscripts;
    if (!is_declared && predict::looks_like_cute_layout(code.index)) {
      access.layout.emplace(code.index);
      access.subscripts = {"tid"};
    } else {
      access.subscripts = subscripts_of(code.index, access);
    }
    for (const std::string& each : access.subscripts) (void)names.replaced(each, 0);
    access.lane_name = names.take_lane(declared);
    for (const std::string& each : access.subscripts) subscripts.emplace_back(names.replaced(each, 0));
    access.values = names.values();
    access.addresses.resize(banks::max_lanes);
    std::uint64_t bytes = access.lengths.empty() ? 0 : access.element;
    for (const std::uint64_t length : access.lengths) bytes *= length;
    banks::for_each_lane(access.mask, [&](unsigned lane) {
      const std::uint64_t element = element_of(access, subscripts, lane), address = element * access.element;
      if (address > 0xFFFFFFFF)
        throw ExpressionError(fmt::format("element {} of lane {} has no address below 4 GiB", element, lane));
      access.addresses[lane] = std::uint32_t(address);
      access.is_outside |= bytes > 0 && address + access.width > bytes;
    });
  });
  return access;
}

}  // namespace bankwise::explorer
