#include <fmt/format.h>

#include <algorithm>

#include "bankcheck/fit/edits.hpp"

namespace bankwise::fit {
namespace {

constexpr std::size_t context = 3;  // lines

/// With their ends.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

void append_line(std::string& diff, char sign, std::string_view line) {
  diff += sign;
  diff += line;
  if (!line.ends_with('\n')) diff += "\n\\ No newline at end of file\n";
}

/// "12,7": the first line and the count, as diff writes them.
std::string range_text(std::size_t first, std::size_t count) {
  return count == 1 ? std::to_string(first) : fmt::format("{},{}", count == 0 ? first - 1 : first, count);
}

/// A name in the head of a diff: quoted as in C if it has quotes, backslashes or control characters. A name with a
/// blank ends with a tab.
std::string name_text(std::string_view prefix, std::string_view path) {
  const auto is_special = [](unsigned char c) { return c < ' ' || c == '"' || c == '\\' || c == 127; };
  if (std::ranges::none_of(path, is_special)) {
    return fmt::format("{}/{}{}", prefix, path, path.find(' ') == path.npos ? "" : "\t");
  }
  std::string text = fmt::format("\"{}/", prefix);
  for (const char c : path) {
    const bool is_control = is_special(c) && c != '"' && c != '\\';
    text += is_control      ? fmt::format("\\{:03o}", static_cast<unsigned char>(c))
            : is_special(c) ? fmt::format("\\{}", c)
                            : std::string(1, c);
  }
  return text + '"';
}

/// Lines at both ends that stay, such as the one behind which another is added. `has_end`: the last line has one.
void drop_equal_lines(Hunk& hunk, bool has_end) {
  while (hunk.removed > (has_end ? 0 : 1)) {
    const std::string first = hunk.before.substr(0, hunk.before.find('\n'));
    if (!hunk.after.starts_with(first + '\n')) break;
    hunk.before.erase(0, first.size() + 1);
    hunk.after.erase(0, first.size() + 1);
    ++hunk.line;
    --hunk.removed;
  }
  while (hunk.removed > 0) {
    const std::size_t end = hunk.before.rfind('\n');
    const std::string last = '\n' + hunk.before.substr(end + 1);  // npos + 1 is 0
    if (!hunk.after.ends_with(last)) break;
    hunk.before.resize(end == std::string::npos ? 0 : end);
    hunk.after.resize(hunk.after.size() - last.size());
    --hunk.removed;
  }
}

}  // namespace

std::vector<Hunk> hunks_of(std::string_view source, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  const auto line_end = [&](std::size_t at) { return std::min(source.find('\n', at), source.size()); };
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < edits.size();) {
    const std::size_t begin = edits[i].begin == 0 ? 0 : source.rfind('\n', edits[i].begin - 1) + 1;
    std::size_t end = line_end(edits[i].end);
    std::vector<Edit> inside;
    do {
      end = std::max(end, line_end(edits[i].end));
      inside.push_back({edits[i].begin - begin, edits[i].end - begin, edits[i].text});
      ++i;
    } while (i < edits.size() && edits[i].begin <= line_end(end + 1));
    const std::string_view before = source.substr(begin, end - begin);
    const auto line = 1 + std::ranges::count(source.substr(0, begin), '\n');
    const auto removed = 1 + std::size_t(std::ranges::count(before, '\n'));
    Hunk hunk{unsigned(line), removed, std::string(before), edited(before, std::move(inside))};
    drop_equal_lines(hunk, end < source.size());
    hunks.push_back(std::move(hunk));
  }
  return hunks;
}

void EditedFile::add(const std::vector<Edit>& more) {
  for (const Edit& edit : more) {
    if (std::ranges::find(edits, edit) == edits.end()) edits.push_back(edit);
  }
}

std::string unified_diff(std::string_view path, const EditedFile& file) {
  const auto lines = whole_lines(file.text);
  const std::vector<Hunk> hunks = hunks_of(file.text, file.edits);
  std::string diff;
  std::ptrdiff_t growth = 0;  // lines that earlier hunks add
  for (std::size_t i = 0; i < hunks.size();) {
    const std::size_t first = hunks[i].line - std::min<std::size_t>(context, hunks[i].line - 1);  // from 1
    std::size_t next = first, added = 0;
    std::string body;
    const auto keep_to = [&](std::size_t end) {
      for (; next < end && next <= lines.size(); ++next) append_line(body, ' ', lines[next - 1]);
    };
    do {
      const std::size_t removed = hunks[i].removed;
      keep_to(hunks[i].line);
      for (std::size_t k = 0; k < removed; ++k) append_line(body, '-', lines[next++ - 1]);
      const bool has_end = removed == 0 || lines[next - 2].ends_with('\n');
      const std::string after = hunks[i].after + (has_end ? "\n" : "");
      const auto new_lines = whole_lines(after);
      for (const std::string_view line : new_lines) append_line(body, '+', line);
      added += new_lines.size() - removed;
      ++i;
    } while (i < hunks.size() && hunks[i].line <= next + 2 * context);
    keep_to(next + context);
    const std::size_t count = next - first;
    const auto new_first = std::size_t(std::ptrdiff_t(first) + growth);
    diff += fmt::format("@@ -{} +{} @@\n{}", range_text(first, count), range_text(new_first, count + added), body);
    growth += std::ptrdiff_t(added);
  }
  if (diff.empty()) return "";
  return fmt::format("--- {}\n+++ {}\n{}", name_text("a", path), name_text("b", path), diff);
}

}  // namespace bankwise::fit
