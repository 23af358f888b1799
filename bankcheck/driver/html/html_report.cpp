#include "bankcheck/driver/sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver {
namespace html {
namespace {

constexpr std::string_view head =
    "<meta charset=utf-8>\n"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'\">\n"
    "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=color-scheme content=\"light dark\">\n"
    "<meta name=referrer content=no-referrer>\n";

/// The passes of all accesses, and which part of them are conflicts.
void append_total(std::string& html, const KernelPart& part) {
  const auto& reports = part.reports();
  const auto totals = alike(reports.size(), [&](std::size_t a) {
    const std::string share = conflict_share(reports[a]), engines = engine_share(reports[a]);
    return passes_sentence(reports[a].all, part.at_least) +
           (share.empty() || share == "0"
                ? ""
                : fmt::format("; {} %{} are conflicts", share, part.at_least ? " of the watched passes" : "")) +
           (engines.empty() ? "" : fmt::format(", {}", engines));
  });
  for (const auto& [same, total] : totals)
    html += fmt::format("<p>{} <span class=on>on {}</span></p>", total, names_of(reports, same));
}

/// What the program does wrong, before its costs.
void append_diagnoses(std::string& html, const KernelPart& part) {
  const auto& diagnoses = part.kernel.trace.diagnoses;
  if (diagnoses.empty()) return;
  html += "<ul>";
  for (std::size_t i = 0; i < std::min(diagnoses.size(), max_lines); ++i) {
    const trace::Site& site = part.kernel.trace.sites.at(diagnoses[i].site);
    const bool note = trace::row_of(diagnoses[i].fault).is_remark;
    html += fmt::format("<li{}>{}: {}</li>", note ? "" : " class=wrong",
                        support::xml_text(where(part.kernel.diagnoses[i], site)),
                        support::xml_text(sentence_of(diagnoses[i])));
  }
  html += "</ul>";
}

void append_kernel(std::string& html, const KernelPart& part) {
  const trace::KernelTrace& kernel_trace = part.kernel.trace;
  const bool calm = !part.has_conflicts() && !part.kernel.is_uncoalesced() && kernel_trace.diagnoses.empty();
  html +=
      fmt::format("<section class=\"kernel{1}\" id=k{0} aria-labelledby=k{0}h><h2 id=k{0}h>{2}</h2><p>{3}", part.number,
                  calm ? " short" : "", support::xml_text(part.kernel.name), launches_text(part.kernel, part.terms));
  if (!kernel_trace.options.empty()) {
    html += fmt::format(", built with <code>{}</code>", support::xml_text(kernel_trace.options));
  }
  html += "</p>";
  append_diagnoses(html, part);
  if (const auto notes = notes_on(part.kernel, part.terms); !notes.empty()) {
    html += "<ul>";
    for (const std::string& note : notes) html += fmt::format("<li>{}", support::xml_text(note));
    html += "</ul>";
  }
  append_time(html, part);
  if (!part.kernel.trace.watches_shared) {
    html += fmt::format("<p>The accesses to {} were not watched.</p>", part.terms.memory);
  } else if (!has_accesses(part.kernel)) {
    html += fmt::format("<p>No access to {}{}.</p>", part.terms.memory, part.at_least ? " was recorded" : "");
  }
  if (!has_accesses(part.kernel) && !has_global_accesses(part.kernel)) {
    html += "</section>\n";
    return;
  }
  const bool global_first = part.kernel.is_global_first(0);
  if (has_accesses(part.kernel)) append_total(html, part);
  if (global_first) append_global(html, part);
  if (part.fit != nullptr) append_fit(html, part);
  append_accesses(html, part);
  append_engines(html, part);
  append_remote(html, part);
  if (!global_first) append_global(html, part);
  if (calm) html += "<details><summary>Source and levels</summary>";
  append_source(html, part);
  append_levels(html, part);
  if (calm) html += "</details>";
  html += "<p><a href=\"#top\">Back to the top</a></p></section>\n";
}

constexpr std::string_view global_legend =
    "<dt>sector<dd>What global memory moves as a whole: 32 bytes on NVIDIA's GPUs, a quarter of a cache line.</dd>"
    "<dt>extra<dd>Sectors beyond the ideal, the fewest that could hold the different bytes that the lanes of each "
    "access ask for.</dd>"
    "<dt>used<dd>These bytes, as a share of the bytes that the sectors move.</dd>";

/// What one has to know to read the page.
void append_legend(std::string& html, const Terms& terms, bool has_global) {
  html += fmt::format(
      "<section class=legend id=reading><h2>How to read this page</h2><dl>"
      "<dt>bank<dd>{0} is divided into banks. Neighbouring words lie in neighbouring banks, and each bank delivers "
      "one word per pass.</dd>"
      "<dt>pass<dd>One cycle that the banks spend on one access of a warp. NVIDIA's counters call it a wavefront.</dd>"
      "<dt>ideal<dd>The passes without conflicts: on most GPUs one for up to 4 bytes per lane, two for 8, four for "
      "16.</dd>"
      "<dt>conflict<dd>A pass beyond the ideal, because lanes of one access need different words of the same bank. In "
      "an 8-way conflict the worst access takes 8 times its ideal.</dd>"
      "<dt>picture<dd>One column per bank, one row per pass. A cell has the lane that the bank serves, "
      "<span class=cell>7+</span> if it serves more lanes with the same word. The bank of a "
      "<span class=\"cell x\">7</span> marked cell needs several passes.</dd>"
      "{1}<dt>colour<dd>The line's share of the kernel's conflicts: <span class=\"cell h1\">below 1 %</span> "
      "<span class=\"cell h2\">from 1 %</span> <span class=\"cell h3\">from 5 %</span> "
      "<span class=\"cell h4\">from 20 %</span> <span class=\"cell h5\">from 50 %</span></dd></dl></section>\n",
      terms.memory == "local memory" ? "Local memory" : "Shared memory", has_global ? global_legend : "");
}

/// A command line as a shell reads it.
std::string command_line(const std::vector<std::string>& words) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += '\'';
  }
  return line;
}

