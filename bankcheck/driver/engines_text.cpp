// What the text of a report says of engines, and of accesses to the shared memory of other blocks.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <bankwise/banks/engines.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {
namespace {

/// "k.cu:12, k.cu:14": the lines that store with conflicts.
std::string conflicting_stores(const KernelReport& kernel) {
  constexpr std::size_t most = 4;
  const trace::Report& on = kernel.reports.front();
  std::set<std::string> places;
  for (std::size_t i = 0; i < on.lines.size(); ++i) {
    const trace::LineReport& line = on.lines[i];
    const bool stores = line.operation == banks::Operation::store || to_string(line.operation).starts_with("stmatrix");
    if (stores && line.costs.conflicts > 0) places.insert(where(kernel.lines.front()[i], line.site));
  }
  std::string text;
  std::size_t number = 0;
  for (const std::string& place : places) {
    if (++number > most) return text + ", ...";
    text += (text.empty() ? "" : ", ") + place;
  }
  return text;
}

/// Boxes whose rows are so narrow that the engine moves fewer bytes than it can.
std::string narrow_rows(const KernelReport& kernel, std::size_t number) {
  constexpr std::uint32_t wide = 64;  // bytes: a row of up to so many takes the same time
  constexpr std::uint64_t rows = 4096;
  const trace::Report& on = kernel.reports.front();
  const trace::EngineLineReport& line = on.engine_lines[number];
  if (line.row_bytes == 0 || line.row_bytes >= wide) return "";
  const std::uint64_t bytes = rows * line.row_bytes;
  const auto narrow = banks::cost(*on.architecture, {line.engine, bytes, line.row_bytes}),
             widest = banks::cost(*on.architecture, {line.engine, bytes, 0});
  if (!narrow || !widest || narrow->cycles <= widest->cycles) return "";
  return fmt::format(
      "{}: rows of {} bytes use {} of the engine: {} moves {:.1f} bytes per cycle, and {:.0f} if the rows are wide",
      where(kernel.engine_lines.front()[number], line.site), line.row_bytes,
      report::percent(widest->cycles / narrow->cycles), to_string(line.engine), double(bytes) / narrow->cycles,
      double(bytes) / widest->cycles);
}

}  // namespace

std::string accesses_text(const trace::Report& on, std::string_view memory) {
  const std::string all = fmt::format("{}{}{}", support::plural(on.all.accesses, "access", "accesses"),
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
  for (std::size_t i = 0; i < on.engine_lines.size(); ++i) {
    if (std::string note = narrow_rows(kernel, i); !note.empty()) notes.push_back(std::move(note));
  }
  if (on.remote.accesses > on.remote.unknown) {
    notes.push_back(fmt::format("{} to the {} cost sectors; conflicts in the banks there are not known",
                                support::plural(on.remote.accesses - on.remote.unknown, "access", "accesses"),
                                trace::remote_memory));
  }
  return notes;
}

}  // namespace bankwise::driver
