#include <bankwise/support/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include <bankwise/support/numbers.hpp>

namespace bankwise::support {
namespace {

constexpr std::uint32_t invalid = 0xFFFD;

/// Whether a byte is one of a character's, but not its first.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Removes the first character from the text. Returns `invalid` for a byte that begins none.
std::uint32_t next_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return std::uint32_t(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  const auto length = std::size_t(first < 0x80 ? 1 : std::countl_one(static_cast<unsigned char>(first)));
  std::uint32_t character = length == 1 ? first : first & (0x7FU >> length);
  bool is_valid = first < 0x80 || (length >= 2 && length <= 4 && text.size() >= length);
  for (std::size_t i = 1; is_valid && i < length; ++i) {
    is_valid = continues(text[i]);
    character = character << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t least[]{0, 0, 0x80, 0x800, 0x10000};  // the first code point of each length
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  is_valid = is_valid && character >= least[length] && character <= 0x10FFFF && !surrogate;
  text.remove_prefix(is_valid ? length : 1);
  return is_valid ? character : invalid;
}

/// Control characters except tab and line feed, noncharacters, and the characters with which a text can be shown in
/// another order than it has: Unicode's Bidi_Control.
bool is_hidden(std::uint32_t character) {
  if (character < 0x20) return character != '\t' && character != '\n';
  const auto between = [&](std::uint32_t first, std::uint32_t last) { return character >= first && character <= last; };
  return between(0x7F, 0x9F) || character == 0x61C || between(0x200E, 0x200F) || between(0x2028, 0x202E) ||
         between(0x2066, 0x2069) || (character & 0xFFFE) == 0xFFFE;
}

}  // namespace

std::string in_quotes(std::string_view text, std::size_t longest) {
  std::string shown(text.substr(0, longest));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : more);
}

std::string by_reason(const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::pair<std::string, std::string>> lines;  // reason, names
  for (const auto& [name, reason] : names) {
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&why = reason](const auto& line) { return line.first == why; });
    if (same == lines.end()) {
      lines.emplace_back(reason, name);
    } else {
      same->second += ", " + name;
    }
  }
  std::string text;
  for (const auto& [reason, names_of_reason] : lines) text += fmt::format("  {}: {}\n", names_of_reason, reason);
  return text;
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  for (std::size_t used = 0; used + text.size() > columns; used = indent) {
    const std::size_t room = columns - std::min(used, columns), word = text.find_first_not_of(' ');
    std::size_t end = text.rfind(' ', room);
    if (end != std::string_view::npos && end > 0 && text.substr(end).starts_with(" %")) end = text.rfind(' ', end - 1);
    if (end == std::string_view::npos || end < word) end = text.find(' ', word);  // a word that is longer than a line
    if (end == std::string_view::npos) break;
    result += fmt::format("{}\n{:{}}", text.substr(0, end), "", indent);
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  return result + std::string(text) + '\n';
}

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  const auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
    return result;
  };
  // A third of the letters, at most three: short names have others at random.
  std::size_t distance =
      std::min({std::size_t{3}, (name.size() + 2) / 3, name.size() - std::min<std::size_t>(name.size(), 1)}) + 1;
  std::string_view best;
  for (const std::string_view each : known) {
    const std::size_t other = edit_distance(lower(each), lower(name));
    if (other < distance) std::tie(best, distance) = std::pair(each, other);
  }
  return best;
}

std::string no_such_but(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                        std::string_view hint) {
  const std::string_view near = nearest(name, known);
  const std::string question = near.empty() ? "" : fmt::format(" did you mean '{}'?", near);
  return fmt::format("there is no {} {};{} {}", kind, in_quotes(name), question, hint);
}

std::string no_such(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                    std::string_view where) {
  return no_such_but(kind, name, known, fmt::format("{} shows all", where));
}

bool is_inside_character(std::string_view text, std::size_t offset) {
  return offset > 0 && offset < text.size() && continues(text[offset]);
}

std::string visible(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::string_view rest = text;
    const std::uint32_t character = next_character(text);
    if (character == invalid) {
      safe += "\xEF\xBF\xBD";
    } else if (is_hidden(character)) {
      safe += fmt::format("[U+{:04X}]", character);
    } else {
      safe += rest.substr(0, rest.size() - text.size());
    }
  }
  return safe;
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : visible(text)) {
    switch (c) {
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '&': escaped += "&amp;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace bankwise::support
