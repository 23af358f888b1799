// Replaces the functions with which a checked program executes another one: a program that gets an environment without
// bankcheck's variables is not watched, and is noted in a file. For one source of each library that is preloaded into
// programs or linked with them. Needs only the C library.
#pragma once

#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <bankwise/support/append.hpp>
#include <bankwise/support/watch_request.hpp>

namespace bankwise::support {

/// A copy of the variable: the program may clear its own environment before it executes another program.
static const char* unwatched_file = nullptr;
[[gnu::constructor]] static void remember_unwatched_file() {
  const char* const path = std::getenv(unwatched_variable);
  unwatched_file = path == nullptr ? nullptr : strdup(path);
}

/// Notes the program if its environment lacks bankcheck's variables.
static void note_executed(const char* program, char* const* environment) {
  const std::size_t length = std::strlen(unwatched_variable);
  for (; unwatched_file != nullptr && environment != nullptr && *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, unwatched_variable, length) == 0 && (*environment)[length] == '=') return;
  }
  const bool is_path = std::strchr(program, '/') != nullptr;  // shells try one path after another
  if (unwatched_file == nullptr || (is_path && access(program, X_OK) != 0)) return;
  append_to(unwatched_file, std::string(program) + '\n');
}

/// The C library's function.
template <class Function>
static Function* replaced(Function* /*ours*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace bankwise::support

#define BANKWISE_NEXT(function) ::bankwise::support::replaced(&function, #function)
#define BANKWISE_EXPORTED [[gnu::visibility("default")]]
/// The arguments from `first` to a null pointer, as an array; `rest` stands after it then.
#define BANKWISE_LIST(arguments, first, rest)                                                  \
  va_list rest, counted;                                                                       \
  va_start(rest, first);                                                                       \
  va_copy(counted, rest);                                                                      \
  std::size_t count = 1;                                                                       \
  while (va_arg(counted, char*) != nullptr) ++count;                                           \
  va_end(counted);                                                                             \
  auto** const arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  arguments[0] = const_cast<char*>(first);                                                     \
  for (std::size_t i = 1; i <= count; ++i) arguments[i] = va_arg(rest, char*)

extern "C" {

BANKWISE_EXPORTED int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  bankwise::support::note_executed(path, environment);
  return BANKWISE_NEXT(execve)(path, arguments, environment);
}
BANKWISE_EXPORTED int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  bankwise::support::note_executed(file, environment);
  return BANKWISE_NEXT(execvpe)(file, arguments, environment);
}
BANKWISE_EXPORTED int execv(const char* path, char* const* arguments) noexcept {
  bankwise::support::note_executed(path, environ);
  return BANKWISE_NEXT(execv)(path, arguments);
}
BANKWISE_EXPORTED int execvp(const char* file, char* const* arguments) noexcept {
  bankwise::support::note_executed(file, environ);
  return BANKWISE_NEXT(execvp)(file, arguments);
}
BANKWISE_EXPORTED int execl(const char* path, const char* first, ...) noexcept {
  BANKWISE_LIST(arguments, first, rest);
  va_end(rest);
  return execv(path, arguments);
}
BANKWISE_EXPORTED int execlp(const char* file, const char* first, ...) noexcept {
  BANKWISE_LIST(arguments, first, rest);
  va_end(rest);
  return execvp(file, arguments);
}
BANKWISE_EXPORTED int execle(const char* path, const char* first, ...) noexcept {
  BANKWISE_LIST(arguments, first, rest);
  char** const environment = va_arg(rest, char**);
  va_end(rest);
  return execve(path, arguments, environment);
}
BANKWISE_EXPORTED int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes, char* const* arguments,
                                  char* const* environment) {
  bankwise::support::note_executed(path, environment);
  return BANKWISE_NEXT(posix_spawn)(process, path, actions, attributes, arguments, environment);
}
BANKWISE_EXPORTED int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes, char* const* arguments,
                                   char* const* environment) {
  bankwise::support::note_executed(file, environment);
  return BANKWISE_NEXT(posix_spawnp)(process, file, actions, attributes, arguments, environment);
}
BANKWISE_EXPORTED int system(const char* command) {
  if (command != nullptr) bankwise::support::note_executed(command, environ);
  return BANKWISE_NEXT(system)(command);
}
BANKWISE_EXPORTED FILE* popen(const char* command, const char* mode) {
  bankwise::support::note_executed(command, environ);
  return BANKWISE_NEXT(popen)(command, mode);
}

}  // extern "C"
