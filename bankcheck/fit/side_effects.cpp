#include "bankcheck/fit/side_effects.hpp"

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// Functions, methods and operators that look like them, which only compute a value. Names of types are no part of it,
/// nor are those that begin with two underscores, which the compilers define.
bool only_computes(std::string_view name) {
  constexpr std::string_view names =
      "static_cast reinterpret_cast const_cast sizeof alignof decltype min max umin umax abs clamp mad24 mul24 mad "
      "fma floor floorf ceil ceilf round roundf rint rintf trunc truncf sqrt sqrtf fmin fminf fmax fmaxf fabs fabsf "
      "log2 log2f popcount clz make_int2 make_uint2 get_local_id get_global_id get_group_id get_local_size "
      "get_num_groups get_global_size get_local_linear_id get_sub_group_id thread_rank num_threads size "
      "meta_group_rank meta_group_size group_index thread_index dim_threads convert_int convert_uint as_int as_uint "
      "get_sub_group_local_id";
  return support::has_word(names, name);
}

/// Whether a token is the = of an assignment: not of a comparison, but of <<= and >>=.
bool assigns(const Expressions& code, std::size_t k) {
  if (!code.is(k, "=")) return false;
  const bool shifts = code.is_any(k - 1, "<>") && code.is(k - 2, code.text(k - 1));
  const bool is_second = code.is_any(k - 1, "=!") || (!shifts && code.is_any(k - 1, "<>"));
  const bool is_first = code.is(k + 1, "=") && code.touches_next(k);
  return !is_first && !is_second;
}

/// The { of a function's or a lambda's body whose name is at a token; 0 if none is defined there.
std::size_t body_of(const SourceTokens& code, std::size_t name) {
  const bool is_lambda = code.is(name + 1, "=") && code.is(name + 2, "[");
  const std::size_t open = is_lambda ? code.past_bracket(name + 2) : name + 1;
  if (!is_lambda && !code.is(open, "(")) return 0;
  std::size_t body = code.is(open, "(") ? code.past_bracket(open) : open;
  while (code.is_name(body) || code.is(body, "->")) ++body;  // "const", "noexcept", "-> int"
  const bool is_statement = code.is(body - 1, "else") || code.is(body - 1, "do");
  return code.is(body, "{") && (is_lambda || !is_statement) ? body : 0;
}

}  // namespace

bool is_atomic(std::string_view function) {
  constexpr std::string_view of_cuda = "Add Sub Exch Min Max Inc Dec CAS And Or Xor";
  constexpr std::string_view of_opencl =
      "add sub xchg inc dec cmpxchg min max and or xor load store exchange init fetch_add fetch_sub fetch_or "
      "fetch_xor fetch_and fetch_min fetch_max compare_exchange_strong compare_exchange_weak";
  for (const std::string_view scope : {"_system", "_block", "_explicit"}) {
    if (function.ends_with(scope)) function.remove_suffix(scope.size());
  }
  for (const std::string_view head : {"atomic_", "atom_"}) {
    if (function.starts_with(head)) return support::has_word(of_opencl, function.substr(head.size()));
  }
  constexpr std::string_view head = "atomic";
  return function.starts_with(head) && support::has_word(of_cuda, function.substr(head.size()));
}

bool SideEffects::writes(const Expressions& code, Part part, bool initializes) {
  for (std::size_t k = part.begin; k < part.end; ++k) {
    if (k + 1 < part.end && code.is_pair(k, "+-")) return true;
    const bool is_initial = initializes && code.is_name(k - 1) && code.is_name(k - 2);
    if (assigns(code, k) && !is_initial) return true;
    if (code.takes_address(k)) return true;  // a function may write there
    if (code.is(k, "asm") || code.is(k, "__asm__")) return true;
  }
  return false;
}

std::string_view SideEffects::unknown_call(const Expressions& code, Part part, int depth) const {
  for (std::size_t k = part.begin + 1; k < part.end; ++k) {
    if (!code.is(k, "(")) continue;
    const std::size_t callee = callee_before(code, k, part.begin);
    const bool is_known = code.is_name(callee) && (code.names_type(callee) || is_pure(code.text(callee), depth));
    if (code.is_operand(callee) && !is_known) return code.is_name(callee) ? code.text(callee) : code.text(k);
  }
  return "";
}

/// Whether a function, a lambda or a macro of the source only computes a value, wherever it is defined.
bool SideEffects::is_pure(std::string_view name, int depth) const {
  constexpr int max_depth = 4;
  if (depth > max_depth) return false;
  const auto [known, is_new] = pure_.try_emplace(name, false);
  if (is_new) known->second = computes_only(name, depth + 1);
  return known->second;
}

bool SideEffects::computes_only(std::string_view name, int depth) const {
  bool is_defined = false;
  for (const Macro& macro : macros_of(source_.source)) {
    if (macro.name != name) continue;
    const Expressions inside(source_, parts_of(macro).second);
    if (has_effect(inside, inside.all(), depth)) return false;
    is_defined = true;
  }
  for (std::size_t k = 0; k < source_.tokens.size(); ++k) {
    if (!source_.is_name(k) || !source_.is(k, name)) continue;
    const std::size_t body = body_of(source_, k);
    if (body == 0) continue;
    if (has_effect(source_, {body + 1, source_.past_bracket(body) - 1}, depth)) return false;
    is_defined = true;
  }
  if (is_defined) return true;
  const bool is_of_compiler = name.starts_with("__") && name.find("atomic") == name.npos;
  return only_computes(name) || is_of_compiler;
}

/// Of the body of a function, which may initialize variables of its own.
bool SideEffects::has_effect(const Expressions& code, Part body, int depth) const {
  return writes(code, body, true) || !unknown_call(code, body, depth).empty();
}

}  // namespace bankwise::fit
