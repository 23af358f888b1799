#include "bankcheck/driver/kernel_report.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

constexpr Terms opencl_terms{"work-group",  "work-groups", "work-items", "local memory", "async_work_group_copy",
                             "work_groups", true};
constexpr Terms cuda_terms{"block",  "blocks", "threads", "shared memory", "bulk copies, TMA and wgmma",
                           "blocks", false};

/// "work-item", of "work-items".
std::string_view one_of(std::string_view many) { return many.substr(0, many.size() - 1); }

std::string size_text(const std::array<std::uint64_t, 3>& size) {
  const auto dimensions = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
  return fmt::format("{}", fmt::join(size.begin(), size.begin() + dimensions, " x "));
}

/// Work-groups that are narrower than a warp leave lanes of it idle.
std::string narrow_groups(const KernelReport& kernel, const Terms& terms) {
  const unsigned warp = kernel.reports.front().warp;
  std::uint64_t narrowest = warp;
  for (const trace::LaunchShape& shape : kernel.trace.shapes) {
    narrowest = std::min(narrowest, std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2]);
  }
  if (narrowest >= warp) return "";
  return fmt::format("{} of {} fill {} % of a warp of {}; the other lanes are idle{}", terms.blocks,
                     support::plural(narrowest, one_of(terms.threads), terms.threads),
                     report::percent_text(double(narrowest) / warp), warp,
                     terms.simulated ? ", and the program may use groups this small only on CPUs" : "");
}

/// Why lines have no file although one contains them.
std::string same_sources(const KernelReport& kernel) {
  const auto& files = kernel.same_sources;
  if (files.empty()) return "";
  const std::string others =
      files.size() == 2 ? "" : ", and " + support::plural(files.size() - 2, "file", "files") + " more";
  return fmt::format("{} contains this source, and so does {}{}; --sources selects a directory", files[0], files[1],
                     others);
}

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// What the widths say. A line without instructions was dropped or merged into another line.
std::string_view agreeing_count(const trace::LineReport& line, const EmittedEvidence& evidence) {
  if (line.costs == line.merged) return "both";
  const bool is_gone = line.merged.accesses == 0;
  if (evidence.opcodes.empty()) return is_gone ? "merged" : "neither";
  if (is_gone) return "source";
  unsigned widest = 0;
  for (const auto& [opcode, count] : evidence.opcodes) widest = std::max(widest, width_of_opcode(opcode));
  const unsigned widest_merged = std::max(line.width, line.widest);
  if (widest == line.width) return widest_merged == line.width ? "both" : "source";
  return widest == widest_merged ? "merged" : "neither";
}

}  // namespace

std::string about(std::uint64_t count) {
  return count < 1'000'000 ? support::grouped(count) : fmt::format("{:.1f} million", double(count) / 1e6);
}

unsigned width_of_opcode(std::string_view opcode) {
  constexpr std::pair<std::string_view, unsigned> widths[]{{".128", 16}, {".64", 8}, {"16", 2}, {"8", 1}};
  for (const auto& [ending, width] : widths) {
    if (opcode.ends_with(ending)) return width;
  }
  return 4;
}

std::optional<EmittedEvidence> evidence_for(const trace::LineReport& line, const std::vector<EmittedLine>& emitted) {
  if (line.operation != banks::Operation::load && line.operation != banks::Operation::store) return std::nullopt;
  const std::string_view kind = line.operation == banks::Operation::load ? "LDS" : "STS";
  const std::string name = name_of(line.site.file);
  EmittedEvidence evidence;
  bool has_file = false;
  for (const EmittedLine& emitted_line : emitted) {
    if (name_of(emitted_line.file) != name) continue;
    has_file = true;
    if (emitted_line.line != line.site.line) continue;
    for (const auto& [opcode, count] : emitted_line.opcodes) {
      if (opcode.substr(0, opcode.find('.')) == kind) evidence.opcodes[opcode] += count;
    }
  }
  if (!has_file) return std::nullopt;
  evidence.agrees = agreeing_count(line, evidence);
  return evidence;
}

std::string to_text(const EmittedEvidence& evidence) {
  std::string text;
  for (const auto& [opcode, count] : evidence.opcodes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, opcode);
  }
  return fmt::format("{}: {}", text.empty() ? "no instruction" : text, evidence.agrees);
}

