// SPDX-License-Identifier: MIT
#include "bankcheck/check/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace bankwise::opencl {
namespace {

SourceLine source_line(const SourceText& source, const Place& place, SourceFinder& finder) {
  const SourceText::Line* line = source.find(place.file, place.line);
  const std::string text(line == nullptr ? "" : trimmed(line->text));
  if (const auto found = finder.find(source, place)) return {*found, text, true};
  return {ends_with_path(place.file, nameless_source) ? Place{"kernel source", place.line, place.column} : place, text};
}

/// Kernels of one name get their build options behind it, and numbers where those do not tell them apart.
void name_apart(std::vector<KernelReport>& kernels) {
  std::map<std::string, unsigned> names, used;
  for (const KernelReport& kernel : kernels) ++names[kernel.name];
  for (KernelReport& kernel : kernels) {
    const std::string& options = kernel.sum.build_options;
    if (names[kernel.name] > 1 && !options.empty()) kernel.name += " " + options;
    const unsigned number = ++used[kernel.name];
    if (number > 1) kernel.name += fmt::format("#{}", number);
  }
}

}  // namespace

banks::Tally KernelReport::all(std::size_t architecture) const {
  banks::Tally all;
  for (const LineTally& line : sum.tallies[architecture].lines) all.add(line.tally);
  return all;
}

std::optional<std::size_t> KernelReport::worst_line(std::size_t architecture) const {
  const auto& tallies = sum.tallies[architecture].lines;
  const auto conflicts = [](const LineTally& line) { return line.worst ? line.worst->conflicts : 0; };
  const auto worst = std::max_element(tallies.begin(), tallies.end(), [&](const LineTally& a, const LineTally& b) {
    return conflicts(a) < conflicts(b);
  });
  if (worst == tallies.end() || conflicts(*worst) == 0) return std::nullopt;
  return std::size_t(worst - tallies.begin());
}

std::vector<KernelReport> kernel_reports(const Record& record, SourceFinder& finder) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> texts;
  for (const ProgramSource& source : record.sources) texts[{source.process, source.program}] = source.text;

  std::vector<KernelReport> kernels;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;  // by name, source, build options
  std::vector<std::string> sources;
  for (const Launch& launch : record.launches) {
    const std::string& text = texts[{launch.process, launch.program}];
    const auto [found, is_new] = known.try_emplace({launch.kernel, text, launch.build_options}, kernels.size());
    if (!is_new) {
      add(kernels[found->second].sum, launch);
      continue;
    }
    kernels.push_back({launch.kernel, launch, {}});
    sources.push_back(text);
  }
  name_apart(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const SourceText source(sources[i]);
    std::map<Place, SourceLine> places;
    for (const ArchitectureTally& tally : kernels[i].sum.tallies) {
      auto& lines = kernels[i].lines.emplace_back();
      for (const LineTally& line : tally.lines) {
        const auto [at, is_new] = places.try_emplace(line.place);
        if (is_new) at->second = source_line(source, line.place, finder);
        lines.push_back(at->second);
      }
    }
  }
  return kernels;
}

}  // namespace bankwise::opencl
