// Texts of OpenCL programs that are built in place of others, for `bankcheck opencl --measure`. bankcheck writes them
// into a folder, and the libraries that it loads into the program read them: 0.before is built as 0.after, and so on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bankwise::opencl {

/// `which`: "before" or "after".
inline std::string exchanged_file(const std::string& folder, std::size_t number, const char* which) {
  return folder + '/' + std::to_string(number) + '.' + which;
}

/// The text of a program, as clCreateProgramWithSource() gets it.
inline std::string joined(unsigned count, const char* const* texts, const std::size_t* lengths) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const bool has_length = lengths != nullptr && lengths[i] != 0;
    text.append(texts[i], has_length ? lengths[i] : std::strlen(texts[i]));
    if (!text.empty() && text.back() == '\0') text.pop_back();  // as Oclgrind does, which the trace is from
  }
  return text;
}

class ExchangedTexts {
 public:
  /// None without a folder.
  explicit ExchangedTexts(const std::string& folder) {
    for (std::size_t number = 0; !folder.empty(); ++number) {
      auto before = read(exchanged_file(folder, number, "before")),
           after = read(exchanged_file(folder, number, "after"));
      if (!before || !after) break;
      texts_.emplace_back(*std::move(before), *std::move(after));
    }
  }

  /// What to build in place of what clCreateProgramWithSource() gets; null: that itself.
  const std::string* in_place_of(unsigned count, const char* const* texts, const std::size_t* lengths) const {
    if (texts_.empty() || texts == nullptr || std::find(texts, texts + count, nullptr) != texts + count) return nullptr;
    const std::string text = joined(count, texts, lengths);
    for (const auto& [before, after] : texts_) {
      if (before == text) return &after;
    }
    return nullptr;
  }

 private:
  static std::optional<std::string> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<std::pair<std::string, std::string>> texts_;
};

}  // namespace bankwise::opencl
