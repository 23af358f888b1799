#include "bankcheck/driver/child_process.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include <bankwise/support/table.hpp>
#include <bankwise/support/watch_request.hpp>

namespace bankwise::driver {
namespace {

constexpr auto interval = std::chrono::milliseconds(500);
constexpr std::string_view erase = "\r\33[K";

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressFile::ProgressFile(const std::filesystem::path& path, std::string blocks) : blocks_(std::move(blocks)) {
  std::ofstream(path, std::ios::binary) << std::string(sizeof(RunProgress), '\0');
  progress_ = map_progress(path.c_str());
  if (progress_ != nullptr && isatty(STDERR_FILENO) != 0) setenv(support::progress_variable, path.c_str(), 1);
}

ProgressFile::~ProgressFile() {
  if (progress_ != nullptr) munmap(progress_, sizeof(RunProgress));
}

std::string ProgressFile::text() const {
  if (progress_ == nullptr) return "";
  const std::uint64_t groups = progress_->groups, done = progress_->done;
  if (done >= groups) return "";
  std::string kernel(progress_->kernel, sizeof progress_->kernel);  // the program may write anything into it
  kernel.erase(std::min(kernel.find('\0'), kernel.size()));
  for (char& c : kernel) c = c < ' ' || c > '~' ? '?' : c;
  return fmt::format("bankcheck: {}, launch {}: {} of {} {}", kernel, progress_->launches.load(), done, groups,
                     blocks_);
}

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
