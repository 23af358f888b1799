// What the numbers of a report lack, in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {
namespace {

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  const double percent = whole == 0 ? 0 : 100 * double(part) / double(whole);
  if (percent < 1) return "< 1 %";
  return part < whole && percent >= 99.5 ? "> 99 %" : fmt::format("{:.0f} %", percent);
}

/// "8 % of the accesses to shared memory have no cost: cp.async 6 %, TMA 2 % (in 3 of 25 kernels)"; "" if all have one.
std::string without_cost_text(const RunReport& report, std::size_t architecture) {
  constexpr std::size_t most_causes = 6;
  trace::LeftOut causes;
  std::uint64_t accesses = 0;
  std::vector<std::string_view> kernels;
  for (const KernelReport& kernel : report.kernels) {
    const trace::Report& on = kernel.reports[architecture];
    accesses += on.accesses;
    for (const auto& [cause, count] : on.without_cost) causes[cause] += count;
    if (!on.without_cost.empty()) kernels.emplace_back(kernel.name);
  }
  if (causes.empty()) return "";
  const auto parts = trace::largest_first(causes);
  const std::size_t named = parts.size() > most_causes ? most_causes - 1 : parts.size();
  std::vector<std::string> list;
  for (const auto& [count, cause] : std::span(parts).first(named)) {
    const std::string part = count == 0 ? " (unknown number)" : parts.size() > 1 ? " " + share_of(count, accesses) : "";
    list.push_back(fmt::format("{}{}", cause, part));
  }
  std::uint64_t others = 0;
  for (const auto& part : std::span(parts).subspan(named)) others += part.first;
  if (named < parts.size())
    list.push_back(fmt::format("others {}", others == 0 ? "(unknown number)" : share_of(others, accesses)));
  const std::uint64_t known = trace::total(causes);
  const bool is_least = std::ranges::any_of(parts, [](const auto& part) { return part.first == 0; });
  const std::string share =
      known == 0 ? "some" : fmt::format("{}{}", is_least ? "at least " : "", share_of(known, accesses));
  return fmt::format("{} of the accesses to {} have no cost: {} (in {})", share, terms_of(report.maker).memory,
                     fmt::join(list, ", "),
                     kernels.size() == 1 ? std::string(kernels[0])
                                         : fmt::format("{} of {} kernels", kernels.size(), report.kernels.size()));
}

/// Accesses that have no cost, by architecture.
std::vector<std::string> not_costed(const RunReport& report) {
  std::map<std::string_view, std::uint64_t> did_not_fit;
  std::uint64_t accesses = 0, global_missing = 0;
  bool is_shared_unwatched = false;
  for (const KernelReport& kernel : report.kernels) {
    accesses += kernel.reports.front().accesses;
    std::uint64_t most_open = 0;
    for (const trace::Report& on : kernel.reports) {
      did_not_fit[on.architecture->name] += trace::excess_without_cost(kernel.trace, *on.architecture);
      most_open =
          std::max(most_open, trace::excess_without_cost(kernel.trace, trace::SectorMemory::global, *on.architecture));
    }
    global_missing += kernel.trace.global_left_out + most_open;
    is_shared_unwatched |= !kernel.trace.watches_shared;
  }
  std::vector<std::string> sentences;
  for (const auto& [architecture, count] : did_not_fit) {
    if (count == 0) continue;
    sentences.push_back(fmt::format("{} of {} accesses did not fit into the trace, and have no cost on {}",
                                    about(count), about(accesses), architecture));
  }
  const std::size_t architectures = report.kernels.empty() ? 0 : report.kernels.front().reports.size();
  const auto texts = alike(architectures, [&](std::size_t a) { return without_cost_text(report, a); });
  for (const auto& [same, text] : texts) {
    if (text.empty()) continue;
    sentences.push_back(texts.size() == 1 ? text : fmt::format("{}: {}", names_of(report.kernels.front(), same), text));
  }
  if (is_shared_unwatched) sentences.push_back(fmt::format("{} was not watched", terms_of(report.maker).memory));
  if (global_missing > 0) {
    sentences.push_back(
        fmt::format("{} of global memory are not counted", support::plural(global_missing, "access", "accesses")));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> unknown_sentences(const KernelReport& kernel) {
  std::vector<std::string> sentences;
  for (const trace::Report& on : kernel.reports) {
    if (on.all.unknown == 0) continue;
    sentences.push_back(fmt::format("{} of {} have no known cost on {}",
                                    support::plural(on.all.unknown, "access", "accesses"), kernel.name,
                                    on.architecture->name));
  }
  return sentences;
}

void count_watched_launches(std::vector<KernelReport>& kernels, const WatchLimits& limits) {
  for (KernelReport& kernel : kernels) {
    std::uint64_t launches = 0, blocks = 0;
    for (const trace::LaunchShape& shape : kernel.trace.shapes) {
      const std::uint64_t watched = std::min(shape.launches, limits.max_launches);
      launches += watched;
      blocks += support::saturating_product(watched, trace::blocks_of(shape));
    }
    const bool is_all = launches == launches_of(kernel.trace);
    if (limits.max_launches > 0 && !is_all && blocks == kernel.trace.blocks) kernel.watched_launches = launches;
  }
}

std::string not_watched(std::span<const KernelReport> kernels, const Terms& terms, const WatchLimits& limits) {
  std::uint64_t launched = 0, missing = 0, launches = 0, missing_launches = 0;
  std::vector<std::string_view> names;
  bool ended = false, whole_launches = true;
  for (const KernelReport& kernel : kernels) {
    const std::uint64_t blocks = launched_blocks(kernel.trace);
    if (kernel.trace.blocks >= blocks) continue;
    launched += blocks;
    missing += blocks - kernel.trace.blocks;
    launches += launches_of(kernel.trace);
    missing_launches += launches_of(kernel.trace) - kernel.watched_launches.value_or(0);
    whole_launches &= kernel.watched_launches.has_value();
    ended |= std::ranges::any_of(kernel.trace.diagnoses, &trace::DiagnosisRecord::ended);
    names.emplace_back(kernel.name);
  }
  if (missing == 0) return "";
  std::string why = limits.typed.empty() && ended ? "a fault ended the launch" : limits.typed;
  if (whole_launches) {
    why = fmt::format("only the first{} of each size: {}",
                      limits.max_launches == 1 ? "" : fmt::format(" {}", limits.max_launches), why);
  }
  return fmt::format("{} of {} {} of {} were not watched{}",
                     support::grouped(whole_launches ? missing_launches : missing),
                     support::grouped(whole_launches ? launches : launched), whole_launches ? "launches" : terms.blocks,
                     whose(names), why.empty() ? "" : " (" + why + ")");
}

std::vector<std::string> gaps_of(const RunReport& report, std::vector<std::string> told, const WatchLimits& limits) {
  std::vector<std::string> counts = not_costed(report);
  if (std::string blocks = not_watched(report.kernels, terms_of(report.maker), limits); !blocks.empty())
    counts.insert(counts.begin(), std::move(blocks));
  if (!counts.empty()) told.push_back(fmt::format("{}", fmt::join(counts, "; ")));
  return told;
}

}  // namespace bankwise::driver
