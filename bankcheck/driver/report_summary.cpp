// What a report says first: what it lacks, what the program does wrong, the worst line of each kernel and its fix.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {
namespace {

constexpr std::string_view red = "1;31", yellow = "1;33", bold = "1";
constexpr std::string_view all_told = "--verbose lists all of them";

/// Paths below the current directory become relative.
std::string with_short_paths(std::string text) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + '/';
  for (auto at = text.find(here); !error && here != "/" && at != std::string::npos; at = text.find(here, at))
    text.erase(at, here.size());
  return text;
}

/// Paints where a word is, at its first place after `from`.
void paint(std::string& text, std::string_view word, std::string_view sgr, std::size_t from = 0) {
  const auto at = word.empty() ? std::string::npos : text.find(word, from);
  if (at != std::string::npos) text.replace(at, word.size(), support::painted(word, sgr));
}

/// A sentence behind a word such as "fault: ".
std::string marked(std::string_view word, const std::string& sentence, const TextOptions& options,
                   std::string_view sgr) {
  std::string text = support::wrapped(support::visible(fmt::format("{}{}", word, sentence)), options.wrap, 2);
  if (options.colour) paint(text, word.substr(0, word.size() - 1), sgr);
  return text;
}

// --- The worst line of each kernel ---

/// "2 lines with up to 8-way conflicts".
std::string lines_text(const KernelReport& kernel, const trace::Report& on, bool incomplete) {
  std::set<std::pair<std::string, unsigned>> places;
  std::set<unsigned> all_ways;
  for (const trace::LineReport& line : on.lines) {
    if (report::most_conflicts(line.costs) == 0) continue;
    const SourcePlace place = kernel.placed(line.site).place;
    const auto& pc = line.site.pc;
    places.emplace(place.file, place.line == 0 && pc ? unsigned(*pc) : place.line);
    if (const auto known = ways(*on.architecture, line)) all_ways.insert(*known);
  }
  const std::string lines = support::plural(places.size(), "line", "lines");
  if (all_ways.empty()) return lines + " with conflicts";
  if (incomplete && all_ways.size() > 1)
    return fmt::format("{} with conflicts, the worst at least {}-way", lines, *all_ways.rbegin());
  return fmt::format("{} with {}{}-way conflicts", lines,
                     incomplete            ? "at least "
                     : all_ways.size() > 1 ? "up to "
                                           : "",
                     *all_ways.rbegin());
}

std::string passes_where(const banks::Tally& tally, bool at_least) {
  banks::Tally known = tally;
  known.unknown = 0;
  return fmt::format("{}{} passes where {} would do", at_least ? "at least " : "", report::passes_number(known),
                     report::ideal_number(known));
}

/// What a kernel costs on an architecture.
std::string cost_text(const RunReport& report, const KernelReport& kernel, std::size_t architecture) {
  const trace::Report& on = kernel.reports[architecture];
  const bool incomplete = is_incomplete(report, kernel, on);
  const banks::Tally& tally = on.all;
  std::string text = no_conflicts_text(kernel, incomplete);
  if (report::most_conflicts(tally) > 0) {
    text =
        fmt::format("{}: {}", lines_text(kernel, on, incomplete), passes_where(tally, incomplete || tally.unknown > 0));
    if (const auto share = report::conflict_share(tally)) {
      text += fmt::format("; {}{} are conflicts", report::percent(share), incomplete ? " of the watched passes" : "");
      if (const std::string engines = engine_share(on); !engines.empty()) text += ", " + engines;
    }
  } else if (tally.unknown > 0) {
    text = "no conflict in the accesses with a known cost";
  }
  if (tally.unknown > 0)
    text += fmt::format("; {} of {} accesses have no known cost", about(tally.unknown), about(tally.accesses));
  return text;
}

