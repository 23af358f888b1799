// SPDX-License-Identifier: MIT
#include "bankcheck/driver/progress_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace bankwise::driver {

ProgressFile::ProgressFile(const std::filesystem::path& path, std::string blocks) : blocks_(std::move(blocks)) {
  std::ofstream(path, std::ios::binary) << std::string(sizeof(Progress), '\0');
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return;
  progress_ = static_cast<const Progress*>(memory);
  if (isatty(STDERR_FILENO) != 0) setenv("BANKWISE_PROGRESS", path.c_str(), 1);
}

ProgressFile::~ProgressFile() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): it is unmapped, not written
  if (progress_ != nullptr) munmap(const_cast<Progress*>(progress_), sizeof(Progress));
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

}  // namespace bankwise::driver
