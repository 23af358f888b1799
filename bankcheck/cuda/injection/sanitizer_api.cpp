// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/sanitizer_api.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace bankwise::cuda {

SanitizerApi load_sanitizer(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(std::string("cannot load NVIDIA's Sanitizer library: ") + dlerror());
  SanitizerApi api;
  const auto find = [&](const char* symbol) {
    void* address = dlsym(library, symbol);
    if (address == nullptr) {
      throw std::runtime_error(path + " has no " + symbol + ": it is no Sanitizer library, or too old");
    }
    return address;
  };
#define BANKWISE_FIND(member, symbol) api.member = reinterpret_cast<decltype(api.member)>(find(#symbol));
  BANKWISE_SANITIZER_FUNCTIONS(BANKWISE_FIND)
#undef BANKWISE_FIND
  return api;
}

std::string failure(const SanitizerApi& api, const std::string& call, SanitizerResult result) {
  const char* text = nullptr;
  if (api.get_result_string(result, &text) != SANITIZER_SUCCESS || text == nullptr) text = "unknown error";
  return call + " failed: " + text;
}

}  // namespace bankwise::cuda
