#include "bankcheck/driver/sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

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

/// Colours are pairs for light and dark pages; each text colour has a contrast of at least 4.5 to its background.
constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --rule: #d0d7de; --wash: #f6f8fa;
  --link: #0757ba; --busy: #b9d9f3; --clash: #f7b5ab; --old: #ffdfdb; --new: #d5f2dc; --warn: #9a6700;
  --wrong: #b3261e; --fine: #1a7f37;
  --h1: #fff4d6; --h2: #ffe3a3; --h3: #ffc97a; --h4: #ffa873; --h5: #ff8a73;
  --a1: #dfeaf5; --a2: #bcd6ee; --a3: #86b6df; --a4: #3c7ebf; }
@media (prefers-color-scheme: dark) { :root { --paper: #0f1419; --ink: #e6edf3; --soft: #9aa7b4; --rule: #3a434d;
  --wash: #181e25; --link: #79b8ff; --busy: #1d4a70; --clash: #8c2f27; --old: #4d1f1c; --new: #163a22;
  --warn: #e3b341; --wrong: #ff8f85;
  --fine: #56d364; --h1: #332d19; --h2: #4d3c10; --h3: #633f06; --h4: #78340a; --h5: #8c2115;
  --a1: #1a2a3a; --a2: #1f4060; --a3: #2a6092; --a4: #4d9be0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.5rem 3rem; max-width: 104rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { margin: .5rem 0 0; font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1.3rem; overflow-wrap: anywhere; }
h3 { margin: 1.5rem 0 .25rem; font-size: 1.05rem; }
p { margin: .35rem 0; } header p { color: var(--soft); overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code { font: .85rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { font: .8rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; margin: .3rem 0; }
.hint, .more { color: var(--soft); max-width: 60rem; }
.box { margin: 1rem 0; padding: .25rem 1rem .5rem; border: 1px solid var(--rule); border-left: .4rem solid var(--fine);
  border-radius: .3rem; background: var(--wash); }
.box h2 { margin: .3rem 0; font-size: 1rem; font-weight: 400; } .box.wrong h2 { font-weight: 700; }
  .box ul { margin: 0; padding-left: 1.2rem; }
.box li { overflow-wrap: anywhere; }
.warn { border-left-color: var(--warn); } .warn b { color: var(--warn); } .fine b { color: var(--fine); }
.box.wrong { border-left-color: var(--wrong); } .wrong h2, li.wrong { color: var(--wrong); }
.answer { overflow-wrap: anywhere; } .answer > div { margin: 1rem 0; }
  .answer > div > p:first-child { font-size: 1.2rem; }
.answer pre { white-space: pre-wrap; } .answer pre, .diff { padding: .5rem .8rem; border-radius: .3rem;
  background: var(--wash); overflow-x: auto; }
.on { color: var(--soft); font-size: 1rem; } .answer b a { color: inherit; }
.diff code { display: block; width: max-content; min-width: 100%; } .diff i { display: inline-block; width: 3em;
  padding-right: 1em; text-align: right; font-style: normal; color: var(--soft); user-select: none; }
.diff del, .diff ins { text-decoration: none; } .diff del { background: var(--old); }
  .diff ins { background: var(--new); }
.kernel { margin-top: 2.5rem; border-top: 3px solid var(--rule); }
.legend dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; max-width: 60rem; }
.legend dt { font-weight: 600; } .legend dd { margin: 0; }
.cell { display: inline-block; min-width: 1.9em; padding: 0 .25em; text-align: center; background: var(--busy);
  font-size: .85em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; vertical-align: top; }
thead th { color: var(--soft); font-size: .85rem; font-weight: 600; white-space: nowrap; vertical-align: bottom; }
th[scope=colgroup] { color: var(--ink); text-align: center; border-left: 1px solid var(--rule); }
tbody th { font-weight: 400; text-align: left; }
.numbers tbody tr { border-top: 1px solid var(--rule); } .numbers tbody tr:hover { background: var(--wash); }
tfoot { border-top: 2px solid var(--rule); } tfoot th { text-align: left; }
.numbers tbody th { overflow-wrap: anywhere; min-width: 10.5rem; }
.numbers td { white-space: nowrap; } .numbers .t { text-align: left; } .numbers .excerpt { white-space: normal; }
.numbers .name { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
.excerpt code { display: block; min-width: 20rem; max-width: 40rem; overflow-wrap: anywhere; }
  .chosen { font-weight: 700; }
.bar { min-width: 6rem; background: linear-gradient(var(--clash), var(--clash)) left / var(--share) 100% no-repeat; }
.h1 { background: var(--h1); } .h2 { background: var(--h2); } .h3 { background: var(--h3); }
.h4 { background: var(--h4); } .h5 { background: var(--h5); font-weight: 700; } td.h0 { color: var(--soft); }
.source { width: 100%; }
.source > * > tr > * { padding: 0 .6rem; }
.source > tbody > tr > th { color: var(--soft); text-align: right; width: 1%; }
.source > thead > tr > th:last-child, .source > tbody > tr > td:last-child { text-align: left; width: 99%; }
.source code { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
.hit { background: var(--wash); } .source > tbody > .hit > th { color: var(--ink); font-weight: 600; }
.source > tbody > .file > th { padding-top: .6rem; color: var(--ink); font-weight: 600; text-align: left;
  overflow-wrap: anywhere; }
.source > tbody > .gap > * { color: var(--soft); font-size: .85rem; border-block: 1px dashed var(--rule); }
.source > tbody > .gap > td { text-align: left; }
.source > tbody > .why > td { padding: 0 0 .5rem 1.2rem; font-size: .9rem; } .why p { margin: .1rem 0; }
.why > td > * { max-width: calc(100vw - 4rem); }
summary { cursor: pointer; } .calm { color: var(--soft); }
.side { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: flex-start; }
figure { margin: .6rem 0; max-width: 100%; min-width: 0; } figcaption { margin-bottom: .3rem; }
.banks { margin: .3rem 0 .8rem; font-size: .8333rem; line-height: 1.6; table-layout: fixed;
  width: calc(4.375em + var(--banks) * 1.875em);
  font-family: Arial, "Liberation Sans", Helvetica, system-ui, sans-serif; }
.banks tr > th[scope=rowgroup] { color: var(--ink); font-weight: 600; padding-top: .3rem; letter-spacing: 0; }
.levels caption { text-align: left; font-weight: 600; font-size: .8rem; padding: .2rem 0; }
.banks th, .banks td { padding: 0; text-align: center; vertical-align: middle; border: 0 solid var(--paper);
  border-width: 0 1px 1px 0; letter-spacing: -.05em; }
.banks th { font-size: 1em; color: var(--soft); font-weight: 400; }
.banks tr > th:first-child { width: 4.375em; text-align: left; white-space: nowrap; }
.banks td { background: var(--busy); }
.banks .i { background: repeating-linear-gradient(90deg, var(--wash) 0 calc(1.875em - 1px), var(--rule) 0 1.875em); }
.banks .fold > td { background: none; text-align: left; padding: .1em .5em; color: var(--soft); letter-spacing: 0; }
.x, .banks .x { background: var(--clash); box-shadow: inset 0 0 0 1px var(--wrong); }
.sectors { max-width: 100%; height: auto; font-size: 12px; } .sectors text { fill: var(--ink); }
.sectors .moved { fill: var(--clash); } .sectors .used { fill: var(--busy); } .sectors .idle { fill: var(--wash); }
.addresses { max-width: 50rem; font-size: .8rem; color: var(--soft); }
.levels { font-size: .85rem; } .lane { width: .35rem; } .levels td, .levels th { padding: .1rem .5rem; }
.levels td[class^=a] { padding: 0; border: 1px solid var(--rule); }
.a0 { background: var(--wash); } .a1 { background: var(--a1); } .a2 { background: var(--a2); }
.a3 { background: var(--a3); } .a4 { background: var(--a4); }
.hide { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); color: var(--soft); font-size: .85rem; }
@media (max-width: 60rem) { .banks { font-size: .8rem; } .numbers th, .numbers td { padding: .2rem .4rem; } }
@media (max-width: 40rem) { body { padding: .5rem .75rem 2rem; } .banks { font-size: .7rem; }
  .numbers tbody th { min-width: 7rem; } .numbers .name { min-width: 3.5rem; }
  .legend dl { grid-template-columns: 1fr; } .legend dd { margin: 0 0 .4rem; } }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --wash: #f4f4f4; --link: #000;
    --busy: #cfe3f5; --clash: #f2a79c; --old: #ffdfdb; --new: #d5f2dc; --h1: #fff4d6; --h2: #ffe3a3; --h3: #ffc97a;
  --h4: #ffa873; --h5: #ff8a73;
    --a1: #dfeaf5; --a2: #bcd6ee; --a3: #86b6df; --a4: #3c7ebf; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  html { font-size: 8.5pt; } body { max-width: none; padding: 0; } .scroll { overflow: visible; }
  .why > td > * { max-width: none; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .kernel { break-before: page; border-top: 0; } .kernel.short { break-before: auto; }
  .answer > div { break-inside: avoid; }
  pre, .diff code { white-space: pre-wrap; width: auto; } .numbers td, .numbers thead th { padding: .1rem .3rem; }
  .banks { font-size: min(7.5pt, calc(500pt / (4.375 + 1.875 * var(--banks)))); } .excerpt code { min-width: 8rem; }
  .numbers tbody th { min-width: 6rem; } tr, figure { break-inside: avoid; } h2, h3 { break-after: avoid; }
  a { text-decoration: none; }
}
)css";

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
  for (const trace::DiagnosisRecord& diagnosis : std::span(diagnoses).first(std::min(diagnoses.size(), max_lines))) {
    const bool note = trace::row_of(diagnosis.fault).is_remark;
    html += fmt::format("<li{}>{}: {}</li>", note ? "" : " class=wrong",
                        xml_text(where(part.kernel, part.kernel.trace.sites.at(diagnosis.site))),
                        xml_text(sentence_of(diagnosis)));
  }
  html += "</ul>";
}

void append_kernel(std::string& html, const KernelPart& part) {
  const trace::KernelTrace& kernel_trace = part.kernel.trace;
  const bool calm = !part.has_conflicts() && !part.kernel.is_uncoalesced() && kernel_trace.diagnoses.empty();
  html +=
      fmt::format("<section class=\"kernel{1}\" id=k{0} aria-labelledby=k{0}h><h2 id=k{0}h>{2}</h2><p>{3}", part.number,
                  calm ? " short" : "", xml_text(part.kernel.name), launches_text(part.kernel, part.terms));
  if (!kernel_trace.options.empty()) {
    html += fmt::format(", built with <code>{}</code>", xml_text(kernel_trace.options));
  }
  html += "</p>";
  append_diagnoses(html, part);
  if (const auto notes = notes_on(part.kernel, part.terms); !notes.empty()) {
    html += "<ul>";
    for (const std::string& note : notes) html += fmt::format("<li>{}", xml_text(note));
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
  const bool global_first = part.kernel.is_global_first();
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

std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

void append_header(std::string& html, const RunReport& report, const HtmlExtras& extras, const Terms& terms,
                   bool has_global) {
  html += fmt::format("<header><h1>Bank conflicts in {}{}</h1>", terms.memory,
                      has_global ? ", and use of global memory" : "");
  if (!report.command.empty()) html += fmt::format("<p>of <code>{}</code>", xml_text(command_line(report.command)));
  html += "<p>";
  if (!report.kernels.empty()) {
    const auto& reports = report.kernels.front().reports;
    std::vector<std::size_t> all(reports.size());
    std::iota(all.begin(), all.end(), 0);
    html += fmt::format("Costs on {} · ", names_of(reports, all, true));
  }
  html += fmt::format("{}{}bankwise {}{}{}", to_string(report.maker), report.maker == trace::Maker::other ? "" : ", ",
                      support::revision(), extras.date.empty() ? "" : " · ", xml_text(extras.date));
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
                     i < extras.sources.size() ? std::span(extras.sources[i]) : std::span<const SourceExcerpt>(),
                     i < extras.fits.size() ? &extras.fits[i] : nullptr});
  }
  const bool has_global = std::ranges::any_of(report.kernels, has_global_accesses);
  const std::string command = html::xml_text(html::command_line(report.command));
  std::string page = "<!doctype html>\n<html lang=en>\n";
  page += html::head;
  page += fmt::format("<title>Bank conflicts{}{}</title>\n<style>\n", command.empty() ? "" : " of ", command);
  page += html::style;
  page += "</style>\n<body id=top>\n";
  html::append_header(page, report, extras, terms, has_global);
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
