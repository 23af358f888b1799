// SPDX-License-Identifier: MIT
//
// Loaded into the program of `bankcheck opencl` before it starts, for what happens after main() returns. It
// - keeps Oclgrind's stack of API calls alive. The stack is thread_local, so exit() destroys it before the destructors
//   of global variables run. A destructor that releases an OpenCL object would then write into memory that is free.
// - records that the program calls exit(), and with which code (launch_log.hpp). A crash after that is in the program's
//   or Oclgrind's cleanup.
//
// Every process that the program starts loads this too, so it needs only the C library.
//
// Environment variable:
//   BANKWISE_LAUNCHES  the file to append to
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bankcheck/opencl/plugin/append.hpp"

namespace {

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

/// Copied before main(), because the program may clear its environment.
char record[4096];

void exits(int code, void*) {
  char line[64];
  const int length = std::snprintf(line, sizeof line, "exit %ld %d\n", long(getpid()), code);
  bankwise::opencl::append_to(record, {line, std::size_t(length)});
}

/// exit() destroys the thread's variables first, and then calls the handlers, the newest first. A handler that is added
/// now is therefore called before those of the program.
void add_handler(void*) {
  on_exit(exits, nullptr);
}

__attribute__((constructor)) void start() {
  const char* path = std::getenv("BANKWISE_LAUNCHES");
  if (path == nullptr || std::strlen(path) >= sizeof record) return;
  std::memcpy(record, path, std::strlen(path) + 1);
  add_to_thread(add_handler, nullptr, record);
}

}  // namespace

/// The C++ library calls this function for each thread_local variable with a destructor. `library` is an address in the
/// library of the variable.
extern "C" __attribute__((visibility("default"))) int __cxa_thread_atexit_impl(Destructor destructor, void* object,
                                                                               void* library) {
  return belongs_to_oclgrind(library) ? 0 : add_to_thread(destructor, object, library);
}
