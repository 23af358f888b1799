// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: the location of shared memory. `__shared__` is `thread_local`, so shared memory
// is the part of the program's thread-local storage that holds such arrays, and each host thread has one copy for the
// block that it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bankwise::emulator {

/// One array. Offsets count from the beginning of the program's thread-local storage.
struct ThreadLocalArray {
  std::uint32_t offset = 0, bytes = 0;
  std::string name;  ///< without the function it belongs to
  bool dynamic = false;
};

/// The program's symbols for shared arrays. Shared by all threads; read once.
struct SharedLayout {
  std::uint32_t bytes = 0;               ///< the size of the program's thread-local storage
  std::vector<ThreadLocalArray> arrays;  ///< by offset; a single one if the program is stripped
  std::uint32_t begin = 0;               ///< the first array: everything before is no shared memory
  std::vector<std::uint32_t> guards;     ///< offsets of the bytes that say whether an array has been initialized
};
const SharedLayout& shared_layout();

/// The calling thread's thread-local storage of the program.
std::byte* thread_local_storage();

}  // namespace bankwise::emulator
