// SPDX-License-Identifier: MIT
//
// Loads and stores with cache hints, and promises to the compiler.
#pragma once

#include <type_traits>

#include <bankwise/emulator/cuda/qualifiers.hpp>

namespace bankwise::cuda {

#define BANKWISE_LOAD(name)                \
  template <class T>                       \
  BANKWISE_WORD T name(const T* address) { \
    return *address;                       \
  }
BANKWISE_LOAD(__ldg)
BANKWISE_LOAD(__ldca)
BANKWISE_LOAD(__ldcg)
BANKWISE_LOAD(__ldcs)
BANKWISE_LOAD(__ldlu)
BANKWISE_LOAD(__ldcv)
#undef BANKWISE_LOAD

#define BANKWISE_STORE(name)                                           \
  template <class T>                                                   \
  BANKWISE_WORD void name(T* address, std::type_identity_t<T> value) { \
    *address = value;                                                  \
  }
BANKWISE_STORE(__stwb)
BANKWISE_STORE(__stcg)
BANKWISE_STORE(__stcs)
BANKWISE_STORE(__stwt)
#undef BANKWISE_STORE

// The condition is not evaluated, as in nvcc.
#ifndef __clang__
#define __builtin_assume(condition) ((void)sizeof(!(condition)))
#endif
#define __assume(condition) __builtin_assume(condition)

}  // namespace bankwise::cuda

using namespace bankwise::cuda;
