// SPDX-License-Identifier: MIT
#pragma once

/// Code between the emulator and the kernel, which does not count as the kernel's.
#ifdef __clang__
#define BANKWISE_NOT_THE_KERNEL
#else
#define BANKWISE_NOT_THE_KERNEL __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif
