#include "bankcheck/driver/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/compiled_accesses.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::driver {
namespace {

std::array<std::uint64_t, 3> largest_block(const trace::KernelTrace& kernel) {
  std::array<std::uint64_t, 3> block{};
  for (const trace::LaunchShape& shape : kernel.shapes) {
    for (std::size_t d = 0; d < block.size(); ++d) block[d] = std::max<std::uint64_t>(block[d], shape.block[d]);
  }
  return block;
}

/// 0 where launches differ.
std::array<std::uint64_t, 3> only_block(const trace::KernelTrace& kernel) {
  std::array<std::uint64_t, 3> block = largest_block(kernel);
  for (const trace::LaunchShape& shape : kernel.shapes) {
    for (std::size_t d = 0; d < block.size(); ++d) block[d] = shape.block[d] == block[d] ? block[d] : 0;
  }
  return block;
}

std::optional<ArraySource> declared_in(const std::string& path, const std::string& text, const trace::Array& array,
                                       const std::set<unsigned>& lines, const trace::KernelTrace& kernel,
                                       const std::vector<std::string_view>& headers) {
  fit::SoughtArray sought{.name = array.name,
                          .lines = {lines.begin(), lines.end()},
                          .bytes = array.bytes,
                          .element = array.element,
                          .lengths = {array.lengths.begin(), array.lengths.end()},
                          .options = kernel.options,
                          .kernel = kernel.kernel,
                          .headers = headers,
                          .block = largest_block(kernel),
                          .only_block = only_block(kernel)};
  auto declaration = fit::find_declaration(text, sought);
  if (!declaration) return std::nullopt;
  ArraySource source{path, text, std::move(*declaration), "nothing is changed"};
  const std::uint64_t element = source.declaration.element;
  if (element == 0 || !source.declaration.macros.empty()) return source;
  fit::Uses uses = uses_of(text, source.declaration, true);
  if (!uses.why.empty() || !are_plain(text, uses.uses)) return source;
  source.one_by_one = uses.widest <= element;
  source.uses = std::move(uses.uses);
  return source;
}

}  // namespace

std::vector<UsedLines> used_lines(const KernelReport& kernel, const trace::KernelTrace& kernel_trace) {
  std::vector<UsedLines> lines(kernel_trace.arrays.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const trace::Pattern& pattern : kernel_trace.patterns) {
    if (!known.emplace(pattern.array, pattern.site).second) continue;
    const trace::Site& site = kernel_trace.sites[pattern.site];
    const SourcePlace place = kernel.placed(site).place;
    lines[pattern.array][place.file].insert(place.line);
    if (ends_with_path(site.file, nameless_source)) lines[pattern.array][""].insert(site.line);
  }
  return lines;
}

std::optional<ArraySource> ArraySources::find(const trace::KernelTrace& kernel_trace, const trace::Array& used_array,
                                              const UsedLines& files) {
  for (const auto& [file, lines] : files) {
    std::string path = finder_.path_of(file, true);
    if (path.empty()) path = finder_.path_of(file, false);
    static const std::vector<std::string_view> none;
    const auto& headers = path.empty() ? none : headers_of(path);
    if (auto source = declared_in(path, text_of(path), used_array, lines, kernel_trace, headers)) {
      note_launches(*source);
      source->seen_as = file;
      return source;
    }
  }
  return find_in_own_text(trace_, kernel_trace, used_array, files);
}

std::optional<ArraySource> find_in_own_text(const trace::Trace& trace, const trace::KernelTrace& kernel_trace,
                                            const trace::Array& used_array, const UsedLines& files) {
  if (kernel_trace.source == trace::no_source) return std::nullopt;
  const auto own = files.find("");
  return declared_in("", trace.sources.at(kernel_trace.source), used_array,
                     own == files.end() ? std::set<unsigned>() : own->second, kernel_trace, {});
}

/// An array whose bytes the launch gives needs to know where its kernel is launched besides its own file.
void ArraySources::note_launches(ArraySource& source) {
  fit::Declaration& declaration = source.declaration;
  if (!declaration.dimensions.front().empty() || declaration.function.empty() || source.path.empty()) return;
  const auto [files, is_new] = naming_.try_emplace(declaration.function);
  if (is_new) files->second = finder_.containing(declaration.function);
  for (const std::string& path : files->second) {
    std::error_code error;
    if (std::filesystem::equivalent(path, source.path, error)) continue;
    const std::size_t line = fit::line_of_launch(source_file_text(path), declaration.function);
    if (line == 0) continue;
    declaration.launched_in = fmt::format("{}:{}", path, line);
    return;
  }
}

const std::string& ArraySources::text_of(const std::string& path) {
  const auto [text, is_new] = texts_.try_emplace(path);
  if (is_new && !path.empty()) text->second = source_file_text(path);
  return text->second;
}

