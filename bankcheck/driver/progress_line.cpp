// SPDX-License-Identifier: MIT
#include "bankcheck/driver/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include <bankwise/support/terminal.hpp>

namespace bankwise::driver {
namespace {

constexpr auto interval = std::chrono::milliseconds(500);
constexpr std::string_view erase = "\r\33[K";

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressLine::ProgressLine(std::function<std::string()> text) {
  if (isatty(STDERR_FILENO) != 0) text_ = std::move(text);
  next_ = std::chrono::steady_clock::now() + interval;
}

void ProgressLine::show() {
  if (!text_ || std::chrono::steady_clock::now() < next_) return;
  next_ = std::chrono::steady_clock::now() + interval;
  const std::string text = text_().substr(0, terminal_columns() - 1);
  if (text == shown_) return;
  put(fmt::format("{}{}\r", erase, text));
  shown_ = text;
}

void ProgressLine::hide() {
  if (!shown_.empty()) put(std::string(erase));
  shown_.clear();
}

}  // namespace bankwise::driver
