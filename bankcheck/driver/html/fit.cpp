#include <fmt/format.h>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_code.hpp"
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver::html {
namespace {

constexpr std::size_t longest_line = 300;  // bytes

/// The user's own lines before and after.
void append_diff(std::string& html, const std::string& path, const fit::EditedFile& edited) {
  html += fmt::format("<pre class=diff><code><b>{}</b>\n", support::xml_text(path.empty() ? nameless_place : path));
  for (const fit::Hunk& hunk : fit::hunks_of(edited.text, edited.edits)) {
    unsigned number = hunk.line;
    for (const std::string& line : lines_of(hunk.before)) {
      html += fmt::format("<i>{}</i><del>- {}</del>\n", number++, support::xml_text(cut(line, longest_line)));
    }
    for (const std::string& line : lines_of(hunk.after)) {
      html += fmt::format("<i></i><ins>+ {}</ins>\n", support::xml_text(cut(line, longest_line)));
    }
  }
  html += "</code></pre>";
}

/// The layouts that were tried for an array, with their passes.
void append_options(std::string& html, const KernelPart& part, std::size_t number) {
  const fit::ArrayFit& array = part.fit->fit.arrays[number];
  const WrittenArray code = written(array, part.fit->sources[number], part.fit->is_opencl);
  html += fmt::format("<details><summary>Layouts of {} that were compared</summary>", support::xml_text(array.name));
  begin_table(html, "layouts", "numbers");
  html += "<thead><tr><th scope=col class=t>layout<th scope=col class=t>code";
  for (const trace::Report& report : part.reports()) {
    html += fmt::format("<th scope=col>passes on {}", support::xml_text(report.architecture->name));
  }
  html += "<th scope=col>instructions<th scope=col>bytes<tbody>";
  for (std::size_t i = 0; i < array.options.size(); ++i) {
    const fit::PricedOption& option = array.options[i];
    const bool chosen = i > 0 && i == array.chosen;
    const LayoutCode layout = layout_code(array, code, option);
    html += fmt::format(
        "<tr{}><th scope=row>{}{}<td class=t><code>{}{}{}</code>", chosen ? " class=chosen" : "",
        to_string(option.option.change.kind()), chosen ? " (proposed)" : "", support::xml_text(layout.declaration),
        layout.declaration.empty() || layout.index.empty() ? "" : ", ", support::xml_text(layout.index));
    for (const std::uint64_t passes : option.passes) html += fmt::format("<td>{}", support::grouped(passes));
    html += i == 0 ? "<td>" : fmt::format("<td>+{}", option.option.instructions);
    html += fmt::format("<td>{}", support::grouped(option.option.bytes));
  }
  html += fmt::format("</table></div><p>Proposed: {}</p>", reason_of(array, array.after()));
  for (const std::string& doubt : array.doubts) {
    html += fmt::format("<p>A better layout may exist: {}</p>", support::xml_text(doubt));
  }
  html += "</details>";
}

}  // namespace

void append_fit(std::string& html, const KernelPart& part) {
  const KernelFitReport& report = *part.fit;
  if (const std::string cures = cures_text(part.kernel, report, true); !cures.empty()) {
    const std::string lines = cures.substr(cures.find('\n') + 1);  // the heading says the first
    html += fmt::format("<h3>Other cures</h3><pre class=diff><code>{}</code></pre>", support::xml_text(lines));
  }
  const std::string summary = fit_summary(report);
  if (summary.empty()) return;
  html += fmt::format("<h3 id=k{}fix>{}</h3><p>{}</p>", part.number, changes_something(report.fit) ? "Fix" : "No fix",
                      support::xml_text(summary));
  if (changes_something(report.fit)) {
    const auto passes = alike(part.reports().size(), [&](std::size_t a) {
      return fmt::format("{} passes instead of {}", support::grouped(report.fit.after[a].all.passes),
                         support::grouped(report.fit.before[a].all.passes));
    });
    for (const auto& [same, sentence] : passes)
      html += fmt::format("<p>{} <span class=on>on {}</span></p>", sentence, names_of(part.reports(), same));
  }
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const fit::ArrayFit& array = report.fit.arrays[i];
    const auto& source = report.sources[i];
    if (array.chosen == 0) continue;
    if (const auto cute = cute_name(array.after().option.change, unsigned(array.shape.element)); !cute.empty()) {
      html += fmt::format("<p>CuTe calls this layout of {} <code>{}</code></p>", support::xml_text(array.name),
                          support::xml_text(cute));
    }
    if (!source || std::holds_alternative<std::string>(source->edits)) {
      const std::string text = by_hand_text(array, source, written(array, source, report.is_opencl));
      if (!text.empty()) html += fmt::format("<pre class=diff><code>{}</code></pre>", support::xml_text(text));
    }
  }
  for (const auto& [path, file] : edited_files(report)) append_diff(html, path, file);
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    if (report.fit.arrays[i].chosen > 0) append_options(html, part, i);
  }
}

}  // namespace bankwise::driver::html
