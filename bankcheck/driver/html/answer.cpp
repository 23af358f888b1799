#include <fmt/format.h>

#include <cctype>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver::html {
namespace {

constexpr std::size_t max_answers = 5, max_faults = 3, max_causes = 6;

/// "k: race at k.cu:12, read of unwritten shared memory at k.cu:14".
std::string faults_sentence(const KernelPart& part, const std::vector<std::vector<std::size_t>>& faults) {
  std::string text = kernel_link(part) + ":";
  for (std::size_t i = 0; i < std::min(faults.size(), max_faults); ++i) {
    const trace::DiagnosisRecord& fault = part.kernel.trace.diagnoses[faults[i].front()];
    text += fmt::format("{} {} at {}", i == 0 ? "" : ",", xml_text(to_string(fault.fault)),
                        xml_text(where(part.kernel, part.kernel.trace.sites.at(fault.site))));
  }
  if (faults.size() > max_faults) text += fmt::format(", and {} more", faults.size() - max_faults);
  return text;
}

/// What the program does wrong, and which limits it exceeds.
bool append_wrong(std::string& html, const HtmlExtras& extras, const std::vector<KernelPart>& parts) {
  std::size_t faults = 0;
  std::vector<std::string> sentences;
  for (const KernelPart& part : parts) {
    const auto faults_of_kernel = part.kernel.faults_by_cause();
    if (faults_of_kernel.empty()) continue;
    faults += faults_of_kernel.size();
    sentences.push_back(faults_sentence(part, faults_of_kernel));
  }
  for (const std::string& sentence : extras.exceeded) sentences.push_back(xml_text(sentence));
  if (sentences.empty()) return false;
  std::string title = faults == 0 ? "" : plural(faults, "fault in the program", "faults in the program");
  if (!extras.exceeded.empty()) {
    title += fmt::format("{}{} exceeded", title.empty() ? "" : "; ",
                         plural(extras.exceeded.size(), "limit is", "limits are"));
  }
  html += fmt::format("<section class=\"box wrong\"><h2>{}</h2><ul>", title);
  for (std::size_t i = 0; i < std::min(sentences.size(), max_lines); ++i) html += "<li>" + sentences[i];
  html += "</ul></section>\n";
  return true;
}

/// What the numbers lack: its causes for one line, and a sentence for each.
struct Gaps {
  std::vector<std::string> causes, sentences;
};

Gaps gaps_of(const RunReport& report, const HtmlExtras& extras, const std::vector<KernelPart>& parts) {
  const Terms& terms = terms_of(report.maker);
  Gaps gaps{report.gaps.empty() ? report.incomplete : report.gaps, report.incomplete};
  gaps.causes.resize(std::min(gaps.causes.size(), max_causes));
  if (parts.empty()) gaps.causes.emplace_back("no kernel was watched");
  std::uint64_t unknown = 0, copied = 0;
  for (const KernelPart& part : parts) {
    const KernelReport& kernel = part.kernel;
    const auto unknown_of = [](const trace::Report& on) { return on.all.unknown; };
    for (std::string& sentence : unknown_sentences(kernel)) gaps.sentences.push_back(std::move(sentence));
    unknown += unknown_of(*std::ranges::max_element(kernel.reports, {}, unknown_of));
    copied += kernel.trace.copied_bytes;
    if (const std::string bytes = copied_text(kernel.trace.copied_bytes, terms); !bytes.empty())
      gaps.sentences.push_back(fmt::format("{}: not counted: {}", kernel.name, bytes));
  }
  if (unknown > 0 && report.gaps.empty())
    gaps.causes.push_back(plural(unknown, "access has", "accesses have") + " no known cost");
  if (std::string remote = remote_sentence(report.kernels); !remote.empty()) gaps.causes.push_back(std::move(remote));
  if (copied > 0) gaps.causes.push_back(copied_text(copied, terms) + " are not counted");
  if (!extras.only.empty()) {
    gaps.causes.push_back(fmt::format("only kernels named {} are shown", fmt::join(extras.only, ", ")));
    gaps.sentences.push_back(gaps.causes.back());
  }
  return gaps;
}

/// One line, with the sentences on demand.
void append_gaps(std::string& html, const Gaps& gaps, bool at_least) {
  html += fmt::format("<section class=\"box warn\"><h2><b>Not watched:</b> {}{}</h2>",
                      xml_text(fmt::format("{}", fmt::join(gaps.causes, "; "))),
                      at_least ? ". Numbers are lower bounds (≥)" : "");
  if (gaps.causes != gaps.sentences) {
    html += "<details><summary>Each reason</summary><ul>";
    for (std::size_t i = 0; i < std::min(gaps.sentences.size(), max_lines); ++i) {
      html += fmt::format("<li>{}</li>", xml_text(gaps.sentences[i]));
    }
    if (gaps.sentences.size() > max_lines) {
      html += fmt::format("<li>and {} more: see --json</li>", gaps.sentences.size() - max_lines);
    }
    html += "</ul></details>";
  }
  html += "</section>\n";
}

/// The worst line of a kernel on one architecture; empty without conflicts.
std::string headline(const KernelPart& part, const trace::Report& report) {
  const auto conflicts_of = [&](const trace::LineReport& line) {
    return report::most_conflicts(line_on(report, line).costs);
  };
  const auto worst = std::ranges::max_element(part.lines(), {}, conflicts_of);
  if (worst == part.lines().end() || conflicts_of(*worst) == 0) return "";
  const auto count = std::ranges::count_if(part.lines(), [&](auto& line) { return conflicts_of(line) > 0; });
  const trace::LineReport& line = line_on(report, *worst);
  std::string name = conflict_name(*report.architecture, line, part.at_least);
  name[0] = char(std::toupper(static_cast<unsigned char>(name[0])));
  std::string text = fmt::format("<b>{} at <a href=\"#{}\">{}</a></b>: {}", name,
                                 id_of(part, std::size_t(worst - part.lines().begin())),
                                 xml_text(where(part.kernel, line.site)), passes_sentence(line.costs, part.at_least));
  if (const std::string share = conflict_share(report); !share.empty()) {
    text +=
        fmt::format("; {} % of {}'s {}passes are conflicts", share, kernel_link(part), part.at_least ? "watched " : "");
  } else {
    text += fmt::format(", in {}", kernel_link(part));
  }
  if (count > 1) text += fmt::format(" ({} lines have conflicts)", count);
  return text;
}

/// The worst line of a kernel, and its fix.
void append_conflicts(std::string& html, const KernelPart& part) {
  const auto& reports = part.reports();
  for (const auto& [same, sentence] :
       alike(reports.size(), [&](std::size_t a) { return headline(part, reports[a]); })) {
    html += fmt::format("<p>{} <span class=on>on {}</span>", sentence.empty() ? "No conflict" : sentence,
                        names_of(reports, same));
  }
  append_answer_source(html, part, part.lines()[shown_lines(part).front()].site);
  if (const std::string fix = part.fit == nullptr ? "" : fit_summary(*part.fit); !fix.empty()) {
    html += fmt::format("<p><b><a href=\"#k{}fix\">Fix</a></b>: {}", part.number, xml_text(fix));
  }
}

constexpr std::size_t longest_line = 300;  // bytes

/// The user's own lines before and after.
void append_diff(std::string& html, const std::string& path, const fit::EditedFile& edited) {
  html += fmt::format("<pre class=diff><code><b>{}</b>\n", xml_text(path.empty() ? nameless_place : path));
  for (const fit::Hunk& hunk : fit::hunks_of(edited.text, edited.edits)) {
    unsigned number = hunk.line;
    for (const std::string& line : lines_of(hunk.before)) {
      html += fmt::format("<i>{}</i><del>- {}</del>\n", number++, xml_text(cut(line, longest_line)));
    }
    for (const std::string& line : lines_of(hunk.after)) {
      html += fmt::format("<i></i><ins>+ {}</ins>\n", xml_text(cut(line, longest_line)));
    }
  }
  html += "</code></pre>";
}

/// The layouts that were tried for an array, with their passes.
void append_options(std::string& html, const KernelPart& part, const ChangedArray& changed) {
  const fit::ArrayFit& array = changed.array;
  const WrittenArray code = changed.written();
  html += fmt::format("<details><summary>Layouts of {} that were compared</summary>", xml_text(array.name));
  begin_table(html, "layouts", "numbers");
  html += "<thead><tr><th scope=col class=t>layout<th scope=col class=t>code";
  for (const trace::Report& report : part.reports()) {
    html += fmt::format("<th scope=col>passes on {}", xml_text(report.architecture->name));
  }
  html += "<th scope=col>instructions<th scope=col>bytes<tbody>";
  for (std::size_t i = 0; i < array.options.size(); ++i) {
    const fit::PricedOption& option = array.options[i];
    const bool chosen = i > 0 && i == array.chosen;
    html += fmt::format("<tr{}><th scope=row>{}{}<td class=t><code>{}</code>", chosen ? " class=chosen" : "",
                        to_string(option.option.change.kind()), chosen ? " (proposed)" : "",
                        xml_text(code_of(layout_code(array, code, option))));
    for (const std::uint64_t passes : option.passes) html += fmt::format("<td>{}", grouped(passes));
    html += i == 0 ? "<td>" : fmt::format("<td>+{}", option.option.instructions);
    html += fmt::format("<td>{}", grouped(option.option.bytes));
  }
  html += fmt::format("</table></div><p>Proposed: {}</p>", reason_of(array, array.after()));
  for (const std::string& doubt : array.doubts) {
    html += fmt::format("<p>A better layout may exist: {}</p>", xml_text(doubt));
  }
  html += "</details>";
}

bool has_answer(const KernelPart& part) { return part.has_conflicts() || part.kernel.is_uncoalesced(); }

/// How many kernels have no conflicts. `is_only`: no other kernel has any.
void append_calm(std::string& html, const std::vector<KernelPart>& parts, bool is_only) {
  std::size_t calm = 0, in_part = 0;  // kernels
  bool has_global = false;
  for (const KernelPart& part : parts) {
    if (has_answer(part) || part.kernel.has_unknown() || !part.kernel.trace.watches_shared) continue;
    has_global |= has_global_accesses(part.kernel);
    const bool is_part = part.at_least || part.kernel.trace.copied_bytes > 0 ||
                         part.reports().front().remote.accesses > 0;  // the conflicts there are not known
    (is_part ? in_part : calm) += part.kernel.kernels;
  }
  for (const auto& [count, where] : {std::pair(in_part, " in what was watched"), {calm, ""}}) {
    if (count == 0) continue;
    const std::string kernels =
        fmt::format("{} {}{} no conflicts", count, is_only ? "" : "more ", count == 1 ? "kernel has" : "kernels have");
    html += fmt::format("<p><b>{}</b>{}", is_only && (in_part == 0 || calm == 0) ? "No bank conflicts" : kernels,
                        (has_global ? " and few extra sectors" : "") + std::string(where));
  }
}

}  // namespace

void append_status(std::string& html, const RunReport& report, const HtmlExtras& extras,
                   const std::vector<KernelPart>& parts) {
  const bool wrong = append_wrong(html, extras, parts);
  const Gaps gaps = gaps_of(report, extras, parts);
  if (!gaps.causes.empty()) {
    append_gaps(html, gaps, std::ranges::any_of(parts, &KernelPart::at_least));
  } else if (!wrong) {
    std::uint64_t launches = 0, blocks = 0;
    for (const KernelPart& part : parts) {
      launches += launches_of(part.kernel.trace);
      blocks += part.kernel.trace.blocks;
    }
    const Terms& terms = terms_of(report.maker);
    html += fmt::format(
        "<section class=\"box fine\"><h2><b>Complete:</b> all {} of {} were watched, and every access has a "
        "cost{}</h2></section>\n",
        plural(blocks, terms.block, terms.blocks), plural(launches, "launch", "launches"),
        report.maker == trace::Maker::emulate ? "; no fault was found" : "");
  }
}

void append_answer(std::string& html, const std::vector<KernelPart>& parts) {
  html += "<section class=answer aria-label=\"the answer\">";
  std::size_t conflicts = 0;  // kernels
  bool has_conflicts = false;
  for (const KernelPart& part : parts) {
    if (!has_answer(part) || ++conflicts > max_answers) continue;
    const bool global_first = part.kernel.is_global_first();
    html += "<div>";
    if (global_first) append_global_answer(html, part);
    if (part.has_conflicts()) append_conflicts(html, part);
    if (!global_first) append_global_answer(html, part);
    append_time(html, part);
    html += "</div>";
    has_conflicts |= part.has_conflicts();
  }
  if (conflicts > max_answers) {
    html += fmt::format("<p>{} conflicts: see <a href=\"#kernels\">the table</a>",
                        plural(conflicts - max_answers, "more kernel has", "more kernels have"));
  }
  if (has_conflicts && parts.front().fit == nullptr) {
    html += "<p class=hint>The same command with <code>--fit</code> looks for the layout that removes the conflicts.";
  }
  append_calm(html, parts, conflicts == 0);
  html += "</section>\n";
}

