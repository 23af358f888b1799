// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/kernel_filter.hpp"

#include <cxxabi.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace bankwise::cuda {
namespace {

std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : mangled;
}

/// Where the parameters begin. "(anonymous namespace)::" also has parentheses: parameters start at the last "(" outside
/// template arguments that does not open a name.
std::size_t begin_of_parameters(const std::string& demangled) {
  int depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == '(' && depth == 0 && demangled.compare(i, 11, "(anonymous ") != 0) return i;
  }
  return demangled.size();
}

/// Removes the template arguments that the name ends with.
void remove_arguments(std::string& name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == '>' ? 1 : name[i] == '<' ? -1 : 0;
    if (depth == 0) {
      name.erase(i);
      return;
    }
  }
}

}  // namespace

std::string bare_name(const std::string& demangled) {
  std::string name = demangled.substr(0, begin_of_parameters(demangled));
  if (name.ends_with('>')) remove_arguments(name);  // of the function itself
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == '>' || name[i] == ')' ? 1 : name[i] == '<' || name[i] == '(' ? -1 : 0;
    if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

bool KernelFilter::accepts(const std::string& mangled) const {
  if (globs_.empty()) return true;
  const std::string whole = demangled(mangled), bare = bare_name(whole);
  return std::any_of(globs_.begin(), globs_.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), mangled.c_str(), 0) == 0 || fnmatch(glob.c_str(), whole.c_str(), 0) == 0 ||
           fnmatch(glob.c_str(), bare.c_str(), 0) == 0;
  });
}

bool KernelFilter::accepts_some_kernel(std::string_view cubin) const {
  if (globs_.empty()) return true;
  // The code of each function is in its own section, ".text.<name>"; the names are in the table of section names.
  constexpr std::string_view PREFIX = ".text.";
  bool any = false;
  for (auto at = cubin.find(PREFIX); at != std::string_view::npos; at = cubin.find(PREFIX, at + 1)) {
    const auto start = at + PREFIX.size(), end = cubin.find('\0', start);
    if (end == std::string_view::npos) break;
    any = true;
    if (accepts(std::string(cubin.substr(start, end - start)))) return true;
  }
  return !any;
}

}  // namespace bankwise::cuda
