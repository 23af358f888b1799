// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: what this program says about itself: its symbols and its source lines.
#pragma once

#include <elf.h>

#include <cstdint>
#include <functional>
#include <string>

#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// Visits the symbols of this program's file, including those that the loader
/// does not need. None if the program is stripped.
void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit);

/// A symbol's demangled name; the symbol itself if it is not a C++ name.
std::string plain_name(const char* symbol);

/// The source of an instruction of this program, from its debug information. For
/// a call, pass an address within it, not its return address.
trace::Site site_of(std::uintptr_t pc);

/// The name of the function that begins there, without its parameters; "?" if the program is stripped.
std::string function_at(std::uintptr_t pc);

}  // namespace bankwise::emulator
