// SPDX-License-Identifier: MIT
//
// For programs that are linked with OpenCL: Oclgrind is preloaded into them, and this library before it, so that the
// replacements are found first.
#include <dlfcn.h>

#include "bankcheck/opencl/driver/functions.hpp"
#include "bankcheck/opencl/plugin/compiler_lock.hpp"

extern "C" [[gnu::visibility("default")]] pthread_mutex_t bankwise_compiler_lock;
pthread_mutex_t bankwise_compiler_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

const bankwise::opencl::Functions& bankwise::opencl::oclgrinds() {
  static const Functions found = [] {
    Functions next;
#define BANKWISE_FIND(name) next.name = reinterpret_cast<decltype(next.name)>(dlsym(RTLD_NEXT, #name));
    BANKWISE_REPLACED_FUNCTIONS(BANKWISE_FIND)
    BANKWISE_FIND(clGetProgramInfo)
#undef BANKWISE_FIND
    return next;
  }();
  return found;
}
