#include "bankcheck/driver/sinks.hpp"

#include <fmt/format.h>

#include <algorithm>

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

void append_list(std::string& html, const std::vector<std::string>& sentences) {
  html += "<ul>";
  for (std::size_t i = 0; i < std::min(sentences.size(), max_lines); ++i) {
    html += fmt::format("<li>{}</li>", support::xml_text(sentences[i]));
  }
  if (sentences.size() > max_lines)
    html += fmt::format("<li>and {} more: see --json</li>", sentences.size() - max_lines);
  html += "</ul>";
}

void append_box(std::string& html, std::string_view kind, std::string_view title,
                const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  html += fmt::format("<section class=\"box {}\"><h2>{}</h2>", kind, title);
  append_list(html, sentences);
  html += "</section>\n";
}

/// Everything that the numbers lack, from all kernels.
std::vector<std::string> not_watched(const RunReport& report, const HtmlExtras& extras, const Terms& terms) {
  std::vector<std::string> sentences = report.incomplete;
  for (const std::string& name : extras.only) sentences.push_back(fmt::format("only kernels named {} are shown", name));
  for (const KernelReport& kernel : report.kernels) {
    for (const trace::Report& trace_report : kernel.reports) {
      if (trace_report.all.unknown == 0) continue;
      sentences.push_back(fmt::format("{} of {} have no known cost on {}",
                                      support::plural(trace_report.all.unknown, "access", "accesses"), kernel.name,
                                      trace_report.architecture->name));
    }
    if (const std::string bytes = not_counted(kernel, terms); !bytes.empty()) {
      sentences.push_back(fmt::format("{}: not counted: {}", kernel.name, bytes));
    }
  }
  return sentences;
}

/// The order of kernels: most conflicts first, on the first architecture, then on the next.
std::vector<std::size_t> kernels_by_conflicts(const std::vector<KernelReport>& kernels) {
  return by_numbers(kernels.size(), [&](std::size_t i) {
    std::vector<std::uint64_t> conflicts;
    for (const trace::Report& report : kernels[i].reports) {
      conflicts.push_back(report.all.conflicts + report.all.more_conflicts);
    }
    return conflicts;
  });
}

/// What the program does wrong, before its costs.
void append_diagnoses(std::string& html, const KernelPart& part) {
  const auto& diagnoses = part.kernel.trace.diagnoses;
  if (diagnoses.empty()) return;
  html += "<ul class=wrong>";
  for (std::size_t i = 0; i < std::min(diagnoses.size(), max_lines); ++i) {
    const trace::Site& site = part.kernel.trace.sites.at(diagnoses[i].site);
    html += fmt::format("<li>{}: {}</li>", support::xml_text(where(part.kernel.diagnoses[i], site)),
                        support::xml_text(sentence_of(diagnoses[i])));
  }
  html += "</ul>";
}

/// What the kernel has in `extras`; an empty one if it has none.
template <class Extra>
const Extra& extra_of(const KernelPart& part, const std::vector<Extra>& extras) {
  static const Extra none;
  return part.number < extras.size() ? extras[part.number] : none;
}

void append_kernel(std::string& html, const KernelPart& part, const HtmlExtras& extras) {
  html += fmt::format("<section class=kernel id=k{0} aria-labelledby=k{0}h><h2 id=k{0}h>{1}</h2><p>{2}", part.number,
                      support::xml_text(part.kernel.name), launches_text(part.kernel.trace, part.terms));
  if (const std::string& options = part.kernel.trace.options; !options.empty()) {
    html += fmt::format(", built with <code>{}</code>", support::xml_text(options));
  }
  html += "</p>";
  append_diagnoses(html, part);
  const bool has_lines = has_accesses(part.kernel);
  if (!has_lines) {
    html += fmt::format("<p>No access to {}{}.</p>", part.terms.memory, part.at_least ? " was recorded" : "");
  }
  if (const auto notes = notes_on(part.kernel, part.terms); !notes.empty() || !has_lines) append_list(html, notes);
  if (!has_lines) {
    html += "</section>\n";
    return;
  }
  append_accesses(html, part);
  append_source(html, part, extra_of(part, extras.sources));
  append_levels(html, part);
  if (const std::string& fit = extra_of(part, extras.fits); !fit.empty()) {
    html += "<h3>What removes the conflicts</h3><div class=scroll role=region tabindex=0 aria-label=fit><pre>";
    html += support::xml_text(fit) + "</pre></div>";
  }
  html += "<p><a href=\"#top\">Back to the kernels</a></p></section>\n";
}

