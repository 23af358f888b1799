// SPDX-License-Identifier: MIT
#include "bankcheck/driver/build_options.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace bankwise::driver {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Takes the next word off the front of `rest`, with its quotes, in which blanks are part of the word.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  std::size_t end = 0;
  for (char quote = '\0'; end < rest.size(); ++end) {
    const char c = rest[end];
    if (c == '\\' && end + 1 < rest.size()) {
      ++end;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (blanks.find(c) != std::string_view::npos) {
      break;
    }
  }
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

/// Whether a path that is not below the current folder, or is marked as one, begins anywhere in the option.
bool names_folder(std::string_view option) {
  for (auto at = option.find('/'); at != std::string_view::npos; at = option.find('/', at + 1)) {
    std::string_view before = option.substr(0, at);
    for (const std::string_view mark : {"..", ".", "~"}) {
      if (!before.ends_with(mark)) continue;
      before.remove_suffix(mark.size());
      break;
    }
    constexpr std::string_view begins = "=\"'\\:,;( ";
    if (before.empty() || begins.find(before.back()) != std::string_view::npos) return true;
  }
  return false;
}

/// Options whose value may be a separate word.
constexpr std::array paths{"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"};

}  // namespace

std::string without_folders(std::string_view options) {
  std::string kept;
  for (std::string_view rest = options;;) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return kept;
    const bool is_path = std::any_of(paths.begin(), paths.end(), [&](auto path) { return word.starts_with(path); });
    const bool has_value = word == "-D" || word == "-U" || std::find(paths.begin(), paths.end(), word) != paths.end();
    std::string option(word);
    if (const auto value = has_value ? take_word(rest) : ""; !value.empty()) option += ' ' + std::string(value);
    if (!is_path && !names_folder(option)) kept += (kept.empty() ? "" : " ") + option;
  }
}

}  // namespace bankwise::driver
