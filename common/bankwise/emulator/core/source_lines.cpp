// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/source_lines.hpp>

#include <string_view>

#include <bankwise/emulator/core/program_symbols.hpp>

#if BANKWISE_HAVE_BACKTRACE && __has_include(<backtrace.h>)  // only g++ finds it
#include <backtrace.h>
#endif

namespace bankwise::emulator {
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
        auto& found = *static_cast<trace::Site*>(data);
        if (file == nullptr) return 1;
        found.file = file;
        found.line = unsigned(line);
        found.function = function != nullptr ? function_name(function) : "?";
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

trace::Site site_of(std::uintptr_t) {
  return {.file = "?", .function = "?"};
}

std::string function_at(std::uintptr_t) {
  return "?";
}

#endif

}  // namespace bankwise::emulator
