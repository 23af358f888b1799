// Libraries that are loaded on demand: a program that is linked with them does not start where they are missing. And
// those that programs are made to load.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <string>

namespace bankwise::support {

/// A library, never unloaded: libraries leave hooks and threads behind. Users link ${CMAKE_DL_LIBS}.
class LoadedLibrary {
 public:
  /// Loads the first of the names that the loader finds.
  LoadedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      if (why_.empty()) why_ = dlerror();
    }
  }

  explicit operator bool() const { return handle_ != nullptr; }
  /// The loader's sentence on the first name.
  const std::string& why_missing() const { return why_; }

  /// Sets `function` to the first of the names that exists in the library; false, and null, if none does.
  template <class Function>
  bool find(Function& function, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      function = reinterpret_cast<Function>(dlsym(handle_, name));
      if (function != nullptr) return true;
    }
    return false;
  }

 private:
  void* handle_ = nullptr;
  std::string why_;
};

/// Puts names in front of those that a variable of the dynamic linker has.
inline void put_first(const char* variable, const std::string& names) {
  const char* const others = std::getenv(variable);
  setenv(variable, (others == nullptr || *others == '\0' ? names : names + ':' + others).c_str(), 1);
}

}  // namespace bankwise::support