void append_fit(std::string& html, const KernelPart& part) {
  const KernelFitReport& report = *part.fit;
  if (const std::string cures = cures_text(part.kernel, report, true); !cures.empty()) {
    const std::string lines = cures.substr(cures.find('\n') + 1);  // the heading says the first
    html += fmt::format("<h3>Other cures</h3><pre class=diff><code>{}</code></pre>", xml_text(lines));
  }
  const std::string summary = fit_summary(report);
  if (summary.empty()) return;
  html += fmt::format("<h3 id=k{}fix>{}</h3><p>{}</p>", part.number, changes_something(report.fit) ? "Fix" : "No fix",
                      xml_text(summary));
  if (changes_something(report.fit)) {
    const auto passes = alike(part.reports().size(), [&](std::size_t a) {
      return fmt::format("{} passes instead of {}", grouped(report.fit.after[a].all.passes),
                         grouped(report.fit.before[a].all.passes));
    });
    for (const auto& [same, sentence] : passes)
      html += fmt::format("<p>{} <span class=on>on {}</span></p>", sentence, names_of(part.reports(), same));
  }
  const std::vector<ChangedArray> changed_ones = changed_arrays(report);
  for (const ChangedArray& changed : changed_ones) {
    const fit::ArrayFit& array = changed.array;
    if (const auto cute = cute_name(array.after().option.change, unsigned(array.shape.element)); !cute.empty()) {
      html += fmt::format("<p>CuTe calls this layout of {} <code>{}</code></p>", xml_text(array.name), xml_text(cute));
    }
    if (const std::string text = by_hand_text(changed); !text.empty())
      html += fmt::format("<pre class=diff><code>{}</code></pre>", xml_text(text));
  }
  for (const auto& [path, file] : edited_files(report)) append_diff(html, path, file);
  for (const ChangedArray& changed : changed_ones) append_options(html, part, changed);
}

}  // namespace bankwise::driver::html
