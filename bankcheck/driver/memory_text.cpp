// Memories in the text of a report: the table of global memory, and the sentences that answer first; what engines did,
// and accesses to the shared memory of other blocks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include <bankwise/banks/engines.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {
namespace {

/// What is said of the architectures, as far as something is said of them.
template <class TextOf>
auto said_of(const KernelReport& kernel, TextOf text_of) {
  auto texts = alike(kernel.reports.size(), text_of);
  std::erase_if(texts, [](const auto& text) { return text.value.empty(); });
  return texts;
}

/// "sectors"; "sectors of 64 bytes".
std::string sectors_word(const banks::Architecture& architecture) {
  constexpr unsigned usual = 32;
  const auto& memory = architecture.sectors.fact;
  return !memory || memory->sector_bytes == usual ? "sectors"
                                                  : fmt::format("sectors of {} bytes", memory->sector_bytes);
}

std::string used_text(const trace::Report& on, const banks::SectorTally& tally) {
  return report::percent_text(used_share(tally, *on.architecture));
}

std::string sectors_summary(const trace::Report& on, const banks::SectorTally& all, std::string_view memory,
                            bool is_part) {
  const std::string accesses = fmt::format("{} to {}, ", support::plural(all.accesses, "access", "accesses"), memory);
  if (all.unknown > 0) return accesses + "without a known cost";
  if (report::extra_sectors(all) > 0) {
    return accesses + fmt::format("{} % of the {} are used", used_text(on, all),
                                  is_part ? "bytes moved in what was watched" : "bytes moved");
  }
  return accesses + (is_part ? "no extra sector in what was watched" : "no extra sectors");
}

/// "k.cu:12, k.cu:14": the lines that store with conflicts.
std::string conflicting_stores(const KernelReport& kernel) {
  constexpr std::size_t most = 4;
  const trace::Report& on = kernel.reports.front();
  std::set<std::string> places;
  for (const trace::LineReport& line : on.lines) {
    const bool stores = line.operation == banks::Operation::store || to_string(line.operation).starts_with("stmatrix");
    if (stores && line.costs.conflicts > 0) places.insert(where(kernel, line.site));
  }
  std::vector<std::string_view> shown(places.begin(), places.end());
  if (shown.size() > most) {
    shown.resize(most);
    shown.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

/// Boxes whose rows are so narrow that the engine moves fewer bytes than it can.
std::string narrow_rows(const KernelReport& kernel, const trace::EngineLineReport& line) {
  constexpr std::uint32_t wide = 64;  // bytes: a row of up to so many takes the same time
  constexpr std::uint64_t rows = 4096;
  if (line.row_bytes == 0 || line.row_bytes >= wide) return "";
  const std::uint64_t bytes = rows * line.row_bytes;
  const banks::Architecture& architecture = *kernel.reports.front().architecture;
  const auto narrow = banks::cost(architecture, {line.engine, bytes, line.row_bytes}),
             widest = banks::cost(architecture, {line.engine, bytes, 0});
  if (!narrow || !widest || narrow->cycles <= widest->cycles) return "";
  return fmt::format(
      "{}: rows of {} bytes use {} of the engine: {} moves {:.1f} bytes per cycle, and {:.0f} if the rows are wide",
      where(kernel, line.site), line.row_bytes, report::percent(widest->cycles / narrow->cycles),
      to_string(line.engine), double(bytes) / narrow->cycles, double(bytes) / widest->cycles);
}

}  // namespace

std::optional<double> used_share(const banks::SectorTally& tally, const banks::Architecture& architecture) {
  const auto& memory = architecture.sectors.fact;
  return report::used_share(tally, memory ? memory->sector_bytes : 1);
}

std::string sector_tables(const RunReport& report, const KernelReport& kernel, trace::SectorMemory memory,
                          const TextOptions& options) {
  const bool everything = options.detail == Detail::verbose, is_global = memory == trace::SectorMemory::global;
  const auto tables = said_of(kernel, [&](std::size_t a) {
    const trace::Report& on = kernel.reports[a];
    const std::vector<trace::GlobalLineReport>& lines = on.sector_lines(memory);
    const banks::SectorTally& all = on.sectors(memory);
    if (lines.empty()) return std::string();
    if (!everything && all.sectors == 0) return std::string();  // a note says why nothing is known
    const bool is_part = is_global ? is_global_incomplete(report, kernel, on) : is_incomplete(report, kernel, on);
    report::TableOptions table{.columns = options.columns, .at_least = is_part, .everything = everything};
    if (const auto& time = kernel.times[a]; is_global && time && time->most_share(0, 1)) {
      for (const trace::GlobalLineReport& line : lines)
        table.times.push_back(report::percent(time->most_share(0, report::extra_sectors(line.costs))));
    }
    return report::global_table(on, memory, shown_lines(kernel, lines), table);
  });
  const auto is_wasteful = [&](const trace::Report& on) { return is_uncoalesced(on.sectors(memory)); };
  if (!everything && std::ranges::none_of(kernel.reports, is_wasteful)) return "";
  std::string text;
  for (const auto& [same, table] : tables) {
    const std::string names = tables.size() > 1 ? " on " + names_of(kernel, same) : "";
    text += fmt::format("{}  {}{}\n{}", text.empty() ? "" : "\n", is_global ? "global memory" : trace::remote_memory,
                        names, support::visible(table));
  }
  return text;
}

std::vector<std::string> global_answer(const RunReport& report, const KernelReport& kernel) {
  const auto answers = said_of(kernel, [&](std::size_t a) -> std::vector<std::string> {
    const trace::Report& on = kernel.reports[a];
    if (!is_uncoalesced(on.global)) return {};
    const bool is_part = is_global_incomplete(report, kernel, on);
    const trace::GlobalLineReport& line = on.global_lines[report::by_extra_sectors(on.global_lines).front()];
    const std::string looks = report::looks_like(on, line);
    const auto lines = std::ranges::count_if(
        on.global_lines, [](const trace::GlobalLineReport& other) { return report::extra_sectors(other.costs) > 0; });
    std::string moved =
        fmt::format("{}{} {} where {} would do{}", is_part ? "at least " : "", support::grouped(on.global.sectors),
                    sectors_word(*on.architecture), support::grouped(on.global.ideal),
                    lines == 1 ? "" : fmt::format(", in {} lines", lines));
    if (on.global_lines.size() > 1 && on.global.unknown == 0)
      moved += fmt::format("; {} % of all bytes moved are used", used_text(on, on.global));
    return {
        fmt::format("{} % of the bytes moved are used: {} {} {}{}{}", used_text(on, line.costs),
                    where(kernel, line.site), to_string(line.operation), line.width, looks.empty() ? "" : ", ", looks),
        moved};
  });
  std::vector<std::string> sentences;
  for (const auto& [same, answer] : answers) {
    sentences.push_back(fmt::format("{} ({})", answer[0], names_of(kernel, same)));
    sentences.push_back(answer[1]);
  }
  return sentences;
}

std::string global_summary(const RunReport& report, const KernelReport& kernel) {
  if (!has_global_accesses(kernel)) return "";
  const trace::Report& on = kernel.reports.front();
  return sectors_summary(on, on.global, "global memory", is_global_incomplete(report, kernel, on));
}

std::string remote_summary(const RunReport& report, const KernelReport& kernel) {
  const trace::Report& on = kernel.reports.front();
  if (on.remote_lines.empty()) return "";
  return sectors_summary(on, on.remote, fmt::format("the {}", trace::remote_memory), is_incomplete(report, kernel, on));
}

std::vector<std::string> time_sentences(const RunReport& report, const KernelReport& kernel) {
  const auto times = said_of(kernel, [&](std::size_t a) {
    const trace::Report& on = kernel.reports[a];
    const bool is_part = is_incomplete(report, kernel, on) || is_global_incomplete(report, kernel, on);
    return kernel.times[a] ? time_text(*kernel.times[a], kernel.trace, on, is_part) : "";
  });
  std::vector<std::string> sentences;
  for (const auto& [same, time] : times)
    sentences.push_back(times.size() > 1 ? fmt::format("{}: {}", names_of(kernel, same), time) : time);
  return sentences;
}

std::string accesses_text(const trace::Report& on, std::string_view memory) {
  std::string all = fmt::format("{}{}{}", support::plural(on.all.accesses, "access", "accesses"),
                                memory.empty() ? "" : " to ", memory);
  if (on.engines.accesses == 0) return all;
  return fmt::format("{}, {} by {}", all, support::grouped(on.engines.accesses), report::engines_text(on));
}

std::string no_conflicts_text(const KernelReport& kernel, bool is_part) {
  const std::string own = kernel.reports.front().remote.accesses > 0 ? " in its own shared memory" : "";
  return is_part ? fmt::format("no conflict{} in what was watched", own) : "no conflicts" + own;
}

std::string remote_sentence(const std::vector<KernelReport>& kernels) {
  std::size_t number = 0;
  for (const KernelReport& kernel : kernels)
    number += kernel.reports.front().remote.accesses > kernel.reports.front().remote.unknown ? kernel.kernels : 0;
  if (number == 0) return "";
  return fmt::format("{} the {}: conflicts in the banks there are not known",
                     support::plural(number, "kernel accesses", "kernels access"), trace::remote_memory);
}

std::string engine_share(const trace::Report& on) {
  if (on.engines.passes == 0 || on.all.passes == 0) return "";
  return fmt::format("{} are by {}", report::percent(double(on.engines.passes) / double(on.all.passes)),
                     report::engines_text(on, true));
}

std::vector<std::string> engine_notes(const KernelReport& kernel) {
  std::vector<std::string> notes;
  const trace::Report& on = kernel.reports.front();
  const auto is_wgmma = [](const trace::EngineLineReport& line) {
    return line.engine == banks::Engine::wgmma && line.costs.unknown == 0;
  };
  if (std::ranges::any_of(on.engine_lines, is_wgmma)) {
    if (const std::string stores = conflicting_stores(kernel); !stores.empty()) {
      notes.push_back(fmt::format(
          "wgmma reads its operands without conflicts in any layout; stores that write them may conflict, and here "
          "stores do at {}",
          stores));
    }
  }
  for (const trace::EngineLineReport& line : on.engine_lines) {
    if (std::string note = narrow_rows(kernel, line); !note.empty()) notes.push_back(std::move(note));
  }
  if (on.remote.accesses > on.remote.unknown) {
    notes.push_back(fmt::format("{} to the {} cost sectors; conflicts in the banks there are not known",
                                support::plural(on.remote.accesses - on.remote.unknown, "access", "accesses"),
                                trace::remote_memory));
  }
  return notes;
}

}  // namespace bankwise::driver
