// What the plugin and the library that is preloaded into the program share.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <bankwise/support/append.hpp>

namespace bankwise::opencl {

// The launch log: a file next to the trace in which both note what happens during a run, and which bankcheck reads
// after it. Each line is "<event> <process> <text>".

namespace event {
inline constexpr const char* begin = "begin";    ///< a launch of the kernel <text> begins
inline constexpr const char* end = "end";        ///< it has ended, and the trace has it
inline constexpr const char* cut = "short";      ///< Oclgrind ended it without "3 of the 4 work-groups of scan"
inline constexpr const char* exit = "exit";      ///< the process calls exit(<text>), or returns from main()
inline constexpr const char* unable = "unable";  ///< why Oclgrind cannot create or run a kernel
inline constexpr const char* build = "build";    ///< a line of the compiler's messages about a build that failed
inline constexpr const char* no_gpu = "no_gpu";  ///< the process asks for devices that are no GPUs, and gets none
}  // namespace event

using support::append_to;

// LLVM's data of a context may be changed by one thread at a time: by a build, by the creation of a kernel, or by the
// plugin when it changes a kernel's code. The preloaded library has the lock, and every other library finds it there.

#define BANKWISE_COMPILER_LOCK "bankwise_compiler_lock"

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