void append_header(std::string& html, const RunReport& report, const HtmlExtras& extras, const Terms& terms) {
  const bool has_global = std::ranges::any_of(report.kernels, [](auto& kernel) { return has_global_accesses(kernel); });
  html += fmt::format("<header><h1>Bank conflicts in {}{}</h1>", terms.memory,
                      has_global ? ", and use of global memory" : "");
  if (!report.command.empty())
    html += fmt::format("<p>of <code>{}</code>", support::xml_text(command_line(report.command)));
  html += "<p>";
  if (!report.kernels.empty()) {
    const auto& reports = report.kernels.front().reports;
    std::vector<std::size_t> all(reports.size());
    std::iota(all.begin(), all.end(), 0);
    html += fmt::format("Costs on {} · ", names_of(reports, all, true));
  }
  html += fmt::format("{}{}bankwise {}{}{}", to_string(report.maker), report.maker == trace::Maker::other ? "" : ", ",
                      support::revision(), extras.date.empty() ? "" : " · ", support::xml_text(extras.date));
  html += report.kernels.empty() ? "</header>\n<main>\n"
                                 : " · <a href=\"#reading\">How to read this page</a></header>\n<main>\n";
}

}  // namespace
}  // namespace html

std::string to_html(const RunReport& report, const HtmlExtras& extras) {
  const Terms& terms = terms_of(report.maker);
  std::vector<html::KernelPart> parts;
  for (const std::size_t i : worst_first(report.kernels)) {
    const KernelReport& kernel = report.kernels[i];
    parts.push_back({report, kernel, terms, i, is_incomplete(report, kernel),
                     i < extras.sources.size() ? &extras.sources[i] : nullptr,
                     i < extras.fits.size() ? &extras.fits[i] : nullptr});
  }
  const bool has_global = std::ranges::any_of(report.kernels, [](auto& kernel) { return has_global_accesses(kernel); });
  const std::string command = support::xml_text(html::command_line(report.command));
  std::string page = "<!doctype html>\n<html lang=en>\n";
  page += html::head;
  page += fmt::format("<title>Bank conflicts{}{}</title>\n<style>\n", command.empty() ? "" : " of ", command);
  page += html::style();
  page += "</style>\n<body id=top>\n";
  html::append_header(page, report, extras, terms);
  html::append_status(page, report, extras, parts);
  if (!parts.empty()) html::append_answer(page, parts);
  if (parts.size() > 1) html::append_summary(page, parts);
  for (const html::KernelPart& part : parts) {
    if (page.size() > html::max_page) {
      page += "<p class=more>The page is full: --json lists the other kernels</p>";
      break;
    }
    html::append_kernel(page, part);
  }
  if (!parts.empty()) html::append_legend(page, terms, has_global);
  page += "</main>\n<footer><p>The numbers are those of the text report and of --json.</p></footer>\n</html>\n";
  return page;
}

}  // namespace bankwise::driver
