// SPDX-License-Identifier: MIT
#include <bankwise/support/terminal.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace bankwise {

unsigned terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool terminal_has_colour() {
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace bankwise
