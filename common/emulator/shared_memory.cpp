// SPDX-License-Identifier: MIT
#include "bankwise/emulator/shared_memory.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

namespace bankwise::emulator {
namespace {

constexpr std::string_view dynamic_symbol = "bankwise_dynamic_shared";  // dynamic_shared.cmake defines it

/// A file, mapped.
class Mapped {
 public:
  explicit Mapped(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0) {
      void* memory = mmap(nullptr, std::size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(memory), std::size_t(status.st_size)};
    }
    close(file);
  }
  ~Mapped() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  /// `count` objects from an offset; none if the file does not have them.
  template <class Object>
  std::span<const Object> at(std::uint64_t offset, std::uint64_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(Object)) return {};
    return {reinterpret_cast<const Object*>(bytes_.data() + offset), std::size_t(count)};
  }

 private:
  std::span<const std::byte> bytes_;
};

/// "tile" of "_ZZ6kernelPfE4tile".
std::string short_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                          &std::free);
  const std::string whole = status == 0 ? plain.get() : symbol;
  const auto scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

std::vector<ThreadLocalArray> arrays_of_program() {
  std::vector<ThreadLocalArray> arrays;
  const Mapped file("/proc/self/exe");
  const auto head = file.at<Elf64_Ehdr>(0, 1);
  if (head.empty()) return arrays;
  const auto sections = file.at<Elf64_Shdr>(head[0].e_shoff, head[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = file.at<char>(strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : file.at<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
      if (symbol.st_name >= names.size()) continue;
      const char* name = &names[symbol.st_name];
      const bool dynamic = name == dynamic_symbol;
      arrays.push_back({std::uint32_t(symbol.st_value), std::uint32_t(symbol.st_size),
                        dynamic ? "dynamic shared memory" : short_name(name), dynamic});
    }
  }
  std::sort(arrays.begin(), arrays.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  return arrays;
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
        return 1;  // the program comes first; its libraries have no kernels
      },
      &storage);
  return storage;
}

}  // namespace

const SharedLayout& shared_layout() {
  static const SharedLayout layout = [] {
    SharedLayout read{std::uint32_t(find_storage().bytes), arrays_of_program()};
    if (read.arrays.empty()) read.arrays.push_back({0, read.bytes, "shared memory"});
    return read;
  }();
  return layout;
}

std::byte* thread_local_storage() {
  return find_storage().begin;
}

}  // namespace bankwise::emulator
