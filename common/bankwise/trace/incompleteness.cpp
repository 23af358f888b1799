// What the numbers of a report lack.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::trace {
namespace {

/// Those of so many accesses beyond the limit that have no cost on an architecture.
std::uint64_t without_cost(std::uint64_t accesses, const auto& excess, const banks::Architecture& architecture) {
  std::uint64_t costed = 0;
  for (const auto& part : excess) costed += part.architecture == architecture.name ? part.accesses : 0;
  return accesses - std::min(costed, accesses);
}

void add_excess(std::vector<std::string>& sentences, std::uint64_t excess, const std::string& whose,
                const banks::Architecture& architecture) {
  if (excess == 0) return;
  sentences.push_back(fmt::format("{} accesses {} did not fit into the trace, and have no cost on {}", excess, whose,
                                  architecture.name));
}

}  // namespace

std::uint64_t excess_without_cost(const KernelTrace& trace, const banks::Architecture& architecture) {
  return without_cost(trace.excess_accesses, trace.excess, architecture);
}

std::uint64_t excess_without_cost(const KernelTrace& trace, SectorMemory memory,
                                  const banks::Architecture& architecture) {
  const SectorMembers& members = sector_members[std::size_t(memory)];
  return without_cost(trace.*members.excess_accesses, trace.*members.excess, architecture);
}

std::vector<std::string> incompleteness(const KernelTrace& trace, const banks::Architecture& architecture) {
  std::vector<std::string> sentences;
  if (!trace.watches_shared) sentences.push_back(fmt::format("shared memory of {} was not watched", trace.kernel));
  add_excess(sentences, excess_without_cost(trace, architecture), "of " + trace.kernel, architecture);
  add_excess(sentences, excess_without_cost(trace, SectorMemory::remote, architecture),
             fmt::format("of {} to the {}", trace.kernel, remote_memory), architecture);
  if (!trace.left_out.empty()) {
    const std::uint64_t count = total(trace.left_out);
    sentences.push_back(fmt::format("{} of {} have no cost: {}; the numbers are lower bounds",
                                    count == 0 ? "accesses" : support::plural(count, "access", "accesses"),
                                    trace.kernel, to_text(trace.left_out)));
  }
  return sentences;
}

std::vector<std::pair<std::uint64_t, std::string_view>> largest_first(const LeftOut& causes) {
  std::vector<std::pair<std::uint64_t, std::string_view>> parts;
  for (const auto& [cause, count] : causes)
    parts.emplace_back(count, cause.empty() ? std::string_view("unknown") : cause);
  std::ranges::sort(parts, std::greater());
  return parts;
}

std::string to_text(const LeftOut& causes) {
  constexpr std::size_t most = 6;
  const auto parts = largest_first(causes);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
    const auto& [count, cause] = parts[i];
    text +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", cause, count == 0 ? "(unknown number)" : support::grouped(count));
  }
  return parts.size() > most ? text + ", ..." : text;
}

std::vector<std::string> global_incompleteness(const KernelTrace& trace, const banks::Architecture& architecture) {
  std::vector<std::string> sentences;
  add_excess(sentences, excess_without_cost(trace, SectorMemory::global, architecture),
             "to global memory of " + trace.kernel, architecture);
  if (trace.global_left_out > 0) {
    sentences.push_back(fmt::format("{} accesses to global memory of {} were left out: the sectors are lower bounds",
                                    trace.global_left_out, trace.kernel));
  }
  return sentences;
}

}  // namespace bankwise::trace
