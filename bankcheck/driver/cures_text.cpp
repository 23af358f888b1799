// The cures that are no layout, in the text of a fit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {
namespace {

/// "at most 1,024 instead of 8,192 passes", on each architecture once if they differ.
std::string costs_text(const KernelReport& kernel, const fit::Cure& cure) {
  const auto texts = alike(cure.costs.size(), [&](std::size_t a) {
    const auto& [before, after] = cure.costs[a];
    const std::string shuffles =
        cure.shuffles == 0 ? "" : ", and " + support::plural(cure.shuffles, "shuffle", "shuffles");
    return fmt::format("{}{} instead of {} {}{}", cure.at_most ? "at most " : "", support::grouped(after),
                       support::grouped(before), to_string(cure.unit), shuffles);
  });
  if (texts.size() == 1) return texts.front().value;
  std::vector<std::string> all;
  for (const auto& [same, text] : texts) all.push_back(fmt::format("{} on {}", text, names_of(kernel, same)));
  return fmt::format("{}", fmt::join(all, "; "));
}

/// Whether a line uses members of CUDA's or OpenCL's vector types: "v.x", "v->w", but not "threadIdx.x".
bool has_vector_member(std::string_view line) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t i = 1; i < line.size(); ++i) {
    const std::string_view before = line.substr(0, i);
    const bool is_index = before.ends_with("Idx.") || before.ends_with("Dim.");
    const bool is_member = (before.ends_with('.') && !is_index) || before.ends_with("->");
    const bool is_one_letter = line[i] >= 'w' && line[i] <= 'z' && (i + 1 == line.size() || !is_name(line[i + 1]));
    if (is_member && is_one_letter) return true;
  }
  return false;
}

/// Whether a line has an atomic that is an exchange, or whose result is used: it does not begin a statement.
bool needs_each_atomic(std::string_view line) {
  const std::size_t at = line.find("atom");
  if (at == std::string_view::npos) return false;
  const std::string_view name = line.substr(at, line.substr(at).find('('));
  for (const std::string_view exchange : {"Exch", "CAS", "xchg", "exchange"}) {
    if (name.find(exchange) != std::string_view::npos) return true;
  }
  const std::size_t before = at == 0 ? std::string_view::npos : line.find_last_not_of(" \t:", at - 1);
  constexpr std::string_view ends_of_statements = ";{})";
  const bool begins =
      before == std::string_view::npos || ends_of_statements.find(line[before]) != std::string_view::npos;
  return !begins && !line.substr(0, before + 1).ends_with("else") && !line.substr(0, before + 1).ends_with("std");
}

/// Whether the source shows that a cure is none. Vector types promise their alignment, so the compiler for the device
/// widens accesses to them itself, but a recorder that runs the source on the CPU cannot know it. Sums in warps and
/// copies change the results of single atomics.
bool is_refuted(const KernelReport& kernel, const fit::Cure& cure, trace::Maker maker) {
  using enum fit::CureKind;
  const bool is_source_run = maker != trace::Maker::cuda;
  return std::ranges::any_of(cure.sites, [&](const trace::Site& site) {
    const std::string text = kernel.placed(site).text;
    if (cure.kind == wide_accesses) return is_source_run && has_vector_member(text);
    return (cure.kind == sums_in_warps || cure.kind == copies) && needs_each_atomic(text);
  });
}

/// CUDA's words, and OpenCL's.
constexpr std::pair<std::string_view, std::string_view> opencl_words[]{
    {"__shfl_sync()", "sub_group_shuffle()"},
    {"__reduce_add_sync() or shuffles", "sub_group_reduce_add()"},
    {"__match_any_sync(), or in shared memory", "for example in local memory"},
    {"threadIdx.x and .y", "get_local_id(0) and get_local_id(1)"},
    {"blockDim.x and .y", "get_local_size(0) and get_local_size(1)"},
    {"threadIdx.y", "get_local_id(1)"},
    {"blocks", "work-groups"},
};

}  // namespace

void adapt_cures(KernelFitReport& report, const KernelReport& kernel, trace::Maker maker) {
  std::erase_if(report.fit.cures, [&](const fit::Cure& cure) { return is_refuted(kernel, cure, maker); });
  if (!report.is_opencl) return;
  for (fit::Cure& cure : report.fit.cures) {
    for (const auto& [cuda, opencl] : opencl_words) {
      const std::size_t at = cure.sentence.find(cuda);
      if (at != std::string::npos) cure.sentence.replace(at, cuda.size(), opencl);
    }
  }
}

std::string cures_text(const KernelReport& kernel, const KernelFitReport& report, bool everything) {
  constexpr std::size_t most_places = 4, most_cures = 6;
  const std::vector<fit::Cure>& cures = report.fit.cures;
  if (cures.empty()) return "";
  std::string text = fmt::format("other cures for {}:\n", kernel.name);
  const std::size_t shown = everything || cures.size() <= most_cures + 1 ? cures.size() : most_cures;
  for (const fit::Cure& cure : std::span(cures).first(shown)) {
    std::vector<std::string> places;
    for (const trace::Site& site : cure.sites) {
      PlacedLine line = kernel.placed(site);
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
  if (shown < cures.size()) text += fmt::format("  and {} more: --verbose lists all of them\n", cures.size() - shown);
  return text;
}

}  // namespace bankwise::driver
