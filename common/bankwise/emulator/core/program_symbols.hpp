// SPDX-License-Identifier: MIT
#pragma once

#include <elf.h>

#include <functional>
#include <string>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: visits the symbols of this program's file, including those that the loader
/// does not need. None if the program is stripped.
void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit);

/// A symbol's demangled name; the symbol itself if it is not a C++ name.
std::string plain_name(const char* symbol);

}  // namespace bankwise::emulator
