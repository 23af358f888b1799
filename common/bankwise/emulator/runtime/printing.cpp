// SPDX-License-Identifier: MIT
//
// The linker replaces these functions of C in programs (--wrap). A kernel that prints must run each time that it is
// launched (repeats.hpp).
#include <cstdarg>
#include <cstdio>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>

namespace {

void note_printing() {
  if (bankwise::emulator::on_lane()) bankwise::emulator::global_memory.leave();
}

}  // namespace

extern "C" {

int __real_puts(const char* text);
int __real_putchar(int c);
int __real_vprintf(const char* format, va_list arguments);

int __wrap_puts(const char* text) {
  note_printing();
  return __real_puts(text);
}
int __wrap_putchar(int c) {
  note_printing();
  return __real_putchar(c);
}
int __wrap_vprintf(const char* format, va_list arguments) {
  note_printing();
  return __real_vprintf(format, arguments);
}
int __wrap_printf(const char* format, ...) {
  note_printing();
  va_list arguments;
  va_start(arguments, format);
  const int printed = __real_vprintf(format, arguments);
  va_end(arguments);
  return printed;
}

}  // extern "C"
