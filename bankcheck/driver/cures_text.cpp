// The cures that are no layout, in the text of a fit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {
namespace {

/// "at most 1,024 passes instead of 8,192", on each architecture once if they differ.
std::string costs_text(const KernelReport& kernel, const fit::Cure& cure) {
  std::vector<std::pair<std::string, std::string>> texts;  // with the architectures of which it is true
  for (std::size_t a = 0; a < cure.costs.size(); ++a) {
    const auto& [before, after] = cure.costs[a];
    std::string text = fmt::format("{}{} {} instead of {}", cure.at_most ? "at most " : "", support::grouped(after),
                                   to_string(cure.unit), support::grouped(before));
    if (cure.shuffles > 0) {
      text += fmt::format(", and {}", support::plural(cure.shuffles, "shuffle", "shuffles"));
    }
    add_name(texts, text, kernel.reports[a].architecture->name);
  }
  if (texts.size() == 1) return texts.front().first;
  std::vector<std::string> all;
  for (const auto& [text, names] : texts) all.push_back(fmt::format("{} on {}", text, names));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

std::string cures_text(const KernelReport& kernel, const KernelFitReport& report) {
  constexpr std::size_t most_places = 4;
  std::string text;
  for (const fit::Cure& cure : report.fit.cures) {
    if (text.empty()) text = fmt::format("other cures for {}:\n", kernel.name);
    std::vector<std::string> places;
    for (const trace::Site& site : cure.sites) {
      PlacedLine line = placed_line(kernel, site);
      line.place.column = 0;
      if (std::string place = where(line, site); std::ranges::find(places, place) == places.end()) {
        places.push_back(std::move(place));
      }
    }
    const std::size_t more = places.size() - std::min(places.size(), most_places);
    places.resize(places.size() - more);
    text +=
        fmt::format("  {}{}  {}{}: {}\n", fmt::join(places, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                    to_string(cure.kind), cure.array.empty() ? "" : " for " + cure.array, costs_text(kernel, cure));
    text += fmt::format("    {}\n", cure.sentence);
  }
  return text;
}

}  // namespace bankwise::driver
