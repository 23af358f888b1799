// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/emulator/cuda.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>

// As bankcheck rewrites asm statements.
#define PTX(text, ...) ::bankwise::emulator::device::ptx([] { return text; } __VA_OPT__(, ) __VA_ARGS__)
#define OUT(x) ::bankwise::emulator::device::ptx_out(x)
#define BOTH(x) ::bankwise::emulator::device::ptx_in_out(x)
#define IN(x) ::bankwise::emulator::device::ptx_in(x)
