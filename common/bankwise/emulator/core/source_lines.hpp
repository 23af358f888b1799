// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: the source of an instruction of this program, from its debug information. For
/// a call, pass an address within it, not its return address.
trace::Site site_of(std::uintptr_t pc);

/// The name of the function that begins there, without its parameters; "?" if the program is stripped.
std::string function_at(std::uintptr_t pc);

}  // namespace bankwise::emulator
