// SPDX-License-Identifier: MIT
#pragma once

#include <elf.h>

#include <functional>

namespace bankwise::emulator {

/// Internal to common/emulator: visits the symbols of this program's own file, those of the linker and not just those of
/// the loader. None if the program has lost them.
void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit);

}  // namespace bankwise::emulator
