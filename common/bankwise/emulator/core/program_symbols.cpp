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
#include <string_view>

#if BANKWISE_HAVE_BACKTRACE && __has_include(<backtrace.h>)  // only g++ finds it
#include <backtrace.h>
#endif

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

// --- Source lines ---

namespace {

/// "ns::kernel<float>" of "_ZN2ns6kernelIfEEvPf", whose plain form begins with the type that a template returns.
[[maybe_unused]] std::string function_name(const char* symbol) {
  std::string name = plain_name(symbol);
  constexpr std::string_view hidden = "(anonymous namespace)::";
  for (auto at = name.find(hidden); at != std::string::npos; at = name.find(hidden)) name.erase(at, hidden.size());
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 && name[i] == ' ') begin = i + 1;
    if (depth == 0 && name[i] == '(') return name.substr(begin, i - begin);
  }
  return name;
}

#if BANKWISE_HAVE_BACKTRACE && __has_include(<backtrace.h>)  // only g++ finds it

backtrace_state* state() {
  static backtrace_state* const only = backtrace_create_state(
      nullptr, 1, [](void*, const char*, int) {}, nullptr);
  return only;
}

void no_error(void*, const char*, int) {}

#endif

}  // namespace

#if BANKWISE_HAVE_BACKTRACE && __has_include(<backtrace.h>)  // only g++ finds it

trace::Site site_of(std::uintptr_t pc) {
  trace::Site site{.file = "?", .function = "?"};
  // The innermost function comes first: the one that the line belongs to, inlined or not.
  backtrace_pcinfo(
      state(), pc,
      [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
        // CUDA's functions are inlined into the kernel, too; the user looks for their call.
        for (const std::string_view ours : {"/emulator/cuda/", "/emulator/runtime/"}) {
          if (file != nullptr && std::string_view(file).find(ours) != std::string_view::npos) return 0;
        }
        auto& innermost = *static_cast<trace::Site*>(data);
        if (file == nullptr) return 1;
        innermost.file = file;
        innermost.line = unsigned(line);
        innermost.function = function != nullptr ? function_name(function) : "?";
        return 1;
      },
      no_error, &site);
  return site;
}

std::string function_at(std::uintptr_t pc) {
  std::string name = "?";
  backtrace_syminfo(
      state(), pc,
      [](void* data, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
        if (symbol != nullptr) *static_cast<std::string*>(data) = function_name(symbol);
      },
      no_error, &name);
  return name;
}

#else

trace::Site site_of(std::uintptr_t) { return {.file = "?", .function = "?"}; }

std::string function_at(std::uintptr_t) { return "?"; }

#endif

}  // namespace bankwise::emulator
