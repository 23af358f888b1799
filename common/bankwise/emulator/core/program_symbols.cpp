// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/program_symbols.hpp>

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace bankwise::emulator {
namespace {

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

  /// `count` objects at an offset; none if the file is too short.
  template <class Object>
  std::span<const Object> at(std::uint64_t offset, std::uint64_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(Object)) return {};
    return {reinterpret_cast<const Object*>(bytes_.data() + offset), std::size_t(count)};
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit) {
  const Mapped file("/proc/self/exe");
  const auto head = file.at<Elf64_Ehdr>(0, 1);
  if (head.empty()) return;
  const auto sections = file.at<Elf64_Shdr>(head[0].e_shoff, head[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = file.at<char>(strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : file.at<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_name < names.size()) visit(symbol, &names[symbol.st_name]);
    }
  }
}

std::string plain_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 ? plain.get() : symbol;
}

}  // namespace bankwise::emulator
