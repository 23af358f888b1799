#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bankcheck/fit/edits.hpp"

namespace bankwise::fit {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t context = 3;  // lines

/// With their ends.
Lines whole_lines(std::string_view text) {
  Lines lines;
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

/// How many lines those from `i` on and those from `j` on have in common, in this order.
std::vector<std::vector<unsigned>> common_lines(const Lines& old_lines, const Lines& new_lines) {
  std::vector<std::vector<unsigned>> common(old_lines.size() + 1, std::vector<unsigned>(new_lines.size() + 1));
  for (std::size_t i = old_lines.size(); i-- > 0;) {
    for (std::size_t j = new_lines.size(); j-- > 0;) {
      common[i][j] =
          old_lines[i] == new_lines[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

void remove_last_end(std::string& text) {
  if (text.ends_with('\n')) text.pop_back();
}

/// The parts of a hunk between lines that stay, such as the one behind which another is added. A part that only
/// removes lines has the next one, too. `has_end`: the hunk's last line has an end.
std::vector<Hunk> parts_of(const Hunk& hunk, bool has_end) {
  constexpr std::size_t most_pairs = 1 << 20;  // of lines
  const std::string end = has_end ? "\n" : "", before = hunk.before + end, after = hunk.after + end;
  const Lines old_lines = whole_lines(before), new_lines = whole_lines(after);
  const std::size_t rows = old_lines.size(), columns = new_lines.size();
  if (rows * columns > most_pairs) return {hunk};
  const auto common = common_lines(old_lines, new_lines);
  const auto is_same = [&](std::size_t i, std::size_t j) {
    return i < rows && j < columns && old_lines[i] == new_lines[j];
  };
  std::vector<Hunk> parts;
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    Hunk part{hunk.line + unsigned(i), 0, "", ""};
    const std::size_t first_new = j;
    while ((i < rows || j < columns) && !is_same(i, j)) {
      const bool adds = j < columns && (i == rows || common[i][j + 1] >= common[i + 1][j]);
      (adds ? part.after : part.before) += adds ? new_lines[j++] : old_lines[i++];
      part.removed += unsigned{!adds};
    }
    if (j == first_new && part.removed > 0) {  // the next line that stays stands for those that are removed
      if (i == rows) return {hunk};
      part.before += old_lines[i++];
      part.after += new_lines[j++];
      ++part.removed;
    }
    remove_last_end(part.before);
    remove_last_end(part.after);
    if (j > first_new) parts.push_back(std::move(part));
    for (; is_same(i, j); ++i) ++j;
  }
  return parts;
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
    const Hunk hunk{unsigned(line), removed, std::string(before), edited(before, std::move(inside))};
    std::ranges::move(parts_of(hunk, end < source.size()), std::back_inserter(hunks));
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