/// "k.cu:18  bs[tx][i]  8-way: 65,536 passes where 8,192 would do", on the first architecture with conflicts.
std::string worst_line_text(const RunReport& report, const KernelReport& kernel, bool names_architecture) {
  const auto with = std::ranges::find_if(kernel.reports, [](auto& on) { return report::most_conflicts(on.all) > 0; });
  if (with == kernel.reports.end()) return "";
  const trace::LineReport& line = with->lines[report::by_cost(*with).front()];
  const report::ShownLine shown = shown_line(kernel, line.site);
  const std::string_view access = report::access_in(shown, line);
  const auto known = ways(*with->architecture, line);
  const bool incomplete = is_incomplete(report, kernel, *with);
  return fmt::format("{}   {}   {}{}{}{}", shown.where,
                     access.empty() ? fmt::format("{} of {}", access_text(line), line.array) : std::string(access),
                     known && incomplete ? "at least " : "", known ? fmt::format("{}-way", *known) : "conflicts",
                     names_architecture ? fmt::format(" on {}: ", with->architecture->name) : ": ",
                     passes_where(line.costs, incomplete));
}

using LabelledRow = std::pair<std::string, std::string>;  ///< label, and what it is for

/// The conflicts of a kernel; empty without any.
std::vector<LabelledRow> shared_rows(const RunReport& report, const KernelReport& kernel) {
  if (kernel.conflicts() == 0 && !kernel.has_unknown()) return {};
  std::vector<LabelledRow> rows;
  const auto costs = alike(kernel.reports.size(), [&](std::size_t a) { return cost_text(report, kernel, a); });
  for (const auto& [same, cost] : costs) {
    const std::string names = names_of(kernel, same);
    rows.emplace_back(rows.empty() ? "  shared" : "",
                      costs.size() == 1 ? fmt::format("{} ({})", cost, names) : fmt::format("{}: {}", names, cost));
  }
  if (const std::string line = worst_line_text(report, kernel, costs.size() > 1); !line.empty())
    rows.emplace_back("  worst", line);
  return rows;
}

constexpr std::size_t longest_label = 20, shortest_label = 7;  // "  worst"

/// A line with its label in front, or on a line of its own if it is longer than `width` allows.
std::string labelled(const std::string& label, const std::string& line, std::size_t width, const TextOptions& options) {
  std::string head = support::visible(label), text;
  if (head.size() + 2 > width) {
    text = (options.colour ? support::painted(head, bold) : head) + '\n';
    head.clear();
  }
  std::string row = support::wrapped(fmt::format("{:{}}{}", head, width, support::visible(line)), options.wrap, width);
  if (options.colour) {
    if (const auto end = row.find("-way"); end != std::string::npos) {
      const auto begin = row.rfind(' ', end) + 1;
      paint(row, row.substr(begin, end + 4 - begin), red, width);
    }
    if (!head.starts_with(' ')) paint(row, head, bold);
  }
  return text + row;
}

/// Rows with labels of one width, unless a name is longer than a label may be.
std::string labelled_rows(const std::vector<LabelledRow>& rows, const TextOptions& options) {
  std::size_t widest = shortest_label;
  for (const auto& [label, row] : rows) {
    if (label.size() <= longest_label) widest = std::max(widest, label.size());
  }
  std::string text;
  for (const auto& [label, row] : rows) text += labelled(label, row, widest + 2, options);
  return text;
}

/// What kernels without a problem have none of: "no bank conflicts and no extra sectors".
std::string none_of(const std::vector<const KernelReport*>& kernels, bool is_part, std::string_view no_conflicts) {
  const auto any = [&](auto is) { return std::ranges::any_of(kernels, is); };
  std::string text(any([](const KernelReport* kernel) { return kernel->trace.watches_shared; }) ? no_conflicts : "");
  if (!any([](const KernelReport* kernel) { return has_global_accesses(*kernel); })) return text;
  double most = 0;
  for (const KernelReport* kernel : kernels) {
    for (const trace::Report& on : kernel->reports) {
      if (on.global.unknown > 0) return text;
      most = std::max(most, report::extra_share(on.global).value_or(0));
    }
  }
  if (!text.empty()) text += " and ";
  const double rounded_up = std::ceil(most * 1000 - 1e-9) / 1000;  // to a tenth of a percent, and never to 0
  if (most > 0) return text + fmt::format("at most {} % extra sectors", report::percent_text(rounded_up));
  return text + (is_part ? "no extra sector" : "no extra sectors");
}

