// SPDX-License-Identifier: MIT
#pragma once

#include <elf.h>

#include <functional>
#include <string>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: visits the symbols of this program's own file, those of the linker and not just those of
/// the loader. None if the program has lost them.
void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit);

/// A symbol's name as C++ writes it; the symbol itself if it is not C++'s.
std::string plain_name(const char* symbol);

}  // namespace bankwise::emulator
