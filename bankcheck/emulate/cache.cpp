#include "bankcheck/emulate/build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include <bankwise/support/files.hpp>

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;

constexpr auto longest_unused = std::chrono::hours(24 * 31);

std::string content_hash(const std::string& file) {
  const auto content = support::read_file(file);
  return content ? Hash(*content).text() : "none";
}

std::string size_text(const std::string& file) {
  std::error_code ignored;
  return std::to_string(fs::file_size(file, ignored));
}

}  // namespace

void Hash::add(std::string_view text) {
  // FNV-1a, twice with different primes.
  const auto byte = [&](unsigned char c) {
    low_ = (low_ ^ c) * 0x100000001B3;
    high_ = (high_ ^ c) * 0x9E3779B97F4A7C15;
    high_ ^= high_ >> 29;
  };
  for (const char c : text) byte(static_cast<unsigned char>(c));
  for (std::size_t size = text.size(), i = 0; i < 8; ++i) byte(static_cast<unsigned char>(size >> 8 * i));
}

std::string Hash::text() const { return fmt::format("{:016x}{:016x}", high_, low_); }

fs::path cache_folder(const std::string& wanted) {
  const fs::path folder = wanted.empty() ? support::cache_folder() : fs::path(wanted);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0) {
    throw std::runtime_error(fmt::format(
        "cannot write to {}, where compiled programs are kept; --cache names another directory", folder.string()));
  }
  return fs::canonical(folder);
}

std::string hashes_of(const std::vector<std::string>& files) {
  std::string lines;
  for (const std::string& file : files) lines += fmt::format("hash {} {}\n", content_hash(file), file);
  return lines;
}

std::string sizes_of(const std::vector<std::string>& files) {
  std::string lines;
  for (const std::string& file : files) lines += fmt::format("size {} {}\n", size_text(file), file);
  return lines;
}

bool is_current(const fs::path& manifest) {
  std::ifstream lines(manifest);
  std::string kind, value, file;
  bool any = false;
  for (; lines >> kind >> value && lines.get() == ' ' && std::getline(lines, file); any = true) {
    if (value == "none" || value != (kind == "size" ? size_text(file) : content_hash(file))) return false;
  }
  return any && lines.eof();
}

void write_manifest(const fs::path& manifest, std::string_view lines) {
  support::OutputFile("", manifest).write(lines);
}

std::vector<std::string> files_in_rule(std::string_view rule) {
  std::vector<std::string> files;
  std::string word;
  const auto take = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, {}));
  };
  const auto colon = rule.find(": ");
  for (std::size_t i = colon == std::string_view::npos ? rule.size() : colon + 1; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && (next == '\n' || next == ' ' || next == '#')) {
      if (next != '\n') word += next;
      ++i;
    } else if (c == '$' && next == '$') {
      word += c;
      ++i;
    } else if (c == ' ' || c == '\n') {
      take();
    } else {
      word += c;
    }
  }
  take();
  return files;
}

CacheEntry::CacheEntry(const fs::path& cache, std::string_view kind, const Hash& inputs)
    : folder(cache / kind / inputs.text()), manifest(folder / "manifest") {
  fs::create_directories(folder);
  lock_ = open((folder / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock_ >= 0) flock(lock_, LOCK_EX);
  std::error_code ignored;
  fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);  // for clean()
}

CacheEntry::~CacheEntry() {
  if (lock_ >= 0) close(lock_);
}

void clean(const fs::path& cache) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (const char* kind : {"headers", "objects", "programs", "cubins"}) {
    for (const auto& entry : fs::directory_iterator(cache / kind, ignored)) {
      if (now - fs::last_write_time(entry.path(), ignored) > longest_unused) fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace bankwise::emulate
