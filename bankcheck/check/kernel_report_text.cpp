// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include <bankwise/support/table.hpp>
#include <bankwise/trace/diagnosis_text.hpp>
#include <bankwise/trace/tally_text.hpp>
#include "bankcheck/check/kernel_report.hpp"
#include "bankcheck/predict/bank_picture.hpp"

namespace bankwise::opencl {
namespace {

using Table = std::vector<std::vector<std::string>>;

constexpr std::size_t max_levels = 64;    // shown in a table
constexpr std::size_t longest_line = 60;  // characters of a source line
constexpr unsigned max_turns = 4;         // rows of a picture: enough to show the pattern

/// The words of the program's language.
struct Terms {
  std::string_view block, blocks, threads, memory, copies;
  bool simulated;  ///< Oclgrind ran the lanes, one after another
};
constexpr Terms opencl_terms{"work-group", "work-groups", "work-items", "local memory", "async_work_group_copy", true};
constexpr Terms cuda_terms{"block", "blocks", "threads", "shared memory", "bulk copies, TMA and wgmma", false};

const Terms& terms_of(std::string_view maker) {
  return maker == "bankcheck cuda" || maker == "bankcheck emulate" ? cuda_terms : opencl_terms;
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

/// Without a line, the offset of the instruction in the kernel.
std::string where(const SourceLine& line, const trace::Site& site) {
  if (site.pc) return fmt::format("+{:#x}", *site.pc);
  if (line.place.column > 0) return fmt::format("{}:{}:{}", line.place.file, line.place.line, line.place.column);
  const std::filesystem::path path = line.place.file;
  return fmt::format("{}:{}", path.is_absolute() ? path.filename().string() : path.string(), line.place.line);
}

std::string size_text(const std::array<std::uint64_t, 3>& size) {
  std::string text = fmt::format("{}", size[0]);
  if (size[1] != 1 || size[2] != 1) text += fmt::format(" x {}", size[1]);
  if (size[2] != 1) text += fmt::format(" x {}", size[2]);
  return text;
}

/// The row of a report for the same place, array, operation and width. All architectures have the same rows, because
/// the accesses are the same.
const trace::LineReport* same_line(const trace::Report& report, const trace::LineReport& wanted) {
  const auto found = std::find_if(report.lines.begin(), report.lines.end(), [&](const trace::LineReport& line) {
    return line.site == wanted.site && line.array == wanted.array && line.operation == wanted.operation &&
           line.width == wanted.width;
  });
  return found == report.lines.end() ? nullptr : &*found;
}

/// Whether the second count, of accesses as a device compiler may merge them, has columns.
bool has_merged(const std::vector<trace::Report>& reports) {
  return std::any_of(reports.begin(), reports.end(), trace::merging_matters);
}

Table head_of(const std::vector<trace::Report>& reports) {
  const bool merged = has_merged(reports);
  if (reports.size() == 1) {
    Table head{{"where", "access", "array", "accesses", "lanes", "passes", "ideal", "conflicts"}};
    if (merged) head[0].insert(head[0].end(), {"merged", "conflicts"});
    head[0].emplace_back("source");
    return head;
  }
  Table head{{"", "", ""}, {"where", "access", "array"}};
  for (const trace::Report& report : reports) {
    head[0].insert(head[0].end(), {std::string(report.architecture->name), ""});
    head[1].insert(head[1].end(), {"passes", "conflicts"});
    if (!merged) continue;
    head[0].insert(head[0].end(), {"", ""});
    head[1].insert(head[1].end(), {"merged", "conflicts"});
  }
  head[0].emplace_back();
  head[1].emplace_back("source");
  return head;
}

/// `merged` is null without columns for it.
std::vector<std::string> numbers_of(const banks::Tally& tally, const banks::Tally* merged, bool alone) {
  std::vector<std::string> numbers;
  if (alone) {
    const double lanes = tally.accesses == 0 ? 0 : double(tally.lanes) / double(tally.accesses);
    numbers = {std::to_string(tally.accesses), fmt::format("{:.1f}", lanes), passes_number(tally), ideal_number(tally),
               conflicts_number(tally)};
  } else {
    numbers = {passes_text(tally), conflicts_number(tally)};
  }
  if (merged == nullptr) return numbers;
  numbers.push_back(alone ? passes_number(*merged) : passes_text(*merged));
  numbers.push_back(conflicts_number(*merged));
  return numbers;
}

/// Numbers of an incomplete trace are lower bounds.
std::vector<std::string> at_least(std::vector<std::string> numbers) {
  for (std::string& number : numbers) number = ">=" + number;
  return numbers;
}

std::string lines_table(const KernelReport& kernel, bool incomplete) {
  const auto& reports = kernel.reports;
  const bool alone = reports.size() == 1, merged = has_merged(reports);
  Table table = head_of(reports);
  const auto append = [](std::vector<std::string>& row, const std::vector<std::string>& numbers) {
    row.insert(row.end(), numbers.begin(), numbers.end());
  };
  for (std::size_t i = 0; i < reports.front().lines.size(); ++i) {
    const trace::LineReport& line = reports.front().lines[i];
    auto& row = table.emplace_back(std::vector<std::string>{where(kernel.lines.front()[i], line.site),
                                                            fmt::format("{} {}", to_string(line.operation), line.width),
                                                            line.array});
    for (const trace::Report& report : reports) {
      const trace::LineReport* same = same_line(report, line);
      const trace::LineReport empty;
      const trace::LineReport& numbers = same == nullptr ? empty : *same;
      append(row, numbers_of(numbers.costs, merged ? &numbers.merged : nullptr, alone));
    }
    row.push_back(kernel.lines.front()[i].text.substr(0, longest_line));
  }
  auto& total = table.emplace_back(std::vector<std::string>{"all", "", ""});
  for (const trace::Report& report : reports) {
    const auto numbers = numbers_of(report.all, merged ? &report.merged_all : nullptr, alone);
    append(total, incomplete || !report.incomplete.empty() ? at_least(numbers) : numbers);
  }
  total.emplace_back();
  return format_table(table, 3, true);
}

/// How many of a kernel's passes the conflicts are.
std::string conflict_shares(const KernelReport& kernel) {
  std::string text;
  for (const trace::Report& report : kernel.reports) {
    const banks::Tally& all = report.all;
    if (all.unknown > 0 || all.passes == 0) continue;
    text += fmt::format("  {}: conflicts are {} % of the passes\n", report.architecture->name,
                        percent_text(double(all.conflicts) / double(all.passes)));
  }
  return text;
}

std::string levels_table(const trace::Report& report, std::size_t widest) {
  Table table{{std::string(report.architecture->name), "level"}, {"", "passes"}, {"", "ALU %"}};
  for (std::size_t i = 0; i < std::min(report.levels.size(), max_levels); ++i) {
    const banks::Tally& level = report.levels[i].costs;
    if (level.accesses == 0) continue;
    table[0].push_back(std::to_string(i));
    table[1].push_back(passes_text(level));
    table[2].push_back(percent_text(level.utilization(report.warp)));
  }
  std::string text = format_wide_table(table, 2, widest);
  if (report.levels.size() > max_levels) {
    text += fmt::format("  and {} more levels: --json lists all of them\n", report.levels.size() - max_levels);
  }
  return text;
}

/// The picture of the worst access on the first architecture; --json has the addresses to draw it for the others.
std::string worst_picture(const KernelReport& kernel, const Terms& terms, unsigned columns, bool colour) {
  const auto number = kernel.worst_line(0);
  if (!number) return "";
  const trace::LineReport& line = kernel.reports.front().lines[*number];
  const trace::WorstAccess& worst = *line.worst;
  const banks::Architecture& model = *kernel.reports.front().architecture;
  const banks::Access access{line.operation, line.width, worst.mask, worst.addresses, worst.sources};
  const auto cost = std::get<banks::Cost>(banks::cost(model, access));
  return fmt::format("worst on {}: {}, {} {} of {}, first in {} {}, level {}, warp {}: passes {}, ideal {}\n",
                     model.name, where(kernel.lines.front()[*number], line.site), to_string(line.operation), line.width,
                     line.array, terms.block, worst.block, worst.level, worst.warp, cost.passes, cost.ideal) +
         to_text(picture(model, access, cost), columns, colour, max_turns) + '\n';
}

/// Work-groups that are narrower than a warp leave lanes of it idle.
std::string narrow_groups(const KernelReport& kernel, const Terms& terms) {
  const unsigned warp = kernel.reports.front().warp;
  std::uint64_t narrowest = warp;
  for (const trace::Shape& shape : kernel.trace.shapes) {
    narrowest = std::min(narrowest, std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2]);
  }
  if (narrowest >= warp) return "";
  const std::string_view thread = terms.threads.substr(0, terms.threads.size() - 1);
  return fmt::format("note: {} of {} fill {} % of a warp of {}; the other lanes are idle{}\n", terms.blocks,
                     plural(narrowest, thread, terms.threads), percent_text(double(narrowest) / warp), warp,
                     terms.simulated ? ", and the program may use groups this small only on CPUs" : "");
}

/// Why lines have no file although one contains them.
std::string same_sources(const KernelReport& kernel) {
  const auto& files = kernel.same_sources;
  if (files.empty()) return "";
  const std::size_t others = files.size() - 2;
  return fmt::format("note: {} contains this source, and so does {}{}; --sources selects a directory\n", files[0],
                     files[1], others == 0 ? "" : fmt::format(", and {} more", plural(others, "file", "files")));
}

std::string remarks(const KernelReport& kernel, const Terms& terms) {
  std::string text = narrow_groups(kernel, terms) + same_sources(kernel);
  for (const trace::Report& report : kernel.reports) {
    for (const std::string& sentence : report.unknown) text += fmt::format("note: {}\n", sentence);
    for (const std::string& sentence : report.ranges)
      text += fmt::format("note: on {}, {}\n", report.architecture->name, sentence);
  }
  const auto& lines = kernel.reports.front().lines;
  std::uint64_t mixed = 0;
  for (const trace::LineReport& line : lines) mixed += line.mixed;
  if (mixed > 0) {
    text += fmt::format(
        "note: {} touched several arrays: the conflicts depend on where the compiler places the arrays; this report "
        "assumes that each array begins at bank 0\n",
        plural(mixed, "access", "accesses"));
  }
  const auto swaps = [](const trace::LineReport& line) { return line.operation == banks::Operation::atomic_cas; };
  if (terms.simulated && std::any_of(lines.begin(), lines.end(), swaps)) {
    text +=
        "note: a compare-and-swap never fails here, where lanes run one after another; on a GPU it may need retries\n";
  }
  if (kernel.trace.copied_bytes > 0) {
    text +=
        fmt::format("not counted: {} bytes of {} moved by {}\n", kernel.trace.copied_bytes, terms.memory, terms.copies);
  }
  if (terms.simulated && !kernel.trace.knows_code) {
    text +=
        "note: this Oclgrind hides its LLVM: there are no source lines, and accesses in loops are matched by order, "
        "not by iteration\n";
  }
  return text;
}

/// What the program does wrong, before its costs.
std::string diagnoses_text(const KernelReport& kernel) {
  constexpr std::size_t most = 20;
  const auto& all = kernel.trace.diagnoses;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
    const trace::Site& site = kernel.trace.sites.at(all[i].site);
    text += fmt::format("  {}: {}\n", where(kernel.diagnoses[i], site), sentence_of(all[i]));
  }
  if (all.size() > most) text += fmt::format("  and {} more: --json lists all of them\n", all.size() - most);
  return text;
}

/// The instructions of each line whose two counts differ.
std::string evidence_text(const KernelReport& kernel, const std::vector<EmittedLine>& emitted) {
  std::string text;
  const auto& lines = kernel.reports.front().lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].costs == lines[i].merged) continue;
    if (const auto evidence = evidence_for(lines[i], emitted)) {
      text += fmt::format("  {} {} {}: {}\n", where(kernel.lines.front()[i], lines[i].site),
                          to_string(lines[i].operation), lines[i].array, to_text(*evidence));
    }
  }
  return text.empty() ? text : "instructions in the machine code, and the count that they agree with:\n" + text + '\n';
}