const Terms& terms_of(trace::Maker maker) {
  return maker == trace::Maker::cuda || maker == trace::Maker::emulate ? cuda_terms : opencl_terms;
}

std::string cut(std::string_view text, std::size_t longest, std::string_view wanted) {
  if (text.size() <= longest) return std::string(text);
  const std::size_t found = wanted.empty() ? std::string_view::npos : text.find(wanted);
  std::size_t begin = 0;
  if (found != std::string_view::npos && found + wanted.size() + longest / 4 > longest) {
    begin = std::min(found - std::min(found, longest / 2), text.size() - longest);
  }
  std::size_t end = begin + longest;
  while (support::is_inside_character(text, begin)) ++begin;
  while (support::is_inside_character(text, end)) --end;
  return fmt::format("{}{}{}", begin > 0 ? "… " : "", text.substr(begin, end - begin), end < text.size() ? " …" : "");
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + '\'';
}

std::string where(const PlacedLine& line, const trace::Site& site) {
  if (site.pc) return fmt::format("+{:#x}", *site.pc);
  const std::filesystem::path path = line.place.file;
  std::string file = path.is_absolute() ? path.filename().string() : path.string();
  if (line.place.line == 0 && site.line == 0 && file != "?") return file;  // of a group of kernels
  const std::string column = line.place.column > 0 ? fmt::format(":{}", line.place.column) : "";
  return fmt::format("{}:{}{}", file, line.place.line, column);
}

std::string where(const KernelReport& kernel, const trace::Site& site) { return where(kernel.placed(site), site); }

std::string launches_text(const KernelReport& kernel, const Terms& terms) {
  const trace::KernelTrace& trace = kernel.trace;
  std::string size = "several sizes";
  if (trace.shapes.size() == 1) {
    const std::string lengths = size_text(trace.shapes.front().block);
    size = fmt::format("{} {}", lengths, lengths == "1" ? one_of(terms.threads) : terms.threads);
  }
  const std::uint64_t launched = launched_blocks(trace);
  const std::string launches = support::plural(launches_of(trace), "launch", "launches"),
                    blocks = support::plural(trace.blocks, terms.block, terms.blocks);
  if (kernel.watched_launches) {
    return fmt::format("{} of {} watched, {} of {}", support::grouped(*kernel.watched_launches), launches, blocks,
                       size);
  }
  if (trace.blocks >= launched) return fmt::format("{}, {} of {}", launches, blocks, size);
  return fmt::format("{}, {} of {} of {} watched", launches, support::grouped(trace.blocks),
                     support::plural(launched, terms.block, terms.blocks), size);
}

std::string access_text(const trace::LineReport& line) {
  return fmt::format("{} {}", to_string(line.operation), line.width);
}

const trace::LineReport* same_line(const trace::Report& report, const trace::LineReport& wanted) {
  const auto same = std::ranges::lower_bound(report.lines, line_key(wanted), {}, line_key);
  if (same != report.lines.end() && line_key(*same) == line_key(wanted)) return &*same;
  const auto narrower = std::ranges::find_if(report.lines, [&](const trace::LineReport& line) {  // after a change
    return line.site == wanted.site && line.array == wanted.array && line.operation == wanted.operation &&
           line.width < wanted.width;
  });
  return narrower == report.lines.end() ? nullptr : &*narrower;
}

const trace::LineReport& line_on(const trace::Report& report, const trace::LineReport& wanted) {
  static const trace::LineReport none;
  const trace::LineReport* same = same_line(report, wanted);
  return same == nullptr ? none : *same;
}

bool has_merged(const std::vector<trace::Report>& reports) {
  return std::ranges::any_of(reports, trace::merging_matters);
}

bool has_accesses(const KernelReport& kernel) {
  return std::ranges::any_of(kernel.reports, [](auto& report) {
    return !report.lines.empty() || !report.engine_lines.empty() || !report.remote_lines.empty();
  });
}

bool has_global_accesses(const KernelReport& kernel) {
  return std::ranges::any_of(kernel.reports, [](auto& report) { return !report.global_lines.empty(); });
}

