// Loaded into the program of `bankcheck opencl` before it starts, and before Oclgrind, which is preloaded into programs
// that are linked with OpenCL: so the replacements are found first. And for what the plugin cannot see, it
// - keeps Oclgrind's stack of API calls alive. The stack is thread_local, so exit() destroys it before the destructors
//   of global variables run. A destructor that releases an OpenCL object would then write into memory that is free.
// - notes the programs that it executes without our variables (watched_exec.hpp).
// - records that the program calls exit(), and with which code (launch_log.hpp). A crash after that is in the program's
//   or Oclgrind's cleanup.
//
// Every process that the program starts loads this too, so it needs only the C library.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <bankwise/support/watched_exec.hpp>
#include "bankcheck/opencl/driver/functions.hpp"
#include "bankcheck/opencl/plugin/launch_log.hpp"

extern "C" [[gnu::visibility("default")]] pthread_mutex_t bankwise_compiler_lock;
pthread_mutex_t bankwise_compiler_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

const bankwise::opencl::Functions& bankwise::opencl::oclgrinds() {
  static const Functions functions = [] {
    Functions next;
#define BANKWISE_FIND(name) next.name = reinterpret_cast<decltype(next.name)>(dlsym(RTLD_NEXT, #name));
    BANKWISE_REPLACED_FUNCTIONS(BANKWISE_FIND)
    BANKWISE_FIND(clGetProgramInfo)
    BANKWISE_FIND(clGetProgramBuildInfo)
#undef BANKWISE_FIND
    return next;
  }();
  return functions;
}

namespace {

using bankwise::opencl::note;
using Destructor = void (*)(void*);
using Register = int (*)(Destructor, void*, void*);

/// glibc's function, which adds a destructor to the thread's list.
int add_to_thread(Destructor destructor, void* object, void* library) {
  static const auto add = reinterpret_cast<Register>(dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl"));
  return add == nullptr ? 0 : add(destructor, object, library);
}

bool belongs_to_oclgrind(const void* library) {
  Dl_info about;
  return dladdr(library, &about) != 0 && about.dli_fname != nullptr &&
         std::strstr(about.dli_fname, "/liboclgrind-rt") != nullptr;
}

void exits(int code, void*) {
  char text[16];
  std::snprintf(text, sizeof text, "%d", code);
  note(bankwise::opencl::event::exit, text);
}

/// exit() destroys the thread's variables first, and then calls the handlers, the newest first. A handler that is added
/// now is therefore called before those of the program.
void add_handler(void*) { on_exit(exits, nullptr); }

__attribute__((constructor)) void start() {
  static char of_this_library;
  add_to_thread(add_handler, nullptr, &of_this_library);
}

}  // namespace

/// The C++ library calls this function for each thread_local variable with a destructor. `library` is an address in the
/// library of the variable.
extern "C" __attribute__((visibility("default"))) int __cxa_thread_atexit_impl(Destructor destructor, void* object,
                                                                               void* library) {
  return belongs_to_oclgrind(library) ? 0 : add_to_thread(destructor, object, library);
}
