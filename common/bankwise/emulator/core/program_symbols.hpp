// Internal to common/bankwise/emulator: this program's symbols, source lines and shared arrays.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// Where the loader has put this program, without its libraries, which have no kernels.
dl_phdr_info loaded_program();

/// Visits the symbols of this program's file, also those that the loader does not need. None if it is stripped.
void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit);

/// Whether an address lies in the program's file: in its code, or also in its variables and constants.
bool is_code_of_program(const void* address);
bool is_of_program(const void* address);

/// Whether the code of the functions of this name, as function_at() gives it, does not call what -fsanitize=thread adds
/// to every function with accesses, although a shared array is declared in it, or it `has_array` otherwise. For "?",
/// whether there is such a function.
bool hides_accesses(const std::string& function, bool has_array);

/// A symbol's demangled name; the symbol itself if it is not a C++ name.
std::string plain_name(const char* symbol);

/// The source of an instruction of this program. For a call: an address in it, not its return address.
trace::Site site_of(std::uintptr_t pc);

/// The name of the function that begins there, without its parameters; "?" if the program is stripped.
std::string function_at(std::uintptr_t pc);

// --- Shared memory. `__shared__` is `thread_local`, so shared memory is the part of the program's thread-local storage
// that holds such arrays, and each host thread has one copy for the block that it runs. ---

/// One array. Offsets count from the beginning of the program's thread-local storage.
struct ThreadLocalArray {
  std::uint32_t offset = 0, bytes = 0;
  std::string name;  ///< without the function it belongs to
  bool dynamic = false;
  std::uint32_t element = 0;           ///< bytes of an element; 0: unknown
  std::vector<std::uint32_t> lengths;  ///< of its dimensions; empty: unknown
};

/// The program's symbols for shared arrays. Shared by all threads; read once.
struct SharedLayout {
  std::uint32_t bytes = 0;               ///< the size of the program's thread-local storage
  std::vector<ThreadLocalArray> arrays;  ///< by offset; a single one if the program is stripped
  std::uint32_t begin = 0;               ///< everything before is no shared memory
  std::vector<std::uint32_t> guards;     ///< offsets of the bytes that say whether an array has been initialized
};
const SharedLayout& shared_layout();

/// The calling thread's thread-local storage of the program.
std::byte* thread_local_storage();

}  // namespace bankwise::emulator
