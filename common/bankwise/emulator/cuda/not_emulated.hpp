// SPDX-License-Identifier: MIT
//
// Functions of CUDA that are not emulated. They are declared, so that headers and their users compile, but a call is an
// error at compile time that names the function, the file and the line.
#pragma once

#include <bankwise/emulator/cuda/qualifiers.hpp>

/// A function with any arguments.
#define BANKWISE_NOT_EMULATED(result, name) \
  template <class... Arguments>             \
  __attribute__((error(#name " is not emulated"))) result name(Arguments&&...);
/// A template that is called with numbers or types, name<8>(…).
#define BANKWISE_NO_TEMPLATE(result, name)                                      \
  template <auto... numbers, class... Arguments>                                \
  __attribute__((error(#name " is not emulated"))) result name(Arguments&&...); \
  template <class First, class... Types, class... Arguments>                    \
  __attribute__((error(#name " is not emulated"))) result name(Arguments&&...);
