#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

/// Parses one XML element without comments, declarations and the like.
class XmlReader {
 public:
  /// Empty if the text is one element; otherwise the first error.
  std::string read(std::string_view text) {
    while (!text.empty() && wrong_.empty()) {
      const char first = text.front();
      text.remove_prefix(first == '<' ? tag(text) : first == '&' ? entity(text) : plain(first));
    }
    if (wrong_.empty() && !open_.empty()) wrong_ = "<" + open_.back() + "> stays open";
    if (wrong_.empty() && !had_root_) wrong_ = "no element";
    return wrong_;
  }

 private:
  // Each function returns the number of characters that it read.
  std::size_t plain(char c) {
    if (open_.empty() && std::isspace(static_cast<unsigned char>(c)) == 0) wrong_ = "text outside of the element";
    return 1;
  }
  std::size_t entity(std::string_view text) {
    constexpr std::array<std::string_view, 5> known{"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    const auto reference = text.substr(0, text.find(';') + 1);
    if (std::find(known.begin(), known.end(), reference) == known.end()) wrong_ = "a bare &";
    return reference.size();
  }
  std::size_t tag(std::string_view text) {
    const auto end = text.find('>');
    if (end == std::string_view::npos) {
      wrong_ = "a tag does not end";
      return text.size();
    }
    const std::string_view inside = text.substr(1, end - 1);
    inside.starts_with('/') ? close(inside.substr(1)) : open(inside);
    return end + 1;
  }
  void close(std::string_view name) {
    if (open_.empty() || open_.back() != name) {
      wrong_ = "</" + std::string(name) + "> closes nothing";
    } else {
      open_.pop_back();
    }
  }
  void open(std::string_view inside) {
    if (open_.empty() && had_root_) wrong_ = "two elements";
    had_root_ = true;
    const bool alone = inside.ends_with('/');
    if (alone) inside.remove_suffix(1);
    const auto name = inside.substr(0, inside.find(' '));
    attributes(inside.substr(name.size()));
    if (!alone) open_.emplace_back(name);
  }
  void attributes(std::string_view text) {
    while (text.find_first_not_of(' ') != std::string_view::npos) {
      const auto equals = text.find("=\"");
      const auto quote = equals == std::string_view::npos ? equals : text.find('"', equals + 2);
      if (quote == std::string_view::npos || text.substr(0, quote).find('<') != std::string_view::npos) {
        wrong_ = "a bad attribute: " + std::string(text);
        return;
      }
      text.remove_prefix(quote + 1);
    }
  }

  std::vector<std::string> open_;
  bool had_root_ = false;
  std::string wrong_;
};

inline std::string what_is_malformed(std::string_view text) { return XmlReader().read(text); }
