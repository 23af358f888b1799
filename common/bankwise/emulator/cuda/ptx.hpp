// Inline PTX. bankcheck rewrites
//
//   asm volatile("bfe.u32 %0, %1, 4, 8;" : "=r"(x) : "r"(y) : "memory");
//
// to a call of ptx<true>() (`true`: volatile) with a function that returns the text, ptx_out(x) and ptx_in(y). The
// emulator interprets the text when a lane comes to it; the compiler only looks at the names of the instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator::device {

/// The PTX instructions that the emulator knows, without their suffixes.
inline constexpr const char* ptx_names[]{
    "abs",       "activemask", "add",          "and",    "atom",  "bar",      "barrier",
    "bfe",       "bfi",        "bfind",        "bmsk",   "bra",   "brev",     "clz",
    "cos",       "cp",         "createpolicy", "cvt",    "cvta",  "discard",  "div",
    "dp4a",      "elect",      "ex2",          "exit",   "fence", "fma",      "griddepcontrol",
    "isspacep",  "ld",         "ldmatrix",     "ldu",    "lg2",   "lop3",     "mad",
    "match",     "max",        "mbarrier",     "membar", "min",   "mma",      "mov",
    "mul",       "nanosleep",  "neg",          "not",    "or",    "popc",     "prefetch",
    "prefetchu", "prmt",       "rcp",          "red",    "redux", "rem",      "rsqrt",
    "sad",       "selp",       "set",          "setp",   "shf",   "shfl",     "shl",
    "shr",       "sin",        "slct",         "sqrt",   "st",    "stmatrix", "sub",
    "tanh",      "trap",       "vote",         "xor"};

/// Whether all instructions of a text are known, as far as their names without suffixes go.
constexpr bool ptx_is_known(std::string_view text) {
  constexpr std::string_view in_names = "abcdefghijklmnopqrstuvwxyz0123456789_$%ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  bool at_start = true;  // whether a statement begins here
  while (!text.empty()) {
    const std::string_view two = text.substr(0, 2);
    const char c = text[0];
    std::size_t end = 1;
    if (two == "//") {
      end = text.find('\n');
    } else if (two == "/*") {
      const std::size_t last = text.find("*/", 2);
      end = last == text.npos ? last : last + 2;
    } else if (two == "::") {  // .shared::cta
      end = 2;
    } else if (c == ';' || c == ':') {
      at_start = true;
    } else if (at_start && c == '@') {  // the predicate
      end = text.find_first_of(" \t");
    } else if (at_start && std::string_view(" \t\n\r{}").find(c) == text.npos) {  // a later brace: a list of operands
      at_start = false;
      end = text.find_first_not_of(in_names);
      const std::string_view name = text.substr(0, end);
      const std::size_t next = text.find_first_not_of(' ', name.size());
      const bool is_label = next != text.npos && text[next] == ':';
      bool known = is_label || c == '.';  // .reg and other declarations
      for (const std::string_view instruction : ptx_names) known |= instruction == name;
      if (!known) return false;
    }
    text = text.substr(end < text.size() ? end : text.size());
  }
  return true;
}

/// Executes PTX on operands, whose values it changes. Not inlined, because the emulator reads the return address.
void interpret_ptx(const char* text, std::uint64_t* operands, std::size_t count, bool is_volatile) noexcept;

__attribute__((__error__("this inline PTX has an instruction that is not emulated"))) void instruction_not_emulated();

/// Operands: constraints "=r", "+r", "r".
template <class T>
struct PtxOut {
  BANKWISE_DEVICE std::uint64_t before() const { return 0; }
  BANKWISE_DEVICE void after(std::uint64_t bits) const { target = from_bits<T>(bits); }
  T& target;
};
template <class T>
struct PtxInOut : PtxOut<T> {
  BANKWISE_DEVICE std::uint64_t before() const { return to_bits(this->target); }
};
struct PtxIn {
  BANKWISE_DEVICE std::uint64_t before() const { return bits; }
  BANKWISE_DEVICE void after(std::uint64_t) const {}
  std::uint64_t bits;
};
template <class T>
BANKWISE_DEVICE PtxOut<T> ptx_out(T& target) {
  return {target};
}
template <class T>
BANKWISE_DEVICE PtxInOut<T> ptx_in_out(T& target) {
  return {{target}};
}
/// By value: g++ binds no reference to the address of a __restrict__ pointer's element, and an array becomes a pointer.
template <class T>
BANKWISE_DEVICE PtxIn ptx_in(T value) {
  return {to_bits(value)};
}

template <bool is_volatile = false, class Text, class... Operands>
BANKWISE_DEVICE void ptx(Text text, const Operands&... operands) {
  if constexpr (ptx_is_known(text())) {
    std::uint64_t values[] = {operands.before()..., 0};
    interpret_ptx(text(), values, sizeof...(operands), is_volatile);
    std::size_t i = 0;
    (operands.after(values[i++]), ...);
  } else {
    instruction_not_emulated();
  }
}

}  // namespace bankwise::emulator::device
