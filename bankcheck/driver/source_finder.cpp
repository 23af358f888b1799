#include "bankcheck/driver/source_finder.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <tuple>

#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 4 << 20;

/// Kinds of files by their extensions. A file of no kind is not shown.
enum class SourceKind { opencl, host, device, none };

SourceKind kind_of(const fs::path& path) {
  constexpr std::string_view extensions[]{
      ".cl .clh .ocl .opencl", ".c .cc .cpp .cxx .h .hh .hpp .hxx .in .inc .inl .m .mm .py .rs .go .java .jl .js .ts",
      ".cu .cuh .hip .ptx .s .tcc .ipp"};
  const std::string wanted = path.extension().string();
  const auto* kind =
      std::ranges::find_if(extensions, [&](std::string_view list) { return support::has_word(list, wanted); });
  return SourceKind(kind - std::begin(extensions));
}

unsigned indentation(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? 0 : unsigned(begin);
}

/// The OpenCL line in a line of a host program: x = 1; for `  "x = 1;\n"` or `source = "x = 1;\n"`.
FileLine without_quotes(std::string_view raw) {
  const std::string_view line = trimmed(raw);
  const std::size_t quote = line.find('"');
  const bool begins_source = quote != line.npos && trimmed(line.substr(0, quote)).ends_with('=') &&
                             (line.ends_with('"') || line.ends_with("\";"));
  if (quote != 0 && !begins_source) return {std::string(line), indentation(raw)};
  const std::size_t first = std::size_t(line.data() - raw.data()) + quote + 1;
  FileLine result;
  for (std::size_t i = first; i < raw.size() && raw[i] != '"'; ++i) {
    const bool escaped = raw[i] == '\\' && i + 1 < raw.size();
    const std::size_t at = i;
    if (escaped) ++i;
    if (escaped && (raw[i] == 'n' || raw[i] == 'r')) continue;
    const char c = escaped && raw[i] == 't' ? '\t' : raw[i];
    if (result.text.empty() && (c == ' ' || c == '\t')) continue;
    if (result.text.empty()) result.begin = unsigned(at);
    if (escaped) result.plain = std::min(result.plain, unsigned(result.text.size()));
    result.text += c;
  }
  result.text = trimmed(result.text);
  return result;
}

std::vector<FileLine> readable_lines(const fs::path& path) {
  std::vector<FileLine> lines;
  for (const std::string& line : lines_of(source_file_text(path))) lines.push_back(without_quotes(line));
  return lines;
}

/// The number of equal lines around line `at` of a file and line `from` of the program, not counting empty lines. 0 if
/// these two lines differ.
std::size_t agreement(const std::vector<FileLine>& file, std::size_t at, const std::vector<SourceText::Line>& program,
                      std::size_t from) {
  const auto same = [&](std::size_t i, std::size_t j) { return trimmed(program[j].text) == file[i].text; };
  if (!same(at, from) || file[at].text.empty()) return 0;
  constexpr std::size_t enough = 2000;
  std::size_t agreeing = 1;
  for (std::size_t i = at, j = from; agreeing < enough && i-- > 0 && j-- > 0 && same(i, j);) {
    agreeing += file[i].text.empty() ? 0 : 1;
  }
  for (std::size_t i = at + 1, j = from + 1;
       agreeing < 2 * enough && i < file.size() && j < program.size() && same(i, j); ++i, ++j) {
    agreeing += file[i].text.empty() ? 0 : 1;
  }
  return agreeing;
}

/// The path relative to the current directory if it is below that, otherwise unchanged.
std::string shown(const fs::path& path) {
  std::error_code error;
  const fs::path near = fs::weakly_canonical(path, error).lexically_relative(fs::current_path(error));
  return near.empty() || *near.begin() == ".." ? path.lexically_normal().string() : near.string();
}

unsigned column_in(const FileLine& file, const SourceText::Line& program, unsigned column) {
  const unsigned begin = indentation(program.text);
  return column <= begin || column - begin > file.plain ? 0 : column - begin + file.begin;
}

/// The number and file name that `#line 12 "file"`, or a preprocessor's `# 12 "file"`, gives to the next line.
std::optional<SourceText::Line> directive_in(std::string_view line, std::string_view file) {
  line = trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  if (line.starts_with("line")) line = trimmed(line.substr(4));
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) ++digits;
  if (digits == 0 || digits > 9) return std::nullopt;
  SourceText::Line next{file, unsigned(std::stoul(std::string(line.substr(0, digits)))), ""};
  const auto open = line.find('"'), close = line.rfind('"');
  if (open < close) next.file = line.substr(open + 1, close - open - 1);
  return next;
}

