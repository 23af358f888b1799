// SPDX-License-Identifier: MIT
//
// The PTX instructions that the emulator knows, without their suffixes.
#pragma once

namespace bankwise::emulator::device {

inline constexpr const char* ptx_names[]{
    "abs",      "activemask", "add",      "and",       "atom",     "bar",  "barrier",      "bfe",   "bfi",
    "bfind",    "bra",        "brev",     "clz",       "cos",      "cp",   "createpolicy", "cvt",   "cvta",
    "discard",  "div",        "dp4a",     "elect",     "ex2",      "exit", "fence",        "fma",   "griddepcontrol",
    "isspacep", "ld",         "ldmatrix", "ldu",       "lg2",      "lop3", "mad",          "match", "max",
    "mbarrier", "membar",     "min",      "mma",       "mov",      "mul",  "nanosleep",    "neg",   "not",
    "or",       "popc",       "prefetch", "prefetchu", "prmt",     "rcp",  "red",          "redux", "rem",
    "rsqrt",    "sad",        "selp",     "set",       "setp",     "shf",  "shfl",         "shl",   "shr",
    "sin",      "slct",       "sqrt",     "st",        "stmatrix", "sub",  "tanh",         "trap",  "vote",
    "xor"};

/// Whether all instructions of a text are known, as far as their names without suffixes go.
constexpr bool ptx_is_known(const char* text) {
  bool at_start = true;  // whether a statement begins here
  while (*text != 0) {
    if (text[0] == '/' && text[1] == '/') {
      while (*text != 0 && *text != '\n') ++text;
      continue;
    }
    if (text[0] == '/' && text[1] == '*') {
      text += 2;
      while (*text != 0 && !(text[0] == '*' && text[1] == '/')) ++text;
      if (*text != 0) text += 2;
      continue;
    }
    const char c = *text;
    if (c == ':' && text[1] == ':') {  // .shared::cta
      text += 2;
      continue;
    }
    if (c == ';' || c == '{' || c == '}' || c == ':') {
      // A brace after the beginning of a statement is a list of operands.
      if (c == ';' || c == ':' || at_start) at_start = true;
      ++text;
      continue;
    }
    if (!at_start || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++text;
      continue;
    }
    if (c == '@') {  // the predicate
      while (*text != 0 && *text != ' ' && *text != '\t') ++text;
      continue;
    }
    at_start = false;
    if (c == '.') continue;  // .reg and other declarations
    const char* end = text;
    while ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z') || (*end >= '0' && *end <= '9') ||
           *end == '_' || *end == '$' || *end == '%') {
      ++end;
    }
    const char* after = end;
    while (*after == ' ') ++after;
    if (*after == ':') {  // a label
      text = after;
      continue;
    }
    bool known = false;
    for (const char* const name : ptx_names) {
      int i = 0;
      while (name[i] != 0 && text + i < end && name[i] == text[i]) ++i;
      known |= name[i] == 0 && text + i == end;
    }
    if (!known) return false;
    text = end;
  }
  return true;
}

}  // namespace bankwise::emulator::device
