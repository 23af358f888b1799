// A failed assert() of a kernel is a diagnosis, not the end of the program. No guard: each inclusion looks at NDEBUG.
#include_next <assert.h>

#ifndef NDEBUG
namespace bankwise::emulator::device {
[[noreturn]] void fail(const char* condition, const char* file, unsigned line) noexcept;
}
#undef assert
#define assert(condition) \
  (static_cast<bool>(condition) ? void(0) : ::bankwise::emulator::device::fail(#condition, __FILE__, __LINE__))
#endif
