// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/shared_memory.hpp>

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <string_view>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {
namespace {

constexpr std::string_view dynamic_symbol = "bankwise_dynamic_shared";  // DefineDynamicShared.cmake defines it

/// "tile" of "_ZZ6kernelPfE4tile".
std::string short_name(const char* symbol) {
  const std::string whole = plain_name(symbol);
  const auto scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

SharedLayout layout_of_program() {
  SharedLayout layout;
  std::vector<ThreadLocalArray>& arrays = layout.arrays;
  for_each_symbol([&](const Elf64_Sym& symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) return;
    if (std::string_view(name).substr(0, 4) == "_ZGV") {
      layout.guards.push_back(std::uint32_t(symbol.st_value));
      return;
    }
    const bool dynamic = name == dynamic_symbol;
    arrays.push_back({std::uint32_t(symbol.st_value), std::uint32_t(symbol.st_size),
                      dynamic ? "dynamic shared memory" : short_name(name), dynamic});
  });
  std::sort(arrays.begin(), arrays.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  // Guards that lie between arrays would not be excluded; the linker script places them before all arrays.
  if (!arrays.empty() && !layout.guards.empty()) layout.begin = arrays.front().offset;
  return layout;
}

struct ThreadLocalStorage {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

ThreadLocalStorage find_storage() {
  ThreadLocalStorage storage;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
          *static_cast<ThreadLocalStorage*>(data) = {static_cast<std::byte*>(info->dlpi_tls_data),
                                                     info->dlpi_phdr[i].p_memsz};
        }
        return 1;  // the program is the first object; its libraries have no kernels
      },
      &storage);
  return storage;
}

/// The stack of each thread holds the program's thread-local storage, which contains all shared arrays, 64 KiB each:
/// from about 125 arrays on, threads with the usual stack of 8 MiB would not start.
[[gnu::constructor]] void make_room_in_every_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_setstacksize(&attributes, stack + find_storage().bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

const SharedLayout& shared_layout() {
  static const SharedLayout layout = [] {
    SharedLayout read = layout_of_program();
    read.bytes = std::uint32_t(find_storage().bytes);
    if (read.arrays.empty()) read.arrays.push_back({0, read.bytes, "shared memory", false});
    return read;
  }();
  return layout;
}

std::byte* thread_local_storage() { return find_storage().begin; }

}  // namespace bankwise::emulator
