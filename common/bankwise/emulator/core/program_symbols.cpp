#include <bankwise/emulator/core/program_symbols.hpp>

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string_view>
#include <thread>

#if BANKWISE_HAVE_BACKTRACE && __has_include(<backtrace.h>)
#include <backtrace.h>
#else  // only g++ finds it
#undef BANKWISE_HAVE_BACKTRACE
#define BANKWISE_HAVE_BACKTRACE 0
#endif

using PhdrVisitor = int (*)(dl_phdr_info* info, std::size_t bytes, void* data);

extern "C" {
void __tsan_func_entry(void* returns_to);
// The linker has each other function call the second of these (CMakeLists.txt).
int __real_dl_iterate_phdr(PhdrVisitor visit, void* data);
int __wrap_dl_iterate_phdr(PhdrVisitor visit, void* data);
}

namespace bankwise::emulator {
namespace {

/// The thread whose dl_iterate_phdr() visits the program only: libbacktrace would read the debug information of its
/// libraries, too, which takes longer than many programs run.
std::atomic<std::thread::id> reads_program;

/// `count` objects at an offset of a file; none if it is too short.
template <class Object>
std::vector<Object> objects_in(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  std::vector<Object> objects(count);
  file.seekg(std::streamoff(offset));
  file.read(reinterpret_cast<char*>(objects.data()), std::streamsize(count * sizeof(Object)));
  return file ? objects : std::vector<Object>();
}

}  // namespace

dl_phdr_info loaded_program() {
  dl_phdr_info program{};
  __real_dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* first) {
        *static_cast<dl_phdr_info*>(first) = *info;
        return 1;
      },
      &program);
  return program;
}

void for_each_symbol(const std::function<void(const Elf64_Sym& symbol, const char* name)>& visit) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto head = objects_in<Elf64_Ehdr>(file, 0, 1);
  if (head.empty()) return;
  const auto sections = objects_in<Elf64_Shdr>(file, head[0].e_shoff, head[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = objects_in<char>(file, strings.sh_offset, strings.sh_size);
    for (const auto& symbol : objects_in<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_name < names.size()) visit(symbol, &names[symbol.st_name]);
    }
  }
}

// Symbols that the linker defines.
extern "C" {
extern const char __executable_start;
extern const char etext;
extern const char _end;
}

bool is_code_of_program(const void* address) { return address >= &__executable_start && address < &etext; }
bool is_of_program(const void* address) { return address >= &__executable_start && address < &_end; }

std::string plain_name(const char* symbol) {
  if (!std::string_view(symbol).starts_with("_Z")) return symbol;  // "t" would be a type, unsigned short
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 ? plain.get() : symbol;
}

// --- Source lines ---

