// SPDX-License-Identifier: MIT
//
// LLVM's data of a context may be changed by one thread at a time: by a build, by the creation of a kernel, or by the
// plugin when it changes a kernel's code. The preloaded library has the lock, and every other library finds it there.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#define BANKWISE_COMPILER_LOCK "bankwise_compiler_lock"

namespace bankwise::opencl {

/// Null if the preloaded library is missing. Recursive: a program may launch kernels in the callback of a build.
inline pthread_mutex_t* compiler_lock() {
  static auto* const lock = static_cast<pthread_mutex_t*>(dlsym(RTLD_DEFAULT, BANKWISE_COMPILER_LOCK));
  return lock;
}

class CompilerGuard {
 public:
  CompilerGuard() {
    if (compiler_lock() != nullptr) pthread_mutex_lock(compiler_lock());
  }
  ~CompilerGuard() {
    if (compiler_lock() != nullptr) pthread_mutex_unlock(compiler_lock());
  }
  CompilerGuard(const CompilerGuard&) = delete;
  CompilerGuard& operator=(const CompilerGuard&) = delete;
};

}  // namespace bankwise::opencl