/// Kernels without a problem.
struct OtherKernels {
  std::vector<const KernelReport*> clean, in_part, silent;  ///< silent: without an access
  bool recorded = false;                                    ///< of the silent ones, there may be more
};

OtherKernels others_than(const std::vector<std::size_t>& listed, const RunReport& report) {
  OtherKernels others;
  for (std::size_t k = 0; k < report.kernels.size(); ++k) {
    if (std::ranges::find(listed, k) != listed.end()) continue;
    const KernelReport& kernel = report.kernels[k];
    const trace::Report& on = kernel.reports.front();
    const bool is_open =
        is_incomplete(report, kernel) || (kernel.trace.watches_global && is_global_incomplete(report, kernel, on));
    if (!has_accesses(kernel) && !has_global_accesses(kernel)) {
      others.silent.push_back(&kernel);
      others.recorded |= is_open;
    } else {
      const bool is_part = is_open || on.remote.accesses > 0;  // whose conflicts in other blocks are not known
      (is_part && kernel.trace.watches_shared ? others.in_part : others.clean).push_back(&kernel);
    }
  }
  return others;
}

/// "3 more kernels"
std::string counted(const std::vector<const KernelReport*>& kernels, std::string_view more, const char* one,
                    const char* several) {
  std::size_t number = 0;
  for (const KernelReport* kernel : kernels) number += kernel->kernels;
  return fmt::format("{} {}{}", number, more, number == 1 ? one : several);
}

