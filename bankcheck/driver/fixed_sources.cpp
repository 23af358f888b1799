// SPDX-License-Identifier: MIT
#include "bankcheck/driver/fixed_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bankwise::driver {
namespace {

using Edits = std::map<std::string, std::vector<fit::Edit>>;  // by path

bool overlap(const fit::Edit& a, const fit::Edit& b) {
  const bool same = a.begin == b.begin && a.end == b.end && a.text == b.text;
  return !same && a.begin < b.end && b.begin < a.end;
}

/// The edits of all changed arrays of a kernel, or why there are none.
std::variant<Edits, std::string> edits_of_kernel(const KernelFitReport& report,
                                                 std::map<std::string, std::string>& texts) {
  Edits edits;
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const fit::ArrayFit& array = report.fit.arrays[i];
    if (array.chosen == 0) continue;
    const auto& source = report.sources[i];
    if (!source) return fmt::format("the declaration of {} was not found", array.name);
    if (source->path.empty()) return fmt::format("{} is not declared in a file", array.name);
    if (const auto* why = std::get_if<std::string>(&source->edits)) return fmt::format("{}: {}", array.name, *why);
    texts[source->path] = source->text;
    for (const fit::Edit& edit : std::get<std::vector<fit::Edit>>(source->edits)) edits[source->path].push_back(edit);
  }
  return edits;
}

}  // namespace

FixedSources fixed_sources(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits) {
  FixedSources fixed;
  std::map<std::string, std::string> texts;
  Edits accepted;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (!changes_something(fits[k].fit)) continue;
    const auto answer = edits_of_kernel(fits[k], texts);
    if (const auto* why = std::get_if<std::string>(&answer)) {
      fixed.left_out.push_back(fmt::format("{}: {}", kernels[k].name, *why));
      continue;
    }
    const auto& edits = std::get<Edits>(answer);
    const bool clash = std::any_of(edits.begin(), edits.end(), [&](const auto& file) {
      return std::any_of(file.second.begin(), file.second.end(), [&](const fit::Edit& edit) {
        return std::any_of(accepted[file.first].begin(), accepted[file.first].end(),
                           [&](const fit::Edit& other) { return overlap(edit, other); });
      });
    });
    if (clash) {
      fixed.left_out.push_back(fmt::format("{}: another kernel needs other code in its place", kernels[k].name));
      continue;
    }
    fixed.kernels.push_back(k);
    for (const auto& [path, some] : edits) {
      for (const fit::Edit& edit : some) {
        const auto same = [&](const fit::Edit& other) {
          return other.begin == edit.begin && other.end == edit.end && other.text == edit.text;
        };
        if (std::none_of(accepted[path].begin(), accepted[path].end(), same)) accepted[path].push_back(edit);
      }
    }
  }
  for (const auto& [path, edits] : accepted) {
    if (!edits.empty()) fixed.files[path] = fit::edited(texts.at(path), edits);
  }
  return fixed;
}

}  // namespace bankwise::driver