std::vector<std::string> notes_on(const KernelReport& kernel, const Terms& terms) {
  std::vector<std::string> notes;
  for (std::string note : {narrow_groups(kernel, terms), same_sources(kernel)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  for (const trace::Report& report : kernel.reports) {
    notes.insert(notes.end(), report.unknown.begin(), report.unknown.end());
    for (const std::string& sentence : report.ranges) {
      notes.push_back(fmt::format("on {}, {}", report.architecture->name, sentence));
    }
    if (const auto& why = report.architecture->sectors.why_unknown; report.global.unknown > 0 && !why.empty()) {
      notes.push_back(
          fmt::format("the cost of {} is not known on {}: {}",
                      support::plural(report.global.unknown, "access to global memory", "accesses to global memory"),
                      report.architecture->name, why));
    }
  }
  for (std::string& note : engine_notes(kernel)) notes.push_back(std::move(note));
  if (std::string why = unusable_time(kernel.trace); !why.empty()) notes.push_back(std::move(why));
  const auto& lines = kernel.reports.front().lines;
  std::uint64_t mixed = 0;
  for (const trace::LineReport& line : lines) mixed += line.mixed;
  if (mixed > 0) {
    notes.push_back(fmt::format(
        "{} touched several arrays: the conflicts depend on where the compiler places the arrays; this report "
        "assumes that each array begins at bank 0",
        support::plural(mixed, "access", "accesses")));
  }
  const auto swaps = [](const trace::LineReport& line) { return line.operation == banks::Operation::atomic_cas; };
  if (terms.simulated && std::ranges::any_of(lines, swaps)) {
    notes.emplace_back(
        "a compare-and-swap never fails here, where lanes run one after another; on a GPU it may need retries");
  }
  if (terms.simulated && !kernel.trace.knows_code) {
    notes.emplace_back(
        "this Oclgrind hides its LLVM: there are no source lines, and accesses in loops are matched by order, "
        "not by iteration");
  }
  return notes;
}

std::string copied_text(std::uint64_t bytes, const Terms& terms) {
  return bytes == 0 ? ""
                    : fmt::format("{} bytes of {} moved by {}", support::grouped(bytes), terms.memory, terms.copies);
}

std::string conflict_share(const trace::Report& report) {
  const auto share = report::conflict_share(report.all);
  return share ? report::percent_text(share) : "";
}

std::pair<banks::Access, banks::Cost> worst_cost(const banks::Architecture& architecture,
                                                 const trace::LineReport& line) {
  const trace::WorstAccess& worst = *line.worst;
  const banks::Access access{line.operation, line.width, worst.mask, worst.addresses, worst.sources};
  return {access, std::get<banks::Cost>(banks::cost(architecture, access))};
}

std::optional<unsigned> ways(const banks::Architecture& architecture, const trace::LineReport& line) {
  if (!line.worst) return std::nullopt;
  const banks::Cost cost = worst_cost(architecture, line).second;
  return (std::max(cost.passes, cost.passes_max) + cost.ideal - 1) / cost.ideal;
}

std::string worst_text(const trace::WorstAccess& worst, const banks::Cost& cost, const Terms& terms) {
  return fmt::format("first in {} {}, level {}, warp {}: {} where {} would do", terms.block, worst.block, worst.level,
                     worst.warp, support::plural(cost.passes, "pass", "passes"), cost.ideal);
}

std::string whose(const std::vector<std::string_view>& kernels) {
  return kernels.size() == 1 ? std::string(kernels[0]) : support::plural(kernels.size(), "kernel", "kernels");
}

bool is_incomplete(const RunReport& report, const KernelReport& kernel, const trace::Report& on) {
  return report.cut_short || kernel.trace.blocks < launched_blocks(kernel.trace) || !on.incomplete.empty();
}

bool is_global_incomplete(const RunReport& report, const KernelReport& kernel, const trace::Report& on) {
  return report.cut_short || kernel.trace.blocks < launched_blocks(kernel.trace) || !on.global_incomplete.empty();
}

bool is_incomplete(const RunReport& report, const KernelReport& kernel) {
  return std::ranges::any_of(kernel.reports, [&](auto& on) { return is_incomplete(report, kernel, on); });
}

}  // namespace bankwise::driver