/// The sources below a directory of the kinds up to `last`, within the limits: those without OpenCL's extensions come
/// later, and so do those in deeper directories.
std::vector<fs::path> sources_below(const fs::path& root, const SearchLimits& limits, SourceKind last) {
  std::vector<std::tuple<bool, int, fs::path, std::uintmax_t>> candidates;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error), end;
  for (std::size_t seen = 0; !error && entry != end && seen < limits.entries; entry.increment(error), ++seen) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (path.filename().string().starts_with('.') || fs::exists(path / "CMakeCache.txt", ignored)) {
        entry.disable_recursion_pending();
      }
    } else if (kind_of(path) <= last && entry->is_regular_file(ignored)) {
      const std::uintmax_t size = entry->file_size(ignored);
      if (size <= largest_file) candidates.emplace_back(kind_of(path) != SourceKind::opencl, entry.depth(), path, size);
    }
  }
  std::ranges::sort(candidates);
  std::uintmax_t left = limits.bytes;
  std::vector<fs::path> paths;
  for (const auto& [is_host, depth, path, size] : candidates) {
    if (size > left) break;
    left -= size;
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

std::string source_file_text(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > largest_file) return "";
  return support::read_file(path).value_or("");
}

const std::vector<SourceFinder::File>& SourceFinder::files() {
  if (files_) return *files_;
  files_.emplace();
  for (const fs::path& path : sources_below(root_, limits_, SourceKind::host)) {
    files_->push_back({shown(path), readable_lines(path)});
  }
  std::sort(files_->begin(), files_->end(), [](const File& a, const File& b) { return a.path < b.path; });
  return *files_;
}

std::string SourceFinder::path_of(const std::string& file, bool is_found) const {
  std::error_code error;
  const fs::path path = is_found ? fs::path(file) : root_ / file;  // an absolute path replaces the directory
  const fs::path real = fs::canonical(path, error);
  if (error || kind_of(real) == SourceKind::none || !fs::is_regular_file(real, error)) return "";
  const fs::path below = real.lexically_relative(fs::weakly_canonical(root_, error));
  const bool is_below = !below.empty() && *below.begin() != "..";
  return is_below || limits_.elsewhere ? path.string() : "";
}

std::vector<std::string> SourceFinder::containing(std::string_view text) const {
  std::vector<std::string> paths;
  for (const fs::path& path : sources_below(root_, limits_, SourceKind::device)) {
    if (source_file_text(path).find(text) != std::string::npos) paths.push_back(shown(path));
  }
  return paths;
}

std::string SourceFinder::text_at(const SourcePlace& place) {
  const auto [at, is_new] = read_.try_emplace(place.file);
  if (is_new) at->second = lines_of_file(place.file, false);
  if (place.line == 0 || place.line > at->second.size()) return "";
  return std::string(trimmed(at->second[place.line - 1]));
}

std::vector<std::string> SourceFinder::lines_of_file(const std::string& file, bool is_found) const {
  const std::string path = path_of(file, is_found);
  return path.empty() ? std::vector<std::string>() : lines_of(source_file_text(path));
}

SourceFinder::Found SourceFinder::find(const SourceText& source, const SourcePlace& place) {
  if (place.line == 0) return {};
  const bool nameless = ends_with_path(place.file, nameless_source);
  const SourceText::Line* line = source.find(place.file, place.line);
  if (!nameless) {
    std::error_code error;
    const fs::path near = fs::path(place.file).lexically_proximate(fs::weakly_canonical(root_, error));
    if (!near.empty() && *near.begin() != ".." && near.is_relative() && fs::exists(root_ / near, error)) {
      return {SourcePlace{shown(root_ / near), place.line, place.column}, {}};
    }
  }
  if (line == nullptr) return {};
  const auto from = std::size_t(line - source.lines().data());
  Found best;
  std::size_t most_agreeing =
      std::min<std::size_t>(2, source.filled() - 1);  // up to this many lines may match by chance
  for (const File& file : files()) {
    if (!nameless && fs::path(file.path).filename() != fs::path(place.file).filename()) continue;
    for (std::size_t at = 0; at < file.lines.size(); ++at) {
      const std::size_t agreeing = agreement(file.lines, at, source.lines(), from);
      if (best.place && agreeing == most_agreeing && best.files.back() != file.path) best.files.push_back(file.path);
      if (agreeing <= most_agreeing) continue;
      most_agreeing = agreeing;
      best = {SourcePlace{file.path, unsigned(at + 1), column_in(file.lines[at], *line, place.column)}, {file.path}};
    }
  }
  if (best.files.size() > 1) return {std::nullopt, best.files};
  return {best.place, {}};
}

bool ends_with_path(std::string_view path, std::string_view tail) {
  return path.ends_with(tail) && (path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/');
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

SourceText::SourceText(std::string_view text) {
  std::string_view file = nameless_source;
  unsigned number = 1;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    by_number_.push_back(std::uint32_t(lines_.size()));
    lines_.push_back({file, number++, line});
    if (!trimmed(line).empty()) ++filled_;
    if (const auto next = directive_in(line, file)) file = next->file, number = next->number;
  }
  std::ranges::stable_sort(by_number_, {}, [&](std::uint32_t i) { return lines_[i].number; });
}

const SourceText::Line* SourceText::find(std::string_view file, unsigned number) const {
  const auto number_at = [&](std::uint32_t i) { return lines_[i].number; };
  // No subrange of ranges::equal_range: clang 14 cannot compile its header.
  auto i = std::ranges::lower_bound(by_number_, number, {}, number_at);
  for (; i != by_number_.end() && number_at(*i) == number; ++i) {
    if (ends_with_path(file, lines_[*i].file)) return &lines_[*i];
  }
  return nullptr;
}

}  // namespace bankwise::driver
