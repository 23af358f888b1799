// Keeps what was compiled: a second run with unchanged files compiles nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::emulate {

/// A hash of texts, for names in a cache: equal texts in equal order have equal hashes.
class Hash {
 public:
  void add(std::string_view text);
  void add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
  }
  std::string text() const;  ///< 32 hexadecimal digits

 private:
  std::uint64_t low_ = 0xCBF29CE484222325, high_ = 0x84222325CBF29CE4;
};

/// The folder of --cache, or bankwise in $XDG_CACHE_HOME or ~/.cache. Error: std::runtime_error if it cannot be made.
std::filesystem::path cache_folder(const std::string& wanted);

/// A line for each file, with a hash of its content as it is now; sizes_of() has its size, for files that are too large
/// to be read in every run.
std::string hashes_of(const std::vector<std::string>& files);
std::string sizes_of(const std::vector<std::string>& files);

/// Whether all files of a manifest, inputs and results, are there and as its lines say.
bool is_current(const std::filesystem::path& manifest);
/// `lines`: of hashes_of() and sizes_of().
void write_manifest(const std::filesystem::path& manifest, std::string_view lines);

/// The files that a rule of g++ -MD names after its target.
std::vector<std::string> files_in_rule(std::string_view rule);

/// The folder of what is made of some inputs. One process at a time uses it, until the end of the object.
class CacheEntry {
 public:
  CacheEntry(const std::filesystem::path& cache, std::string_view kind, const Hash& inputs);
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;
  ~CacheEntry();
  std::filesystem::path operator/(const std::filesystem::path& name) const { return folder / name; }

  const std::filesystem::path folder, manifest;

 private:
  int lock_;
};

/// Removes entries that no run has used for a month.
void clean(const std::filesystem::path& cache);

}  // namespace bankwise::emulate