/// What one has to know to read the page.
void append_legend(std::string& html, const Terms& terms) {
  html += fmt::format(
      "<section class=legend><h2>How to read this page</h2><dl>"
      "<dt>bank<dd>{0} is divided into banks. Neighbouring words lie in neighbouring banks, and each bank delivers "
      "one word per pass.</dd>"
      "<dt>pass<dd>One cycle that the banks spend on one access of a warp. NVIDIA's counters call it a wavefront.</dd>"
      "<dt>conflict<dd>A pass beyond the ideal, because lanes of one access need different words of the same bank.</dd>"
      "<dt>picture<dd>One column per bank, one row per pass. A cell has the lane that the bank serves, "
      "<span class=cell>7+</span> if it serves more lanes with the same word. The bank of a "
      "<span class=\"cell x\">7</span> marked cell needs several passes.</dd>"
      "<dt>colour<dd>The line's share of the kernel's conflicts: <span class=\"cell h1\">below 1 %</span> "
      "<span class=\"cell h2\">from 1 %</span> <span class=\"cell h3\">from 5 %</span> "
      "<span class=\"cell h4\">from 20 %</span> <span class=\"cell h5\">from 50 %</span></dd></dl></section>\n",
      terms.memory == "local memory" ? "Local memory" : "Shared memory");
}

}  // namespace
}  // namespace html

std::string to_html(const RunReport& report, const HtmlExtras& extras) {
  const Terms& terms = terms_of(report.maker);
  std::vector<html::KernelPart> parts;
  for (const std::size_t i : html::kernels_by_conflicts(report.kernels)) {
    const KernelReport& kernel = report.kernels[i];
    const bool at_least =
        report.failed || !report.incomplete.empty() ||
        std::ranges::any_of(kernel.reports, [](auto& trace_report) { return !trace_report.incomplete.empty(); });
    parts.push_back({report, kernel, terms, i, at_least});
  }
  const std::string command = support::xml_text(fmt::format("{}", fmt::join(report.command, " ")));
  std::string page = "<!doctype html>\n<html lang=en>\n";
  page += html::head;
  page += fmt::format("<title>Bank conflicts{}{}</title>\n<style>\n", command.empty() ? "" : " of ", command);
  page += html::style();
  page += "</style>\n<body id=top>\n";
  page += fmt::format("<header><h1>Bank conflicts in {}</h1>", terms.memory);
  if (!command.empty()) page += fmt::format("<p>of <code>{}</code></p>", command);
  page += "</header>\n<main>\n";
  const auto missing = html::not_watched(report, extras, terms);
  if (missing.empty()) {
    page += "<section class=\"box fine\"><h2>What was not watched</h2><p>Nothing: the run ended, all ";
    page += fmt::format("{} of the kernels below were watched, and all accesses have a cost.</p></section>\n",
                        terms.blocks);
  }
  html::append_box(page, "warn", "What was not watched", missing);
  html::append_box(page, "wrong", "Limits that are exceeded", extras.exceeded);
  if (!parts.empty()) {
    html::append_summary(page, parts);
    html::append_legend(page, terms);
  }
  for (const html::KernelPart& part : parts) {
    if (page.size() > html::max_page) {
      page += "<p class=more>The page is full: --json lists the other kernels</p>";
      break;
    }
    html::append_kernel(page, part, extras);
  }
  page += fmt::format(
      "</main>\n<footer><p>Written by {}{}bankwise {}. The numbers are those of the text report and of "
      "--json.</p></footer>\n</html>\n",
      to_string(report.maker), report.maker == trace::Maker::other ? "" : ", ", support::revision());
  return page;
}

}  // namespace bankwise::driver