/// What is left of the kernels. `listed`: those with a problem.
std::string others_text(const RunReport& report, const std::vector<std::size_t>& listed) {
  const std::vector<KernelReport>& kernels = report.kernels;
  const auto& [clean, in_part, silent, recorded] = others_than(listed, report);
  const auto any = [&](auto is) { return std::ranges::any_of(kernels, is); };
  const bool watches_shared = any([](const KernelReport& kernel) { return kernel.trace.watches_shared; });
  const bool watches_global = any([](const KernelReport& kernel) { return kernel.trace.watches_global; });
  const std::string of_part = none_of(in_part, true, "no conflict") + " in what was watched";
  const bool has_fault = any([](const KernelReport& kernel) { return !kernel.faults_by_cause().empty(); });
  const std::string memory =
      fmt::format("{}{}{}", watches_shared ? terms_of(report.maker).memory : "",
                  watches_shared && watches_global ? " or " : "", watches_global ? "global memory" : "");
  if (silent.size() == kernels.size()) return fmt::format("no access to {}{}", memory, recorded ? " was recorded" : "");
  const std::string_view more = listed.empty() ? "" : "more ";
  std::vector<std::string> parts;
  if (listed.empty()) {
    const auto& first = in_part.empty() ? clean : in_part;
    std::vector<std::size_t> all(kernels.front().reports.size());
    std::iota(all.begin(), all.end(), 0);
    parts.push_back(fmt::format("{}{} on {}: {}", has_fault ? "faults above, but " : "",
                                in_part.empty() ? none_of(clean, false, "no bank conflicts") : of_part,
                                names_of(kernels.front(), all), counted(first, more, "kernel", "kernels")));
  } else if (!in_part.empty()) {
    parts.push_back(fmt::format("{}: {}", counted(in_part, more, "kernel", "kernels"), of_part));
  }
  if (!clean.empty() && (!listed.empty() || !in_part.empty())) {
    parts.push_back(fmt::format("{} {}", counted(clean, more, "kernel has", "kernels have"),
                                none_of(clean, false, "no conflicts")));
  }
  if (!silent.empty()) {
    parts.push_back(fmt::format("{} no {}access to {}",
                                counted(silent, parts.empty() ? more : "", "kernel has", "kernels have"),
                                recorded ? "recorded " : "", memory));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// What the summary says of a kernel with a problem.
std::vector<LabelledRow> kernel_rows(const RunReport& report, const KernelReport& kernel, const std::string& fix) {
  std::vector<LabelledRow> shared = shared_rows(report, kernel), global;
  for (const std::string& sentence : global_answer(report, kernel))
    global.emplace_back(global.size() % 2 == 0 ? "  global" : "  moved", sentence);
  if (!fix.empty()) shared.emplace_back("  fix", fix);
  const bool global_first = shared.empty() || kernel.is_global_first();
  auto &first = global_first ? global : shared, &second = global_first ? shared : global;
  if (global_first) first.front().second.insert(0, "global memory: ");
  first.front().first = kernel.name;
  for (const std::string& sentence : time_sentences(report, kernel)) first.emplace_back("  time", sentence);
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The sum over several kernels, once for the architectures on which it is the same.
std::vector<std::string> totals(const RunReport& report) {
  if (report.kernels.size() < 2) return {};
  const auto sums = alike(report.kernels.front().reports.size(), [&](std::size_t a) {
    banks::Tally sum;
    banks::SectorTally sectors;
    bool incomplete = false, global_incomplete = false;
    for (const KernelReport& kernel : report.kernels) {
      const trace::Report& on = kernel.reports[a];
      sum.add(on.all);
      sectors.add(on.global);
      incomplete |= is_incomplete(report, kernel, on);
      global_incomplete |= is_global_incomplete(report, kernel, on);
    }
    std::string text = sum.accesses > 0 ? passes_where(sum, incomplete || sum.unknown > 0) : "";
    if (sectors.sectors > 0) {
      text += fmt::format("{}{}{} sectors where {} would do", text.empty() ? "" : "; ",
                          global_incomplete || sectors.unknown > 0 ? "at least " : "",
                          support::grouped(sectors.sectors), support::grouped(sectors.ideal));
    }
    return text;
  });
  std::vector<std::string> sentences;
  for (const auto& [same, cost] : sums) {
    sentences.push_back(fmt::format("all {} kernels on {}: {}", number_of(report.kernels),
                                    names_of(report.kernels.front(), same), cost));
  }
  return sentences;
}

}  // namespace

std::string gaps_text(const RunReport& report, const TextOptions& options) {
  constexpr std::size_t most = 4;
  const bool all = options.detail == Detail::verbose || report.gaps.empty();
  const std::vector<std::string>& sentences = all ? report.incomplete : report.gaps;
  std::string text;
  const std::size_t shown = all ? sentences.size() : std::min(sentences.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool more = !all && i + 1 == shown && report.incomplete.size() > shown;
    const std::string_view nothing = i == 0 && report.kernels.empty() ? "no kernel was watched: " : "";
    text +=
        marked("incomplete: ", fmt::format("{}{}{}{}", nothing, sentences[i], more ? "; " : "", more ? all_told : ""),
               options, yellow);
  }
  return text;
}

std::string faults_text(const RunReport& report, const TextOptions& options) {
  constexpr std::size_t usual = 20, most_pairs = 8;
  const std::size_t most = options.detail == Detail::verbose ? ~std::size_t{0} : usual;
  std::string text;
  std::size_t number = 0;
  for (const KernelReport& kernel : report.kernels) {
    const auto& diagnoses = kernel.trace.diagnoses;
    const auto& sites = kernel.trace.sites;
    for (const auto& cause : kernel.faults_by_cause()) {
      const trace::DiagnosisRecord& first = diagnoses[cause.front()];
      if (++number > most) continue;
      std::string sentence =
          fmt::format("{}: {}", where(kernel, sites.at(first.site)), with_short_paths(sentence_of(first)));
      if (const std::size_t others = cause.size() - 1; others > 0) {
        std::vector<std::string> pairs;
        for (std::size_t i = 1; i <= std::min(others, most_pairs); ++i) {
          const trace::DiagnosisRecord& race = diagnoses[cause[i]];
          pairs.push_back(
              fmt::format("{} and {}", sites.at(race.site).line, sites.at(race.other.value_or(race.site)).line));
        }
        if (others > most_pairs) pairs.emplace_back("...");
        sentence += fmt::format("; and {} in {}, most likely for the same reason, a missing __syncwarp(): lines {}",
                                support::plural(others, "more race", "more races"), sites.at(first.site).function,
                                fmt::join(pairs, ", "));
      }
      text += marked("fault: ", sentence, options, red);
    }
  }
  if (number > most) text += marked("fault: ", fmt::format("and {} more: {}", number - most, all_told), options, red);
  return text;
}

std::string summary_text(const RunReport& report, const TextOptions& options,
                         const std::vector<KernelFitReport>& fits) {
  constexpr std::size_t usual = 10;
  const std::vector<KernelReport>& kernels = report.kernels;
  if (kernels.empty()) return "";
  std::vector<std::size_t> worst = worst_first(kernels);
  std::erase_if(worst, [&](std::size_t k) {
    return kernels[k].conflicts() == 0 && !kernels[k].has_unknown() && !kernels[k].is_uncoalesced();
  });
  const std::size_t shown = options.detail == Detail::verbose ? worst.size() : std::min(worst.size(), usual);
  std::vector<LabelledRow> rows;
  bool asks_for_fit = fits.empty() && !options.fit_command.empty();
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelReport& kernel = kernels[worst[i]];
    std::string fix = fits.empty() ? "" : fit_summary(fits[worst[i]]);
    if (asks_for_fit && kernel.conflicts() > 0) {
      fix = "--fit looks for one: " + options.fit_command;
      asks_for_fit = false;
    }
    const std::vector<LabelledRow> of_kernel = kernel_rows(report, kernel, fix);
    rows.insert(rows.end(), of_kernel.begin(), of_kernel.end());
  }
  std::string text = labelled_rows(rows, options);
  const auto any_of_worst = [&](auto is) {
    return std::ranges::any_of(worst, [&](std::size_t k) { return is(kernels[k]); });
  };
  const bool has_extra = any_of_worst([](const KernelReport& kernel) { return kernel.is_uncoalesced(); });
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += support::wrapped(support::visible(sentence), options.wrap, 2);
  };
  if (shown < worst.size())
    add(fmt::format("and {} more kernels with {}: {}", worst.size() - shown,
                    has_extra ? "conflicts or extra sectors" : "conflicts", all_told));
  add(others_text(report, worst));
  if (!worst.empty()) std::ranges::for_each(totals(report), add);
  const Terms& terms = terms_of(report.maker);
  add(remote_sentence(kernels));
  std::uint64_t bytes = 0;
  for (const KernelReport& kernel : kernels) bytes += kernel.trace.copied_bytes;
  if (bytes > 0) add("not counted: " + copied_text(bytes, terms));
  const bool has_nvidia = std::ranges::any_of(
      kernels.front().reports, [](const trace::Report& on) { return on.architecture->name.starts_with("sm_"); });
  const bool has_passes =
      any_of_worst([](const KernelReport& kernel) { return kernel.conflicts() > 0 || kernel.has_unknown(); });
  if (has_passes && has_nvidia) add("pass: one turn of the banks; NVIDIA's counters call it a wavefront");
  if (has_extra && has_nvidia) add("sector: 32 bytes that global memory moves as a whole");
  return text;
}

}  // namespace bankwise::driver