namespace {

/// "ns::kernel<float>" of "_ZN2ns6kernelIfEEvPf", whose plain form begins with the type that a template returns.
std::string function_name(const char* symbol) {
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

/// Whether code of x86-64 calls a function.
bool calls(std::uintptr_t begin, std::size_t bytes, void (*function)(void*)) {
  constexpr std::size_t call_bytes = 5;
  for (std::uintptr_t at = begin; at + call_bytes <= begin + bytes; ++at) {
    std::int32_t distance = 0;
    std::memcpy(&distance, reinterpret_cast<const std::byte*>(at) + 1, sizeof distance);
    const bool is_call = *reinterpret_cast<const std::uint8_t*>(at) == 0xE8;
    if (is_call && at + call_bytes + std::uintptr_t(distance) == reinterpret_cast<std::uintptr_t>(function))
      return true;
  }
  return false;
}

#if BANKWISE_HAVE_BACKTRACE

/// Says once why the report has no lines.
void no_lines(void*, const char* message, int) {
  static std::atomic_flag said;
  if (!said.test_and_set()) {
    std::fprintf(stderr, "bankcheck: the source lines of the program are not known: %s\n", message);
  }
}

backtrace_state* state() {
  static backtrace_state* const program = [] {
    backtrace_state* const made = backtrace_create_state(nullptr, 1, no_lines, nullptr);
    reads_program = std::this_thread::get_id();
    backtrace_syminfo(
        made, 0, [](void*, std::uintptr_t, const char*, std::uintptr_t, std::uintptr_t) {}, no_lines, nullptr);
    reads_program = std::thread::id();
    return made;
  }();
  return program;
}

#endif

// --- Shared memory ---

constexpr std::string_view dynamic_symbol = "bankwise_dynamic_shared";  // define_dynamic_shared.sh defines it

/// "tile" of "_ZZ6kernelPfE4tile".
std::string short_name(const char* symbol) {
  const std::string whole = plain_name(symbol);
  const auto scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

/// The declared shapes of arrays, by their demangled names: bankcheck has put a constant next to each array, with
/// the array's name behind this prefix (emulator/runtime/program.hpp, array_shape).
constexpr std::string_view shape_prefix = "bankwise_shape_";
using Shapes = std::multimap<std::string, std::vector<std::uint32_t>, std::less<>>;

void add_shape(Shapes& shapes, const Elf64_Sym& symbol, const char* name) {
  std::string array = plain_name(name);
  const auto at = array.rfind(shape_prefix);
  if (at == std::string::npos) return;
  array.erase(at, shape_prefix.size());
  const auto* const numbers = reinterpret_cast<const std::uint32_t*>(loaded_program().dlpi_addr + symbol.st_value);
  shapes.emplace(array, std::vector<std::uint32_t>(numbers, numbers + symbol.st_size / sizeof *numbers));
}

/// Two arrays of one name may differ; then only one of them has so many bytes, or nothing is known.
void set_shape(ThreadLocalArray& array, std::string_view name, const Shapes& shapes) {
  const std::vector<std::uint32_t>* fitting = nullptr;
  const auto [begin, end] = shapes.equal_range(name);
  for (auto known = begin; known != end; ++known) {
    std::uint64_t bytes = 1;
    for (const std::uint32_t number : known->second) bytes *= number;
    if (bytes != array.bytes) continue;
    if (fitting != nullptr && *fitting != known->second) return;
    fitting = &known->second;
  }
  if (fitting == nullptr) return;
  array.element = fitting->front();
  array.lengths.assign(fitting->begin() + 1, fitting->end());
}

SharedLayout layout_of_program() {
  SharedLayout layout;
  std::vector<ThreadLocalArray>& arrays = layout.arrays;
  Shapes shapes;
  for_each_symbol([&](const Elf64_Sym& symbol, const char* name) {
    const bool is_shape = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF;
    if (is_shape && std::string_view(name).find(shape_prefix) != std::string_view::npos)
      add_shape(shapes, symbol, name);
  });
  for_each_symbol([&](const Elf64_Sym& symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) return;
    if (std::string_view(name).substr(0, 4) == "_ZGV") {
      layout.guards.push_back(std::uint32_t(symbol.st_value));
      return;
    }
    const bool dynamic = name == dynamic_symbol;
    arrays.push_back({std::uint32_t(symbol.st_value),
                      std::uint32_t(symbol.st_size),
                      dynamic ? "dynamic shared memory" : short_name(name),
                      dynamic,
                      0,
                      {}});
    set_shape(arrays.back(), plain_name(name), shapes);
  });
  std::sort(arrays.begin(), arrays.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  // An index below the first array; guards lie before that.
  constexpr std::uint32_t gap = 65536;  // as in cmake/shared_arrays.ld
  if (!arrays.empty()) layout.begin = arrays.front().offset - std::min(arrays.front().offset, gap);
  return layout;
}

/// The program's thread-local storage.
const ElfW(Phdr) * storage_segment() {
  const dl_phdr_info program = loaded_program();
  const auto* const end = program.dlpi_phdr + program.dlpi_phnum;
  const auto* const segment =
      std::find_if(program.dlpi_phdr, end, [](const ElfW(Phdr) & head) { return head.p_type == PT_TLS; });
  return segment == end ? nullptr : segment;
}

std::size_t storage_bytes() {
  const auto* const segment = storage_segment();
  return segment == nullptr ? 0 : segment->p_memsz;
}

/// The stack of each thread holds the program's thread-local storage, which contains all shared arrays, 64 KiB each:
/// from about 125 arrays on, threads with the usual stack of 8 MiB would not start.
[[gnu::constructor]] void make_room_in_every_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_setstacksize(&attributes, stack + storage_bytes());
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

bool hides_accesses(const std::string& function, bool has_array) {
  struct Function {
    bool has_array = false, has_code = false, is_instrumented = false;
  };
  static const std::map<std::string, Function> functions = [] {
    std::map<std::string, Function> by_name;
    const std::uintptr_t base = loaded_program().dlpi_addr;
    for_each_symbol([&](const Elf64_Sym& symbol, const char* name) {
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_TLS && type != STT_FUNC) || symbol.st_size == 0) return;
      Function& known = by_name[function_name(name)];
      (type == STT_TLS ? known.has_array : known.has_code) = true;
      known.is_instrumented |= type == STT_FUNC && calls(base + symbol.st_value, symbol.st_size, __tsan_func_entry);
    });
    return by_name;
  }();
  return std::any_of(functions.begin(), functions.end(), [&](const auto& named) {
    const auto& [name, known] = named;
    return (function == "?" || name == function) && (known.has_array || (has_array && function != "?")) &&
           known.has_code && !known.is_instrumented;
  });
}

trace::Site site_of([[maybe_unused]] std::uintptr_t pc) {
  trace::Site site{.file = "?", .function = "?"};
#if BANKWISE_HAVE_BACKTRACE
  // The innermost function comes first: the one that the line belongs to, inlined or not.
  backtrace_pcinfo(
      state(), pc,
      [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
        if (file == nullptr) return 1;
        // CUDA's functions are inlined into the kernel, too; the user looks for their call.
        const std::string_view path = file;
        for (const std::string_view folder : {"/emulator/cuda/", "/emulator/hip/", "/emulator/runtime/"}) {
          if (path.find(folder) != path.npos) return 0;
        }
        *static_cast<trace::Site*>(data) = {
            .file = file, .line = unsigned(line), .function = function != nullptr ? function_name(function) : "?"};
        return 1;
      },
      no_lines, &site);
#endif
  return site;
}

std::string function_at([[maybe_unused]] std::uintptr_t pc) {
  std::string name = "?";
#if BANKWISE_HAVE_BACKTRACE
  backtrace_syminfo(
      state(), pc,
      [](void* data, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
        if (symbol != nullptr) *static_cast<std::string*>(data) = function_name(symbol);
      },
      no_lines, &name);
#endif
  return name;
}

const SharedLayout& shared_layout() {
  static const SharedLayout layout = [] {
    SharedLayout read = layout_of_program();
    read.bytes = std::uint32_t(storage_bytes());
    if (read.arrays.empty()) read.arrays.push_back({0, read.bytes, "shared memory", false, 0, {}});
    return read;
  }();
  return layout;
}

std::byte* thread_local_storage() {
  return storage_segment() == nullptr ? nullptr : static_cast<std::byte*>(loaded_program().dlpi_tls_data);
}

}  // namespace bankwise::emulator

int __wrap_dl_iterate_phdr(PhdrVisitor visit, void* data) {
  if (bankwise::emulator::reads_program != std::this_thread::get_id()) return __real_dl_iterate_phdr(visit, data);
  dl_phdr_info program = bankwise::emulator::loaded_program();
  return visit(&program, sizeof program, data);
}