std::string to_text(const KernelReport& kernel, const Terms& terms, bool incomplete, unsigned columns, bool colour,
                    const std::vector<EmittedLine>& emitted) {
  const trace::KernelTrace& trace = kernel.trace;
  const std::string size = trace.shapes.size() > 1
                               ? "several sizes"
                               : fmt::format("{} {}", size_text(trace.shapes.front().block), terms.threads);
  std::string text = fmt::format("{}: {}, {} of {}\n", kernel.name, plural(launches_of(trace), "launch", "launches"),
                                 plural(trace.blocks, terms.block, terms.blocks), size);
  text += diagnoses_text(kernel);
  const bool accesses =
      std::any_of(kernel.reports.begin(), kernel.reports.end(), [](auto& report) { return !report.lines.empty(); });
  if (!accesses) {
    return text + fmt::format("  no access to {}{}\n", terms.memory, incomplete ? " was recorded" : "") +
           remarks(kernel, terms) + '\n';
  }
  text += lines_table(kernel, incomplete);
  text += evidence_text(kernel, emitted);
  if (!terms.simulated) text += conflict_shares(kernel);
  text += '\n';
  for (const trace::Report& report : kernel.reports) text += levels_table(report, columns);
  text += '\n' + remarks(kernel, terms);
  return text + worst_picture(kernel, terms, columns, colour);
}

}  // namespace

std::string_view word_for_blocks(std::string_view maker) {
  return terms_of(maker).blocks;
}

std::string to_text(const RunReport& report, unsigned columns, bool colour) {
  const Terms& terms = terms_of(report.maker);
  std::string text;
  for (const std::string& sentence : report.incomplete) text += fmt::format("incomplete: {}\n", sentence);
  if (!report.incomplete.empty()) text += '\n';
  for (const KernelReport& kernel : report.kernels) {
    text += to_text(kernel, terms, report.failed || !report.incomplete.empty(), columns, colour, report.emitted);
  }
  return text;
}

}  // namespace bankwise::opencl