/// The texts that a file includes with quotation marks, and those that they include: before the text that needs it.
const std::vector<std::string_view>& ArraySources::headers_of(const std::string& path) {
  const auto [headers, is_new] = headers_.try_emplace(path);
  if (is_new) {
    add_includers(path, headers->second);
    add_headers(path, text_of(path), headers->second);
  }
  return headers->second;
}

/// Of a header: what the files that include it have above that line.
void ArraySources::add_includers(const std::string& path, std::vector<std::string_view>& headers) {
  const std::filesystem::path file(path);
  if (support::has_word(".cu .hip .cl .c .cc .cpp .cxx", file.extension().string())) return;
  for (const std::string& includer : finder_.containing(file.filename().string())) {
    const std::string_view text = text_of(includer);
    for (const std::string_view name : fit::included_by(text)) {
      std::error_code error;
      const auto named = std::filesystem::path(includer).parent_path() / name;
      if (includer == path || !std::filesystem::equivalent(named, path, error)) continue;
      const std::string_view above = text.substr(0, std::size_t(name.data() - text.data()));
      add_headers(includer, above.substr(0, above.rfind('\n') + 1), headers);
      headers.push_back(above);
    }
  }
}

void ArraySources::add_headers(const std::string& path, std::string_view text, std::vector<std::string_view>& headers) {
  constexpr std::size_t most_headers = 64;
  for (const std::string_view name : fit::included_by(text)) {
    const std::string header = (std::filesystem::path(path).parent_path() / name).lexically_normal().string();
    const std::string_view inside = text_of(finder_.path_of(header, true));
    const bool is_known = std::ranges::any_of(headers, [&](std::string_view other) { return other == inside; });
    if (inside.empty() || is_known || headers.size() >= most_headers) continue;
    headers.push_back(inside);  // once, also if two files include each other
    const std::size_t place = headers.size() - 1;
    add_headers(header, inside, headers);
    std::rotate(headers.begin() + std::ptrdiff_t(place), headers.begin() + std::ptrdiff_t(place) + 1, headers.end());
  }
}

fit::CompiledLoads compiled_loads(const KernelReport& kernel, const trace::KernelTrace& kernel_trace,
                                  const trace::Array& array, const ArraySource& source) {
  if (!source.uses) return {};
  fit::AccessesByLine executed;
  std::map<unsigned, std::set<std::uint32_t>> sites;
  for (const trace::Pattern& pattern : kernel_trace.patterns) {
    if (kernel_trace.arrays[pattern.array].name != array.name) continue;
    const SourcePlace place = kernel.placed(kernel_trace.sites[pattern.site]).place;
    if (place.file != source.seen_as) return {};  // a function of another file
    const bool is_store = pattern.operation == banks::Operation::store;
    if (!is_store && pattern.operation != banks::Operation::load) continue;
    fit::LineAccesses& line = executed[place.line];
    (is_store ? line.stores : line.loads) +=
        pattern.count * unsigned(std::popcount(pattern.mask)) * pattern.width / source.declaration.element;
    sites[place.line].insert(pattern.site);
  }
  fit::CompiledLoads loads;
  const fit::SavedLoads saved = fit::saved_loads(source.text, source.declaration.at, *source.uses, executed);
  loads.complete = saved.complete;
  for (const auto& [line, by_store] : saved.places) {
    for (const std::uint32_t site : sites[line]) loads.saved.push_back({site, by_store});
  }
  std::ranges::sort(loads.saved);
  loads.saved.erase(std::unique(loads.saved.begin(), loads.saved.end()), loads.saved.end());
  return loads;
}

std::optional<fit::ArrayShape> shape_of(const trace::Array& array, const std::optional<ArraySource>& source,
                                        bool is_opencl) {
  constexpr std::size_t inferred = 2;  // dimensions, at most
  const fit::ArrayShape one_index{0, {}};
  const bool is_known = source && source->declaration.element > 0 &&
                        source->declaration.lengths.size() == source->declaration.dimensions.size();
  if (is_known && source->declaration.pitch > 0) {
    const std::uint64_t pitch = source->declaration.pitch;
    fit::ArrayShape shape{source->declaration.element, source->declaration.lengths};
    shape.lengths.back() /= pitch;
    shape.lengths.push_back(pitch);
    return shape;
  }
  if (is_known) return fit::ArrayShape{source->declaration.element, source->declaration.lengths};
  if (array.element > 0 && !array.lengths.empty()) {
    return fit::ArrayShape{array.element, {array.lengths.begin(), array.lengths.end()}};
  }
  if (!source) return is_dynamic(array.name, source, is_opencl) ? std::optional(one_index) : std::nullopt;
  const fit::Declaration& declaration = source->declaration;
  const bool has_rows = declaration.dimensions.size() == inferred && !is_dynamic(array.name, source, is_opencl);
  return has_rows ? std::nullopt : std::optional(one_index);
}

}  // namespace bankwise::driver
