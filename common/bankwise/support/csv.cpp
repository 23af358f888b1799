#include <bankwise/support/csv.hpp>

#include <algorithm>

namespace bankwise::support {
namespace {

/// Takes a quoted field off the front of `rest`, including the comma that follows. False if the quotes are wrong.
bool take_quoted(std::string_view& rest, std::string& field) {
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] != '"') {
      field += rest[i];
    } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
      field += rest[i++];
    } else {
      rest.remove_prefix(i + 1);
      return rest.empty() || rest.front() == ',';
    }
  }
  return false;
}

}  // namespace

bool split_csv(std::string_view line, std::vector<std::string_view>& fields, std::vector<std::string>& unquoted) {
  fields.clear();
  unquoted.clear();
  unquoted.reserve(std::size_t(std::count(line.begin(), line.end(), '"')));  // views into them must stay valid
  for (std::string_view rest = line;; rest.remove_prefix(1)) {
    if (!rest.empty() && rest.front() == '"') {
      if (!take_quoted(rest, unquoted.emplace_back())) return false;
      fields.push_back(unquoted.back());
    } else {
      const auto end = std::min(rest.find(','), rest.size());
      if (rest.substr(0, end).find('"') != std::string_view::npos) return false;
      fields.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (rest.empty()) return true;
  }
}

std::string_view without_mark(std::string_view first_line) {
  if (first_line.starts_with("\xEF\xBB\xBF")) first_line.remove_prefix(3);
  return first_line;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + '"';
}

bool LineReader::next() {
  line.clear();
  is_whole = false;
  ++number;
  try {
    while (!is_whole && !too_long) {
      const int c = bytes_.sbumpc();
      if (c == std::istream::traits_type::eof()) break;
      is_whole = c == '\n';
      too_long = !is_whole && line.size() == longest_;
      if (!is_whole && !too_long) line += char(c);
    }
  } catch (const std::exception&) {  // a folder, for instance
    is_broken = true;
    return false;
  }
  return is_whole || too_long || !line.empty();
}

}  // namespace bankwise::support
