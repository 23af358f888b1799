// SPDX-License-Identifier: MIT
//
// Loaded into the program of `bankcheck opencl` before it starts, for what the plugin cannot see. It
// - keeps Oclgrind's stack of API calls alive. The stack is thread_local, so exit() destroys it before the destructors
//   of global variables run. A destructor that releases an OpenCL object would then write into memory that is free.
// - records that the program calls exit(), and with which code (launch_log.hpp). A crash after that is in the program's
//   or Oclgrind's cleanup.
// - records why Oclgrind cannot create a kernel. Oclgrind only prints that, and the program may redirect its stderr. In
//   Ubuntu's Oclgrind the constructor cannot be replaced; preloaded.cpp then notices the kernel, without the reason.
//
// Every process that the program starts loads this too, so it needs only the C library.
//
// Environment variable:
//   BANKWISE_LAUNCHES  the file to append to
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bankcheck/opencl/driver/note.hpp"
#include "bankcheck/opencl/plugin/append.hpp"

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

/// Copied before main(), because the program may clear its environment.
char record[4096];

void exits(int code, void*) {
  char text[16];
  std::snprintf(text, sizeof text, "%d", code);
  note("exit", text);
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

void bankwise::opencl::note(const char* event, const char* text) {
  char line[512];
  const auto length = int(std::strcspn(text, "\n"));
  const int written = std::snprintf(line, 500, "%s %ld %.*s", event, long(getpid()), length, text);
  const auto end = std::size_t(written < 500 ? written : 499);
  line[end] = '\n';
  append_to(record[0] == '\0' ? nullptr : record, {line, end + 1});
}

/// The constructor of oclgrind::FatalError, which Oclgrind throws where it cannot go on with a kernel.
#define FATAL_ERROR "_ZN8oclgrind10FatalErrorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_m"
__attribute__((visibility("default"))) void fatal_error(void* error, const std::string& reason, const std::string& file,
                                                        std::size_t line) __asm__(FATAL_ERROR);
void fatal_error(void* error, const std::string& reason, const std::string& file, std::size_t line) {
  note("unable", reason.c_str());
  reinterpret_cast<decltype(&fatal_error)>(dlsym(RTLD_NEXT, FATAL_ERROR))(error, reason, file, line);
}

/// The C++ library calls this function for each thread_local variable with a destructor. `library` is an address in the
/// library of the variable.
extern "C" __attribute__((visibility("default"))) int __cxa_thread_atexit_impl(Destructor destructor, void* object,
                                                                               void* library) {
  return belongs_to_oclgrind(library) ? 0 : add_to_thread(destructor, object, library);
}
